"""Checks of options that several data sets share."""

from __future__ import annotations

from untwine.registry.checks import check_float, check_int
from untwine.registry.observations import SIDES


def check_size(size: object) -> int:
    """Return the side length of square images in pixels, from 8 to 128."""
    return check_int("size", size, SIDES[0], SIDES[-1])


def check_pooled_size(size: object, side: int) -> int:
    """Return the side length of images that are average-pooled from `side` pixels: a divisor of it."""
    choices = [one for one in range(8, side + 1) if side % one == 0]
    if isinstance(size, bool) or size not in choices:
        raise ValueError(f"size must be one of {', '.join(map(str, choices))}; got {size!r}.")
    return check_int("size", size, choices[0], side)


def check_test_share(test: object) -> float:
    """Return the share of a data set that is held out for testing, from 0.01 to 0.9."""
    return check_float("test", test, 0.01, 0.9)


def check_limit(name: str, limit: object) -> int | None:
    """Return the largest number of samples to use, at least 1; None means all."""
    return None if limit is None else check_int(name, limit, 1)
