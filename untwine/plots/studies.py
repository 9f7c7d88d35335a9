"""Figures of a study: scores over training, or over the values of a swept field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from untwine._typing import Array
from untwine.plots.style import CLASSES, INK, RULE, open_frame, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKERS = "osD^vPX"
COLUMNS = 2
MAX_INSIDE = 3  # lines whose legend fits inside the axes


class Line(NamedTuple):
    """One line: positions x (k,), values y (seeds, k), and optional annotations of the k points."""

    x: Array
    y: Array
    names: Sequence[str] = ()


class Panel(NamedTuple):
    """One panel: title, axis labels and named lines; `even` spaces the values of x evenly."""

    title: str
    x: str
    y: str
    lines: Mapping[str, Line]
    even: bool = False


def study_figure(panels: Sequence[Panel]) -> Figure:
    """Draw panels of lines, each the mean over seeds with a band from the minimum to the maximum.

    Parameters
    ----------
    panels
        The panels, such as those of `Study.panels`.
    """
    from matplotlib.figure import Figure

    known = [panel for panel in panels if panel.lines]
    if not known:
        raise ValueError("study_figure needs at least one line; got none; run the study first.")
    columns = min(COLUMNS, len(known))
    rows = -(-len(known) // columns)
    figure = Figure(figsize=(5.2 * columns, 3.6 * rows), layout="constrained")
    names = list(dict.fromkeys(name for panel in known for name in panel.lines))  # a name has the same style in all panels
    for number, panel in enumerate(known):
        _draw(figure.add_subplot(rows, columns, number + 1), panel, names)
    return figure


def _draw(axes: Axes, panel: Panel, names: Sequence[str]) -> None:
    from matplotlib.ticker import MaxNLocator

    open_frame(axes)
    values = np.unique(np.concatenate([line.x for line in panel.lines.values()]))
    for name, (x, y, labels) in panel.lines.items():
        positions = np.searchsorted(values, x) if panel.even else x
        number = names.index(name)
        colour, marker = CLASSES[number % len(CLASSES)], MARKERS[number % len(MARKERS)]
        axes.plot(positions, y.mean(0), color=colour, marker=marker, markersize=4.5, linewidth=1.7, label=plain(name, 60))
        if labels:  # x need not be monotonic: each point has its own range and annotation
            axes.vlines(positions, y.min(0), y.max(0), color=colour, alpha=0.5, linewidth=1.2)
            for position, height, text in zip(positions, y.mean(0), labels, strict=True):
                axes.annotate(plain(text), (position, height), (5, 5), textcoords="offset points", fontsize=8, color=colour)
        else:
            axes.fill_between(positions, y.min(0), y.max(0), color=colour, alpha=0.15, linewidth=0)
    if panel.even:
        axes.set_xticks(range(len(values)), [f"{value:g}" for value in values])
    else:
        axes.xaxis.set_major_locator(MaxNLocator(6, integer=not any(line.names for line in panel.lines.values())))
    lowest, highest = (f([f(line.y) for line in panel.lines.values()]) for f in (np.min, np.max))
    if 0 < 30 * lowest < highest:
        axes.set_yscale("log")
    elif lowest >= 0:
        axes.set_ylim(bottom=0)
    axes.set_xlabel(plain(panel.x), fontsize=10)
    axes.set_ylabel(plain(panel.y), fontsize=10)
    axes.set_title(plain(panel.title, 60), fontsize=11, color=INK, loc="left")
    axes.grid(axis="y", color=RULE, linewidth=0.5, alpha=0.6)
    # A legend of many lines would cover some of them.
    legend: dict[str, Any] = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)} if len(panel.lines) > MAX_INSIDE else {}
    axes.legend(frameon=False, fontsize=9, labelcolor=INK, **legend)
