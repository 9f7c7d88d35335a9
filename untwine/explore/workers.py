"""Work in the background: one thread for each kind of long work, which never keeps the program from ending."""

from __future__ import annotations

from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread


class Worker:
    """A thread that does one piece of work after the other; it ends with the program, whatever it is doing.

    Work must catch its own errors: there is nobody to raise them to.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._queue: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._thread: Thread | None = None

    def submit(self, work: Callable[[], None]) -> None:
        """Do this after all that was submitted before."""
        if self._thread is None:
            self._thread = Thread(target=self._run, name=self._name, daemon=True)
            self._thread.start()
        self._queue.put(work)

    def _run(self) -> None:
        while True:
            self._queue.get()()
