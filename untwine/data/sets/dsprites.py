"""dSprites: a white square, ellipse or heart in any scale, orientation and place; from its file, or redrawn."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from untwine._typing import Array
from untwine.data.factor_grid import FactorGrid, averaged, divisor
from untwine.data.images.sprites import SHAPES, SIDE, draw_sprites
from untwine.data.location import data_folder
from untwine.data.readers.stored_rows import blocks, stored_rows
from untwine.data.splits import Splits

NAMES = ("shape", "scale", "orientation", "x", "y")
FILE = "dsprites_ndarray_co1sh3sc6or40x32y32_64x64.npz"


def factor_values() -> tuple[Array, ...]:
    """Return the values of shape, scale, orientation, x and y."""
    place = np.linspace(0, 1, 32)
    return np.arange(3.0), np.linspace(0.5, 1, 6), np.linspace(0, 2 * np.pi, 40), place, place


def dsprites(
    *, n_train: int = 50_000, n_test: int = 10_000, size: int = 64, seed: int = 0, folder: str | Path | None = None
) -> Splits:
    """Sprites of dSprites' public file; where that is not there, redrawn, with a warning that says so.

    Every combination of 3 shapes, 6 scales, 40 orientations and 32 x 32 places is one of 737,280 images, 64 x 64, black and
    white. Rows for testing and for training are drawn from all of them. The first and the last orientation are the same
    image, so one of a pair may be in either part.

    Source: `dsprites/dsprites_ndarray_co1sh3sc6or40x32y32_64x64.npz` of github.com/google-deepmind/dsprites-dataset (L.
    Matthey, I. Higgins, D. Hassabis, A. Lerchner, 2017; zlib licence). Only its images are read, nothing pickled. Checksum:
    none, as the file was not at hand. Where it is not there, what comes is `dsprites_redrawn`. Group: none. Label: the shape.
    Factors: `shape` (0 square, 1 ellipse, 2 heart), `scale` (0.5 to 1), `orientation` (0 to 2 pi), `x` and `y` (0 to 1).

    Parameters
    ----------
    n_train, n_test
        How many images to train and to test on.
    size
        The side in pixels: 64, or 32, 16 or 8, averaged over squares of pixels and so with grey edges.
    seed
        Decides which images are used for what.
    folder
        The folder that holds `dsprites/`; without it the environment variable UNTWINE_DATA, then ~/.cache/untwine.
    """
    return dsprites_grid(size=size, folder=folder).split(n_train, n_test, seed)


def dsprites_redrawn(*, n_train: int = 50_000, n_test: int = 10_000, size: int = 64, seed: int = 0) -> Splits:
    """Sprites of dSprites redrawn, which differ from dSprites by about one pixel an image; nothing to download.

    All of `dsprites`, with images that are drawn here, see `untwine.data.images.sprites`.

    Source: drawn here. Licence and checksum: none needed. Group, label and factors: as in `dsprites`.

    Parameters
    ----------
    n_train, n_test, size, seed
        As in `dsprites`.
    """
    return dsprites_redrawn_grid(size=size).split(n_train, n_test, seed)


def dsprites_name(options: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the name and the options of what `dsprites` gives: never dSprites' own name where it is redrawn."""
    if _file(options.get("folder")).is_file():
        return "dsprites", dict(options)
    return "dsprites_redrawn", {key: value for key, value in options.items() if key != "folder"}


def _file(folder: str | Path | None) -> Path:
    return data_folder(folder) / "dsprites" / FILE


def dsprites_grid(*, size: int = 64, folder: str | Path | None = None) -> FactorGrid:
    """Return all of dSprites, addressed by its factors: 377 MB in memory, or drawn when asked for where the file is absent."""
    size = divisor(size, SIDE)
    path = _file(folder)
    if not path.is_file():
        warnings.warn(
            f"{path} is not there, so this is dSprites redrawn, not dSprites; load 'dsprites_redrawn' to say so by name.",
            stacklevel=3,
        )
        return dsprites_redrawn_grid(size=size)
    values = factor_values()
    expected = (math.prod(map(len, values)), SIDE, SIDE)
    shape, _ = stored_rows(path, "imgs")
    if shape != expected:
        raise ValueError(f"{path} expected imgs of shape {expected}, but has {shape}; fetch it again.")
    kept: list[Array] = []

    def read(rows: Array) -> Array:
        if not kept:
            kept.append(_bits(path, expected[0]))
        images = np.unpackbits(kept[0][rows], axis=1).reshape(-1, 1, SIDE, SIDE)
        return averaged(255 * images, size)

    return FactorGrid(NAMES, values, read, label="shape", label_names=SHAPES)


def _bits(path: Path, rows: int) -> Array:
    """Return all images of the file, a bit for each pixel: (rows, 512); they are never there twice."""
    bits = np.empty((rows, SIDE * SIDE // 8), np.uint8)
    for start, block in blocks(path, "imgs"):
        bits[start : start + len(block)] = np.packbits(block.reshape(len(block), -1), axis=1)
    return bits


def dsprites_redrawn_grid(*, size: int = 64) -> FactorGrid:
    """Return all of dSprites redrawn, addressed by its factors and drawn when asked for."""
    size, values = divisor(size, SIDE), factor_values()

    def read(rows: Array) -> Array:
        shape, *levels = np.unravel_index(rows, [len(column) for column in values])
        scale, angle, x, y = (column[level] for column, level in zip(values[1:], levels, strict=True))
        sprites = draw_sprites(shape, scale, -angle, 16 + 32 * np.stack([x, y], axis=1))
        return averaged(255 * sprites[:, None].astype(np.uint8), size)

    return FactorGrid(NAMES, values, read, label="shape", label_names=SHAPES)
