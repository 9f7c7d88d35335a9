"""`Study`: many runs, each a data set, a method and a seed, and the long table of their scores."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from untwine.data.location import data_folder
from untwine.plots.studies import Panel
from untwine.registry.checks import check_choice, check_float, check_int, suggestion
from untwine.runs import files
from untwine.study import reading
from untwine.study.cells import Cell, has_rows, note_failure
from untwine.study.executors.executor import Executor, Replies, find_executor
from untwine.study.published import find_study, table_path
from untwine.study.results import Entry, Result, append, by_cell, entries, panels, read_results
from untwine.study.schema import SIZES
from untwine.study.status import Status, read_status
from untwine.training.progress import Advance, bar


class RunSummary(NamedTuple):
    """What `Study.run` did: cells run, cells finished before or by another process, and sentences.

    There is a sentence for each data set that was skipped, and for each cell that failed.
    """

    finished: int
    known: int
    skipped: tuple[str, ...]
    failed: tuple[str, ...]


class Table(NamedTuple):
    """The table of a study, and the number of finished cells of another configuration, which it leaves out."""

    entries: list[Entry]
    others: int


@dataclass(frozen=True)
class Study:
    """Many runs as data x method x seed, described by a file.

    Parameters
    ----------
    path
        The TOML file; its stem is the study's name.
    spec
        Its content, checked.
    """

    path: Path
    spec: Mapping[str, Any]

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Study:
        """Read and check a study's file; a name that `untwine study list` shows is one that comes with the package."""
        file = find_study(path)
        return cls(file, reading.read(file))

    @property
    def name(self) -> str:
        """The name of the study: the stem of its file."""
        return self.path.stem

    def cells(self, size: str = "small") -> list[Cell]:
        """Return the cells of one size, `small` or `paper`."""
        return reading.cells(self.spec, self.name, size)

    def run(
        self,
        out: str | os.PathLike[str] = "runs/studies",
        size: str = "small",
        *,
        on: str | Executor = "local",
        workers: int | None = 1,
        threads: int | None = None,
        memory: float | None = None,
        gpus: float | None = None,
        address: str | None = None,
        only: Mapping[str, Collection[Any]] | None = None,
        results: str | os.PathLike[str] | None = None,
        progress: bool = False,
    ) -> RunSummary:
        """Run all unfinished cells, each in its run folder, and append each to the long table as it finishes.

        A run that was stopped or killed is resumed, also by another executor. A cell that fails is logged and the others
        continue; data sets whose files are missing are skipped. Several processes may run one study with the same `out` at
        once: a cell that another one is running is left to it, and its scores are taken when it is finished.

        Parameters
        ----------
        out
            Folder of the run folders: <out>/<study>/<size>/<data>/<row>-seed<seed>-... All machines of a cluster must share it.
        size
            `small` or `paper`.
        on
            Where: `local`, processes of this machine; `here`, this process; `ray`, a Ray cluster, or its address, "ray://host:port".
        workers
            How many cells run at a time; None: as many as the machine or the cluster has room for.
        threads, memory, gpus
            What each cell needs: threads, and on Ray gigabytes and GPUs; by default what the study says under `[resources]`,
            or one thread.
        address
            With `ray`, a running cluster, such as "host:6379"; by default one is started on this machine.
        only
            The values of `row`, `data` or `seed` to run.
        results
            The folder of the long table, <results>/<study>.csv; by default `results` next to the study's file, and
            `runs/studies/results` for a study of an installed package.
        progress
            Show a progress bar with the time left.
        """
        need = self._resources(size, threads, memory, gpus)
        if workers is not None:
            check_int("workers", workers, 1)
        execute = find_executor(on, address=address, memory=need.memory, gpus=need.gpus) if isinstance(on, str) else on
        table, place = self._table_path(results, write=True), Path(out) / self.name / size
        cells = different(_select(self.cells(size), only or {}))
        finished = {row["fingerprint"] for row in read_results(table)} & set(cells)
        pending = [cell for fingerprint, cell in cells.items() if fingerprint not in finished]
        missing = self.missing_data({cell.data for cell in pending})
        pending = [cell for cell in pending if cell.data not in missing]
        files.make_folder(place)
        log = _Log(place / "log.txt")
        for sentence in missing.values():
            log.write(sentence)
        restored = {cell.fingerprint for cell in pending if has_rows(cell, Path(out))}  # finished, and not in the long table
        running = execute(pending, Path(out), workers, need.threads, place / "workers.log")
        with bar(self.name, len(pending), progress) as advance, closing(running):
            ran, failed = self._collect(running, len(pending), restored, Path(out), table, log, advance)
        elsewhere = len(pending) - len(failed) - ran
        return RunSummary(ran, len(finished) + elsewhere, tuple(missing.values()), tuple(failed))

    def _collect(
        self, running: Replies, of: int, restored: Collection[str], out: Path, table: Path, log: _Log, advance: Advance
    ) -> tuple[int, list[str]]:
        """Append finished cells to the long table; return how many were run for that, and a sentence for each that failed."""
        failed, done, ran = list[str](), 0, 0
        for result in running:
            if result is not None:
                (cell, reply), done = result, done + 1
                if "rows" in reply:
                    append(table, reply["rows"])
                    ran += not reply["known"] or cell.fingerprint in restored
                else:
                    failed.append(f"{cell}: {reply['failed']}")
                    note_failure(cell, out, reply["failed"])
                log.write(f"{cell}: {reply.get('failed', 'finished')}")
            note = f"{done} of {of} cells" + f", {len(failed)} failed" * bool(failed)
            advance(done, partial(str, note))
        return ran, failed

    def results(self, size: str = "small", results: str | os.PathLike[str] | None = None) -> list[Result]:
        """Return the rows of the long table that belong to the current configuration."""
        fingerprints = {cell.fingerprint for cell in self.cells(size)}
        return [row for row in read_results(self._table_path(results)) if row["fingerprint"] in fingerprints]

    def table(self, size: str = "small", results: str | os.PathLike[str] | None = None, epoch: int | None = None) -> Table:
        """Return mean, standard deviation and range over seeds for every row and column, next to the published values.

        With `epoch`, the scores after that epoch, which must be one of the study's `epochs_scored`.
        """
        cells, rows = self.cells(size), read_results(self._table_path(results))
        scored = sorted({one for cell in cells for one in cell.epochs_scored})
        if epoch is not None and epoch not in scored:
            known = ", ".join(map(str, scored)) or "none"
            raise ValueError(f"epoch must be one of epochs_scored of {self.name} ({known}); got {epoch}.")
        others = {row["fingerprint"] for row in rows if row["size"] == size} - {cell.fingerprint for cell in cells}
        return Table(entries(self.spec, size, cells, by_cell(rows), epoch), len(others))

    def panels(self, size: str = "small", results: str | os.PathLike[str] | None = None) -> list[Panel]:
        """Return the panels of the study's figure, for `untwine.plots.studies.study_figure`."""
        return panels(self.spec, size, self.cells(size), by_cell(read_results(self._table_path(results))))

    def finished(self, size: str = "small", results: str | os.PathLike[str] | None = None) -> tuple[int, int]:
        """Return the number of finished cells, and of all cells."""
        fingerprints = {cell.fingerprint for cell in self.cells(size)}
        return len(fingerprints & {row["fingerprint"] for row in self.results(size, results)}), len(fingerprints)

    def _resources(self, size: str, threads: int | None, memory: float | None, gpus: float | None) -> reading.Resources:
        check_choice("size", size, SIZES)
        need = reading.resources(self.spec, size)
        return reading.Resources(
            check_int("threads", need.threads if threads is None else threads, 1),
            check_float("memory", need.memory if memory is None else memory, 0),
            check_float("gpus", need.gpus if gpus is None else gpus, 0),
        )

    def _table_path(self, results: str | os.PathLike[str] | None, write: bool = False) -> Path:
        return table_path(self.path, write) if results is None else Path(results) / f"{self.name}.csv"

    def status(
        self,
        out: str | os.PathLike[str] = "runs/studies",
        size: str = "small",
        results: str | os.PathLike[str] | None = None,
    ) -> Status:
        """Return which cells are finished, running (by whom, since when), failed (why) and missing, and the time left."""
        cells = different(self.cells(size)).values()
        rows = self.results(size, results)
        return read_status(cells, Path(out), rows, self.missing_data({cell.data for cell in cells}))

    def missing_data(self, wanted: Collection[str]) -> dict[str, str]:
        """Return a sentence for each of these data sets whose files are missing."""
        sentences, place = {}, data_folder(None)
        for data in self.spec["data"]:
            name, lacking = reading.label(data), [need for need in data.get("needs", ()) if not (place / need).exists()]
            if lacking and name in wanted:
                sentences[name] = (
                    f"{name} is skipped: {lacking[0]} is missing in {place}; "
                    "set the environment variable UNTWINE_DATA to a folder that has it."
                )
        return sentences


def different(cells: Iterable[Cell]) -> dict[str, Cell]:
    """Return cells by fingerprint: equal ones run once."""
    unequal: dict[str, Cell] = {}
    for cell in cells:
        unequal.setdefault(cell.fingerprint, cell)
    return unequal


class _Log:
    """A log file: one line a sentence, with the time."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def write(self, sentence: str) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {sentence}\n")


def _select(cells: Iterable[Cell], only: Mapping[str, Collection[Any]]) -> list[Cell]:
    selected = list(cells)
    for key, values in only.items():
        check_choice("the key of only", key, ("row", "data", "seed"))
        known = list(dict.fromkeys(getattr(cell, key) for cell in cells))
        for value in values:
            if value not in known:
                hint = suggestion(value, map(str, known))
                raise ValueError(f"only must name a {key} of the study; got {value!r}; {hint}")
        selected = [cell for cell in selected if getattr(cell, key) in values]
    return selected
