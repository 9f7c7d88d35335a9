"""Which images are nearest to an image in each part's space."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from untwine.plots.images import panels, to_display_range

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def neighbours(images: ArrayLike, near: Mapping[str, ArrayLike]) -> Figure:
    """Draw images, and beside each those nearest to it in the space of each part, the nearest first.

    Where class and content came apart, neighbours by class are the same thing otherwise, and neighbours by content other things
    alike.

    Parameters
    ----------
    images
        Images (k, C, H, W), one a row.
    near
        For each part its name and the nearest images (k, l, C, H, W).
    """
    if not near:
        raise ValueError("neighbours expected the nearest images of at least one part; got none.")
    sources = np.asarray(images)
    blocks = [("image", to_display_range("images", sources[:, None] if sources.ndim == 4 else sources, axes=5))]
    blocks += [(f"nearest by {part}", to_display_range(part, cells, axes=5)) for part, cells in near.items()]
    for part, cells in blocks[1:]:
        if len(cells) != len(sources):
            raise ValueError(f"neighbours must be a row for each of {len(sources)} images {part}; got {len(cells)}.")
    return panels(blocks)
