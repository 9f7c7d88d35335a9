"""Progress against a budget: percent and time left of the budget, and what is done in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from untwine.selection.budget import Clock
from untwine.training.progress import bar


@contextmanager
def budget_bar(title: str, clock: Clock, show: bool) -> Iterator[Callable[[str], None]]:
    """Show how much of the budget is left; yields a function that takes what is done in words, at any time."""
    total = max(1, round(clock.seconds))
    with bar(title, total, show) as advance:
        advance(0, str)
        yield lambda note: advance(min(total - 1, round(clock.spent)), note.__str__)
