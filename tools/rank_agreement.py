"""Print how well the ranking without labels agrees with labelled scores, over the finished cells of studies that have both.

    python tools/rank_agreement.py [studies/results/ranking.csv ...]

The labelled score of a cell is the mean of what its data set has of: class probe and salient factors, from the salient block
minus from the common block; the other factors, from the common block minus from the salient one. *Salient truth alone* leaves
these other factors out. Spearman's correlation with `untwine.evaluation.ranking.label_free` is printed for every data set and
for all together (of the ranks within each data set), with 95 % intervals from 2,000 resamples of the rows of the study, all
seeds of a row together. *chosen* is the row that the ranking puts first (mean over seeds), *best* the labelled score of
the best row.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata

from untwine.evaluation.ranking import label_free
from untwine.study.results import read_results

RESULTS = Path(__file__).parents[1] / "studies" / "results"
RESAMPLES = 2000


class Cell(NamedTuple):
    """One finished cell that has both scores."""

    data: str
    row: str
    free: float
    labelled: float
    salient: float


def labelled(scores: Mapping[str, float]) -> tuple[float, float] | None:
    """Return the labelled score of a cell, and that of the salient truth alone; None where there is no salient truth."""

    def difference(metric: str, own: str, other: str) -> float | None:
        pair = [scores.get(f"{metric}.{block}") for block in (own, other)]
        return None if None in pair else max(pair[0], 0.0) - max(pair[1], 0.0)  # an R2 below 0 is no knowledge either

    salient = [difference(metric, "salient", "common") for metric in ("probe", "factors_salient")]
    salient = [value for value in salient if value is not None]
    if not salient:
        return None
    common = difference("factors", "common", "salient")
    return float(np.mean([np.mean(salient), *([] if common is None else [common])])), float(np.mean(salient))


def cells(paths: Sequence[Path]) -> list[Cell]:
    """Return the cells of long tables that have both scores."""
    found: dict[str, tuple[str, str, dict[str, float]]] = {}
    for path in paths:
        for row in read_results(path):
            found.setdefault(row["fingerprint"], (row["data"], row["row"], {}))[2][row["score"]] = row["value"]
    pairs = [(data, row, label_free(scores), labelled(scores)) for data, row, scores in found.values()]
    return [Cell(data, row, free.value, *truth) for data, row, free, truth in pairs if free is not None and truth is not None]


def pooled(some: Sequence[Cell], against: str = "labelled") -> float:
    """Return Spearman's correlation of the ranks within each data set, with the labelled score or with `salient`."""
    ranks = []
    for data in dict.fromkeys(cell.data for cell in some):
        of = [cell for cell in some if cell.data == data]
        ranks += [
            np.column_stack([rankdata(x) / len(of) for x in zip(*((c.free, getattr(c, against)) for c in of), strict=True)])
        ]
    table = np.concatenate(ranks)
    return float(np.corrcoef(table.T)[0, 1]) if (np.ptp(table, axis=0) > 0).all() else 0.0


def interval(some: Sequence[Cell], against: str = "labelled") -> tuple[float, float]:
    """Return the bootstrap interval of `pooled`, over rows of each data set."""
    rng, by_row = np.random.default_rng(0), dict[str, dict[str, list[Cell]]]()
    for cell in some:
        by_row.setdefault(cell.data, {}).setdefault(cell.row, []).append(cell)
    values = []
    for _ in range(RESAMPLES):
        drawn = []
        for rows in by_row.values():
            names = list(rows)
            drawn += [cell for i in rng.integers(0, len(names), len(names)) for cell in rows[names[i]]]
        values.append(pooled(drawn, against))
    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)


def chosen(some: Sequence[Cell]) -> tuple[str, float, float]:
    """Return the row that the ranking puts first, its labelled score, and the labelled score of the best row."""
    rows = {row: [cell for cell in some if cell.row == row] for row in dict.fromkeys(cell.row for cell in some)}
    free = {row: float(np.mean([cell.free for cell in of])) for row, of in rows.items()}
    truth = {row: float(np.mean([cell.labelled for cell in of])) for row, of in rows.items()}
    first = max(free, key=free.__getitem__)
    return first, truth[first], max(truth.values())


def lines(paths: Sequence[Path]) -> list[str]:
    """Return the table as lines of Markdown."""
    every = cells(paths)
    table = ["| data set | cells | Spearman | salient truth alone | chosen | its labelled score | best |", "|" + " --- |" * 7]
    for data in dict.fromkeys(cell.data for cell in every):
        some = [cell for cell in every if cell.data == data]
        first, truth, best = chosen(some)
        table.append(f"| {data} | {len(some)} | {_agreement(some)} | {first} | {truth:.2f} | {best:.2f} |")
    return [*table, f"| all | {len(every)} | {_agreement(every)} | | | |"]


def _agreement(some: Sequence[Cell]) -> str:
    """Return both correlations with their intervals, as two cells of a table."""
    texts = []
    for against in ("labelled", "salient"):
        low, high = interval(some, against)
        texts.append(f"{pooled(some, against):.2f} ({low:.2f} to {high:.2f})")
    return " | ".join(texts)


if __name__ == "__main__":
    print("\n".join(lines([Path(name) for name in sys.argv[1:]] or sorted(RESULTS.glob("*.csv")))))
