"""3D Shapes: a cube, cylinder, sphere or pill in a room, in any colours; from its public file."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from untwine._typing import Array
from untwine.data.factor_grid import FactorGrid, averaged, divisor
from untwine.data.location import placed
from untwine.data.readers.stored_rows import small_array, stored_rows
from untwine.data.splits import Splits

NAMES = ("floor hue", "wall hue", "object hue", "scale", "shape", "orientation")
SHAPES = ("cube", "cylinder", "sphere", "pill")
FILES = ("shapes3d/3dshapes.h5", "shapes3d/3dshapes.npz")


def shapes3d(
    *, n_train: int = 50_000, n_test: int = 10_000, size: int = 64, seed: int = 0, folder: str | Path | None = None
) -> Splits:
    """3D Shapes, objects in a room with six independent factors; needs its file, and h5py to read the public one.

    Every combination of 10 floor, 10 wall and 10 object hues, 8 scales, 4 shapes and 15 orientations is one of 480,000
    images, 64 x 64, RGB. Rows for testing and for training are drawn from all of them.

    Source: `shapes3d/3dshapes.h5` of github.com/google-deepmind/3d-shapes (C. Burgess, H. Kim, 2018; Apache 2.0), or the same
    arrays `images` and `labels` as `shapes3d/3dshapes.npz`. Checksum: none, as the file was not at hand. Group: none. Label:
    the shape. Factors: `floor hue`, `wall hue`, `object hue` (0 to 0.9), `scale` (0.75 to 1.25), `shape` (0 cube, 1 cylinder,
    2 sphere, 3 pill) and `orientation` (-30 to 30 degrees), as the file has them.

    Parameters
    ----------
    n_train, n_test
        How many images to train and to test on.
    size
        The side in pixels: 64, or 32, 16 or 8, averaged over squares of pixels.
    seed
        Decides which images are used for what.
    folder
        The folder that holds `shapes3d/`; without it the environment variable UNTWINE_DATA, then ~/.cache/untwine.
    """
    return shapes3d_grid(size=size, folder=folder).split(n_train, n_test, seed)


def shapes3d_grid(*, size: int = 64, folder: str | Path | None = None) -> FactorGrid:
    """Return all of 3D Shapes, addressed by its factors and read when asked for."""
    size = divisor(size, 64)
    path = placed(folder, "3D Shapes", FILES, "github.com/google-deepmind/3d-shapes")
    labels = small_array(path, "labels")
    shape, read_rows = stored_rows(path, "images")
    if shape[1:] != (64, 64, 3) or labels.shape != (shape[0], len(NAMES)):
        raise ValueError(
            f"{path} must be images (n, 64, 64, 3) and labels (n, {len(NAMES)}), but has {shape} and {labels.shape}; fetch it "
            "again."
        )
    values = tuple(np.unique(column) for column in labels.T)
    levels = np.indices([len(column) for column in values]).reshape(len(NAMES), -1)
    order = np.stack([column[level] for column, level in zip(values, levels, strict=True)], axis=1)
    if order.shape != labels.shape or not np.array_equal(order, labels):
        raise ValueError(f"{path} expected every combination of its factors once and in their order; fetch it again.")

    def read(rows: Array) -> Array:
        return averaged(np.ascontiguousarray(np.moveaxis(read_rows(rows), -1, 1)), size)

    return FactorGrid(NAMES, values, read, label="shape", label_names=SHAPES)
