"""Run the Python of pages as they are written, at full length, and keep what it printed and drew in docs/notebooks/NAME.ipynb.

    python tools/notebooks.py                 every page of docs/tutorials and docs/start.md whose Python has changed since
    python tools/notebooks.py PAGE ...        these pages, changed or not
    python tools/notebooks.py --check         run nothing; exit with 1 if a notebook is not of the present Python of its page

The site shows the outputs below the code and offers the notebooks for download. A figure that the page saves is shown, and so
is the value of an expression at the end of a block. Pages run in a folder of their own, which is deleted.
"""

from __future__ import annotations

import argparse
import ast
import base64
import contextlib
import io
import json
import os
import re
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
FOLDER = DOCS / "notebooks"
FENCE = re.compile(r"^```python([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
SMALLER = re.compile(r"^# in the tests: .+\n", re.MULTILINE)  # a line for the tests alone
DPI, COLOURS, LONGEST = 80, 128, 60


def path(page: str) -> Path:
    """Return the notebook of a page, which is named by its path in docs/."""
    return FOLDER / (Path(page).stem + ".ipynb") if page.startswith(("tutorials/", "howto/", "start")) else FOLDER / "none"


def pages() -> Iterator[Path]:
    """Return the pages that have a notebook: those with Python."""
    places = [DOCS / "start.md", *sorted(DOCS.glob("tutorials/*.md")), *sorted(DOCS.glob("howto/*.md"))]
    return (page for page in places if page.exists() and blocks(page.read_text(encoding="utf-8")))


def blocks(text: str) -> list[str]:
    """Return the Python of a page that is run, block by block."""
    return [code for info, code in FENCE.findall(text) if "no-run" not in info]


def code_cells(notebook: Path) -> list[dict[str, Any]]:
    """Return the cells of a notebook that hold code."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def is_current(page: Path) -> bool:
    """Return whether a page's notebook is of its present Python."""
    notebook = path(page.relative_to(DOCS).as_posix())
    if not notebook.exists():
        return False
    kept = ["".join(cell["source"]) for cell in code_cells(notebook)]
    return kept == [source(code) for code in blocks(page.read_text(encoding="utf-8"))]


def source(code: str) -> str:
    """Return the source of a cell: without the line that makes the tests quick."""
    return SMALLER.sub("", code).strip()


def run(text: str) -> list[list[dict[str, Any]]]:
    """Run the Python of a page, in the working folder, and return the outputs of each block."""
    import matplotlib as mpl

    mpl.use("agg")
    names: dict[str, Any] = {"__name__": "__main__"}
    return [_run_block(source(code), names) for code in blocks(text)]


def _run_block(code: str, names: dict[str, Any]) -> list[dict[str, Any]]:
    from matplotlib.figure import Figure

    outputs: list[dict[str, Any]] = []
    printed = io.StringIO()
    save = Figure.savefig

    def show(figure: Figure, file: Any, *arguments: Any, **options: Any) -> None:
        save(figure, file, *arguments, **options)
        if isinstance(file, str | Path):  # not those that a report keeps in memory
            outputs.append(_display(figure, save))

    tree = ast.parse(code)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    Figure.savefig = show  # type: ignore[method-assign]
    try:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(tree, "page", "exec", dont_inherit=True), names)  # noqa: S102 (our own pages)
            if last is not None:
                value = eval(compile(ast.Expression(last.value), "page", "eval", dont_inherit=True), names)  # noqa: S307
                if isinstance(value, Figure):
                    outputs.append(_display(value, save))
                elif value is not None and not _is_save(last.value):
                    print(repr(value))
    finally:
        Figure.savefig = save  # type: ignore[method-assign]
    lines = printed.getvalue().rstrip().splitlines()
    if len(lines) > LONGEST:
        lines = [*lines[:LONGEST], "..."]
    text = [{"output_type": "stream", "name": "stdout", "text": "\n".join(lines) + "\n"}] if lines else []
    return [*text, *outputs]


def _is_save(node: ast.expr) -> bool:
    """Return whether an expression is there for what it does: a call that writes, fits or registers."""
    if not isinstance(node, ast.Call):
        return False
    return re.match(r"(write|to_|save|fit|run|mkdir|register|report)", ast.unparse(node.func).rpartition(".")[2]) is not None


def _display(figure: Any, save: Any) -> dict[str, Any]:
    from PIL import Image

    drawn, small = io.BytesIO(), io.BytesIO()
    save(figure, drawn, dpi=DPI, format="png", facecolor="white")
    with Image.open(drawn) as image:
        image.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(small, format="png", optimize=True)
    encoded = base64.b64encode(small.getvalue()).decode()
    return {"output_type": "display_data", "data": {"image/png": encoded, "text/plain": "<Figure>"}, "metadata": {}}


def notebook(text: str, outputs: list[list[dict[str, Any]]]) -> dict[str, Any]:
    """Return a page as a notebook, its Python as cells with their outputs and all between as Markdown."""
    cells: list[dict[str, Any]] = []
    end, number = 0, 0

    def add_text(piece: str) -> None:
        if piece.strip():
            cells.append({"cell_type": "markdown", "id": f"c{len(cells)}", "metadata": {}, "source": piece.strip()})

    for match in FENCE.finditer(text):
        if "no-run" in match[1]:
            continue
        add_text(text[end : match.start()])
        code = {"cell_type": "code", "id": f"c{len(cells)}", "metadata": {}, "source": source(match[2])}
        cells.append(code | {"execution_count": number + 1, "outputs": outputs[number]})
        end, number = match.end(), number + 1
    add_text(text[end:])
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {
        "cells": cells,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def write(page: Path) -> None:
    """Run a page and write its notebook."""
    text, here = page.read_text(encoding="utf-8"), Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            outputs = run(text)
        finally:
            os.chdir(here)
    FOLDER.mkdir(exist_ok=True)
    target = path(page.relative_to(DOCS).as_posix())
    target.write_text(json.dumps(notebook(text, outputs), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def main() -> int:
    """Write notebooks, or check them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("pages", nargs="*", type=Path)
    parser.add_argument("--check", action="store_true", help="run nothing; exit with 1 if a notebook is out of date")
    arguments = parser.parse_args()
    wanted = [one.resolve() for one in arguments.pages] or [page for page in pages() if not is_current(page)]
    for page in wanted:
        start = time.perf_counter()
        if not arguments.check:
            write(page)
        print(
            f"{page.relative_to(ROOT)}: {'out of date' if arguments.check else f'{time.perf_counter() - start:.0f} s'}",
            flush=True,
        )
    return int(arguments.check and bool(wanted))


if __name__ == "__main__":
    sys.exit(main())
