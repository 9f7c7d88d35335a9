"""Latent traversals: the decoded images while one latent varies over its range."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from untwine.plots.images import GAP, canvas, place, to_display_range
from untwine.plots.style import FAINT, INK, plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DEAD_CHANGE = 1e-3  # of the largest change: rows that change less are labelled as dead


def traversal_grid(
    grid: ArrayLike,
    values: ArrayLike | None = None,
    names: Sequence[str] | None = None,
    change: ArrayLike | None = None,
    title: str = "",
) -> Figure:
    """Draw one latent per row, from the smallest to the largest of its values.

    Parameters
    ----------
    grid
        The images (d, steps, C, H, W), uint8 or floats in [0, 1].
    values
        The value of the latent at each step (d, steps); its range is written beside the row.
    names
        A name for each latent; numbered where not given.
    change
        How much the images of each row change (d,), such as `Traversal.change`; rows that hardly change are labelled as dead.
    title
        The title.
    """
    cells = to_display_range("grid", grid, axes=5)
    n_latents, steps = cells.shape[:2]
    labels = [str(i) for i in range(n_latents)] if names is None else list(names)
    ends = None if values is None else np.asarray(values, dtype=float)
    changes = np.ones(n_latents) if change is None else np.asarray(change, dtype=float)
    for what, shape, required in (
        ("names", (len(labels),), (n_latents,)),
        ("values", (n_latents, steps) if ends is None else ends.shape, (n_latents, steps)),
        ("change", changes.shape, (n_latents,)),
    ):
        if shape != required:
            raise ValueError(f"{what} must have shape {required}, as the grid has; got {shape}.")
    # A cell is about nine characters of a name wide, or twelve of the smaller range.
    notes = [
        "" if ends is None else f"{row[0]:.2g} to {row[-1]:.2g}" for row in (np.zeros((n_latents, 1)) if ends is None else ends)
    ]
    notes = [note if value > DEAD_CHANGE * changes.max() else "dead" for note, value in zip(notes, changes, strict=True)]
    left = 0.25 + max(max(len(plain(name)) / 9, len(note) / 12) for name, note in zip(labels, notes, strict=True))
    top = 0.4 if title else GAP
    width = max(left + steps * (1 + GAP), (0.3 + len(plain(title, 80)) / 9) if title else 0.0)
    axes, figure = canvas(width, top + n_latents * (1 + GAP))
    if title:
        axes.text(0.12, 0.2, plain(title, 80), ha="left", va="center", fontsize=12, color=INK)
    for i, row in enumerate(cells):
        y = top + i * (1 + GAP)
        lift = 0.14 if notes[i] else 0.0
        axes.text(left - 0.14, y + 0.5 - lift, plain(labels[i]), ha="right", va="center", fontsize=12, color=INK)
        axes.text(left - 0.14, y + 0.5 + lift, notes[i], ha="right", va="center", fontsize=9, color=FAINT)
        for j, image in enumerate(row):
            place(axes, image, left + j * (1 + GAP), y)
    return figure
