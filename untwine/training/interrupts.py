"""Ctrl-C that waits for the end of a step."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def interrupts(held: bool) -> Iterator[list[int]]:
    """Hold back Ctrl-C until the step is done, where there is a checkpoint to write; yields the signals received."""
    received: list[int] = []
    if not held or threading.current_thread() is not threading.main_thread():
        yield received
        return
    before = signal.signal(signal.SIGINT, lambda number, frame: received.append(number))
    try:
        yield received
    finally:
        signal.signal(signal.SIGINT, before)
