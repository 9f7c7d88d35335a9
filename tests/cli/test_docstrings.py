"""What is read from docstrings."""

from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from untwine.cli import docstrings


def function(*, a: int = 1, b: float | None = None, c: Literal["x", "y"] = "x", d: Annotated[str | Path, "where"] = "z"):
    """Summarise
    in two lines.

    A paragraph - with a dash -
    goes on.

    Parameters
    ----------
    a, b
        Two numbers,
        explained together.
    c : text
        A choice.

    Notes
    -----
    - Source: drawn
      here.
    - Licence: none.
    """


def test_parts_of_a_docstring():
    assert docstrings.summary(function) == "Summarise in two lines."
    assert docstrings.description(function) == [
        "A paragraph - with a dash - goes on.",
        "- Source: drawn here.",
        "- Licence: none.",
    ]
    both = "Two numbers, explained together."
    assert docstrings.parameters(function) == {"a": both, "b": both, "c": "A choice."}
    assert docstrings.options(function) == [
        {"name": "a", "kind": "integer", "default": 1, "meaning": both},
        {"name": "b", "kind": "number or None", "default": None, "meaning": both},
        {"name": "c", "kind": "'x' or 'y'", "default": "x", "meaning": "A choice."},
        {"name": "d", "kind": "text or path", "default": "z", "meaning": ""},
    ]


def test_a_function_without_docstring_has_no_words():
    def bare(x=3): ...

    assert docstrings.summary(bare) == ""
    assert docstrings.description(bare) == []
    assert docstrings.options(bare) == [{"name": "x", "kind": "any value", "default": 3, "meaning": ""}]


def test_hints_that_only_a_type_checker_can_resolve_are_left_out():
    def typed(*, folder: "Unknown" = None): ...  # noqa: F821

    for function in (typed, partial(typed)):
        assert docstrings.options(function) == [{"name": "folder", "kind": "any value", "default": None, "meaning": ""}]
