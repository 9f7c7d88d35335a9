"""Patches cut out of a folder of photographs, and how bright and how green they are."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from untwine._typing import Array

ENDINGS = (".jpg", ".jpeg", ".png")
LARGEST_SIDE = 512


def read_photographs(folder: Path) -> list[Array]:
    """Read all JPEG and PNG files of a folder, by name, as RGB (H, W, 3); larger ones are shrunk to a short side of 512."""
    from PIL import Image

    paths = sorted(p for p in folder.iterdir() if p.suffix.lower() in ENDINGS) if folder.is_dir() else []
    if len(paths) < 2:
        raise ValueError(
            f"Photographs of grass were must be in {folder} as at least two .jpg or .png files, but it has {len(paths)}; "
            "place some there (for instance those of github.com/lewisevans2007/OpenImages), or set the environment "
            "variable UNTWINE_DATA (or the option folder) to the folder that holds grass/."
        )
    photographs = []
    for path in paths:
        try:
            with Image.open(path) as image:
                rgb = image.convert("RGB")
        except (OSError, SyntaxError, Image.DecompressionBombError) as error:
            raise ValueError(f"{path} must be a photograph, but it cannot be read ({error}); replace or remove it.") from None
        shrink = LARGEST_SIDE / min(rgb.size)
        if shrink < 1:
            rgb = rgb.resize((round(rgb.width * shrink), round(rgb.height * shrink)), Image.Resampling.BICUBIC)
        photographs.append(np.asarray(rgb))
    return photographs


def crop_squares(
    rng: np.random.Generator, photographs: list[Array], many: int, size: int, sides: tuple[int, int] = (64, 160)
) -> Array:
    """Crop random squares of sides[0] to sides[1] pixels and shrink them: (many, 3, size, size), uint8."""
    from PIL import Image

    smallest = min(min(photograph.shape[:2]) for photograph in photographs)
    if smallest < sides[0]:
        raise ValueError(
            f"Photographs expected sides of at least {sides[0]} pixels, but one has {smallest}; use larger photographs."
        )
    images = [Image.fromarray(photograph) for photograph in photographs]
    crops = np.empty((many, size, size, 3), np.uint8)
    for crop, which in zip(crops, rng.integers(len(images), size=many), strict=True):
        image = images[which]
        side = int(rng.integers(sides[0], min(sides[1], *image.size) + 1))
        left, top = (int(rng.integers(length - side + 1)) for length in image.size)
        box = (left, top, left + side, top + side)
        crop[:] = np.asarray(image.resize((size, size), Image.Resampling.BICUBIC, box=box))
    return np.ascontiguousarray(np.moveaxis(crops, -1, 1))


def brightness_and_greenness(images: Array) -> Array:
    """Measure uint8 images (n, 3, H, W) on [0, 1]: mean of HSV's value, and mean of green - (red + blue) / 2; (n, 2).

    Greenness stands for the hue: soil and dry grass are nearly grey, where a hue is an angle that means nothing and jumps.
    """
    brightness = images.max(axis=1).mean(axis=(1, 2)) / 255
    red, green, blue = images.mean(axis=(2, 3)).T / 255
    return np.stack([brightness, green - (red + blue) / 2], axis=1)
