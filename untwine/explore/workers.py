"""Work in the background: one thread for each kind of long work, which never keeps the program from ending."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread, get_native_id

NICE = 10


class Worker:
    """A thread that does one piece of work after the other; it ends with the program, whatever it is doing.

    Work must catch its own errors: there is nobody to raise them to.

    Parameters
    ----------
    name
        Of the thread.
    yields
        Whether it leaves the processor to others who need it, where the system can do that for a thread.
    """

    def __init__(self, name: str, yields: bool = False) -> None:
        self._name, self._yields = name, yields
        self._queue: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._thread: Thread | None = None

    def submit(self, work: Callable[[], None]) -> None:
        """Do this after all that was submitted before."""
        if self._thread is None:
            self._thread = Thread(target=self._run, name=self._name, daemon=True)
            self._thread.start()
        self._queue.put(work)

    def _run(self) -> None:
        if self._yields and sys.platform == "linux":  # elsewhere it would be the whole process
            with suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, get_native_id(), NICE)
        while True:
            self._queue.get()()
