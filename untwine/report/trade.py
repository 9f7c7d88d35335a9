"""What single factors cost over several runs: their scores against the error of reconstruction."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING

from untwine import plots
from untwine.report.markup import Markup, join, picture, tag
from untwine.report.runs import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCORES = {"sap.z": "SAP", "z_diff.z": "Z-diff", "mig.z": "MIG", "factor_vae_score.z": "FactorVAE score"}
ERROR = "reconstruction.x"
FEWEST = 3  # runs that make a curve worth drawing
NOTE = (
    "Up and to the left is better: more disentangled, at less error. Beside each point stands what its run was set to; seeds "
    "are averaged."
)


def trade_offs(runs: Sequence[Run]) -> Markup:
    """Return scores of disentanglement against the error, method by method; nothing where few runs have both."""
    figures = []
    for score, title in SCORES.items():
        scored = [run for run in runs if _value(run, score) is not None and _value(run, ERROR) is not None]
        if len(scored) >= FEWEST:
            figures.append(picture(_figure(scored, score, title), f"{title} against the error of reconstruction."))
    if not figures:
        return Markup("")
    return join(tag("h3", "Disentanglement against reconstruction"), tag("p", NOTE, class_="note"), *figures)


def _figure(runs: Sequence[Run], score: str, title: str) -> Figure:
    errors: dict[str, list[float]] = {}
    found: dict[str, list[float]] = {}
    beside: dict[str, list[str]] = {}
    for method in dict.fromkeys(run.method for run in runs):
        same = [run for run in runs if run.method == method]
        settings: dict[str, list[Run]] = {}
        for run, label in zip(same, _settings(same), strict=True):
            settings.setdefault(label, []).append(run)
        points = sorted((_mean(alike, ERROR), _mean(alike, score), label) for label, alike in settings.items())
        errors[method], found[method] = [point[0] for point in points], [point[1] for point in points]
        beside[method] = [point[2] for point in points]
    return plots.trade_off(errors, found, beside, y=title)


def _settings(runs: Sequence[Run]) -> list[str]:
    """Return for each run the fields in which these runs differ, but for the seed; of fields that differ alike the first."""
    params = [run.part("params") for run in runs]
    fields = [field for field in dict.fromkeys(key for one in params for key in one) if field != "seed"]
    alike: dict[tuple[int, ...], str] = {}
    for field in fields:
        values = [repr(one.get(field)) for one in params]
        if len(set(values)) > 1:
            alike.setdefault(tuple(values.index(value) for value in values), field)
    return [", ".join(f"{field}={_short(one.get(field))}" for field in alike.values()) for one in params]


def _short(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _mean(runs: Sequence[Run], score: str) -> float:
    return fmean(value for run in runs if (value := _value(run, score)) is not None)


def _value(run: Run, score: str) -> float | None:
    entry = (run.scores or {}).get(score)
    value = entry.get("value") if isinstance(entry, Mapping) else None
    return float(value) if isinstance(value, (int, float)) and math.isfinite(value) else None
