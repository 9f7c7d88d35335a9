"""What readers leave out or convert: said where it is read, printed by `untwine data show`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_NOTES: ContextVar[list[str] | None] = ContextVar("notes", default=None)


def say(sentence: str) -> None:
    """Note what was left out or converted and why, for whoever collects notes; else nothing happens."""
    notes = _NOTES.get()
    if notes is not None and sentence not in notes:
        notes.append(sentence)


@contextmanager
def collect() -> Iterator[list[str]]:
    """Collect what readers say in this block."""
    notes: list[str] = []
    token = _NOTES.set(notes)
    try:
        yield notes
    finally:
        _NOTES.reset(token)
