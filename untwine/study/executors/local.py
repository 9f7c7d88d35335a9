"""Processes of this machine: the standard library's process pools, one for each worker.

A pool ends as a whole when one of its processes dies. With a pool for each worker, that costs the cell that the process ran,
which is tried again in a new one, and no other.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from multiprocessing.process import BaseProcess
from pathlib import Path
from queue import SimpleQueue
from types import ModuleType

from untwine.study.cells import Cell
from untwine.study.executors.executor import Replies, Reply
from untwine.study.executors.worker import BUSY_SECONDS, STOPPED, start, work_until_interrupted

TRIES = 3  # of a cell whose worker died
STOP_SECONDS = 20.0  # that a stopped cell has to write a checkpoint
STARTING = threading.Lock()
START = "spawn"  # how a worker's process starts: with the environment of now, before torch is imported


def run_cells(cells: Sequence[Cell], out: Path, workers: int | None, threads: int, log: Path) -> Replies:
    """Run cells in workers and yield each with its reply as it finishes; None every half second, so that the caller can act.

    `workers` is the number of processes, by default one for each `threads` cores.
    """
    processes = [Worker(out, threads, log) for _ in range(workers or max(1, (os.cpu_count() or 1) // threads))]
    idle: SimpleQueue[Worker] = SimpleQueue()
    for worker in processes:
        idle.put(worker)

    def run(cell: Cell) -> Reply:
        worker = idle.get()
        try:
            return worker.run(cell)
        finally:
            idle.put(worker)

    with ThreadPoolExecutor(len(processes)) as pool:
        pending, busy, tried = {pool.submit(run, cell): cell for cell in cells}, list[Cell](), time.monotonic()
        try:
            while pending or busy:
                for done in wait(pending, timeout=0.5, return_when=FIRST_COMPLETED).done:
                    cell, reply = pending.pop(done), done.result()
                    if "busy" in reply:
                        busy.append(cell)
                    else:
                        yield cell, reply
                yield None
                if busy and time.monotonic() - tried >= BUSY_SECONDS:  # behind all cells that were not tried yet
                    pending |= {pool.submit(run, cell): cell for cell in busy}
                    busy, tried = [], time.monotonic()
                if not pending:
                    time.sleep(0.1)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            _stop(processes, [future for future in pending if not future.cancelled()])


def _stop(workers: Sequence[Worker], running: Collection[Future[Reply]]) -> None:
    """Interrupt what runs, so that a cell that is being trained writes a checkpoint, and end all workers."""
    for worker in workers:
        worker.stopped = True
    deadline = time.monotonic() + STOP_SECONDS
    try:
        while wait(running, timeout=0.2).not_done and time.monotonic() < deadline:
            for worker in workers:
                worker.signal(signal.SIGINT)  # again and again: a cell may only be about to begin
    finally:
        for worker in workers if not all(future.done() for future in running) else ():
            worker.signal(signal.SIGKILL)
        for worker in workers:
            worker.end()
        for worker in workers:
            worker.join()


class Worker:
    """A worker process, started for its first cell, and again after it died."""

    def __init__(self, out: Path, threads: int, log: Path) -> None:
        self.out, self.threads, self.log = out, threads, log
        self.pool: ProcessPoolExecutor | None = None
        self.process: BaseProcess | None = None
        self.stopped = False

    def run(self, cell: Cell) -> Reply:
        """Run a cell in the process, and return its reply."""
        for _ in range(TRIES):
            try:
                pool = self.pool or self._start()
                if self.stopped:
                    break
                return pool.submit(work_until_interrupted, cell.to_json(), str(self.out)).result()
            except BrokenProcessPool:
                code = self._bury()
        if self.stopped:
            return {"failed": STOPPED}
        return {"failed": f"its worker ended with code {code}, {TRIES} times; see {self.log}, and run the study again."}

    def signal(self, number: int) -> None:
        """Send a signal to the process, if it lives."""
        process = self.process
        if process is not None and process.pid is not None and process.is_alive():
            with suppress(ProcessLookupError):
                os.kill(process.pid, number)

    def end(self) -> None:
        """Let the process exit when it is idle."""
        if self.pool is not None:
            self.pool.shutdown(wait=False)

    def join(self) -> None:
        """Wait until the process is gone."""
        if self.process is not None:
            self.process.join()

    def _start(self) -> ProcessPoolExecutor:
        pool = ProcessPoolExecutor(1, multiprocessing.get_context(START), start, (self.threads, str(self.log)))
        with _starting():
            started = pool.submit(os.getpid)
        self.pool = pool
        pid = started.result()
        self.process = next(process for process in multiprocessing.active_children() if process.pid == pid)
        return pool

    def _bury(self) -> int | None:
        """Forget a process that died, and return its exit code."""
        self.end()
        self.join()
        process, self.pool, self.process = self.process, None, None
        return None if process is None else process.exitcode


@contextmanager
def _starting() -> Iterator[None]:
    """Start a process that does not run the user's script once more, guarded or not, and to which Ctrl-C does nothing yet."""
    with STARTING:
        main, blocked = sys.modules["__main__"], signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            yield
        finally:
            sys.modules["__main__"] = main
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
