"""A worker process of an executor: how it starts, and how it runs one cell. Imports nothing heavy before it has started."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import traceback
from collections.abc import Mapping
from functools import partial
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from untwine.training.threads import set_threads, sleep_while_waiting

if TYPE_CHECKING:
    from untwine.data import Splits
    from untwine.study.cells import Cell

BUSY_SECONDS = 1.0  # after which cells that another process was running are tried again
STOPPED = "it was stopped; run the study again to resume it."


def start(threads: int, log: str) -> None:
    """Prepare this process: its threads, its output, what Ctrl-C does, and that it ends with the process that started it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # until a cell runs
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    log_output(log)
    limit_threads(threads)


def log_output(path: str) -> None:
    """Append what libraries print, here or in C, to a file."""
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    for output in (1, 2):
        os.dup2(log, output)
    os.close(log)


def limit_threads(threads: int) -> None:
    """Set the threads of the numerical libraries, which are imported here if they were not yet."""
    sleep_while_waiting()
    set_threads(threads)


def work(cell: Mapping[str, Any], out: str, splits: Splits | None = None) -> dict[str, Any]:
    """Run a cell, given as JSON, in this process and return its reply: rows, a sentence, or that another process runs it."""
    from untwine.study.cells import Cell, try_cell

    one = Cell(**cell)
    try:
        finished = try_cell(one, Path(out), partial(_last.of, one) if splits is None else lambda: splits)
    except Exception as error:
        traceback.print_exc()
        return {"failed": " ".join(str(error).split()) or type(error).__name__}
    return {"busy": True} if finished is None else finished._asdict()


def work_until_interrupted(cell: Mapping[str, Any], out: str) -> dict[str, Any]:
    """Do the same in a process that lives on when Ctrl-C stops the cell."""
    signal.signal(signal.SIGINT, _interrupt)
    try:
        return work(cell, out)
    except KeyboardInterrupt:
        return {"failed": STOPPED}
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def load_data(cell: Cell) -> Splits:
    """Load the data of a cell: the training split, and the split that is scored."""
    from untwine.data import load, validation_split

    splits = load(cell.name, **cell.options)
    return splits if cell.part == "test" else validation_split(splits)


def data_key(cell: Cell) -> str:
    """Return what is equal for cells with the same data."""
    from untwine.runs.saving import seal

    return seal({"name": cell.name, "options": cell.options, "part": cell.part})


class LastData:
    """The data of the last cell, which the next one often shares."""

    def __init__(self) -> None:
        self.key = ""
        self.splits: Splits | None = None

    def of(self, cell: Cell) -> Splits:
        """Return the data of a cell."""
        key = data_key(cell)
        if self.splits is None or key != self.key:
            self.splits = None  # frees the memory before the next data set is loaded
            self.key, self.splits = key, load_data(cell)
        return self.splits


_last = LastData()


def _end_with(parent: BaseProcess) -> None:
    parent.join()
    os._exit(0)  # what was trained is in the checkpoint


def _interrupt(number: int, frame: FrameType | None) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # however often it is sent, a cell is interrupted once
    raise KeyboardInterrupt
