"""Write docs/commands: a page for every command, from its docstring and its options, and an index.

Run `python tools/command_pages.py` after a change of a command; `--check` writes nothing and exits with 1 if a page is out of
date.
"""

from __future__ import annotations

import argparse
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cyclopts import App

from untwine.cli.app import app

PAGES = Path(__file__).parents[1] / "docs" / "commands"
INDEX = """# Commands

`untwine COMMAND --help` prints the same, and ends with the address of the command's page. What is in capitals here is given by its
position, all else as `--name value` or `--name=value`; what is in brackets may be left out. These pages are written by
`python tools/command_pages.py` from the code.
"""


def pages() -> dict[str, str]:
    """Return the text of every page by its file name."""
    names = sorted((name for name in app if not name.startswith("-")), key=lambda name: app[name].sort_key)
    rows = [f"| [{name}]({name}.md) | {_cell(_summary(app[name]))} |" for name in names]
    index = "\n".join([INDEX, "| command | what it does |", "| --- | --- |", *rows, ""])
    return {"README.md": index} | {f"{name}.md": page(name) for name in names}


def page(name: str) -> str:
    """Return the page of one command, with those below it."""
    own = app[name]
    below = [one for one in own if not one.startswith("-")]
    if not below:
        return f"# untwine {name}\n\n" + _body(f"untwine {name}", own)
    parts = [f"## untwine {name} {one}\n\n{_body(f'untwine {name} {one}', own[one])}" for one in below]
    return f"# untwine {name}\n\n{_text(own)}\n\n" + "\n".join(parts)


def _body(words: str, command: App) -> str:
    arguments = [one for one in command.assemble_argument_collection(parse_docstring=True) if one.show]
    rows = [_row(one) for one in arguments]
    usage = " ".join([words, *(_usage(one) for one in arguments if one.required or one.index is not None), "[OPTIONS]"])
    table = ["| option | value | default | meaning |", "| --- | --- | --- | --- |", *rows]
    return "\n\n".join([f"```text\n{usage}\n```", _text(command), "\n".join(table)]) + "\n"


def _usage(argument: Any) -> str:
    name = argument.name.strip("-").upper()
    if argument.index is None:
        return f"{argument.name} {name}"
    return name if argument.required else f"[{name}]"


def _row(argument: Any) -> str:
    default = argument.field_info.default
    shown = "required" if argument.required else "" if default in (None, False, ()) else f"`{default}`"
    flag = "" if argument.hint is bool else " or ".join(_kinds(argument.hint))
    name = argument.name if argument.index is None else argument.name.strip("-").upper()
    return f"| `{name}` | {_cell(flag)} | {_cell(shown)} | {_cell(argument.parameter.help or '')} |"


def _kinds(hint: Any) -> Iterator[str]:
    """Yield what a value may be, in words."""
    inside = getattr(hint, "__args__", ())
    if hint in (int, float):
        yield {int: "integer", float: "number"}[hint]
    elif getattr(hint, "__origin__", None) is tuple:
        yield from _kinds(inside[0])
    elif inside and all(isinstance(one, str) for one in inside):
        yield ", ".join(f"`{one}`" for one in inside)
    elif inside:
        for one in inside:
            yield from _kinds(one)
    elif hint not in (bool, type(None)):
        yield {"str": "text", "Path": "path"}.get(hint.__name__, hint.__name__)


def _text(command: App) -> str:
    """Return the help of a command without its section of parameters, which are in the table."""
    return inspect.cleandoc(command.help or "").split("\n\nParameters\n---")[0]


def _summary(command: App) -> str:
    return (command.help or "").strip().split("\n\n")[0]


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", r"\|")


def main() -> int:
    """Write all pages, or check them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a page is out of date")
    check, texts = parser.parse_args().check, pages()
    known = {path.name: path.read_text(encoding="utf-8") for path in PAGES.glob("*.md")}
    outdated = sorted(name for name in known.keys() | texts.keys() if known.get(name) != texts.get(name))
    if not check:
        PAGES.mkdir(exist_ok=True)
        for name in outdated:
            (PAGES / name).write_text(texts[name], encoding="utf-8") if name in texts else (PAGES / name).unlink()
    print("\n".join(f"docs/commands/{name}" for name in outdated))
    return int(check and bool(outdated))


if __name__ == "__main__":
    sys.exit(main())
