"""Each side in a process of its own, as its users run it.

In one process a peer would train in the heap that our loop has the C library keep and that larger fits before it have grown,
with fewer page faults than in a program that never saw ours; how many fewer depends on what ran before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from multiprocessing import get_context

import torch


@contextmanager
def in_processes(sides: Mapping[str, Callable[[], float]]) -> Iterator[dict[str, Callable[[], float]]]:
    """Give each side a process for all of its rounds; the caller waits for each call, so one side runs at a time."""
    with ExitStack() as stack:
        remote: dict[str, Callable[[], float]] = {}
        for name, side in sides.items():
            threads = (torch.get_num_threads(),)
            pool = ProcessPoolExecutor(1, get_context("spawn"), torch.set_num_threads, threads)
            remote[name] = _Remote(stack.enter_context(pool), side)
        yield remote


class _Remote:
    """Runs a side in its process and returns its measurement."""

    def __init__(self, pool: ProcessPoolExecutor, side: Callable[[], float]) -> None:
        self.pool, self.side = pool, side

    def __call__(self) -> float:
        return self.pool.submit(self.side).result()
