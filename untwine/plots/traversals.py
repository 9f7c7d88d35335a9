"""What each latent does: images along a walk through its range."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from untwine.plots.images import GAP, canvas, place, to_display_range
from untwine.plots.style import FAINT, INK, plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STILL = 1e-3  # of the largest change: what moves less, nobody sees


def traversals(
    grid: ArrayLike,
    values: ArrayLike | None = None,
    names: Sequence[str] | None = None,
    change: ArrayLike | None = None,
    title: str = "",
) -> Figure:
    """Draw one latent a row, from the least to the largest of its values.

    Parameters
    ----------
    grid
        The images (d, steps, C, H, W), uint8 or floats in [0, 1].
    values
        What the latent is at each step (d, steps); the ends stand beside its row.
    names
        A name for each latent; numbered where not given.
    change
        How much each row varies, such as `Traversal.change`: a row that hardly does is named as dead.
    title
        What stands above.
    """
    cells = to_display_range("grid", grid, axes=5)
    many, steps = cells.shape[:2]
    beside = [str(i) for i in range(many)] if names is None else list(names)
    ends = None if values is None else np.asarray(values, dtype=float)
    moves = np.ones(many) if change is None else np.asarray(change, dtype=float)
    for what, shape, expected in (
        ("names", (len(beside),), (many,)),
        ("values", (many, steps) if ends is None else ends.shape, (many, steps)),
        ("change", moves.shape, (many,)),
    ):
        if shape != expected:
            raise ValueError(f"traversals expected {what} of shape {expected}, as the grid has; got {shape}.")
    # A cell is about as wide as nine letters of a name, and twelve of the smaller numbers.
    notes = [
        "" if ends is None else f"{row[0]:.2g} to {row[-1]:.2g}" for row in (np.zeros((many, 1)) if ends is None else ends)
    ]
    notes = [note if move > STILL * moves.max() else "dead" for note, move in zip(notes, moves, strict=True)]
    left = 0.25 + max(max(len(plain(name)) / 9, len(note) / 12) for name, note in zip(beside, notes, strict=True))
    top = 0.4 if title else GAP
    width = max(left + steps * (1 + GAP), (0.3 + len(plain(title, 80)) / 9) if title else 0.0)
    axes, figure = canvas(width, top + many * (1 + GAP))
    if title:
        axes.text(0.12, 0.2, plain(title, 80), ha="left", va="center", fontsize=12, color=INK)
    for i, row in enumerate(cells):
        y = top + i * (1 + GAP)
        lift = 0.14 if notes[i] else 0.0
        axes.text(left - 0.14, y + 0.5 - lift, plain(beside[i]), ha="right", va="center", fontsize=12, color=INK)
        axes.text(left - 0.14, y + 0.5 + lift, notes[i], ha="right", va="center", fontsize=9, color=FAINT)
        for j, image in enumerate(row):
            place(axes, image, left + j * (1 + GAP), y)
    return figure
