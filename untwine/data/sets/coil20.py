"""COIL-20: objects on a turntable; from its public images, or packed into one .npz."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from untwine._typing import Array
from untwine.data.factor_grid import FactorGrid
from untwine.data.location import placed
from untwine.data.readers.arrays import load_arrays
from untwine.data.readers.image_files import image_paths, read_squares
from untwine.data.splits import Splits
from untwine.registry.checks import check_int
from untwine.samples import SIDES

FILE = re.compile(r"obj(\d+)__(\d+)\.png$")
DEGREES = 5  # from a pose to the next
PACKED = ("images", "object", "pose")


def coil20(
    *, held_out: str = "images", n_test: int | None = None, size: int = 64, seed: int = 0, folder: str | Path | None = None
) -> Splits:
    """COIL-20, twenty objects on a turntable from 72 sides; needs its files.

    Every object was photographed every 5 degrees (1,440 images), cut out and brought to 128 x 128, grey; shrunk to `size`.
    Each object has its own zero, and some look alike from many sides, so poses of two objects do not mean the same: good for
    asking what leaks, not for the error of a moved content.

    Source: the processed images of COIL-20 (S. Nene, S. Nayar, H. Murase, Columbia University, 1996; for research) as
    `coil20/obj<object>__<pose>.png` (or `coil-20-proc/...`); or one `coil20/coil20*.npz` with `images` (n, H, W), `object` and
    `pose`. Checksum: none, as the public files were not at hand. Group: none. Label: the object. Factors: `object` (its number)
    and `pose` (degrees).

    Parameters
    ----------
    held_out
        What is held out for testing: "images" at random, or all images of some "objects".
    n_test
        How many images or objects are held out: a tenth of the images, or 4 objects, where not given.
    size
        The side of the images in pixels, from 8 to 128.
    seed
        Decides which are held out.
    folder
        The folder that holds `coil20/`; without it the environment variable UNTWINE_DATA, then ~/.cache/untwine.
    """
    if held_out not in ("images", "objects"):
        raise ValueError(f"held_out expected 'images' or 'objects'; got {held_out!r}.")
    seed = check_int("seed", seed, 0)
    grid = coil20_grid(size=size, folder=folder)
    if held_out == "images":
        return grid.split(None, max(1, len(grid) // 10) if n_test is None else n_test, seed)
    objects = grid.sizes[0]
    many = check_int("n_test", 4 if n_test is None else n_test, 1, objects - 1)
    return grid.apart("object", np.random.default_rng(seed).permutation(objects)[:many])


def coil20_grid(*, size: int = 64, folder: str | Path | None = None) -> FactorGrid:
    """Return all of COIL-20, addressed by object and pose and kept in memory."""
    size = check_int("size", size, SIDES[0], SIDES[-1])
    place = placed(folder, "COIL-20", ("coil20", "coil-20-proc"), "www.cs.columbia.edu/CAVE/software/softlib/coil-20.php")
    packed = next(iter(sorted(place.glob("coil20*.npz"))), None)
    images, features = _read_packed(packed, size) if packed is not None else _read_folder(place, size)
    objects, poses = (np.unique(column) for column in features.T)
    levels = np.stack([np.searchsorted(objects, features[:, 0]), np.searchsorted(poses, features[:, 1])])
    rows = np.ravel_multi_index(tuple(levels), (len(objects), len(poses)))
    if len(rows) != len(objects) * len(poses) or len(np.unique(rows)) != len(rows):
        raise ValueError(
            f"{place} expected every object in every pose once, but has {len(rows)} images of {len(objects)} objects and "
            f"{len(poses)} poses; unpack it again."
        )
    x = images[np.argsort(rows)]
    names = tuple(f"object {number}" for number in objects)
    values = objects.astype(np.float64), DEGREES * poses.astype(np.float64)
    return FactorGrid(("object", "pose"), values, lambda chosen: x[chosen], "object", names)


def _read_folder(place: Path, size: int) -> tuple[Array, Array]:
    """Return the images (n, 1, size, size), and object and pose of each (n, 2)."""
    root = next((path for path in (place, place / "coil-20-proc") if path.is_dir() and any(path.glob("obj*__*.png"))), None)
    if root is None:
        raise ValueError(f"COIL-20 was must be in {place} as obj1__0.png and so on, or as one coil20*.npz, but has neither.")
    found = [(path, named) for path in image_paths(root) if (named := FILE.search(path.name))]
    features = np.array([[int(number) for number in named.groups()] for _, named in found])
    return read_squares([path for path, _ in found], size, "L"), features


def _read_packed(path: Path, size: int) -> tuple[Array, Array]:
    from PIL import Image

    arrays = load_arrays(path)
    images, objects, poses = (arrays.get(name, np.empty(0)) for name in PACKED)
    fits = images.dtype == np.uint8 and images.ndim == 3 and objects.shape == poses.shape == (len(images),) and len(images)
    if not fits or objects.dtype.kind not in "ui" or poses.dtype.kind not in "ui":
        raise ValueError(
            f"{path} must be images (n, H, W) of uint8, object (n,) and pose (n,), but has "
            f"{', '.join(f'{name} {array.dtype} {array.shape}' for name, array in arrays.items()) or 'nothing'}."
        )
    squares = [np.asarray(Image.fromarray(one).resize((size, size), Image.Resampling.BICUBIC)) for one in images]
    return np.stack(squares)[:, None], np.column_stack([objects, poses]).astype(np.int64)
