"""Ctrl-C that waits for the end of a step."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def interrupts(held: bool) -> Iterator[list[int]]:
    """Hold back Ctrl-C until the step is done, where there is a checkpoint to write; yields what has come."""
    came: list[int] = []
    if not held or threading.current_thread() is not threading.main_thread():
        yield came
        return
    before = signal.signal(signal.SIGINT, lambda number, frame: came.append(number))
    try:
        yield came
    finally:
        signal.signal(signal.SIGINT, before)
