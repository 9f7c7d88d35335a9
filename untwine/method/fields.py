"""The rules that the fields of every method keep."""

from __future__ import annotations

import dataclasses
import inspect
import math
import typing
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

COUNTS = ("epochs", "batch", "width")  # at least 1, as are all that start with n_ and loop_
ABOVE_ZERO = ("lr", "scale", "w_background", "w_target")


def check(values: Mapping[str, Any], hints: Mapping[str, Any]) -> None:
    """Refuse a field of the wrong type or out of range, in one sentence."""
    for name, value in values.items():
        _check_type(name, value, hints[name])
        if name.startswith("n_") and isinstance(value, str) and value != "auto":
            raise ValueError(f"{name} must be a whole number of at least 1, or 'auto' to let the data decide; got {value!r}.")
        if isinstance(value, str) or value is None:
            continue
        if name.startswith(("n_", "loop_")) or name in COUNTS:
            if value < 1:
                raise ValueError(f"{name} must be a whole number of at least 1; got {value}.")
        elif name in ABOVE_ZERO:
            if not value > 0:
                raise ValueError(f"{name} must be a number above 0; got {value}.")
        elif value < 0:
            raise ValueError(f"{name} must be a number of at least 0; got {value}.")
    if values["seed"] >= 2**63:
        raise ValueError(f"seed must be a number below 2^63; got {values['seed']}.")


def _check_type(name: str, value: Any, hint: Any) -> None:
    allowed = typing.get_args(hint) or (hint,)
    number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    whole = number and isinstance(value, (int, np.integer))
    if (float in allowed and number and math.isfinite(value)) or (int in allowed and whole):
        return
    if not number and isinstance(value, tuple(kind for kind in allowed if kind not in (int, float))):
        return
    words = {int: "a whole number", float: "a finite number", str: "a name", bool: "True or False", type(None): "None"}
    expected = " or ".join(words.get(kind, str(kind)) for kind in allowed)
    raise TypeError(f"{name} expected {expected}; got {value!r}.")


class Option(NamedTuple):
    """One field of a method as its documentation shows it."""

    name: str
    kind: str
    default: Any
    meaning: str


def describe(cls: type[Any]) -> list[Option]:
    """Return every field of a method with what it may hold, its default and its meaning, read from the docstrings."""
    meanings: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        meanings |= _meanings(inspect.cleandoc(base.__doc__ or ""))
    hints = typing.get_type_hints(cls)
    return [
        Option(field.name, _kind(field.name, hints[field.name]), field.default, meanings.get(field.name, ""))
        for field in dataclasses.fields(cls)
    ]


def _meanings(doc: str) -> dict[str, str]:
    """Return the text of each parameter of a numpydoc section; names that share one entry share its text."""
    result: dict[str, str] = {}
    names: list[str] = []
    for line in doc.partition("Parameters\n----------\n")[2].splitlines():
        if line and not line.startswith(" "):
            names = line.split(", ")
            result |= dict.fromkeys(names, "")
        else:
            result |= {name: f"{result[name]} {line.strip()}".strip() for name in names}
    return result


def _kind(name: str, hint: Any) -> str:
    least = 1 if name.startswith(("n_", "loop_")) or name in COUNTS else 0
    whole = f"whole number >= {least}"
    words = {int: whole, float: "number > 0" if name in ABOVE_ZERO else "number >= 0", str: "name", bool: "True or False"}
    return " or ".join(words.get(kind, "None") for kind in typing.get_args(hint) or (hint,))
