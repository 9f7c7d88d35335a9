"""Patches cropped from a folder of photographs, and their brightness and greenness."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from untwine._typing import Array
from untwine.data.images.resizing import channels_first
from untwine.data.location import missing_files
from untwine.data.readers.image_files import open_image

ENDINGS = (".jpg", ".jpeg", ".png")
LARGEST_SIDE = 512


def read_photographs(folder: Path) -> list[Array]:
    """Read all JPEG and PNG files of a folder, sorted by name, as RGB (H, W, 3), with a shorter side of at most 512 pixels."""
    from PIL import Image

    photographs = []
    for path in list_photographs(folder):
        rgb = open_image(path, "RGB")
        shrink = LARGEST_SIDE / min(rgb.size)
        if shrink < 1:
            rgb = rgb.resize((round(rgb.width * shrink), round(rgb.height * shrink)), Image.Resampling.BICUBIC)
        photographs.append(np.asarray(rgb))
    return photographs


def list_photographs(folder: Path) -> list[Path]:
    """Return the JPEG and PNG files of a folder, sorted by name, or refuse fewer than two."""
    paths = sorted(p for p in folder.iterdir() if p.suffix.lower() in ENDINGS) if folder.is_dir() else []
    if len(paths) < 2:
        files, got = "at least two .jpg or .png files", f"got {len(paths)}"
        source = "photographs (for instance those of github.com/lewisevans2007/OpenImages)"
        raise missing_files("Photographs of grass", folder, files, source, "grass/", got)
    return paths


def crop_squares(
    rng: np.random.Generator, photographs: list[Array], n: int, size: int, sides: tuple[int, int] = (64, 160)
) -> Array:
    """Crop n random squares of sides[0] to sides[1] pixels and resize them: (n, 3, size, size), uint8."""
    from PIL import Image

    smallest = min(min(photograph.shape[:2]) for photograph in photographs)
    if smallest < sides[0]:
        raise ValueError(
            f"photographs must have sides of at least {sides[0]} pixels; got one of {smallest}; remove it or use a larger one."
        )
    images = [Image.fromarray(photograph) for photograph in photographs]
    crops = np.empty((n, size, size, 3), np.uint8)
    for crop, which in zip(crops, rng.integers(len(images), size=n), strict=True):
        image = images[which]
        side = int(rng.integers(sides[0], min(sides[1], *image.size) + 1))
        left, top = (int(rng.integers(length - side + 1)) for length in image.size)
        box = (left, top, left + side, top + side)
        crop[:] = np.asarray(image.resize((size, size), Image.Resampling.BICUBIC, box=box))
    return channels_first(crops)


def brightness_and_greenness(images: Array) -> Array:
    """Return the mean HSV value and the mean of green - (red + blue) / 2 of uint8 images (n, 3, H, W), on [0, 1]: (n, 2).

    Greenness replaces the hue, which is unstable for soil and dry grass, as they are nearly grey.
    """
    brightness = images.max(axis=1).mean(axis=(1, 2)) / 255
    red, green, blue = images.mean(axis=(2, 3)).T / 255
    return np.stack([brightness, green - (red + blue) / 2], axis=1)
