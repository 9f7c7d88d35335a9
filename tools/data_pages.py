"""Write docs/data: a page for every data set of the catalogue, from its description and its options, and an index.

Run `python tools/data_pages.py` after a change of a data set's description, docstring or options; `--check` writes nothing and
exits with 1 if a page is out of date.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from untwine.cli import docstrings
from untwine.data import Splits, data_sets
from untwine.data.catalogue import DATA_SETS
from untwine.data.data_set import as_data_set

PAGES = Path(__file__).parents[1] / "docs" / "data"
INDEX = """# Data sets

`un.load(NAME, option=value)` loads one, `untwine list data NAME` describes it, and `--data NAME --data-set option=value` names
it on the command line. What needs files looks for them in the folder of the environment variable UNTWINE_DATA, then in
`~/.cache/untwine`; `untwine data get NAME`, in Python `un.data.get(NAME)`, downloads what may be downloaded to there, checks
it and says what is left to place by hand. These pages are written by `python tools/data_pages.py` from the descriptions beside
the code.
"""


def pages() -> dict[str, str]:
    """Return the text of every page by its file name."""
    # Those of plug-ins that happen to be installed have no page here.
    ours = {name: load for name, load in data_sets().items() if load.__module__.startswith("untwine.")}
    return {"README.md": index(ours)} | {f"{name}.md": page(name, load) for name, load in ours.items()}


def index(loaders: Mapping[str, Callable[..., Splits]]) -> str:
    """Return the index: every data set with its summary."""
    rows = [f"| [{name}]({name}.md) | {_cell(docstrings.summary(load))} |" for name, load in loaders.items()]
    return "\n".join([INDEX, "| data set | what it is |", "| --- | --- |", *rows, ""])


def page(name: str, load: Callable[..., Splits]) -> str:
    """Return the page of one data set."""
    card = as_data_set(load).card
    if card is None:
        raise ValueError(f"the data set {name} must have a description; got none; write @described(DataCard(...)) above it.")
    texts = [text for text in docstrings.description(load) if not text.startswith("- ")]
    facts = [f"- **{key}**: {what}" for key, what in card.items().items()]
    facts += _download(name)
    options = ["| option | type | default | meaning |", "| --- | --- | --- | --- |", *map(_row, docstrings.options(load))]
    paragraphs = [f"# {name}", docstrings.summary(load), *texts, "\n".join(facts), "## Options", "\n".join(options)]
    return "\n\n".join(paragraphs) + "\n"


def _download(name: str) -> list[str]:
    """Return the line on what `untwine data get` downloads for a data set, and from where; none where it downloads nothing."""
    needs = as_data_set(DATA_SETS[name]).downloads
    hosts = dict.fromkeys(urlsplit(file.urls[0]).hostname for one in needs for file in one.files)
    by_hand = "".join(f"; by hand, {one.by_hand.rstrip('.')}" for one in needs if one.by_hand)
    return [f"- **Download**: `untwine data get {name}`, from {', '.join(map(str, hosts))}{by_hand}."] if hosts else []


def _row(option: Mapping[str, Any]) -> str:
    cells = (f"`{option['name']}`", option["kind"], f"`{option['default']!r}`", option["meaning"])
    return "| " + " | ".join(map(_cell, cells)) + " |"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", r"\|")


def main() -> int:
    """Write all pages, or check them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a page is out of date")
    check, texts = parser.parse_args().check, pages()
    known = {path.name: path.read_text() for path in PAGES.glob("*.md")}
    outdated = sorted(name for name in known.keys() | texts.keys() if known.get(name) != texts.get(name))
    if not check:
        PAGES.mkdir(exist_ok=True)
        for name in outdated:
            (PAGES / name).write_text(texts[name]) if name in texts else (PAGES / name).unlink()
    print("\n".join(f"docs/data/{name}" for name in outdated))
    return int(check and bool(outdated))


if __name__ == "__main__":
    sys.exit(main())
