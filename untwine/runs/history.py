"""The training history of a run: the mean of every term over every epoch, and the file that holds it."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from untwine._typing import Array
from untwine.runs import files
from untwine.runs.names import HISTORY

Term = tuple[str, str, str]


class Row(NamedTuple):
    """One line of the history: the mean of one term over one epoch."""

    stage: str
    epoch: int
    player: str
    term: str
    value: float


def write_history(folder: str | os.PathLike[str], history: Sequence[Row]) -> None:
    """Write the history of a run as CSV, every value with all its digits."""
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(Row._fields)
    writer.writerows((*row[:4], repr(row.value)) for row in history)
    files.write(Path(folder) / HISTORY, table.getvalue())


def read_history(folder: str | os.PathLike[str]) -> list[Row] | None:
    """Read what `write_history` wrote; None where there is no file."""
    path = Path(folder) / HISTORY
    if not path.exists():
        return None
    try:
        with path.open(newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            if lacking := set(Row._fields) - set(reader.fieldnames or ()):
                raise ValueError(f"it lacks {', '.join(sorted(lacking))}")
            rows = [Row(r["stage"], int(r["epoch"]), r["player"], r["term"], float(r["value"])) for r in reader]
    except (ValueError, TypeError, csv.Error) as error:
        raise ValueError(
            f"{path} must have the columns {', '.join(Row._fields)} as they were saved; it cannot be read ({error}); "
            "restore it or fit the run again."
        ) from None
    return rows


def terms(history: Iterable[Row | Mapping[str, Any]]) -> dict[Term, tuple[Array, Array]]:
    """Sort the rows of a history into (stage, player, term) -> (epochs, values), in the order of their first appearance."""
    points: dict[Term, list[tuple[float, float]]] = {}
    for row in history:
        columns = row._asdict() if isinstance(row, Row) else row
        try:
            key = (str(columns["stage"]), str(columns["player"]), str(columns["term"]))
            point = (float(columns["epoch"]), float(columns["value"]))
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(
                f"history must have rows with stage, epoch, player, term and value; got {dict(columns)!r}; "
                "pass the history of a fitted method."
            ) from error
        points.setdefault(key, []).append(point)
    curves = {}
    for key, values_by_epoch in points.items():
        epochs, values = np.array(values_by_epoch, dtype=float).T
        order = np.argsort(epochs, kind="stable")
        curves[key] = (epochs[order], values[order])
    return curves
