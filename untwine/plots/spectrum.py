"""Where the target varies more than the background: the contrast of each direction, and what chance reaches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from untwine._typing import Array
from untwine.plots.style import BLOCKS, FAINT, GREY, INK, RULE, open_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def contrast_spectrum(contrasts: Sequence[float], chance: Sequence[float], n_salient: int) -> Figure:
    """Draw the contrast of each direction as a point, and shaded what labels at random reach.

    Parameters
    ----------
    contrasts
        (a - b) / (a + b) of each direction, with the variances a in the target and b in the background, largest first.
    chance
        What each direction had to exceed, of those that were tested; the last holds for all that follow.
    n_salient
        How many, from the left, are beyond chance.
    """
    from matplotlib.figure import Figure

    heights, bounds = np.asarray(contrasts, dtype=float), np.asarray(chance, dtype=float)
    if heights.ndim != 1 or not len(heights) or not 0 < len(bounds) <= len(heights) or not 0 <= n_salient <= len(heights):
        raise ValueError(
            f"contrast_spectrum expected contrasts, a bound for each that was tested and how many are salient; got "
            f"{len(heights)} contrasts, {len(bounds)} bounds and {n_salient} salient ones."
        )
    figure = Figure(figsize=(5.4, 2.9), layout="constrained")
    axes = figure.add_subplot()
    open_frame(axes)
    places = np.arange(1, len(heights) + 1)
    _band(axes, places, np.pad(bounds, (0, len(heights) - len(bounds)), mode="edge"))
    for rows, colour, name in (
        (places <= n_salient, BLOCKS["salient"], f"beyond chance: {n_salient}"),
        (places > n_salient, GREY, "not beyond chance"),
    ):
        if rows.any():
            axes.scatter(places[rows], heights[rows], s=26, color=colour, label=name, zorder=3, linewidths=0)
    axes.set_ylim(-1.08, 1.08)
    axes.set_yticks([-1, 0, 1], ["only the\nbackground varies", "both vary alike", "only the\ntarget varies"], fontsize=9)
    axes.set_xlim(0.2, len(heights) + 0.8)
    _whole_ticks(axes)
    axes.set_xlabel("direction in the data, largest contrast first", fontsize=9)
    axes.legend(loc="lower left", frameon=False, fontsize=9, labelcolor=INK)
    return figure


def _band(axes: Axes, places: Array, bounds: Array) -> None:
    # Each bound is drawn over the whole width of its direction, also where there is only one.
    edges, steps = np.append(places - 0.5, places[-1] + 0.5), np.append(bounds, bounds[-1])
    axes.fill_between(edges, -1.08, steps, step="post", color=RULE, alpha=0.45, linewidth=0, label="what chance reaches")
    axes.axhline(0, color=FAINT, linewidth=0.6)


def _whole_ticks(axes: Axes) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(8, integer=True, min_n_ticks=1))
