"""The rules that the fields of every method keep."""

from __future__ import annotations

import dataclasses
import inspect
import math
import re
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

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


@dataclass(frozen=True)
class Option:
    """One field of a method: its name, its type in words, its default and its meaning."""

    name: str
    kind: str
    default: object
    meaning: str


def describe(cls: type) -> list[Option]:
    """Return the fields of a method, each with the meaning that the section Parameters of a class docstring gives it."""
    meanings: dict[str, str] = {}
    for parent in reversed(cls.__mro__):
        section = re.search(
            r"^Parameters\n-+\n(.*?)(?=^\w[^\n]*\n-{3,}$|\Z)",
            inspect.cleandoc(parent.__dict__.get("__doc__") or ""),
            re.M | re.S,
        )
        for entry in re.split(r"\n(?=\S)", section.group(1).strip()) if section else ():
            names, _, text = entry.partition("\n")
            meanings |= dict.fromkeys((name.strip() for name in names.split(",")), " ".join(text.split()))
    hints = typing.get_type_hints(cls)
    words = {int: "whole number", float: "number", str: "text", bool: "true or false", type(None): "null"}
    return [
        Option(
            field.name,
            " or ".join(words.get(kind, str(kind)) for kind in typing.get_args(hints[field.name]) or (hints[field.name],)),
            field.default,
            meanings.get(field.name, ""),
        )
        for field in dataclasses.fields(cls)
    ]
