"""The trade-off over several runs: scores of disentanglement against the reconstruction error."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean
from typing import TYPE_CHECKING

from untwine import plots
from untwine.report.markup import Markup, image, join, tag
from untwine.runs.reading import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCORES = {"sap.z": "SAP", "z_diff.z": "Z-diff", "mig.z": "MIG", "factor_vae_score.z": "FactorVAE score"}
ERROR = "reconstruction.x"
FEWEST = 3  # runs that make a curve worth drawing
NOTE = (
    "Up and to the left is better: more disentangled, at a lower error. A line is a method with its categorical options; the "
    "numeric options of a run stand beside its point; seeds are averaged."
)


def trade_offs(runs: Sequence[Run]) -> Markup:
    """Return scores of disentanglement against the reconstruction error; nothing where few runs have both."""
    figures = []
    for score, title in SCORES.items():
        scored = [run for run in runs if _value(run, score) is not None and _value(run, ERROR) is not None]
        if len(scored) >= FEWEST:
            figures.append(image(_figure(scored, score, title), f"{title} against the reconstruction error."))
    if not figures:
        return Markup("")
    return join(tag("h3", "Disentanglement against reconstruction"), tag("p", NOTE, class_="note"), *figures)


def _figure(runs: Sequence[Run], score: str, title: str) -> Figure:
    errors: dict[str, list[float]] = {}
    scores: dict[str, list[float]] = {}
    labels: dict[str, list[str]] = {}
    for name, same in _lines(runs).items():
        settings: dict[str, list[Run]] = {}
        for run, label in zip(same, _settings(same, _differing(same)), strict=True):
            settings.setdefault(label, []).append(run)
        points = sorted((_mean(alike, ERROR), _mean(alike, score), label) for label, alike in settings.items())
        errors[name], scores[name] = [point[0] for point in points], [point[1] for point in points]
        labels[name] = [point[2] for point in points]
    return plots.trade_off(errors, scores, labels, y=title)


def _lines(runs: Sequence[Run]) -> dict[str, list[Run]]:
    """Return the runs of each line: of one method, with equal categorical fields, between which no line can be drawn."""
    lines: dict[str, list[Run]] = {}
    for method in dict.fromkeys(run.method for run in runs):
        same = [run for run in runs if run.method == method]
        categorical = [field for field in _differing(same) if any(isinstance(_field(run, field), str | bool) for run in same)]
        for run, label in zip(same, _settings(same, categorical), strict=True):
            lines.setdefault(f"{method} {label}".rstrip(), []).append(run)
    return lines


def _differing(runs: Sequence[Run]) -> list[str]:
    """Return the fields in which these runs differ, except the seed."""
    fields = dict.fromkeys(key for run in runs for key in run.table("params"))
    return [field for field in fields if field != "seed" and len({repr(_field(run, field)) for run in runs}) > 1]


def _settings(runs: Sequence[Run], fields: Sequence[str]) -> list[str]:
    """Return the values of these fields for each run; of fields that vary together only the first."""
    alike: dict[tuple[int, ...], str] = {}
    for field in fields:
        values = [repr(_field(run, field)) for run in runs]
        alike.setdefault(tuple(values.index(value) for value in values), field)
    return [", ".join(f"{field}={_short(_field(run, field))}" for field in alike.values()) for run in runs]


def _field(run: Run, field: str) -> object:
    return run.table("params").get(field)


def _short(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _mean(runs: Sequence[Run], score: str) -> float:
    return fmean(value for run in runs if (value := _value(run, score)) is not None)


def _value(run: Run, score: str) -> float | None:
    entry = (run.scores or {}).get(score)
    return entry.value if entry is not None and math.isfinite(entry.value) else None
