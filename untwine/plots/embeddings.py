"""Codes in a plane, coloured by class, the background apart."""

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

SHAPES = ("o", "s", "^", "D", "v", "P")
MOST_NAMES = 40


def plane(
    points: ArrayLike,
    labels: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    *,
    label_names: Sequence[str] = (),
    group_names: Sequence[str] = (),
    title: str = "",
) -> Figure:
    """Scatter codes in a plane: a colour for each class, the background below them as grey crosses.

    A class's name is written where the class sits together, so a plane without names is one that mixes the classes.

    Parameters
    ----------
    points
        Positions (n, 2).
    labels
        One class a point, -1 where unknown. Without labels the target groups are coloured instead.
    groups
        One group a point, 0 the background. Without groups every point is a target.
    label_names, group_names
        Names of classes and groups; numbered where not given.
    title
        Written above.
    """
    from matplotlib.figure import Figure

    places, classes, kinds = _columns(points, labels, groups)
    figure = Figure(figsize=(5.4, 5.4), layout="constrained")
    axes = figure.add_subplot()
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_color(RULE)
    size = float(np.clip(9000 / len(places), 5, 26))
    back = kinds == 0
    if back.any():
        name = _name(group_names, 0, "background")
        axes.scatter(places[back, 0], places[back, 1], s=size, marker="x", linewidths=0.7, c=GREY, zorder=1, gid=name)
    by_class = bool((classes[~back] >= 0).any())
    values, names = (classes, label_names) if by_class else (kinds, group_names)
    for number in np.unique(values[~back]):
        chosen = ~back & (values == number)
        name = "unlabelled" if number < 0 else _name(names, int(number), str(number))
        _scatter(axes, places[chosen], int(number), name, size)
        if by_class and number >= 0 and _sits_together(places[chosen], places[~back]):
            _write(axes, places[chosen], name)
    axes.set_title(plain(title, 60), fontsize=13, color=INK, pad=8)
    _legend(figure, axes)
    return figure


def _columns(points: ArrayLike, labels: ArrayLike | None, groups: ArrayLike | None) -> tuple[Array, Array, Array]:
    places = np.asarray(points, dtype=float)
    if places.ndim != 2 or places.shape[1] != 2 or not len(places):
        raise ValueError(f"plane expected points of shape (n, 2); got {places.shape}.")
    classes = np.full(len(places), -1) if labels is None else np.asarray(labels)
    kinds = np.ones(len(places), dtype=int) if groups is None else np.asarray(groups)
    for name, column in (("labels", classes), ("groups", kinds)):
        if column.shape != (len(places),):
            raise ValueError(f"plane expected {name} for each of the {len(places)} points; got shape {column.shape}.")
    return places, classes, kinds


def _name(names: Sequence[str], number: int, otherwise: str) -> str:
    return str(names[number]) if number < len(names) else otherwise


def _scatter(axes: Axes, places: Array, number: int, name: str, size: float) -> None:
    colour = FAINT if number < 0 else CLASSES[number % len(CLASSES)]
    # Where there are more classes than colours, the shape changes with every round.
    shape = SHAPES[max(number, 0) // len(CLASSES) % len(SHAPES)]
    axes.scatter(places[:, 0], places[:, 1], s=size, marker=shape, c=colour, linewidths=0, alpha=0.75, zorder=2, gid=name)


def _sits_together(own: Array, everyone: Array) -> bool:
    """Say whether a class fills a small part of the plane: its median distance to its centre, over everyone's, is small."""
    return _spread(own) < 0.5 * _spread(everyone)


def _spread(places: Array) -> float:
    return float(np.median(np.linalg.norm(places - np.median(places, axis=0), axis=1)))


def _write(axes: Axes, places: Array, name: str) -> None:
    from matplotlib.patheffects import withStroke

    x, y = np.median(places, axis=0)
    halo = [withStroke(linewidth=3, foreground="white")]
    style: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 12, "fontweight": "bold", "color": INK}
    axes.text(x, y, plain(name, 16), path_effects=halo, zorder=3, **style)


def _legend(figure: Figure, axes: Axes) -> None:
    drawn = axes.collections
    if len(drawn) > MOST_NAMES:
        return
    order = sorted(drawn, key=lambda dots: dots.get_zorder(), reverse=True)  # the background's name comes last
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
