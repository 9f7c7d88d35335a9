"""The runs of a selection: cells of a study without a file, which its executors run, or this process for data in memory."""

from __future__ import annotations

import _thread
import signal
import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from untwine.data import Splits, load, validation_split
from untwine.method.contract import Method
from untwine.runs import files
from untwine.selection.budget import Clock
from untwine.study.cells import Cell, run_cell
from untwine.study.executors.local import run_cells
from untwine.training.errors import TrainingError

HERE = "."  # a label that is no folder: runs stand right inside the folder of the selection


@dataclass(frozen=True)
class Source:
    """The data of a selection: what they are called, how workers load them, and the splits.

    Parameters
    ----------
    label
        The data in words.
    name, options
        What `load` is given; None and nothing for data in memory.
    splits
        Training and test split.
    """

    label: str
    name: str | None
    options: Mapping[str, Any]
    splits: Splits

    @property
    def is_in_memory(self) -> bool:
        """Whether no other process could load them."""
        return self.name is None and "target" not in self.options

    @classmethod
    def of(cls, data: str | Path | Splits | None, options: Mapping[str, Any] | None) -> Source:
        """Return data that are named, that the options `target` and `background` name, or that are in memory."""
        options = dict(options or {})
        if isinstance(data, Splits):
            if options:
                raise ValueError(f"data_options must be empty for data in memory; got {options}; leave them out.")
            return cls("data in memory", None, {}, data)
        label = str(data)
        if data is None and "target" in options:
            label = " against ".join(
                " and ".join(_paths(options[side])) for side in ("target", "background") if side in options
            )
        return cls(label, None if data is None else str(data), options, load(data, **options))


def _paths(target: Any) -> list[str]:
    several = target.values() if isinstance(target, Mapping) else target if isinstance(target, list) else [target]
    return [Path(str(one)).name for one in several]


def cell_of(source: Source, method: Method, metrics: Sequence[str], split: str = "test") -> Cell:
    """Return the cell of a method: `split` is what is scored, "test" or "validation"."""
    params = method.get_params()
    return Cell(
        HERE, HERE, HERE, method.name,
        name=source.name, options=source.options, part=split, method=method.name, params=params, shuffle="", learn="folds",
        metrics=tuple(metrics), resamples=5, epochs_scored=(), epochs_metrics=(),
    )  # fmt: skip


def run_all(
    cells: Sequence[Cell], source: Source, out: Path, clock: Clock, reserve: float, workers: int, threads: int
) -> Generator[tuple[Cell, str] | None]:
    """Run cells, and yield each with why it failed ("" where it did not) as it finishes; None every now and then.

    They stop when all but `reserve` seconds of the budget are spent: what is under way writes a checkpoint, and is resumed by
    the next call. A cell that is finished is not run again.
    """
    files.make_folder(out)
    if source.is_in_memory or workers == 0:
        yield from _run_here(cells, source.splits, out, clock, reserve)
        return
    running = run_cells(cells, out, workers, threads, out / "workers.log")
    with closing(running):
        for result in running:
            yield None if result is None else (result[0], str(result[1].get("failed", "")))
            if clock.left <= reserve:
                return


def _run_here(
    cells: Sequence[Cell], splits: Splits, out: Path, clock: Clock, reserve: float
) -> Generator[tuple[Cell, str] | None]:
    for cell in cells:
        yield None
        if clock.left <= reserve:
            return
        own = splits if cell.part == "test" else validation_split(splits)
        alarm = _Alarm(clock.left - reserve)
        try:
            with alarm:
                run_cell(cell, out, own)
            failed = ""
        except (ValueError, TrainingError) as error:
            failed = " ".join(str(error).split())
        except KeyboardInterrupt:
            if not alarm.rang:
                raise
            return
        yield cell, failed


class _Alarm:
    """Interrupts what this process runs, as Ctrl-C would, when the time is over: a fit then writes its checkpoint."""

    def __init__(self, seconds: float) -> None:
        self.rang, self.over = False, threading.Event()
        self.thread = threading.Thread(target=self._wait, args=(max(0.0, seconds),), daemon=True)
        self.before: Any = None

    def __enter__(self) -> None:
        if threading.current_thread() is threading.main_thread():  # no other thread can be interrupted
            self.before = signal.getsignal(signal.SIGINT)
            if self.before in (signal.SIG_IGN, signal.SIG_DFL):  # as of a job in the background
                signal.signal(signal.SIGINT, signal.default_int_handler)
            self.thread.start()

    def __exit__(self, *error: object) -> None:
        self.over.set()
        if self.before is not None:
            self.thread.join()
            signal.signal(signal.SIGINT, self.before)

    def _wait(self, seconds: float) -> None:
        if not self.over.wait(seconds):
            self.rang = True
            _thread.interrupt_main()
