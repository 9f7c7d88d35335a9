"""Images in rows and in grids, drawn pixel by pixel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.plots.style import FAINT, INK, RULE, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CELL = 0.86  # inches that an image's side takes; positions below are in cells
GAP = 0.07


def image_rows(rows: Mapping[str, ArrayLike], titles: Sequence[str] | None = None) -> Figure:
    """Draw named rows of images, one below the other.

    Parameters
    ----------
    rows
        For each row its name and its images (m, C, H, W), uint8 or floats in [0, 1]. Rows may differ in length.
    titles
        A title for each column.
    """
    if not rows:
        raise ValueError("image_rows expected at least one row of images; got an empty mapping.")
    images = {name: to_display_range(f"the row {name!r}", row, axes=4) for name, row in rows.items()}
    columns = max(len(row) for row in images.values())
    if titles is not None and len(titles) < columns:
        raise ValueError(f"titles must be a title for each of the {columns} columns; got {len(titles)}.")
    # A cell is about as wide as nine letters of the row names.
    left = 0.25 + max(len(plain(name)) for name in images) / 9
    top = 0.3 if titles else 0.0
    axes, figure = canvas(left + columns * (1 + GAP), top + len(images) * (1 + GAP))
    for i, (name, row) in enumerate(images.items()):
        y = top + i * (1 + GAP)
        axes.text(left - 0.16, y + 0.5, plain(name), ha="right", va="center", fontsize=12, color=INK)
        for j, image in enumerate(row):
            place(axes, image, left + j * (1 + GAP), y)
    for j, title in enumerate((titles or ())[:columns]):
        axes.text(left + j * (1 + GAP) + 0.5, 0.12, plain(title, 14), ha="center", va="center", fontsize=9, color=FAINT)
    return figure


def swap_grid(common: ArrayLike, salient: ArrayLike, grid: ArrayLike, parts: tuple[str, str] = ("common", "salient")) -> Figure:
    """Draw every common part with every salient part, the sources as header column and header row.

    Parameters
    ----------
    common
        The images (k, C, H, W) that give the common part, one for each row of the grid.
    salient
        The images (l, C, H, W) that give the salient part, one for each column of the grid.
    grid
        The recombined images (k, l, C, H, W).
    parts
        What the rows and what the columns give, where it is not the common and the salient part.
    """
    rows, columns = to_display_range("common", common, axes=4), to_display_range("salient", salient, axes=4)
    cells = to_display_range("grid", grid, axes=5)
    if cells.shape[:2] != (len(rows), len(columns)):
        raise ValueError(
            f"swap_grid must be a grid of {len(rows)} x {len(columns)} images, one for each pair of "
            f"sources; got {cells.shape[0]} x {cells.shape[1]}."
        )
    edge, start = 0.42, 0.42 + 1 + 0.22
    axes, figure = canvas(start + len(columns) * (1 + GAP), start + len(rows) * (1 + GAP))
    # The words stand in the middle of the grid or, where it is too short for them, of the whole figure.
    right, down = (start / (1 if many > 1 else 2) + many * (1 + GAP) / 2 for many in (len(columns), len(rows)))
    given = [f"{plain(part, 12)} part from" for part in parts]
    axes.text(right, 0.16, given[1], ha="center", va="center", fontsize=12, color=INK)
    axes.text(0.16, down, given[0], ha="center", va="center", fontsize=12, color=INK, rotation=90)
    for j, image in enumerate(columns):
        place(axes, image, start + j * (1 + GAP), edge)
    for i, image in enumerate(rows):
        place(axes, image, edge, start + i * (1 + GAP))
        for j, cell in enumerate(cells[i]):
            place(axes, cell, start + j * (1 + GAP), start + i * (1 + GAP))
    line = start - 0.11
    axes.plot([line, line], [edge, start + len(rows) * (1 + GAP) - GAP], color=RULE, linewidth=1.2)
    axes.plot([edge, start + len(columns) * (1 + GAP) - GAP], [line, line], color=RULE, linewidth=1.2)
    return figure


def strips(
    grid: ArrayLike,
    before: ArrayLike | None = None,
    after: ArrayLike | None = None,
    titles: tuple[str, str, str] = ("from", "", "to"),
) -> Figure:
    """Draw rows of images, each with the one it began with at its left and the one it leads to at its right.

    Parameters
    ----------
    grid
        The images (k, l, C, H, W).
    before, after
        Images (k, C, H, W) for the left and the right of each row; none where not given.
    titles
        The words above the images at the left, above the grid and above those at the right.
    """
    sides = [None if side is None else np.asarray(side)[:, None] for side in (before, after)]
    blocks = [
        (title, to_display_range(name, cells, axes=5))
        for title, name, cells in zip(titles, ("before", "grid", "after"), (sides[0], grid, sides[1]), strict=True)
        if cells is not None
    ]
    if len({len(cells) for _, cells in blocks}) > 1:
        counts = ", ".join(str(len(cells)) for _, cells in blocks)
        raise ValueError(f"strips must be one image at the side for each row of the grid; got {counts} rows.")
    return panels(blocks)


def panels(blocks: Sequence[tuple[str, Array]]) -> Figure:
    """Draw grids of equally many rows side by side, each below its title, with a line between them."""
    # A cell is about as wide as nine letters of a title.
    wide = [max(cells.shape[1] * (1 + GAP) - GAP, len(plain(title, 60)) / 9) for title, cells in blocks]
    top, apart = 0.4 if any(title for title, _ in blocks) else 0.0, 0.22
    axes, figure = canvas(sum(wide) + apart * (len(blocks) - 1) + 2 * GAP, top + len(blocks[0][1]) * (1 + GAP))
    left = GAP
    for (title, cells), width in zip(blocks, wide, strict=True):
        if left > GAP:
            axes.plot([left - apart / 2] * 2, [top, top + len(cells) * (1 + GAP) - GAP], color=RULE, linewidth=1.2)
        axes.text(left + width / 2, 0.2, plain(title, 60), ha="center", va="center", fontsize=12, color=INK)
        start = left + (width - cells.shape[1] * (1 + GAP) + GAP) / 2
        for i, j in np.ndindex(cells.shape[:2]):
            place(axes, cells[i, j], start + j * (1 + GAP), top + i * (1 + GAP))
        left += width + apart
    return figure


def interpolation(grid: ArrayLike) -> Figure:
    """Draw a walk in two directions between four images; their places, the corners, are framed.

    Parameters
    ----------
    grid
        The images (g, g, C, H, W); the first index goes down, the second to the right.
    """
    cells = to_display_range("grid", grid, axes=5)
    down, right = cells.shape[:2]
    # The frames of the corners stand a little outside of their images.
    axes, figure = canvas(right * (1 + GAP) + GAP, down * (1 + GAP) + GAP)
    for i, row in enumerate(cells):
        for j, image in enumerate(row):
            x, y = GAP + j * (1 + GAP), GAP + i * (1 + GAP)
            place(axes, image, x, y)
            if i in (0, down - 1) and j in (0, right - 1):
                _frame(axes, x, y)
    return figure


def to_display_range(name: str, images: ArrayLike, axes: int) -> Array:
    """Return images with their channels last, as matplotlib shows them: RGB, or grey without a channel axis."""
    x = np.asarray(images)
    expected = "(m, C, H, W)" if axes == 4 else "(rows, columns, C, H, W)"
    if x.ndim != axes or 0 in x.shape:
        raise ValueError(f"Plots must be images {expected} for {name}; got an array of shape {x.shape}.")
    if x.dtype != np.uint8:
        if x.dtype.kind != "f" or not np.isfinite(x).all():
            raise ValueError(f"Plots expected uint8 or finite floats for {name}; got {x.dtype} with other values.")
        x = np.clip(x, 0, 1)
    return np.moveaxis(x[..., :3, :, :], -3, -1) if x.shape[-3] >= 3 else x[..., 0, :, :]


def canvas(width: float, height: float) -> tuple[Axes, Figure]:
    """Make a figure with one bare panel that measures in cells, the origin at the upper left."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * CELL, height * CELL))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    return _measure(axes, width, height), figure


def _measure(axes: Axes, width: float, height: float) -> Axes:
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    axes.set_autoscale_on(False)
    return axes


def place(axes: Axes, image: Array, x: float, y: float) -> None:
    """Show an image in the cell whose upper left corner is (x, y), in its own proportions."""
    high, wide = image.shape[0] / max(image.shape[:2]), image.shape[1] / max(image.shape[:2])
    x, y = x + (1 - wide) / 2, y + (1 - high) / 2
    largest = 255 if image.dtype == np.uint8 else 1
    axes.imshow(
        image, extent=(x, x + wide, y + high, y), cmap="gray", vmin=0, vmax=largest, interpolation="nearest", aspect="auto"
    )


def _frame(axes: Axes, x: float, y: float) -> None:
    out = GAP / 2
    xs, ys = [x - out, x + 1 + out], [y - out, y + 1 + out]
    axes.plot([xs[0], xs[1], xs[1], xs[0], xs[0]], [ys[0], ys[0], ys[1], ys[1], ys[0]], color=INK, linewidth=1.6)
