"""Local worker processes: each reads cells as lines of JSON and answers with {"rows": [...]} or {"failed": sentence}.

A worker keeps the data of its last cell, and ends when the process that started it ends, however that was.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from untwine.data import Splits, load
from untwine.runs.saving import seal
from untwine.study.cells import Cell, run_cell

START = "from untwine.study.executors.local import work; work()"
PATIENCE = 20.0  # seconds to write a checkpoint in, when a worker is stopped
Answer = dict[str, Any]


def answers(cells: Sequence[Cell], out: Path, workers: int, threads: int, log: Path) -> Generator[tuple[Cell, Answer] | None]:
    """Have cells run, and yield each with its answer as they end; None now and then while there is none."""
    crew = [Worker(out, threads, log) for _ in range(workers)]
    idle: SimpleQueue[Worker] = SimpleQueue()
    for worker in crew:
        idle.put(worker)

    def ask(cell: Cell) -> Answer:
        worker = idle.get()
        try:
            return worker.ask(cell)
        finally:
            idle.put(worker)

    with ThreadPoolExecutor(workers) as pool:
        asked = {pool.submit(ask, cell): cell for cell in cells}
        try:
            while asked:
                for done in wait(asked, timeout=0.5, return_when=FIRST_COMPLETED).done:
                    yield asked.pop(done), done.result()
                yield None
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in crew:
                worker.stop()
            for worker in crew:
                worker.end()


class Worker:
    """A worker process, started when it is first asked, and again after it died."""

    def __init__(self, out: Path, threads: int, log: Path) -> None:
        self.command = [sys.executable, "-c", START, str(out), str(threads)]
        self.environment, self.log = os.environ | {"OMP_NUM_THREADS": str(threads)}, log
        self.process: subprocess.Popen[str] | None = None
        self.stopped = False

    def ask(self, cell: Cell) -> Answer:
        """Have a cell run, and return the answer."""
        if self.stopped:
            return {"failed": "it was stopped; run the study again to go on."}
        process = self.process = self.process or self._start()
        try:
            process.stdin.write(json.dumps(cell.to_json()) + "\n")  # type: ignore[union-attr]
            process.stdin.flush()  # type: ignore[union-attr]
            answer = process.stdout.readline()  # type: ignore[union-attr]
        except BrokenPipeError:
            answer = ""
        if answer:
            return dict(json.loads(answer))
        self.end()
        return {"failed": f"its worker ended with code {process.returncode}; see {self.log}, and run the study again."}

    def stop(self) -> None:
        """Ask the process to end; a cell that is being trained gets the time to keep a checkpoint."""
        self.stopped = True
        if self.process is not None:
            self.process.send_signal(signal.SIGINT)

    def end(self) -> None:
        """Wait until the process has ended, and end it if it does not."""
        process, self.process = self.process, None
        if process is None:
            return
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
        with suppress(BrokenPipeError), process:  # closes the pipes, even with a cell that nobody took
            pass

    def _start(self) -> subprocess.Popen[str]:
        with self.log.open("ab") as log:
            return subprocess.Popen(  # noqa: S603 (our own words only)
                self.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=self.environment,
                text=True,
                start_new_session=True,  # Ctrl-C comes to whoever asks, who passes it on once
            )


def work() -> None:
    """Answer cells until nobody asks any more: what a worker process does."""
    import torch

    out, threads = Path(sys.argv[1]), int(sys.argv[2])
    torch.set_num_threads(threads)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a library prints is no answer
    lines: SimpleQueue[str] = SimpleQueue()
    threading.Thread(target=_listen, args=(lines,), daemon=True).start()
    loaded, splits = "", None
    try:
        while True:
            cell = Cell(**json.loads(lines.get()))
            try:
                data = seal({"name": cell.name, "options": cell.options, "part": cell.part})
                if splits is None or data != loaded:
                    splits = None  # the old rows go before the new ones come
                    loaded, splits = data, _load(cell)
                answer: Answer = {"rows": run_cell(cell, out, splits)}
            except Exception as error:
                traceback.print_exc()
                answer = {"failed": " ".join(str(error).split()) or type(error).__name__}
            answers.write(json.dumps(answer) + "\n")
            answers.flush()
    except KeyboardInterrupt:
        sys.exit(130)


def _load(cell: Cell) -> Splits:
    splits = load(cell.name, **cell.options)
    if cell.part == "test":
        return splits
    from untwine.data.splits import validation_split

    return validation_split(splits)


def _listen(lines: SimpleQueue[str]) -> None:
    for line in sys.stdin:
        lines.put(line)
    os._exit(0)  # nobody is left to take an answer; what was trained is in the checkpoint
