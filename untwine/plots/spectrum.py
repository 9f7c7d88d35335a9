"""The spectrum of the contrast test: the contrast of each direction, and its permutation null."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from untwine._typing import Array
from untwine.plots.style import BLOCKS, FAINT, GREY, INK, RULE, open_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def contrast_spectrum(contrasts: Sequence[float], critical: Sequence[float], n_salient: int) -> Figure:
    """Draw the contrast of each direction as a point, and the permutation null as a shaded band.

    Parameters
    ----------
    contrasts
        (a - b) / (a + b) of each direction, with the variances a in the target and b in the background, largest first.
    critical
        The critical contrast of each direction tested, `ContrastTest.chance`; the last holds for all further directions.
    n_salient
        The number of significant directions, which are the first ones.
    """
    from matplotlib.figure import Figure

    heights, bounds = np.asarray(contrasts, dtype=float), np.asarray(critical, dtype=float)
    if heights.ndim != 1 or not len(heights) or not 0 < len(bounds) <= len(heights) or not 0 <= n_salient <= len(heights):
        raise ValueError(
            "contrast_spectrum needs at least one contrast and critical value, and at most as many critical values and salient "
            f"directions as contrasts; got {len(heights)} contrasts, {len(bounds)} critical values and n_salient={n_salient}."
        )
    figure = Figure(figsize=(5.4, 2.9), layout="constrained")
    axes = figure.add_subplot()
    open_frame(axes)
    places = np.arange(1, len(heights) + 1)
    _band(axes, places, np.pad(bounds, (0, len(heights) - len(bounds)), mode="edge"))
    for mask, colour, name in (
        (places <= n_salient, BLOCKS["salient"], f"significant: {n_salient}"),
        (places > n_salient, GREY, "not significant"),
    ):
        if mask.any():
            axes.scatter(places[mask], heights[mask], s=26, color=colour, label=name, zorder=3, linewidths=0)
    axes.set_ylim(-1.08, 1.08)
    axes.set_yticks([-1, 0, 1], ["only the\nbackground varies", "equal variances", "only the\ntarget varies"], fontsize=9)
    axes.set_xlim(0.2, len(heights) + 0.8)
    _integer_ticks(axes)
    axes.set_xlabel("direction in the data, largest contrast first", fontsize=9)
    axes.legend(loc="lower left", frameon=False, fontsize=9, labelcolor=INK)
    return figure


def _band(axes: Axes, places: Array, bounds: Array) -> None:
    # Each critical value is drawn over the whole width of its direction, also where there is only one.
    edges, steps = np.append(places - 0.5, places[-1] + 0.5), np.append(bounds, bounds[-1])
    axes.fill_between(edges, -1.08, steps, step="post", color=RULE, alpha=0.45, linewidth=0, label="permutation null")
    axes.axhline(0, color=FAINT, linewidth=0.6)


def _integer_ticks(axes: Axes) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(8, integer=True, min_n_ticks=1))
