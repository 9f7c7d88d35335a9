"""Local worker processes: each reads cells as lines of JSON and replies with {"rows": [...]} or {"failed": sentence}.

The reply {"busy": true} means that another process is running the cell; it is tried again later, when its rows may be there.
A worker keeps the data of its last cell in memory, and exits when the process that started it is gone.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import suppress
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from untwine.data import Splits, load
from untwine.runs.saving import seal
from untwine.study.cells import Cell, try_cell
from untwine.training.threads import wait_policy

START = "from untwine.study.executors.local import serve; serve()"
BUSY_SECONDS = 1.0  # after which cells that another process was running are tried again
STOP_SECONDS = 20.0  # that a stopped worker has to write a checkpoint
Reply = dict[str, Any]


def run_cells(cells: Sequence[Cell], out: Path, workers: int, threads: int, log: Path) -> Generator[tuple[Cell, Reply] | None]:
    """Run cells in workers and yield each with its reply as it finishes; None every half second, so that the caller can act."""
    processes = [Worker(out, threads, log) for _ in range(workers)]
    idle: SimpleQueue[Worker] = SimpleQueue()
    for worker in processes:
        idle.put(worker)

    def run(cell: Cell) -> Reply:
        worker = idle.get()
        try:
            return worker.run(cell)
        finally:
            idle.put(worker)

    with ThreadPoolExecutor(workers) as pool:
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
            for worker in processes:
                worker.stop()
            for worker in processes:
                worker.end()


class Worker:
    """A worker process, started for its first cell, and again after it died."""

    def __init__(self, out: Path, threads: int, log: Path) -> None:
        self.command = [sys.executable, "-c", START, str(out), str(threads)]
        self.environment = os.environ | wait_policy(os.environ) | {"OMP_NUM_THREADS": str(threads)}
        self.log = log
        self.process: subprocess.Popen[str] | None = None
        self.stopped = False

    def run(self, cell: Cell) -> Reply:
        """Run a cell in the process, and return its reply."""
        if self.stopped:
            return {"failed": "it was stopped; run the study again to resume it."}
        process = self.process = self.process or self._start()
        try:
            process.stdin.write(json.dumps(cell.to_json()) + "\n")  # type: ignore[union-attr]
            process.stdin.flush()  # type: ignore[union-attr]
            reply = process.stdout.readline()  # type: ignore[union-attr]
        except BrokenPipeError:
            reply = ""
        if reply:
            return dict(json.loads(reply))
        self.end()
        return {"failed": f"its worker ended with code {process.returncode}; see {self.log}, and run the study again."}

    def stop(self) -> None:
        """Interrupt the process; a cell that is being trained has time to write a checkpoint."""
        self.stopped = True
        if self.process is not None:
            self.process.send_signal(signal.SIGINT)

    def end(self) -> None:
        """Wait for the process to exit, and kill it if it does not."""
        process, self.process = self.process, None
        if process is None:
            return
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
        with suppress(BrokenPipeError), process:  # closes the pipes, even with a cell that was not read
            pass

    def _start(self) -> subprocess.Popen[str]:
        with self.log.open("ab") as log:
            return subprocess.Popen(  # noqa: S603 (our own command only)
                self.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=self.environment,
                text=True,
                start_new_session=True,  # Ctrl-C goes to the parent, which passes it on once
            )


def serve() -> None:
    """Run cells from standard input until it is closed: the main function of a worker process."""
    import torch

    out, threads = Path(sys.argv[1]), int(sys.argv[2])
    torch.set_num_threads(threads)
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a library prints must not be mistaken for a reply
    lines: SimpleQueue[str] = SimpleQueue()
    threading.Thread(target=_listen, args=(lines,), daemon=True).start()
    data = _LastData()
    try:
        while True:
            cell = Cell(**json.loads(lines.get()))
            try:
                finished = try_cell(cell, out, partial(data.of, cell))
                reply: Reply = {"busy": True} if finished is None else finished._asdict()
            except Exception as error:
                traceback.print_exc()
                reply = {"failed": " ".join(str(error).split()) or type(error).__name__}
            replies.write(json.dumps(reply) + "\n")
            replies.flush()
    except KeyboardInterrupt:
        sys.exit(130)


class _LastData:
    """The data of the last cell, which the next one often shares."""

    def __init__(self) -> None:
        self.key = ""
        self.splits: Splits | None = None

    def of(self, cell: Cell) -> Splits:
        key = seal({"name": cell.name, "options": cell.options, "part": cell.part})
        if self.splits is None or key != self.key:
            self.splits = None  # frees the memory before the next data set is loaded
            self.key, self.splits = key, _load(cell)
        return self.splits


def _load(cell: Cell) -> Splits:
    splits = load(cell.name, **cell.options)
    if cell.part == "test":
        return splits
    from untwine.data.splits import validation_split

    return validation_split(splits)


def _listen(lines: SimpleQueue[str]) -> None:
    for line in sys.stdin:
        lines.put(line)
    os._exit(0)  # the parent is gone; what was trained is in the checkpoint
