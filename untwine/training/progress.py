"""A progress bar on a terminal, a line for every tenth in a file, and nothing where it is not wanted."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Advance = Callable[[int, Callable[[], str]], None]


@contextmanager
def bar(title: str, total: int, show: bool) -> Iterator[Advance]:
    """Show the progress of a long task and the time left.

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
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
    )
    last = 0.0
    with Progress(*columns, console=Console(stderr=True), auto_refresh=False) as progress:
        task = progress.add_task(title, total=total, note="")

        def advance(done: int, note: Callable[[], str]) -> None:
            nonlocal last
            if done == total or time.monotonic() - last > 0.1:
                last = time.monotonic()
                progress.update(task, completed=done, note=note(), refresh=True)

        yield advance


def _printed(title: str, total: int) -> Iterator[Advance]:
    start, shown, first = time.monotonic(), 0, -1

    def advance(done: int, note: Callable[[], str]) -> None:
        nonlocal shown, first
        if first < 0:
            first = done - 1
        tenth = 10 * done // max(total, 1)
        if tenth > shown:
            shown = tenth
            spent = time.monotonic() - start
            left = spent / max(done - first, 1) * (total - done)
            print(f"{title} {10 * tenth:3d} %, {spent:.0f} s, {left:.0f} s left  {note()}", file=sys.stderr, flush=True)

    yield advance
