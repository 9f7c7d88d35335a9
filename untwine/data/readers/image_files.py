"""Image files: opening, and reading the central square of each at one size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np

from untwine._typing import Array
from untwine.data.images.resizing import channels_first

if TYPE_CHECKING:
    from PIL import Image

ENDINGS = (".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff")


def image_paths(folder: Path) -> list[Path]:
    """Return the image files of a folder, not of its subfolders, sorted by name."""
    return sorted(path for path in folder.iterdir() if path.suffix.lower() in ENDINGS and path.is_file())


def open_image(file: Path | IO[bytes], mode: str | None = None, name: str = "") -> Image.Image:
    """Read an image file.

    Parameters
    ----------
    file
        Path or open file.
    mode
        PIL's mode to convert to, such as "RGB" or "L"; None keeps the mode of the file.
    name
        Name of the file in the error message, by default its path.
    """
    with opening(file, name) as image:
        return image.copy() if mode is None else image.convert(mode)


@contextmanager
def opening(file: Path | IO[bytes], name: str = "", load: bool = True) -> Iterator[Image.Image]:
    """Open an image file, with its pixels unless its header is enough; whatever is wrong with it names the file.

    What is raised inside with a message that names the file itself is left as it is.
    """
    from PIL import Image

    try:
        with Image.open(file) as image:
            if load:
                image.load()
            yield image
    except Image.DecompressionBombError:
        # Pillow refuses what has twice as many pixels as it warns of.
        limit = 2 * (Image.MAX_IMAGE_PIXELS or 0)
        raise ValueError(
            f"{name or file} must have at most {limit:,} pixels, the limit of Pillow; it has more; resize or remove it."
        ) from None
    except (OSError, SyntaxError, ValueError) as error:
        if str(error).startswith(f"{name or file} must"):
            raise
        raise ValueError(f"{name or file} must be an image; it cannot be read ({error}); replace or remove it.") from None


def read_squares(paths: Sequence[Path], size: int, mode: str = "RGB", halves: bool = False) -> Array:
    """Read the central square of each image, resized to `size`: (n, C, size, size), uint8.

    Parameters
    ----------
    paths
        Image files.
    size
        Side length in pixels.
    mode
        PIL's mode: "RGB", or "L" for grey.
    halves
        Whether a file holds two images side by side; both are then returned, one after the other (2n, ...).
    """
    from PIL import Image

    per_file = 2 if halves else 1
    x = np.empty((per_file * len(paths), size, size, 3 if mode == "RGB" else 1), np.uint8)
    for i, path in enumerate(paths):
        image = open_image(path, mode)
        width = image.width // per_file
        side = min(width, image.height)
        for j in range(per_file):
            left, top = j * width + (width - side) // 2, (image.height - side) // 2
            # Cropped before resizing: the filter would include pixels of the other half.
            square = image.crop((left, top, left + side, top + side))
            x[per_file * i + j] = np.asarray(square.resize((size, size), Image.Resampling.BICUBIC)).reshape(size, size, -1)
    return channels_first(x)
