"""Scatter plots of two-dimensional embeddings, coloured by class or group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.plots.style import CLASSES, FAINT, GREY, INK, RULE, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKERS = ("o", "s", "^", "D", "v", "P")
MAX_LEGEND = 40


def embedding_scatter(
    points: ArrayLike,
    labels: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    *,
    label_names: Sequence[str] = (),
    group_names: Sequence[str] = (),
    title: str = "",
) -> Figure:
    """Scatter points with a colour for each class; the background is drawn below them as grey crosses.

    The name of a class is written at its centre if the class is compact, so classes that are mixed have no names.

    Parameters
    ----------
    points
        Coordinates (n, 2), such as those of t-SNE.
    labels
        The class (n,) of each point, -1 where unknown. Without labels the target groups are coloured instead.
    groups
        The group (n,) of each point, 0 for the background. Without groups every point is a target.
    label_names, group_names
        Names of classes and groups; numbered where not given.
    title
        The title.
    """
    from matplotlib.figure import Figure

    xy, classes, group = _check(points, labels, groups)
    figure = Figure(figsize=(5.4, 5.4), layout="constrained")
    axes = figure.add_subplot()
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_color(RULE)
    size = float(np.clip(9000 / len(xy), 5, 26))
    background = group == 0
    if background.any():
        name = _name(group_names, 0, "background")
        axes.scatter(xy[background, 0], xy[background, 1], s=size, marker="x", linewidths=0.7, c=GREY, zorder=1, gid=name)
    by_class = bool((classes[~background] >= 0).any())
    values, names = (classes, label_names) if by_class else (group, group_names)
    for number in np.unique(values[~background]):
        mask = ~background & (values == number)
        name = "unlabelled" if number < 0 else _name(names, int(number), str(number))
        _scatter(axes, xy[mask], int(number), name, size)
        if by_class and number >= 0 and _is_compact(xy[mask], xy[~background]):
            _annotate(axes, xy[mask], name)
    axes.set_title(plain(title, 60), fontsize=13, color=INK, pad=8)
    _legend(figure, axes)
    return figure


def _check(points: ArrayLike, labels: ArrayLike | None, groups: ArrayLike | None) -> tuple[Array, Array, Array]:
    xy = np.asarray(points, dtype=float)
    if xy.ndim != 2 or xy.shape[1] != 2 or not len(xy):
        raise ValueError(f"points must have shape (n, 2); got {xy.shape}; embed the codes in two dimensions first.")
    classes = np.full(len(xy), -1) if labels is None else np.asarray(labels)
    group = np.ones(len(xy), dtype=int) if groups is None else np.asarray(groups)
    for name, column in (("labels", classes), ("groups", group)):
        if column.shape != (len(xy),):
            raise ValueError(f"{name} must have one value for each of the {len(xy)} points; got shape {column.shape}.")
    return xy, classes, group


def _name(names: Sequence[str], number: int, otherwise: str) -> str:
    return str(names[number]) if number < len(names) else otherwise


def _scatter(axes: Axes, xy: Array, number: int, name: str, size: float) -> None:
    colour = FAINT if number < 0 else CLASSES[number % len(CLASSES)]
    # With more classes than colours, the marker changes with every cycle.
    marker = MARKERS[max(number, 0) // len(CLASSES) % len(MARKERS)]
    axes.scatter(xy[:, 0], xy[:, 1], s=size, marker=marker, c=colour, linewidths=0, alpha=0.75, zorder=2, gid=name)


def _is_compact(own: Array, everyone: Array) -> bool:
    """Return whether a class covers a small area: its median distance to its median is below half of that of all points."""
    return _median_distance(own) < 0.5 * _median_distance(everyone)


def _median_distance(xy: Array) -> float:
    return float(np.median(np.linalg.norm(xy - np.median(xy, axis=0), axis=1)))


def _annotate(axes: Axes, xy: Array, name: str) -> None:
    from matplotlib.patheffects import withStroke

    x, y = np.median(xy, axis=0)
    halo = [withStroke(linewidth=3, foreground="white")]
    style: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 12, "fontweight": "bold", "color": INK}
    axes.text(x, y, plain(name, 16), path_effects=halo, zorder=3, **style)


def _legend(figure: Figure, axes: Axes) -> None:
    drawn = axes.collections
    if len(drawn) > MAX_LEGEND:
        return
    order = sorted(drawn, key=lambda dots: dots.get_zorder(), reverse=True)  # the background comes last
    # Names are set afterwards because matplotlib drops those that begin with an underscore.
    legend = figure.legend(
        order,
        [str(i) for i in range(len(order))],
        loc="outside lower center",
        ncols=min(len(order), 6),
        frameon=False,
        fontsize=10,
        handletextpad=0.1,
        columnspacing=1.1,
        labelcolor=INK,
    )
    for text, handle, dots in zip(legend.get_texts(), legend.legend_handles, order, strict=True):
        text.set_text(plain(dots.get_gid(), 18))
        if handle is not None:
            handle.set_alpha(1)
            handle.set(sizes=[38])
