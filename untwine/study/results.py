"""The long table of finished cells, an append-only CSV, and the entries of a study's table that are computed from it."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, repeat
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from untwine.plots.studies import Line, Panel
from untwine.runs import files
from untwine.runs.locking import lock
from untwine.study.cells import Cell
from untwine.study.reading import Row, best_by, columns, label, published_label, rows, title
from untwine.study.schema import SIZES

NUMBERS = {"seed": int, "epoch": int, "value": float, "low": float, "high": float, "n": int}
MEASURED = ("score", "value", "low", "high", "n", "seconds")
COLUMNS = ("study", "size", "data", "row", "seed", "epoch", *MEASURED, "fit_seconds", "fingerprint", "untwine")
HEAD = ",".join(COLUMNS) + "\n"

Result = dict[str, Any]
Scores = Mapping[str, Mapping[str, Mapping[int, float]]]  # fingerprint of a cell -> score -> epoch -> value


def read_results(path: Path) -> list[Result]:
    """Read the long table; an incomplete last line is left out, together with the cell that it belongs to."""
    results: list[Result] = []
    for number, row in enumerate(csv.DictReader(io.StringIO(_whole_text(path)), strict=True), start=2):
        try:
            results.append({**row, **{key: kind(row[key]) for key, kind in NUMBERS.items()}, "line": number})
        except (KeyError, TypeError, ValueError):
            raise ValueError(
                f"{path} must have the columns {HEAD.strip()} in every line; line {number} has others; restore the file."
            ) from None
    return results


def append(path: Path, new: Sequence[Mapping[str, Any]]) -> None:
    """Append the rows of one finished cell, all or none; only once, even if two processes ran it at the same time."""
    files.make_folder(path.parent)
    lines = io.StringIO()
    csv.DictWriter(lines, COLUMNS, lineterminator="\n").writerows(new)
    with lock(path.parent):
        text = _whole_text(path) or HEAD
        if not any(row["fingerprint"] in text for row in new):
            files.write(path, text + lines.getvalue())


def _whole_text(path: Path) -> str:
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    if not text or text.endswith("\n"):
        return text
    *lines, torn = text.splitlines(keepends=True)
    # It is unknown how much of the last cell is lost: it is left out, and its run folder still has its scores.
    cell = ",".join(lines[-1].split(",")[:5]) if lines else ""
    while len(lines) > 1 and lines[-1].startswith(cell) and torn.startswith(cell[: len(torn)]):
        lines.pop()
    return "".join(lines)


def by_cell(results: Iterable[Result]) -> Scores:
    """Index results by cell, score and epoch; the later of two duplicates wins."""
    scores: dict[str, dict[str, dict[int, float]]] = {}
    for row in results:
        scores.setdefault(row["fingerprint"], {}).setdefault(row["score"], {})[row["epoch"]] = row["value"]
    return scores


class Entry(NamedTuple):
    """One entry of the table: a row and a column.

    Attributes
    ----------
    data, row, column
        Labels of data set and row, title of the column.
    score
        The score shown: the first of the column's scores that the row has.
    mean, std
        Mean and sample standard deviation (n - 1 in the denominator, two seeds or more) over seeds, in the column's units.
    lowest, highest
        Minimum and maximum over seeds: worst and best, or best and worst where lower is better.
    seeds, of
        Number of finished seeds, and of all seeds.
    published
        The paper's value, if it has one.
    """

    data: str
    row: str
    column: str
    score: str
    mean: float | None
    std: float | None
    lowest: float | None
    highest: float | None
    seeds: int
    of: int
    published: float | None


def entries(spec: Mapping[str, Any], size: str, cells: Sequence[Cell], scores: Scores, epoch: int | None = None) -> list[Entry]:
    """Return the table of a study, data set by data set and row by row: the final scores, or those after an epoch."""
    table = []
    for data in (label(one) for one in spec["data"] if size in one.get("sizes", SIZES)):
        of_row = [(row, [c for c in cells if (c.data, c.row) == (data, row.label)]) for row in rows(spec, size, data)]
        for row, here in _keep_best_of_sweeps(of_row, scores):
            values = spec.get("published", {}).get(data, {}).get(published_label(row), [])
            for column, value in zip(columns(spec, data), chain(values, repeat(np.nan)), strict=False):
                table.append(_entry(data, row, column, here, scores, float(value), epoch))
    return table


def _keep_best_of_sweeps(of_row: Sequence[tuple[Row, list[Cell]]], scores: Scores) -> list[tuple[Row, list[Cell]]]:
    """Keep only the best row of each sweep with `lowest` or `highest`, once every seed of every value is finished."""
    means: dict[str, dict[str, float]] = {}
    for row, cells in of_row:
        if key := best_by(row.spec):
            values = [scores.get(cell.fingerprint, {}).get(row.spec[key]) for cell in cells]
            finished = [one[max(one)] for one in values if one]
            means.setdefault(row.spec["label"], {})[row.label] = (
                float(np.mean(finished)) * (1 if key == "lowest" else -1) if len(finished) == len(cells) else np.nan
            )
    best = {
        name: min(of_value, key=of_value.__getitem__)
        for name, of_value in means.items()
        if np.isfinite([*of_value.values()]).all()
    }
    return [(row, cells) for row, cells in of_row if best.get(row.spec["label"], row.label) == row.label]


def _entry(
    data: str,
    row: Row,
    column: Mapping[str, Any],
    cells: Sequence[Cell],
    scores: Scores,
    published: float,
    epoch: int | None,
) -> Entry:
    names, ending = column["scores"], row.spec.get("ending")
    if ending:
        names = [name.rsplit(".", 1)[0] + ending for name in names]
    finished = [scores[cell.fingerprint] for cell in cells if cell.fingerprint in scores]
    score = next((name for name in names if any(name in one for one in finished)), "")
    known = [_after(one[score], epoch) for one in finished if score in one]
    values = np.array([value for value in known if value is not None]) * column.get("scale", 1)
    return Entry(
        data,
        row.label,
        title(column),
        score,
        float(values.mean()) if len(values) else None,
        float(values.std(ddof=1)) if len(values) > 1 else None,
        float(values.min()) if len(values) else None,
        float(values.max()) if len(values) else None,
        len(finished),
        len(cells),
        None if np.isnan(published) or epoch is not None else published,  # published values are those after training
    )


def _after(values: Mapping[int, float], epoch: int | None) -> float | None:
    """Return the final value, or that after an epoch if it was scored; a method without epochs has one value for all."""
    last = max(values)
    return values[last] if epoch is None or not last else values.get(epoch)


def panels(spec: Mapping[str, Any], size: str, cells: Sequence[Cell], scores: Scores) -> list[Panel]:
    """Return the panels of a study's figure: scores over epochs, one line a row, and over a swept field, one line a score.

    Where the figure names a score `against` which the others are drawn, each of them has a panel, with a line for every swept
    row and a point for every other row.
    """
    figure, lines = spec.get("figure", {}), list(rows(spec, size))
    drawn = []
    for data in map(label, spec["data"]):
        of_row = {row.label: [c for c in cells if (c.data, c.row) == (data, row.label)] for row in lines}
        for score in figure.get("over_epochs", ()):
            curves = {row.label: _over_epochs(of_row[row.label], score, scores) for row in lines if not row.swept}
            shown = _with_constant_lines({name: curve for name, curve in curves.items() if curve})
            drawn.append(Panel(f"{data}: {score} over training", "epoch", score, shown))
        if other := figure.get("against"):
            for score in figure.get("over_sweep", ()):
                costs = _against(lines, of_row, score, other, scores)
                drawn.append(Panel(f"{data}: {score} against {other}", other, score, costs))
            continue
        for base in dict.fromkeys(row.spec["label"] for row in lines if row.swept):
            swept = [row for row in lines if row.swept and row.spec["label"] == base]
            over = {score: _over_field(swept, of_row, score, scores) for score in figure.get("over_sweep", ())}
            field = swept[0].swept[0] if swept[0].swept else ""
            drawn.append(Panel(f"{data}: {base} over {field}", field, "score", {n: c for n, c in over.items() if c}, even=True))
    return drawn


def _over_epochs(cells: Sequence[Cell], score: str, scores: Scores) -> Line | None:
    known = [scores[cell.fingerprint][score] for cell in cells if score in scores.get(cell.fingerprint, {})]
    epochs = sorted(set.intersection(*(set(one) for one in known))) if known else []
    return Line(np.array(epochs), np.array([[one[e] for e in epochs] for one in known])) if epochs else None


def _with_constant_lines(curves: Mapping[str, Line]) -> dict[str, Line]:
    """Draw a method without epochs (its only one is 0) as a constant line over the epochs of the others."""
    trained = [line.x for line in curves.values() if line.x.max() > 0]
    if not trained:
        return dict(curves)
    ends = np.array([min(x.min() for x in trained), max(x.max() for x in trained)])
    return {name: line if line.x.max() > 0 else Line(ends, line.y[:, [0, 0]]) for name, line in curves.items()}


def _over_field(swept: Sequence[Row], of_row: Mapping[str, Sequence[Cell]], score: str, scores: Scores) -> Line | None:
    """Return the score at each value of the field for which all seeds are finished."""
    x, y = [], []
    for row in swept:
        known = [scores.get(cell.fingerprint, {}).get(score) for cell in of_row[row.label]]
        values = [one[max(one)] for one in known if one]
        if values and len(values) == len(known) and row.swept:
            x.append(float(row.swept[1]))
            y.append(values)
    return Line(np.array(x), np.array(y).T) if x else None


def _against(
    lines: Sequence[Row], of_row: Mapping[str, Sequence[Cell]], score: str, other: str, scores: Scores
) -> dict[str, Line]:
    """Return one score over another for every row whose seeds are all finished; the rows of a sweep are one line."""
    points: dict[str, list[tuple[float, list[float], str]]] = {}
    for row in lines:
        known = [scores.get(cell.fingerprint, {}) for cell in of_row[row.label]]
        if known and all(score in one and other in one for one in known):
            x, y = ([one[name][max(one[name])] for one in known] for name in (other, score))
            beside = f"{float(row.swept[1]):g}" if row.swept else ""
            points.setdefault(row.spec["label"], []).append((float(np.mean(x)), y, beside))
    return {
        label: Line(np.array([x for x, _, _ in line]), np.array([y for _, y, _ in line]).T, [beside for _, _, beside in line])
        for label, line in points.items()
    }
