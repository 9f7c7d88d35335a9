"""Bar charts of one metric over latent blocks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from untwine.plots.style import BLOCKS, FAINT, GREY, INK, open_frame, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DIRECTIONS = {"higher": "should be high", "lower": "should be low"}
TITLES = {
    "probe": "Linear-probe accuracy of the class",
    "probe_strong": "MLP-probe accuracy of the class",
    "factors": "Ground-truth factors, R² of a linear regression",
    "factors_salient": "Salient factors, R² of a linear regression",
}


def scores_bars(scores: Mapping[str, Mapping[str, Any]], metric: str, chance: float | None = None) -> Figure:
    """Draw one metric as a bar for each latent block, with confidence intervals and a dashed line at chance level.

    Parameters
    ----------
    scores
        A score for each bar by its label: `value`, and optionally `low` and `high` (the interval), `direction` and `block`
        (which sets the colour).
    metric
        The name of the metric, for the title.
    chance
        The chance level.
    """
    from matplotlib.figure import Figure

    known = {name: score for name, score in scores.items() if _number(score, "value") is not None}
    if not known:
        raise ValueError(f"scores_bars needs at least one finite score of {metric!r}; got none; evaluate the run first.")
    figure = Figure(figsize=(5.4, 0.9 + 0.55 * len(known)), layout="constrained")
    axes = figure.add_subplot()
    open_frame(axes)
    for y, score in enumerate(known.values()):
        _bar(axes, y, score)
    axes.set_yticks(range(len(known)), [_label(name, score) for name, score in known.items()], fontsize=10, color=INK)
    axes.tick_params(axis="y", length=0)
    axes.invert_yaxis()
    lowest = min(0.0, *(float(score["value"]) for score in known.values()))
    axes.set_xlim(max(lowest, -1) * 1.1, 1.12)
    axes.set_xticks([tick for tick in (-1, -0.5, 0, 0.25, 0.5, 0.75, 1) if tick >= max(lowest, -1) * 1.1])
    axes.axvline(0, color=FAINT, linewidth=0.8)
    if chance is not None:
        axes.axvline(chance, color=INK, linestyle=(0, (4, 3)), linewidth=1.2)
        axes.set_xlabel(f"dashed: chance level, {chance:.2f}", fontsize=9)
    axes.set_title(plain(TITLES.get(metric, metric), 60), fontsize=11, color=INK, loc="left")
    return figure


def _bar(axes: Axes, y: int, score: Mapping[str, Any]) -> None:
    value = float(score["value"])
    low, high = _number(score, "low"), _number(score, "high")
    axes.barh(y, value, height=0.62, color=BLOCKS.get(str(score.get("block")), GREY))
    if low is not None and high is not None:
        axes.plot([low, high], [y, y], color=INK, linewidth=1.4, solid_capstyle="butt")
    # The value is written to the right of both the bar and its interval.
    end = max(value, high or value, 0)
    axes.text(min(end, 1) + 0.02, y, f"{value:.2f}", va="center", ha="left", fontsize=10, color=INK)


def _label(name: str, score: Mapping[str, Any]) -> str:
    direction = DIRECTIONS.get(str(score.get("direction")))
    return plain(name) + (f"\n{direction}" if direction else "")


def _number(score: Mapping[str, Any], key: str) -> float | None:
    value = score.get(key)
    return float(value) if isinstance(value, (int, float)) and np.isfinite(value) else None
