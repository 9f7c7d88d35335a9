"""Names that are given one by one or as a sequence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def as_names(field: str, given: Any) -> tuple[str, ...]:
    """Return one name or several as a tuple of different names, or refuse them."""
    if isinstance(given, str):
        return (given,)
    names = tuple(given) if isinstance(given, Iterable) else (given,)
    for name in names:
        if not isinstance(name, str) or not name:
            raise TypeError(f"{field} must be names; got {name!r}; pass strings.")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{field} must be different names; got {twice!r} twice; leave one out.")
    return names
