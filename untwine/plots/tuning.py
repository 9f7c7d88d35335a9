"""The history of a search: the value of every trial, and against each field that was searched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from untwine.plots.style import BLOCKS, FAINT, GREY, INK, open_frame, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from untwine._typing import Array

COLUMNS = 3


def tuning_history(values: Sequence[float | None], fields: Sequence[Mapping[str, float]]) -> Figure:
    """Draw the value of each trial with the best so far, and a panel for each field with the value against it.

    Parameters
    ----------
    values
        The value of each trial, higher is better; None where it failed.
    fields
        The fields of each trial, by name.
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    y = np.array([np.nan if value is None else value for value in values], dtype=float)
    if len(y) != len(fields) or not np.isfinite(y).any():
        raise ValueError(f"tuning_history needs fields for each value, and a finite one; got {len(y)} and {len(fields)}.")
    names = list(dict.fromkeys(name for one in fields for name in one))
    panels = 1 + len(names)
    columns = min(COLUMNS, panels)
    figure = Figure(figsize=(3.5 * columns, 2.5 * -(-panels // columns)), layout="constrained")
    first = figure.add_subplot(-(-panels // columns), columns, 1)
    open_frame(first)
    first.plot(np.arange(1, len(y) + 1), y, "o", color=GREY, markersize=4, label="trial")
    best = np.fmax.accumulate(y)
    first.step(np.arange(1, len(y) + 1), best, where="post", color=BLOCKS["salient"], linewidth=1.7, label="best so far")
    if not np.isfinite(y).all():
        failed = np.flatnonzero(~np.isfinite(y)) + 1
        first.plot(failed, np.full(len(failed), np.nanmin(y)), "x", color=INK, markersize=5, label="failed")
    first.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    first.set_xlabel("trial; in the other panels later ones are lighter", fontsize=9)
    first.set_title("Value on the validation split", fontsize=11, color=INK, loc="left")
    first.legend(fontsize=8, frameon=False)
    for i, name in enumerate(names):
        axes = figure.add_subplot(-(-panels // columns), columns, i + 2)
        open_frame(axes)
        x = np.array([one.get(name, np.nan) for one in fields], dtype=float)
        axes.scatter(x, y, c=np.arange(len(y)), cmap="viridis", s=18)
        top = int(np.nanargmax(y))
        axes.plot(
            x[top], y[top], "o", markersize=11, markerfacecolor="none", markeredgecolor=BLOCKS["salient"], markeredgewidth=1.6
        )
        _log_axis(axes, x)
        axes.set_title(plain(name, 30), fontsize=11, color=INK, loc="left")
        axes.set_ylabel("value", fontsize=9, color=FAINT)
    return figure


def _log_axis(axes: Axes, x: Array) -> None:
    """Make the horizontal axis logarithmic, with plain numbers that do not run into each other however short it is."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    axes.set_xscale("log")
    known = x[np.isfinite(x) & (x > 0)]
    low, high = np.log10(known.min()), np.log10(known.max())
    steps = (1, 2, 5) if high - low < 1.3 else (1, 3) if high - low < 2 else (1,)
    ticks = [step * 10.0**power for power in range(int(np.floor(low)) - 1, int(np.ceil(high)) + 1) for step in steps]
    inside = [tick for tick in ticks if 0.9 * known.min() <= tick <= 1.1 * known.max()]
    ends = sorted({float(known.min()), float(known.max())})  # where no round numbers lie between
    axes.xaxis.set_major_locator(FixedLocator(inside if len(inside) > 1 else ends))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.2g}" if value < 100 else f"{value:.0f}"))
