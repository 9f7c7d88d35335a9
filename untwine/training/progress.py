"""A progress bar on a terminal, a line now and then in a file, and nothing where it is not wanted."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Advance = Callable[[int, Callable[[], str]], None]

LINE_SECONDS = 60.0  # the longest time without a line in a file
BAR_AND_NUMBERS = 60  # columns that a title, a bar and the numbers need; a narrower terminal shows no bar


@contextmanager
def bar(title: str, total: int, show: bool) -> Iterator[Advance]:
    """Show the progress of a long task: percent, time spent and time left, and a note in the space that they leave.

    Yields a function of (done, note). It may be called at every step: it draws at most ten times a second.
    """
    if not show:
        yield lambda done, note: None
    elif sys.stderr.isatty():
        yield from _drawn(title, total)
    else:
        yield from _printed(title, total)


def _drawn(title: str, total: int) -> Iterator[Advance]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn
    from rich.table import Column

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}", markup=False),
        *([BarColumn(bar_width=min(40, console.width // 5))] if console.width >= BAR_AND_NUMBERS else []),
        TextColumn("{task.fields[numbers]}", markup=False),
        # Only the note gives way where the terminal is narrow.
        TextColumn("{task.fields[note]}", markup=False, table_column=Column(ratio=1, no_wrap=True, overflow="ellipsis")),
    )
    clock, last = _Clock(total), 0.0
    with Progress(*columns, console=console, auto_refresh=False, expand=True) as progress:
        task = progress.add_task(_cut(title, max(8, console.width // 5)), total=total, numbers=clock.numbers(0), note="")

        def advance(done: int, note: Callable[[], str]) -> None:
            nonlocal last
            clock.start(done)
            if done == total or time.monotonic() - last > 0.1:
                last = time.monotonic()
                progress.update(task, completed=done, numbers=clock.numbers(done), note=note(), refresh=True)

        yield advance


def _printed(title: str, total: int) -> Iterator[Advance]:
    clock, shown, last = _Clock(total), 0, time.monotonic()

    def advance(done: int, note: Callable[[], str]) -> None:
        nonlocal shown, last
        clock.start(done)
        tenth = 10 * done // max(total, 1)
        if tenth > shown or time.monotonic() - last >= LINE_SECONDS:
            shown, last = tenth, time.monotonic()
            percent, spent, left = clock.read(done)
            rest = "" if math.isnan(left) else f", {left:.0f} s left"
            print(f"{title} {percent:3d} %, {spent:.0f} s{rest}  {note()}", file=sys.stderr, flush=True)

    yield advance


class _Clock:
    """Percent, time spent and time left; what was done before the first call, by a resumed task, took no time here."""

    def __init__(self, total: int) -> None:
        self.total, self.begin, self.first = total, time.monotonic(), -1

    def start(self, done: int) -> None:
        if self.first < 0:
            self.first = max(done - 1, 0)

    def read(self, done: int) -> tuple[int, float, float]:
        spent, new = time.monotonic() - self.begin, done - max(self.first, 0)
        return 100 * done // max(self.total, 1), spent, spent / new * (self.total - done) if new > 0 else math.nan

    def numbers(self, done: int) -> str:
        percent, spent, left = self.read(done)
        return f"{percent:3d}% {_hours(spent)} left {'-:--:--' if math.isnan(left) else _hours(left)}"


def _hours(seconds: float) -> str:
    whole = int(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02d}:{whole % 60:02d}"


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
