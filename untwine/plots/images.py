"""Rows and grids of images, drawn without interpolation of pixels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.plots.style import FAINT, INK, RULE, plain
from untwine.registry.observations import middle_slices

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CELL = 0.86  # the side of an image in inches; positions below are in units of it
GAP = 0.07


def image_rows(rows: Mapping[str, ArrayLike], titles: Sequence[str] | None = None) -> Figure:
    """Draw named rows of images, one below the other.

    Parameters
    ----------
    rows
        The images (m, C, H, W) of each row by its name, uint8 or floats in [0, 1]. Rows may differ in length.
    titles
        A title for each column.
    """
    if not rows:
        raise ValueError("image_rows needs at least one row of images; got an empty mapping.")
    images = {name: to_display_range(f"the row {name!r}", row, axes=4) for name, row in rows.items()}
    columns = max(len(row) for row in images.values())
    if titles is not None and len(titles) < columns:
        raise ValueError(f"titles must have a title for each of the {columns} columns; got {len(titles)}.")
    # A cell is about nine characters of a row name wide.
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


def swap_grid(
    common: ArrayLike, salient: ArrayLike, grid: ArrayLike, blocks: tuple[str, str] = ("common", "salient")
) -> Figure:
    """Draw every common block combined with every salient block, with the source images in the first column and row.

    Parameters
    ----------
    common
        The source images (k, C, H, W) of the common block, one for each row of the grid.
    salient
        The source images (l, C, H, W) of the salient block, one for each column of the grid.
    grid
        The decoded images (k, l, C, H, W) of all combinations.
    blocks
        The names of the blocks that are taken from the row and from the column.
    """
    rows, columns = to_display_range("common", common, axes=4), to_display_range("salient", salient, axes=4)
    cells = to_display_range("grid", grid, axes=5)
    if cells.shape[:2] != (len(rows), len(columns)):
        raise ValueError(
            f"grid must have {len(rows)} x {len(columns)} images, one for each pair of sources; "
            f"got {cells.shape[0]} x {cells.shape[1]}."
        )
    edge, start = 0.42, 0.42 + 1 + 0.22
    axes, figure = canvas(start + len(columns) * (1 + GAP), start + len(rows) * (1 + GAP))
    # The labels are centred on the grid or, where it is too small for them, on the whole figure.
    right, down = (start / (1 if n > 1 else 2) + n * (1 + GAP) / 2 for n in (len(columns), len(rows)))
    labels = [f"{plain(block, 12)} block from" for block in blocks]
    axes.text(right, 0.16, labels[1], ha="center", va="center", fontsize=12, color=INK)
    axes.text(0.16, down, labels[0], ha="center", va="center", fontsize=12, color=INK, rotation=90)
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
    """Draw rows of images, each with its first image at the left and its last at the right, set apart by a line.

    Parameters
    ----------
    grid
        The images (k, l, C, H, W).
    before, after
        Images (k, C, H, W) at the left and at the right of each row; none where not given.
    titles
        The titles of the left column, of the grid and of the right column.
    """
    sides = [None if side is None else np.asarray(side)[:, None] for side in (before, after)]
    blocks = [
        (title, to_display_range(name, cells, axes=5))
        for title, name, cells in zip(titles, ("before", "grid", "after"), (sides[0], grid, sides[1]), strict=True)
        if cells is not None
    ]
    if len({len(cells) for _, cells in blocks}) > 1:
        counts = ", ".join(str(len(cells)) for _, cells in blocks)
        raise ValueError(f"before and after must have one image for each row of the grid; got {counts} rows.")
    return panels(blocks)


def panels(blocks: Sequence[tuple[str, Array]]) -> Figure:
    """Draw titled grids with equally many rows side by side, with a line between them."""
    # A cell is about nine characters of a title wide.
    widths = [max(cells.shape[1] * (1 + GAP) - GAP, len(plain(title, 60)) / 9) for title, cells in blocks]
    top, margin = 0.4 if any(title for title, _ in blocks) else 0.0, 0.22
    axes, figure = canvas(sum(widths) + margin * (len(blocks) - 1) + 2 * GAP, top + len(blocks[0][1]) * (1 + GAP))
    left = GAP
    for (title, cells), width in zip(blocks, widths, strict=True):
        if left > GAP:
            axes.plot([left - margin / 2] * 2, [top, top + len(cells) * (1 + GAP) - GAP], color=RULE, linewidth=1.2)
        axes.text(left + width / 2, 0.2, plain(title, 60), ha="center", va="center", fontsize=12, color=INK)
        start = left + (width - cells.shape[1] * (1 + GAP) + GAP) / 2
        for i, j in np.ndindex(cells.shape[:2]):
            place(axes, cells[i, j], start + j * (1 + GAP), top + i * (1 + GAP))
        left += width + margin
    return figure


def interpolation(grid: ArrayLike) -> Figure:
    """Draw a two-dimensional interpolation between four images, which are framed in the corners.

    Parameters
    ----------
    grid
        The images (rows, columns, C, H, W).
    """
    cells = to_display_range("grid", grid, axes=5)
    down, right = cells.shape[:2]
    # The frames are drawn a little outside of their images.
    axes, figure = canvas(right * (1 + GAP) + GAP, down * (1 + GAP) + GAP)
    for i, row in enumerate(cells):
        for j, image in enumerate(row):
            x, y = GAP + j * (1 + GAP), GAP + i * (1 + GAP)
            place(axes, image, x, y)
            if i in (0, down - 1) and j in (0, right - 1):
                _frame(axes, x, y)
    return figure


def to_display_range(name: str, images: ArrayLike, axes: int) -> Array:
    """Return images as matplotlib shows them: channels last for RGB, no channel axis for grey; floats are clipped to [0, 1].

    Of volumes, which have one axis more, the middle slices are shown.
    """
    x = np.asarray(images)
    x = middle_slices(x) if x.ndim == axes + 1 else x
    layout = "(m, C, H, W)" if axes == 4 else "(rows, columns, C, H, W)"
    if x.ndim != axes or 0 in x.shape:
        raise ValueError(f"{name} must be images {layout}; got shape {x.shape}; check the axes.")
    if x.dtype != np.uint8:
        if x.dtype.kind != "f" or not np.isfinite(x).all():
            raise ValueError(f"{name} must be uint8 or finite floats in [0, 1]; got {x.dtype}, or values that are not finite.")
        x = np.clip(x, 0, 1)
    return np.moveaxis(x[..., :3, :, :], -3, -1) if x.shape[-3] >= 3 else x[..., 0, :, :]


def canvas(width: float, height: float) -> tuple[Axes, Figure]:
    """Return axes without spines and their figure, measured in cells with the origin at the upper left."""
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
    """Draw an image in the cell with the upper left corner (x, y), keeping its aspect ratio."""
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
