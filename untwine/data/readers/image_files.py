"""Images of a data set, one a file, cut to a square and brought to one size."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from untwine._typing import Array

ENDINGS = (".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff")


def image_paths(folder: Path) -> list[Path]:
    """Return the images that lie right in a folder, by name."""
    return sorted(path for path in folder.iterdir() if path.suffix.lower() in ENDINGS and path.is_file())


def read_squares(paths: Sequence[Path], size: int, mode: str = "RGB", halves: bool = False) -> Array:
    """Read the central square of each image, brought to `size`: (n, C, size, size), uint8.

    Parameters
    ----------
    paths
        The images.
    size
        The side in pixels.
    mode
        PIL's: "RGB", or "L" for grey.
    halves
        Whether a file holds two images side by side; both are then returned, one after the other (2n, ...).
    """
    from PIL import Image

    each = 2 if halves else 1
    x = np.empty((each * len(paths), size, size, 3 if mode == "RGB" else 1), np.uint8)
    for i, path in enumerate(paths):
        try:
            with Image.open(path) as opened:
                image = opened.convert(mode)
        except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
            raise ValueError(f"{path} must be an image, but it cannot be read ({error}); replace it.") from None
        width = image.width // each
        side = min(width, image.height)
        for j in range(each):
            left, top = j * width + (width - side) // 2, (image.height - side) // 2
            # Cut before it is shrunk: the filter would look over the edge, into the other half.
            square = image.crop((left, top, left + side, top + side))
            x[each * i + j] = np.asarray(square.resize((size, size), Image.Resampling.BICUBIC)).reshape(size, size, -1)
    return np.ascontiguousarray(np.moveaxis(x, -1, 1))
