"""In this process: one cell after the other, for a debugger, or where other processes are not allowed."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from untwine.study.cells import Cell
from untwine.study.executors.executor import Replies
from untwine.study.executors.worker import BUSY_SECONDS, work


def run_cells(cells: Sequence[Cell], out: Path, workers: int | None, threads: int, log: Path) -> Replies:
    """Run cells in this process and yield each with its reply; what libraries print is printed."""
    waiting, skipped = deque(cells), 0
    while waiting:
        cell = waiting.popleft()
        with _threads(threads):
            reply = work(cell.to_json(), str(out))
        if "busy" not in reply:
            skipped = 0
            yield cell, reply
            continue
        waiting.append(cell)  # behind all cells that were not tried yet
        skipped += 1
        yield None
        if skipped >= len(waiting):
            skipped = 0
            time.sleep(BUSY_SECONDS)


@contextmanager
def _threads(threads: int) -> Iterator[None]:
    import torch
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]  # a requirement of scikit-learn

    before = torch.get_num_threads()
    with threadpool_limits(threads):
        torch.set_num_threads(threads)
        try:
            yield
        finally:
            torch.set_num_threads(before)
