"""What of a study is finished, running, failed and missing, read from its long table and its run folders."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Literal, NamedTuple, get_args

from untwine.runs.locking import Holder, holder
from untwine.study.cells import Cell, failure, has_rows
from untwine.study.results import Result

State = Literal["finished", "running", "failed", "missing"]


class CellStatus(NamedTuple):
    """One cell: its state, who runs it, and the sentence with which it failed or why it is skipped."""

    cell: Cell
    state: State
    runs: Holder | None = None
    sentence: str = ""


class Status(NamedTuple):
    """All cells of a study, and the seconds left with as many at a time as run now; None where no cell is finished."""

    cells: Sequence[CellStatus]
    seconds_left: float | None

    @property
    def counts(self) -> dict[str, int]:
        """The number of cells in each state."""
        return {state: len(self.of(state)) for state in get_args(State)}

    def of(self, state: State) -> list[CellStatus]:
        """Return the cells in a state."""
        return [one for one in self.cells if one.state == state]


def read_status(cells: Iterable[Cell], out: Path, results: Sequence[Result], skipped: Mapping[str, str]) -> Status:
    """Return the status of cells with run folders in `out`; `skipped` has a sentence for each data set that is not here."""
    in_table = {row["fingerprint"] for row in results}
    states = [_status(cell, out, in_table, skipped) for cell in cells]
    return Status(states, _seconds_left(states, _seconds(results)))


def _status(cell: Cell, out: Path, in_table: set[str], skipped: Mapping[str, str]) -> CellStatus:
    if cell.fingerprint in in_table:
        return CellStatus(cell, "finished")
    folder = cell.folder(out)
    if who := holder(folder):
        return CellStatus(cell, "running", who)
    if has_rows(cell, out):  # the long table has them with the next `study run`
        return CellStatus(cell, "finished")
    if sentence := failure(cell, out):
        return CellStatus(cell, "failed", sentence=sentence)
    return CellStatus(cell, "missing", sentence=skipped.get(cell.data, ""))


def _seconds(results: Sequence[Result]) -> dict[tuple[str, str], float]:
    """Return the mean seconds of a cell, of fit and scores, for each data set and row of the long table."""
    cells: dict[str, float] = {}
    of_row: dict[tuple[str, str], dict[str, float]] = {}
    for row in results:
        mark = row["fingerprint"]
        cells[mark] = cells.get(mark, float(row["fit_seconds"])) + float(row["seconds"])
        of_row.setdefault((row["data"], row["row"]), {})[mark] = cells[mark]
    return {key: fmean(seconds.values()) for key, seconds in of_row.items()}


def _seconds_left(states: Sequence[CellStatus], known: Mapping[tuple[str, str], float]) -> float | None:
    """Return the mean seconds of what is left, by the finished seeds of each row, divided by the number of cells that run."""
    left = [one for one in states if one.state in ("running", "missing") and not one.sentence]
    if not known or not left:
        return None if left else 0.0
    usual, total, now = fmean(known.values()), 0.0, time.time()
    for cell, _, runs, _ in left:
        seconds = known.get((cell.data, cell.row), usual)
        total += max(seconds - (now - runs.since if runs else 0.0), 0.0)
    return total / max(sum(one.runs is not None for one in left), 1)
