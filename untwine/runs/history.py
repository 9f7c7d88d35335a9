"""The training history: the mean of every term over every epoch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from untwine._typing import Array

Term = tuple[str, str, str]


class Row(NamedTuple):
    """One line of the history: the mean of one term over one epoch."""

    stage: str
    epoch: int
    player: str
    term: str
    value: float


def terms(history: Iterable[Mapping[str, Any]]) -> dict[Term, tuple[Array, Array]]:
    """Sort the rows of a history into (stage, player, term) -> (epochs, values), in the order of their first appearance."""
    sorted_rows: dict[Term, list[tuple[float, float]]] = {}
    for row in history:
        try:
            key = (str(row["stage"]), str(row["player"]), str(row["term"]))
            point = (float(row["epoch"]), float(row["value"]))
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(
                f"A history expected rows with stage, epoch, player, term and value; got {dict(row)!r}; fit the run again."
            ) from error
        sorted_rows.setdefault(key, []).append(point)
    curves_by_term = {}
    for key, points in sorted_rows.items():
        epochs, values = np.array(points, dtype=float).T
        order = np.argsort(epochs, kind="stable")
        curves_by_term[key] = (epochs[order], values[order])
    return curves_by_term
