"""Training curves of every term of an objective."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from untwine._typing import Array
from untwine.plots.style import BLOCKS, INK, RULE, open_frame, plain
from untwine.runs.history import terms

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS = 3


def training_curves(history: Iterable[Mapping[str, Any]]) -> Figure:
    """Draw a panel for every term of every stage and player, titled "player: term".

    Parameters
    ----------
    history
        Rows with stage, epoch, player, term and value, as in a run's history.csv.
    """
    from matplotlib.figure import Figure

    lines = terms(history)
    if not lines:
        raise ValueError("training_curves needs at least one row of history; got none; fit a method that is trained in steps.")
    stages = {stage for stage, _, _ in lines}
    columns = min(COLUMNS, len(lines))
    rows = -(-len(lines) // columns)
    figure = Figure(figsize=(3.5 * columns, 2.35 * rows), layout="constrained")
    for i, ((stage, player, term), (epochs, values)) in enumerate(lines.items()):
        axes = figure.add_subplot(rows, columns, i + 1)
        _line(axes, epochs, values)
        title = f"{player}: {term}" if len(stages) == 1 else f"{stage} · {player}: {term}"
        axes.set_title(plain(title, 40), fontsize=11, color=INK, loc="left")
    return figure


def _line(axes: Axes, epochs: Array, values: Array) -> None:
    from matplotlib.ticker import MaxNLocator

    open_frame(axes)
    finite = np.where(np.isfinite(values), values, np.nan)
    axes.plot(epochs, finite, color=BLOCKS["common"], linewidth=1.7, marker="o" if len(epochs) < 3 else None, markersize=4)
    axes.set_xlabel("epoch", fontsize=9)
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    if _spans_decades(finite):
        axes.set_yscale("log")
    axes.grid(axis="y", color=RULE, linewidth=0.5, alpha=0.6)


def _spans_decades(values: Array) -> bool:
    """Return whether to use a logarithmic scale: all values are positive, and the largest is over 30 times the smallest."""
    finite = values[np.isfinite(values)]
    return bool(len(finite) and finite.min() > 0 and finite.max() > 30 * finite.min())
