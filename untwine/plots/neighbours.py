"""Nearest neighbours of images in the space of each latent block."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from untwine.plots.images import panels, to_display_range

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def nearest_neighbours(images: ArrayLike, near: Mapping[str, ArrayLike]) -> Figure:
    """Draw images and, beside each, its nearest neighbours in the space of each latent block, the nearest first.

    For disentangled blocks, neighbours by class are of the same class with other contents, and neighbours by content have the
    same content in other classes.

    Parameters
    ----------
    images
        Query images (k, C, H, W), one per row.
    near
        The nearest images (k, l, C, H, W) by the name of the block.
    """
    if not near:
        raise ValueError("nearest_neighbours needs the nearest images of at least one block; got none.")
    sources = np.asarray(images)
    grids = [("image", to_display_range("images", sources[:, None] if sources.ndim == 4 else sources, axes=5))]
    grids += [(f"nearest by {block}", to_display_range(block, cells, axes=5)) for block, cells in near.items()]
    for title, cells in grids[1:]:
        if len(cells) != len(sources):
            raise ValueError(f"the images {title} must have a row for each of the {len(sources)} images; got {len(cells)}.")
    return panels(grids)
