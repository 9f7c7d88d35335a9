"""Vectors as lines over their features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from untwine.plots.style import CLASSES, FAINT, INK, open_frame, plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS = 3


def feature_profiles(rows: Mapping[str, ArrayLike]) -> Figure:
    """Draw a panel for each sample, with a line over its features for each named version of it.

    Parameters
    ----------
    rows
        The vectors (m, d) by name, such as originals and reconstructions of the same m samples; the first is thick and grey.
    """
    from matplotlib.figure import Figure

    lines = {name: np.asarray(row, dtype=float) for name, row in rows.items()}
    shapes = {row.shape for row in lines.values()}
    if len(shapes) != 1 or len(next(iter(shapes))) != 2:
        raise ValueError(f"rows must be arrays of one shape (m, d); got {sorted(shapes)}.")
    n_samples, width = next(iter(shapes))
    columns = min(COLUMNS, n_samples)
    n_rows = -(-n_samples // columns)
    figure = Figure(figsize=(3.5 * columns, 1.9 * n_rows + 0.5), layout="constrained")
    for i in range(n_samples):
        axes = figure.add_subplot(n_rows, columns, i + 1)
        open_frame(axes)
        for j, row in enumerate(lines.values()):
            colour, thick = (FAINT, 3.2) if j == 0 else (CLASSES[(j - 1) % len(CLASSES)], 1.3)
            mark = "o" if width < 12 else None
            axes.plot(row[i], color=colour, linewidth=thick, alpha=0.45 if j == 0 else 1, marker=mark, markersize=3)
        axes.set_title(f"sample {i + 1}", fontsize=10, color=INK, loc="left")
    handles = figure.axes[0].lines
    legend = figure.legend(
        handles, [str(i) for i in range(len(handles))], loc="outside lower center", ncols=4, frameon=False, fontsize=10
    )
    for text, name in zip(legend.get_texts(), lines, strict=True):
        text.set_text(plain(name))
    return figure
