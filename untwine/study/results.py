"""The long table of finished cells, a CSV that only grows, and what it says about each row and column of a study."""

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
from untwine.study.cells import Cell, locked
from untwine.study.grammar import SIZES
from untwine.study.reading import Row, columns, label, published_label, rows, title

NUMBERS = {"seed": int, "epoch": int, "value": float, "low": float, "high": float, "n": int}
MEASURED = ("score", "value", "low", "high", "n", "seconds")
COLUMNS = ("study", "size", "data", "row", "seed", "epoch", *MEASURED, "fit_seconds", "fingerprint", "untwine")
HEAD = ",".join(COLUMNS) + "\n"

Result = dict[str, Any]
Scores = Mapping[str, Mapping[str, Mapping[int, float]]]  # fingerprint of a cell -> score -> epoch -> value


def read_results(path: Path) -> list[Result]:
    """Read the long table; a last line that was torn is left out, with the cell that it belongs to."""
    found = []
    for number, row in enumerate(csv.DictReader(io.StringIO(_whole_text(path)), strict=True), start=2):
        try:
            found.append({**row, **{key: kind(row[key]) for key, kind in NUMBERS.items()}, "line": number})
        except (KeyError, TypeError, ValueError):
            raise ValueError(
                f"{path} expected the columns {HEAD.strip()} in every line, but line {number} differs; restore the file."
            ) from None
    return found


def append(path: Path, new: Sequence[Mapping[str, Any]]) -> None:
    """Add the rows of one finished cell, all or none; once only, should somebody else have run it at the same time."""
    files.make_folder(path.parent)
    lines = io.StringIO()
    csv.DictWriter(lines, COLUMNS, lineterminator="\n").writerows(new)
    with locked(path.parent):
        text = _whole_text(path) or HEAD
        if not any(row["fingerprint"] in text for row in new):
            files.write(path, text + lines.getvalue())


def _whole_text(path: Path) -> str:
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    if not text or text.endswith("\n"):
        return text
    *lines, torn = text.splitlines(keepends=True)
    # Nobody knows how much of the last cell is lost: it is taken out, and its run folder still has it.
    cell = ",".join(lines[-1].split(",")[:5]) if lines else ""
    while len(lines) > 1 and lines[-1].startswith(cell) and torn.startswith(cell[: len(torn)]):
        lines.pop()
    return "".join(lines)


def by_cell(results: Iterable[Result]) -> Scores:
    """Sort results by cell, score and epoch; of what is there twice, the later counts."""
    found: dict[str, dict[str, dict[int, float]]] = {}
    for row in results:
        found.setdefault(row["fingerprint"], {}).setdefault(row["score"], {})[row["epoch"]] = row["value"]
    return found


class Entry(NamedTuple):
    """One row and column of the table.

    Attributes
    ----------
    data, row, column
        Where it stands.
    score
        The score that is shown; of several that a column names, the first that the row has.
    mean, deviation
        Over seeds, in the units of the column; the deviation (n - 1 in its denominator) of two or more.
    lowest, highest
        The least and the largest over seeds: the best and the worst, whichever way the score is good.
    seeds, of
        How many seeds are finished, and how many there are to be.
    published
        The paper's figure, if it has one.
    """

    data: str
    row: str
    column: str
    score: str
    mean: float | None
    deviation: float | None
    lowest: float | None
    highest: float | None
    seeds: int
    of: int
    published: float | None


def entries(said: Mapping[str, Any], size: str, cells: Sequence[Cell], found: Scores, epoch: int | None = None) -> list[Entry]:
    """Return the table of a study, data set by data set and row by row; as it ended, or as it was after an epoch."""
    table = []
    for data in (label(one) for one in said["data"] if size in one.get("sizes", SIZES)):
        of_row = [(row, [c for c in cells if (c.data, c.row) == (data, row.label)]) for row in rows(said, size, data)]
        for row, here in _without_losers(of_row, found):
            figures = said.get("published", {}).get(data, {}).get(published_label(row), [])
            for column, figure in zip(columns(said, data), chain(figures, repeat(np.nan)), strict=False):
                table.append(_entry(data, row, column, here, found, float(figure), epoch))
    return table


def _without_losers(of_row: Sequence[tuple[Row, list[Cell]]], found: Scores) -> list[tuple[Row, list[Cell]]]:
    """Leave out the rows of a sweep that are not its `lowest`, once every seed of every value is finished."""
    means: dict[str, dict[str, float]] = {}
    for row, cells in of_row:
        if score := row.said.get("lowest"):
            values = [found.get(cell.fingerprint, {}).get(score) for cell in cells]
            finished = [one[max(one)] for one in values if one]
            means.setdefault(row.said["label"], {})[row.label] = (
                float(np.mean(finished)) if len(finished) == len(cells) else np.nan
            )
    best = {
        name: min(of_value, key=of_value.__getitem__)
        for name, of_value in means.items()
        if np.isfinite([*of_value.values()]).all()
    }
    return [(row, cells) for row, cells in of_row if best.get(row.said["label"], row.label) == row.label]


def _entry(
    data: str,
    row: Row,
    column: Mapping[str, Any],
    cells: Sequence[Cell],
    found: Scores,
    published: float,
    epoch: int | None,
) -> Entry:
    names, ending = column["scores"], row.said.get("ending")
    if ending:
        names = [name.rsplit(".", 1)[0] + ending for name in names]
    finished = [found[cell.fingerprint] for cell in cells if cell.fingerprint in found]
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
        None if np.isnan(published) or epoch is not None else published,  # the paper's are those of the end
    )


def _after(values: Mapping[int, float], epoch: int | None) -> float | None:
    """Return the value at the end, or after an epoch if it was scored then; a method without epochs has one for all."""
    last = max(values)
    return values[last] if epoch is None or not last else values.get(epoch)


def panels(said: Mapping[str, Any], size: str, cells: Sequence[Cell], found: Scores) -> list[Panel]:
    """Return the figure of a study: scores over training, a line a row, and over a swept field, a line a score.

    Where the figure names a score `against` which the others are drawn, each of them has a panel, with a line for every row
    that is swept and a point for every other one.
    """
    asked, lines = said.get("figure", {}), list(rows(said, size))
    drawn = []
    for data in map(label, said["data"]):
        of_row = {row.label: [c for c in cells if (c.data, c.row) == (data, row.label)] for row in lines}
        for score in asked.get("over_epochs", ()):
            curves = {row.label: _over_epochs(of_row[row.label], score, found) for row in lines if not row.swept}
            levelled = _levelled({name: curve for name, curve in curves.items() if curve})
            drawn.append(Panel(f"{data}: {score} over training", "epoch", score, levelled))
        if other := asked.get("against"):
            for score in asked.get("over_sweep", ()):
                costs = _against(lines, of_row, score, other, found)
                drawn.append(Panel(f"{data}: {score} against {other}", other, score, costs))
            continue
        for base in dict.fromkeys(row.said["label"] for row in lines if row.swept):
            swept = [row for row in lines if row.swept and row.said["label"] == base]
            over = {score: _over_field(swept, of_row, score, found) for score in asked.get("over_sweep", ())}
            field = swept[0].swept[0] if swept[0].swept else ""
            drawn.append(Panel(f"{data}: {base} over {field}", field, "score", {n: c for n, c in over.items() if c}, even=True))
    return drawn


def _over_epochs(cells: Sequence[Cell], score: str, found: Scores) -> Line | None:
    known = [found[cell.fingerprint][score] for cell in cells if score in found.get(cell.fingerprint, {})]
    epochs = sorted(set.intersection(*(set(one) for one in known))) if known else []
    return Line(np.array(epochs), np.array([[one[e] for e in epochs] for one in known])) if epochs else None


def _levelled(curves: Mapping[str, Line]) -> dict[str, Line]:
    """Draw a method without epochs, whose only one is 0, as a level line beside those that have some."""
    trained = [line.x for line in curves.values() if line.x.max() > 0]
    if not trained:
        return dict(curves)
    ends = np.array([min(x.min() for x in trained), max(x.max() for x in trained)])
    return {name: line if line.x.max() > 0 else Line(ends, line.y[:, [0, 0]]) for name, line in curves.items()}


def _over_field(swept: Sequence[Row], of_row: Mapping[str, Sequence[Cell]], score: str, found: Scores) -> Line | None:
    """Return the score at each value of the field that all seeds have finished."""
    x, y = [], []
    for row in swept:
        known = [found.get(cell.fingerprint, {}).get(score) for cell in of_row[row.label]]
        values = [one[max(one)] for one in known if one]
        if values and len(values) == len(known) and row.swept:
            x.append(float(row.swept[1]))
            y.append(values)
    return Line(np.array(x), np.array(y).T) if x else None


def _against(
    lines: Sequence[Row], of_row: Mapping[str, Sequence[Cell]], score: str, other: str, found: Scores
) -> dict[str, Line]:
    """Return for every row, swept ones joined, a score over another one, where all seeds have finished."""
    points: dict[str, list[tuple[float, list[float], str]]] = {}
    for row in lines:
        known = [found.get(cell.fingerprint, {}) for cell in of_row[row.label]]
        if known and all(score in one and other in one for one in known):
            x, y = ([one[name][max(one[name])] for one in known] for name in (other, score))
            beside = f"{float(row.swept[1]):g}" if row.swept else ""
            points.setdefault(row.said["label"], []).append((float(np.mean(x)), y, beside))
    return {
        label: Line(np.array([x for x, _, _ in line]), np.array([y for _, y, _ in line]).T, [beside for _, _, beside in line])
        for label, line in points.items()
    }
