"""One package knows the files of a run folder: their names stand nowhere else."""

import ast
from pathlib import Path

import pytest

import untwine
from untwine.runs import names

ROOT = Path(untwine.__file__).parent
NAMES = (
    names.METHOD,
    names.WEIGHTS,
    names.HISTORY,
    names.CHECKPOINT,
    names.SCORES,
    names.GALLERY,
    names.CONTRAST,
    names.CODES,
    names.CELL,
    names.FAILED,
    names.LOCK,
    names.SELECTIONS,
)


def docstrings(tree):
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    bodies = [node.body for node in ast.walk(tree) if isinstance(node, kinds)]
    return {id(body[0].value) for body in bodies if body and isinstance(body[0], ast.Expr)}


def strings(path):
    """Return all string constants of a file, the fixed pieces of f-strings included, but no docstrings."""
    tree = ast.parse(path.read_text())
    skipped = docstrings(tree)
    constants = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in skipped)
    return [node.value for node in constants if isinstance(node.value, str)]


def test_the_names_are_those_of_every_run_written_so_far():
    assert NAMES == (
        "method.json",
        "weights.safetensors",
        "history.csv",
        "checkpoint.safetensors",
        "scores.json",
        "gallery.npz",
        "contrast.json",
        "codes.json",
        "cell.json",
        "failed.json",
        ".locked_by",
        "selections.json",
    )
    assert names.scores_name() == names.SCORES
    assert names.scores_name(20) == "scores_20.json"


def test_no_other_package_writes_the_names_of_the_files():
    elsewhere = [path for path in ROOT.rglob("*.py") if path != ROOT / "runs" / "names.py"]
    misplaced = [
        (str(path.relative_to(ROOT)), text)
        for path in elsewhere
        for text in strings(path)
        if any(name in text for name in NAMES) or text.endswith("scores_")  # of an epoch
    ]
    assert misplaced == []


def test_the_search_finds_what_it_looks_for(tmp_path):
    (tmp_path / "a.py").write_text(
        '"""method.json"""\nx = f"{1}/scores.json"\ndef f():\n    """codes.json"""\n    return "history.csv"\n'
    )
    assert strings(tmp_path / "a.py") == ["/scores.json", "history.csv"]


@pytest.mark.parametrize(
    "files, is_run, has_checkpoint, is_finished",
    [
        ((), False, False, False),
        ((names.METHOD,), True, False, True),
        ((names.CHECKPOINT,), False, True, False),
        ((names.METHOD, names.CHECKPOINT), True, True, False),
    ],
)
def test_a_folder_is_known_by_its_files(tmp_path, files, is_run, has_checkpoint, is_finished):
    for name in files:
        (tmp_path / name).touch()
    assert names.is_run(tmp_path) == is_run
    assert names.has_checkpoint(tmp_path) == has_checkpoint
    assert names.is_finished(tmp_path) == is_finished
