"""Each block's score side by side: what should be in it, and what should not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from untwine.plots.style import BLOCKS, FAINT, GREY, INK, open_frame, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WISHES = {"higher": "should be high", "lower": "should be low"}
TITLES = {
    "probe": "Class, read by a linear probe (accuracy)",
    "factors": "True factors, read by a linear regression (R²)",
    "factors_salient": "Salient factors, read by a linear regression (R²)",
}


def scores_bars(scores: Mapping[str, Mapping[str, Any]], metric: str, chance: float | None = None) -> Figure:
    """Draw a bar for each block's score of one metric, with its interval and, dashed, the score of chance.

    Parameters
    ----------
    scores
        For each bar the name that stands beside it and a score: value, and where known low, high, direction and block
        (the block only chooses the colour).
    metric
        What was measured; it gives the title.
    chance
        The score of guessing.
    """
    from matplotlib.figure import Figure

    known = {name: score for name, score in scores.items() if _number(score, "value") is not None}
    if not known:
        raise ValueError(f"scores_bars expected at least one finite score of {metric!r}; got none.")
    figure = Figure(figsize=(5.4, 0.9 + 0.55 * len(known)), layout="constrained")
    axes = figure.add_subplot()
    open_frame(axes)
    for place, score in enumerate(known.values()):
        _bar(axes, place, score)
    axes.set_yticks(range(len(known)), [_beside(name, score) for name, score in known.items()], fontsize=10, color=INK)
    axes.tick_params(axis="y", length=0)
    axes.invert_yaxis()
    lowest = min(0.0, *(float(score["value"]) for score in known.values()))
    axes.set_xlim(max(lowest, -1) * 1.1, 1.12)
    axes.set_xticks([tick for tick in (-1, -0.5, 0, 0.25, 0.5, 0.75, 1) if tick >= max(lowest, -1) * 1.1])
    axes.axvline(0, color=FAINT, linewidth=0.8)
    if chance is not None:
        axes.axvline(chance, color=INK, linestyle=(0, (4, 3)), linewidth=1.2)
        axes.set_xlabel(f"dashed: chance, {chance:.2f}", fontsize=9)
    axes.set_title(plain(TITLES.get(metric, metric), 60), fontsize=11, color=INK, loc="left")
    return figure


def _bar(axes: Axes, place: int, score: Mapping[str, Any]) -> None:
    value = float(score["value"])
    low, high = _number(score, "low"), _number(score, "high")
    axes.barh(place, value, height=0.62, color=BLOCKS.get(str(score.get("block")), GREY))
    if low is not None and high is not None:
        axes.plot([low, high], [place, place], color=INK, linewidth=1.4, solid_capstyle="butt")
    # The number stands clear of both the bar and its interval.
    end = max(value, high or value, 0)
    axes.text(min(end, 1) + 0.02, place, f"{value:.2f}", va="center", ha="left", fontsize=10, color=INK)


def _beside(name: str, score: Mapping[str, Any]) -> str:
    wish = WISHES.get(str(score.get("direction")))
    return plain(name) + (f"\n{wish}" if wish else "")


def _number(score: Mapping[str, Any], key: str) -> float | None:
    value = score.get(key)
    return float(value) if isinstance(value, (int, float)) and np.isfinite(value) else None
