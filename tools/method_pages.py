"""Fill the options table of every page in docs/methods from the fields of the method, and write the index of the pages.

The table stands between `<!-- options -->` and `<!-- /options -->`, followed by the presets of paper and authors. The index,
README.md, has of every page its first reason under "When to use it".
Run `python tools/method_pages.py` after a change of a method's fields or of their documentation; `--check` writes nothing and
exits with 1 if a page is out of date.
"""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import fields
from pathlib import Path

from untwine.cli import docstrings
from untwine.method.contract import Method
from untwine.method.fields import Option, describe
from untwine.method.kinds import Trained
from untwine.methods import METHODS

PAGES = Path(__file__).parents[1] / "docs" / "methods"
BEGIN, END = "<!-- options -->", "<!-- /options -->"

INDEX = """# Methods

Which method fits depends first on what is known of the samples, then on what the codes are for. Each page has the objective, the options, how to
use it, what it cannot do and our numbers. `python tools/method_pages.py` writes this page from the others.

| what you have | try first | then |
| --- | --- | --- |
| a target and a background, images | [contrastive_pca](contrastive_pca.md), in seconds | [principled_vae](principled_vae.md); [double_infogan](double_infogan.md) where images should look real |
| a target and a background, vectors or cells | [contrastive_pca](contrastive_pca.md) or [generalised_contrastive_pca](generalised_contrastive_pca.md) | [principled_vae](principled_vae.md), with [counts as they are](../tutorials/counts_and_covariates.md) |
| several targets, one background | [principled_vae](principled_vae.md) with [a salient block for each](../tutorials/several_targets.md) | |
| a class for every sample | [lord](lord.md) | [mlvae](mlvae.md), where a likelihood is wanted |
| nothing | [pca](pca.md), as the baseline | [beta_tcvae](beta_tcvae.md), [dip_vae](dip_vae.md) |

Whether a target has anything that its background lacks is a question for [a test](../tutorials/is_anything_salient.md), before any method.
"""
KINDS = {
    "groups": "With a target and a background: `common` and `salient`",
    "labels": "With a class for every sample: `class` and `content`",
    "nothing": "Without supervision: single latents in one block, `z`",
}


def index() -> str:
    """Return the index: the methods of each kind of supervision, and when to use them."""
    parts = [INDEX]
    for needs, title in KINDS.items():
        rows = [_line(name, kind) for name, kind in METHODS.items() if kind.needs == needs and (PAGES / f"{name}.md").exists()]
        parts.append("\n".join([f"## {title}\n", "| method | what it is | when to use it |", "| --- | --- | --- |", *rows, ""]))
    return "\n".join(parts)


def _line(name: str, kind: type[Method]) -> str:
    text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    found = re.search(r"^## When to use it\n+- (.*?)(?=\n- |\n\n|\Z)", text, re.MULTILINE | re.DOTALL)
    cells = (f"[{name}]({name}.md)", docstrings.summary(kind), found[1] if found else "")
    return "| " + " | ".join(" ".join(cell.split()).replace("|", r"\|") for cell in cells) + " |"


def table(cls: type[Method]) -> str:
    """Return the options of a method as a Markdown table: its own first, then those that all methods share."""
    shared = {field.name for field in fields(Trained)}
    options = sorted(describe(cls), key=lambda option: option.name in shared)  # sorted is stable: each part keeps its order
    lines = ["| option | type | default | meaning |", "| --- | --- | --- | --- |", *map(_row, options)]
    return "\n".join(lines)


def _row(option: Option) -> str:
    cells = (f"`{option.name}`", option.kind, f"`{option.default!r}`", option.meaning)
    return "| " + " | ".join(" ".join(cell.split()).replace("|", r"\|") for cell in cells) + " |"


def presets(cls: type[Method]) -> str:
    """Return the line that names the presets of the paper."""
    if not cls.papers:
        return "There is no preset of the paper."
    names = ", ".join(f"`{name}`" for name in cls.papers)
    call = f'`{cls.__name__}.paper("{next(iter(cls.papers))}")`'
    line = f"Presets of the paper ({call}, or `--preset paper` with that data set, data options included): {names}."
    if not cls.public_code:
        return line
    names = ", ".join(f"`{name}`" for name in cls.public_code)
    call = f'`{cls.__name__}.authors("{next(iter(cls.public_code))}")`'
    return f"{line} Presets of the authors' code where it differs ({call}, or `--preset authors`): {names}."


def fill(text: str, cls: type[Method]) -> str:
    """Return the text of a page with the current options between the markers."""
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        raise ValueError(f"the page of {cls.__name__} must hold {BEGIN} and {END} once each; add them under ## Options.")
    head, rest = text.split(BEGIN)
    tail = rest.split(END)[1]
    return f"{head}{BEGIN}\n\n{table(cls)}\n\n{presets(cls)}\n\n{END}{tail}"


def main() -> int:
    """Fill all pages, or check them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a page is out of date")
    check = parser.parse_args().check
    outdated = []
    for name in METHODS:
        page = PAGES / f"{name}.md"
        text = page.read_text(encoding="utf-8")
        filled = fill(text, METHODS[name])
        if filled != text:
            outdated.append(page.name)
            if not check:
                page.write_text(filled, encoding="utf-8")
    if not (PAGES / "README.md").exists() or (PAGES / "README.md").read_text(encoding="utf-8") != index():
        outdated.append("README.md")
        if not check:
            (PAGES / "README.md").write_text(index(), encoding="utf-8")
    if outdated:
        print(f"{'out of date' if check else 'filled'}: {', '.join(outdated)}")
    return int(check and bool(outdated))


if __name__ == "__main__":
    sys.exit(main())
