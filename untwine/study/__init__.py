"""`Study`: many runs, each a data set, a method and a seed, and the one long table that is read back from them."""

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
from untwine.runs import files
from untwine.study import reading
from untwine.study.cells import Cell
from untwine.study.executors.local import answers
from untwine.study.results import Entry, Result, append, by_cell, entries, panels, read_results
from untwine.training.progress import bar

__all__ = ["Ran", "Study", "Table"]


class Ran(NamedTuple):
    """What `Study.run` did: cells run now, cells that were finished before, and sentences on those skipped and failed."""

    finished: int
    known: int
    skipped: tuple[str, ...]
    failed: tuple[str, ...]


class Table(NamedTuple):
    """The table of a study, and how many cells of another configuration the long table holds besides."""

    entries: list[Entry]
    others: int


@dataclass(frozen=True)
class Study:
    """Many runs as data x method x seed, described by a file.

    Parameters
    ----------
    path
        The TOML file; its name without the ending is the study's.
    said
        What it says, checked.
    """

    path: Path
    said: Mapping[str, Any]

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Study:
        """Read a study's file; what it cannot mean is refused in one sentence."""
        return cls(Path(path), reading.read(Path(path)))

    @property
    def name(self) -> str:
        """Its name."""
        return self.path.stem

    def cells(self, size: str = "small") -> list[Cell]:
        """Return what there is to run in one size, `small` or `paper`."""
        return reading.cells(self.said, self.name, size)

    def run(
        self,
        out: str | os.PathLike[str] = "runs/studies",
        size: str = "small",
        *,
        workers: int = 1,
        threads: int = 1,
        only: Mapping[str, Collection[Any]] | None = None,
        results: str | os.PathLike[str] | None = None,
        progress: bool = False,
    ) -> Ran:
        """Run all cells that are not finished, each in a run folder, and add each to the long table as it ends.

        A run that was stopped or killed goes on where it was. A cell that fails is told in the log, and the others go on; data
        that is not here is skipped.

        Parameters
        ----------
        out
            Where the run folders go: <out>/<study>/<size>/<data>/<row>-seed<seed>-...
        size
            `small` or `paper`.
        workers, threads
            How many cells run at a time, each in a process of its own, and the threads of each.
        only
            The values of `row`, `data` or `seed` to run.
        results
            The folder of the long table, <results>/<study>.csv; `results` beside the study's file where not given.
        progress
            Show how far it is and the time left.
        """
        for name, value in (("workers", workers), ("threads", threads)):
            if not isinstance(value, int) or value < 1:
                raise ValueError(f"{name} must be a whole number of at least 1; got {value!r}.")
        table, place = self._table_path(results), Path(out) / self.name / size
        cells: dict[str, Cell] = {}
        for cell in _chosen(self.cells(size), only or {}):
            cells.setdefault(cell.fingerprint, cell)  # equal ones run once
        finished = {row["fingerprint"] for row in read_results(table)} & set(cells)
        left = [cell for mark, cell in cells.items() if mark not in finished]
        absent = self._absent({cell.data for cell in left})
        left = [cell for cell in left if cell.data not in absent]
        files.make_folder(place)
        log, failed, done = _Log(place / "log.txt"), list[str](), 0
        for sentence in absent.values():
            log.write(sentence)
        running = answers(left, Path(out), workers, threads, place / "workers.log")
        with bar(self.name, len(left), progress) as advance, closing(running):
            for found in running:
                if found is not None:
                    (cell, answer), done = found, done + 1
                    if "rows" in answer:
                        append(table, answer["rows"])
                    else:
                        failed.append(f"{cell}: {answer['failed']}")
                    log.write(f"{cell}: {answer.get('failed', 'finished')}")
                note = f"{done} of {len(left)} cells" + f", {len(failed)} failed" * bool(failed)
                advance(done, partial(str, note))
        return Ran(len(left) - len(failed), len(finished), tuple(absent.values()), tuple(failed))

    def results(self, size: str = "small", results: str | os.PathLike[str] | None = None) -> list[Result]:
        """Return the lines of the long table that are of the present configuration."""
        marks = {cell.fingerprint for cell in self.cells(size)}
        return [row for row in read_results(self._table_path(results)) if row["fingerprint"] in marks]

    def table(self, size: str = "small", results: str | os.PathLike[str] | None = None, epoch: int | None = None) -> Table:
        """Return mean, deviation and range over seeds for every row and column, beside the paper's figures.

        With `epoch`, as they were after that one, where the study scores it (`epochs_scored`).
        """
        cells, whole = self.cells(size), read_results(self._table_path(results))
        scored = sorted({one for cell in cells for one in cell.epochs_scored})
        if epoch is not None and epoch not in scored:
            words = ", ".join(map(str, scored)) or "none"
            raise ValueError(f"epoch must be one that {self.name} scores on the way ({words}); got {epoch}.")
        marks = {cell.fingerprint for cell in cells}
        others = {row["fingerprint"] for row in whole if row["size"] == size} - marks
        return Table(entries(self.said, size, cells, by_cell(whole), epoch), len(others))

    def panels(self, size: str = "small", results: str | os.PathLike[str] | None = None) -> list[Panel]:
        """Return the study's figure, for `untwine.plots.studies.study_figure`."""
        return panels(self.said, size, self.cells(size), by_cell(read_results(self._table_path(results))))

    def _table_path(self, results: str | os.PathLike[str] | None) -> Path:
        return (self.path.parent / "results" if results is None else Path(results)) / f"{self.name}.csv"

    def _absent(self, wanted: Collection[str]) -> dict[str, str]:
        """Return a sentence for each data set whose files are not here."""
        found, place = {}, data_folder(None)
        for data in self.said["data"]:
            name, lacking = reading.label(data), [need for need in data.get("needs", ()) if not (place / need).exists()]
            if lacking and name in wanted:
                found[name] = (
                    f"{name} is skipped, for there is no {lacking[0]} in {place}; "
                    "set the environment variable UNTWINE_DATA to a folder that has it."
                )
        return found


class _Log:
    """Lines of a file, with the time."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def write(self, sentence: str) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {sentence}\n")


def _chosen(cells: Iterable[Cell], only: Mapping[str, Collection[Any]]) -> list[Cell]:
    chosen = list(cells)
    for key, values in only.items():
        if key not in ("row", "data", "seed"):
            raise ValueError(f"only expected row, data or seed; got {key!r}.")
        known = list(dict.fromkeys(getattr(cell, key) for cell in cells))
        for value in values:
            if value not in known:
                raise ValueError(f"only must be a {key} among {', '.join(map(str, known))}; got {value!r}.")
        chosen = [cell for cell in chosen if getattr(cell, key) in values]
    return chosen
