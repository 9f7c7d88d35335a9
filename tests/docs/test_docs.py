"""The Python in the README and in the documentation runs as it is written."""

import ast
import functools
import importlib
import inspect
import os
import re
import shlex
import signal
import urllib.request
from pathlib import Path

import numpy as np
import pytest
from cyclopts import CycloptsError
from preloaded import run_code
from small import small, vectors

import untwine as un
from untwine.cli.app import app
from untwine.cli.commands.study import table_lines
from untwine.runs.selections import Selection, add_selection

ROOT = Path(__file__).parents[2]
PAGES = [
    path for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), ROOT / "CONTRIBUTING.md") if path.exists()
]
FENCE = re.compile(r"^```python([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)

# A page whose example would train for minutes says so in its first line, `# in the tests: epochs=1, ...`, and is then run with
# these options in every method that it makes, of the catalogue or registered on the page; `minutes` is the
# budget of every `un.compare` and `un.tune`.
SMALL = re.compile(r"^# in the tests: (.+)$", re.MULTILINE)


def blocks(page):
    """Return the Python of one page; one block may use what an earlier one has made.

    A fence `python no-run` is a sketch, which needs a person, a server or scanpy, and is run by a test of its own.
    """
    return [code for info, code in FENCE.findall(page.read_text()) if "no-run" not in info]


def program(page):
    code = "\n\n".join(blocks(page))
    options = ", ".join(found.group(1) for found in SMALL.finditer(code))
    if not options:
        return code
    smaller = f"""
import dataclasses, untwine.methods
def _smaller(_kind):
    def _make(self, *, _init=_kind.__init__, _names={{f.name for f in dataclasses.fields(_kind)}}, **given):
        _init(self, **{{**given, **{{k: v for k, v in dict({options}).items() if k in _names}}}})
    _kind.__init__ = _make
for _kind in untwine.methods.METHODS.values():
    _smaller(_kind)
def _register(_kind, _register=untwine.register):
    if dataclasses.is_dataclass(_kind) and isinstance(_kind, type):
        _smaller(_kind)
    return _register(_kind)
untwine.register = _register
def _shorter(_function):
    return lambda *given, **named: _function(*given, **{{**named, "minutes": dict({options})["minutes"]}})
if "minutes" in dict({options}):
    untwine.compare, untwine.tune = _shorter(untwine.compare), _shorter(untwine.tune)
"""
    return smaller + code


# The pages of the methods run in one process, in test_method_pages.py.
@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if blocks(page) and page.parent.name != "methods"],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_python_on_the_page_runs(page, tmp_path):
    code, errors = run_code(program(page), tmp_path, {"OMP_NUM_THREADS": "1", "MPLBACKEND": "agg"})
    assert code == 0, errors


SKETCHES = [(page, code) for page in PAGES for info, code in FENCE.findall(page.read_text()) if "no-run" in info]


@pytest.mark.parametrize(("page", "code"), SKETCHES, ids=[f"{page.stem}-{k}" for k, (page, _) in enumerate(SKETCHES)])
def test_a_sketch_names_what_there_is(page, code):
    tree = ast.parse(code)
    names = {"un": un}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] == "untwine":
            names |= {one.asname or one.name: getattr(importlib.import_module(node.module), one.name) for one in node.names}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not re.fullmatch(r"[\w.]+", path := ast.unparse(node.func)):
            continue
        first, *rest = path.split(".")
        if first in names:
            called = functools.reduce(getattr, rest, names[first])
            bound = inspect.signature(called.__call__ if inspect.ismodule(called) else called)
            bound.bind(*node.args, **{keyword.arg: keyword.value for keyword in node.keywords})


def sketch(page, word):
    """Return the sketch of a page in which a word is."""
    [code] = [code for one, code in SKETCHES if one == ROOT / "docs" / page and word in code]
    return code


def test_the_lines_that_explore_open_a_page_and_end_with_ctrl_c(tmp_path, monkeypatch, capsys):
    small("pca").fit(vectors(), out=tmp_path / "runs" / "x")
    opened = []

    def look(address):
        opened.append(urllib.request.urlopen(address).status)
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr("webbrowser.open", look)
    monkeypatch.chdir(tmp_path)
    exec(compile(sketch("tutorials/explore.md", "un.explore"), "explore.md", "exec"), {})
    assert opened == [200]
    assert "http://127.0.0.1:" in capsys.readouterr().out


def test_the_lines_that_read_a_selection_find_its_samples(tmp_path, monkeypatch):
    data = vectors()
    small("pca").fit(data, out=tmp_path / "runs" / "x")
    add_selection(tmp_path / "runs" / "x", Selection("thick ones", (4, 7)))
    monkeypatch.chdir(tmp_path)
    *lines, last = sketch("tutorials/explore.md", "read_selections").strip().splitlines()
    names = {"test": data}
    exec("\n".join(lines), names)
    np.testing.assert_array_equal(eval(last, names), data.x[[4, 7]])


def test_pages_link_to_what_is_there():
    broken = []
    for page in PAGES:
        text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
            if not re.match(r"[a-z]+:", target) and not (page.parent / target).exists():
                broken.append((page.name, target))
    assert broken == []


def commands(page):
    """Return the lines of a page's fences that start with `untwine`, but for those with `...`, which stands for anything."""
    for fence in re.findall(r"^```[^\n]*\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL):
        for line in fence.replace("\\\n", " ").splitlines():
            if re.match(r"(\$ )?untwine [a-z]", line) and "..." not in line and "[OPTIONS]" not in line:
                yield line.removeprefix("$ ")


@pytest.mark.parametrize("page", [page for page in PAGES if list(commands(page))], ids=lambda page: str(page.relative_to(ROOT)))
def test_the_command_line_accepts_the_commands_of_a_page(page):
    for line in commands(page):
        words = shlex.split(line, comments=True)[1:]
        try:
            app.parse_args(words, print_error=False, exit_on_error=False)
        except CycloptsError as error:
            pytest.fail(f"{line}: {error}")


def test_a_wrong_command_on_a_page_is_found():
    with pytest.raises(CycloptsError):
        app.parse_args(["fit", "vae", "--dta", "toy_contrast", "--out", "x"], print_error=False, exit_on_error=False)


@pytest.mark.parametrize("path", sorted((ROOT / "studies" / "results").glob("*.csv")), ids=lambda path: path.stem)
def test_the_tables_of_the_results_are_what_the_command_prints(path):
    study = un.Study.read(ROOT / "studies" / f"{path.stem}.toml")
    sizes = {line.split(",")[1] for line in path.read_text().splitlines()[1:]}
    assert sizes
    for size in sizes:
        printed = "\n".join(table_lines(study, study.table(size), markdown=True))
        assert printed.strip() in (ROOT / "docs" / "results.md").read_text()


def test_the_page_on_scikit_learn_has_folds_neighbours_and_watch():
    page = program(ROOT / "docs" / "tutorials" / "scikit_learn.md")
    for name in ("StratifiedKFold(", "NearestNeighbors(", "watch="):
        assert name in page
