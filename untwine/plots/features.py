"""Histograms of features of vectors, group by group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.plots.style import BLOCKS, CLASSES, FAINT, INK, open_frame, plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS, MOST, BINS = 4, 12, 30


def feature_histograms(
    x: ArrayLike, names: Sequence[str] = (), groups: ArrayLike | None = None, group_names: Sequence[str] = ()
) -> Figure:
    """Draw histograms of the features in which groups differ most, or else of those with the largest standard deviation.

    Parameters
    ----------
    x
        Vectors (n, d); at most 12 of the features are drawn.
    names
        A name for each feature; they are numbered where not given.
    groups, group_names
        The group of each sample and their names: each has a histogram of its own, as a share of its samples.
    """
    from matplotlib.figure import Figure

    x = np.asarray(x, dtype=np.float64)
    if x.ndim != 2 or 0 in x.shape:
        raise ValueError(f"x must be vectors (n, d); got shape {x.shape}; use image_rows for images.")
    of = np.zeros(len(x), dtype=int) if groups is None else np.asarray(groups)
    titles = list(names) or [f"feature {i}" for i in range(x.shape[1])]
    present = np.unique(of).tolist()
    chosen = _most_different(x, of)
    columns = min(COLUMNS, len(chosen))
    rows = -(-len(chosen) // columns)
    figure = Figure(figsize=(2.9 * columns, 2.1 * rows + 0.6), layout="constrained")
    for place, k in enumerate(chosen):
        axes = figure.add_subplot(rows, columns, place + 1)
        open_frame(axes)
        edges = np.histogram_bin_edges(x[:, k], BINS)
        for i, group in enumerate(present):
            own = x[of == group, k]
            colour = BLOCKS["common"] if len(present) == 1 else CLASSES[i % len(CLASSES)]
            label = plain(group_names[group], 20) if len(group_names) > group else f"group {group}"
            weights = np.full(len(own), 1 / len(own))
            axes.hist(own, edges.tolist(), weights=weights, histtype="stepfilled", alpha=0.45, color=colour, label=label)
        axes.set_title(plain(titles[k], 28), fontsize=10, color=INK, loc="left")
        axes.set_yticks([])
    if len(present) > 1:
        handles, labels = figure.axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=min(len(labels), 5), frameon=False, labelcolor=FAINT)
    what = "in which groups differ most" if len(present) > 1 else "of largest standard deviation"
    if len(chosen) < x.shape[1]:
        figure.suptitle(f"{len(chosen)} of {x.shape[1]} features, those {what}", fontsize=10, color=FAINT, x=0.01, ha="left")
    return figure


def _most_different(x: Array, groups: Array) -> list[int]:
    """Return the features to draw, the most different first."""
    std = x.std(axis=0)
    merit = std
    if len(np.unique(groups)) > 1:
        means = np.stack([x[groups == group].mean(axis=0) for group in np.unique(groups)])
        merit = np.ptp(means, axis=0) / np.where(std > 0, std, np.inf)
    return [int(k) for k in np.argsort(-merit, kind="stable")[:MOST]]
