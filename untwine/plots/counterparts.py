"""Images beside their background counterparts, what differs, and where it should."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.method.difference import difference_map
from untwine.plots.images import GAP, canvas, place, to_display_range
from untwine.plots.style import BLOCKS, INK, plain
from untwine.registry.observations import middle_slices

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LEFT = 2.2  # cells for the names of the rows


def salient_maps(
    images: ArrayLike, reconstructions: ArrayLike, counterparts: ArrayLike, masks: ArrayLike | None = None
) -> Figure:
    """Draw images, their reconstructions, their background counterparts, counterpart minus image, and outlines of masks.

    Differences are red where the image is darker than its counterpart and blue where it is brighter, on one scale for all.

    Parameters
    ----------
    images, reconstructions, counterparts
        Images (m, C, H, W), or volumes, of which the middle slices are drawn: as observed, decoded, and decoded without the
        salient block; uint8 or floats in [0, 1].
    masks
        The pixels (m, H, W) where something salient is; outlined on the images in a row of their own.
    """
    given = {"image": images, "reconstruction": reconstructions, "counterpart": counterparts}
    arrays = {name: np.asarray(one) for name, one in given.items()}
    if arrays["image"].ndim == 5:
        arrays = {name: middle_slices(one) for name, one in arrays.items()}
        masks = None if masks is None else middle_slices(np.asarray(masks))
    if len({one.shape for one in arrays.values()}) > 1:
        shapes = ", ".join(f"{name} {one.shape}" for name, one in arrays.items())
        raise ValueError(f"images, reconstructions and counterparts must have one shape (m, C, H, W); got {shapes}.")
    rows = {name: to_display_range(f"the row {name!r}", one, axes=4) for name, one in arrays.items()}
    rows["difference"] = difference_colours(difference_map(arrays["image"], arrays["counterpart"]))
    outlines = None if masks is None else np.asarray(masks, dtype=bool)
    if outlines is not None:
        if outlines.shape != arrays["image"].shape[:1] + arrays["image"].shape[2:]:
            raise ValueError(f"masks must have shape (m, H, W) of the images {arrays['image'].shape}; got {outlines.shape}.")
        rows["mask"] = rows["image"]
    axes, figure = canvas(LEFT + len(rows["image"]) * (1 + GAP), len(rows) * (1 + GAP))
    for i, (name, row) in enumerate(rows.items()):
        y = i * (1 + GAP)
        axes.text(LEFT - 0.16, y + 0.5, plain(name), ha="right", va="center", fontsize=12, color=INK)
        for j, image in enumerate(row):
            place(axes, image, LEFT + j * (1 + GAP), y)
            if name == "mask" and outlines is not None:
                _outline(axes, outlines[j], LEFT + j * (1 + GAP), y)
    return figure


def difference_colours(differences: Array) -> Array:
    """Return image minus counterpart (m, H, W) as RGB: white at 0, red below and blue above, saturated at the largest 1 %."""
    from matplotlib import colormaps

    largest = max(float(np.quantile(np.abs(differences), 0.99)), 1e-6)
    return np.asarray(colormaps["RdBu"](0.5 + differences / (2 * largest))[..., :3])


def _outline(axes: Axes, mask: Array, x: float, y: float) -> None:
    """Draw the borders between pixels of a mask and others, in the cell with the upper left corner (x, y)."""
    padded, side = np.pad(mask, 1).astype(int), max(mask.shape)
    x, y = (start + (1 - length / side) / 2 for start, length in zip((x, y), mask.shape[::-1], strict=True))
    i, j = np.nonzero(np.diff(padded, axis=1)[1:-1])
    down, right = np.nonzero(np.diff(padded, axis=0)[:, 1:-1])
    axes.vlines(x + j / side, y + i / side, y + (i + 1) / side, colors=BLOCKS["salient"], linewidth=1.4)
    axes.hlines(y + down / side, x + right / side, x + (right + 1) / side, colors=BLOCKS["salient"], linewidth=1.4)
