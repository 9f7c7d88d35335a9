"""Images with the codes of a block replaced, by several methods side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from untwine.plots.images import panels, to_display_range

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def conditional_synthesis(
    images: ArrayLike, generated: Mapping[str, ArrayLike], references: Mapping[str, ArrayLike] | None = None
) -> Figure:
    """Draw images beside what each method generates from them: the row keeps the image's other blocks, the column has one code.

    As figure 3 of "Learning disentangled representations with reference-based variational autoencoders", where the salient
    codes are drawn from the prior; the column of the reference shows the image without them.

    Parameters
    ----------
    images
        The images (k, C, H, W), uint8 or floats in [0, 1], one for each row.
    generated
        By the name of the method, the images (k, n, C, H, W) with each of n codes: `manipulate.sample(method, x, n)`.
    references
        By the same names, the images (k, C, H, W) with the reference, or without the block: `manipulate.remove(method, x)`.
    """
    if not generated:
        raise ValueError("conditional_synthesis needs the images of at least one method; got an empty mapping.")
    if references is not None and set(references) != set(generated):
        names = ", ".join(references) or "none"
        raise ValueError(f"references must be of the same methods as generated, {', '.join(generated)}; got {names}.")
    blocks = [("original", to_display_range("images", images, axes=4)[:, None])]
    for name, grid in generated.items():
        if references is not None:
            first = to_display_range(f"the references of {name!r}", references[name], axes=4)
            blocks.append(("reference", first[:, None]))
        blocks.append((name, to_display_range(f"the images of {name!r}", grid, axes=5)))
    if len({len(cells) for _, cells in blocks}) > 1:
        counts = ", ".join(str(len(cells)) for _, cells in blocks)
        raise ValueError(f"generated and references must have a row for each image; got {counts} rows; pass as many of each.")
    return panels([(title, np.asarray(cells)) for title, cells in blocks])
