"""Checks of the options that data sets take, each with one sentence for what does not fit."""

from __future__ import annotations

import math

import numpy as np


def whole(name: str, value: object, least: int, most: int | None = None) -> int:
    """Return the option as an integer from `least` to `most`, or say what was expected."""
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        number = int(value)
        if number >= least and (most is None or number <= most):
            return number
    bounds = f"of at least {least}" if most is None else f"from {least} to {most}"
    raise ValueError(f"{name} expected a whole number {bounds}, but got {value!r}.")


def real(name: str, value: object, least: float, most: float = math.inf) -> float:
    """Return the option as a finite float from `least` to `most`, or say what was expected."""
    if isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool):
        number = float(value)
        if math.isfinite(number) and least <= number <= most:
            return number
    bounds = f"of at least {least:g}" if most == math.inf else f"from {least:g} to {most:g}"
    raise ValueError(f"{name} expected a number {bounds}, but got {value!r}.")
