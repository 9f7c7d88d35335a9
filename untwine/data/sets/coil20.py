"""COIL-20: objects on a turntable; from its public images, or from one .npz."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from untwine._typing import Array
from untwine.data.data_card import DataCard, described
from untwine.data.data_set import DataSet
from untwine.data.factor_grid import FactorGrid
from untwine.data.images.resizing import resize
from untwine.data.location import locate
from untwine.data.options import check_size
from untwine.data.readers.arrays import load_arrays
from untwine.data.readers.image_files import image_paths, read_squares
from untwine.data.remote import Download, RemoteFile, require_files
from untwine.data.splits import Splits
from untwine.registry.checks import check_choice, check_int

FILE = re.compile(r"obj(\d+)__(\d+)\.png$")
DEGREES = 5  # between consecutive poses
ARRAYS = ("images", "object", "pose")


CARD = DataCard(
    source="the processed images of COIL-20 (S. Nene, S. Nayar, H. Murase, Columbia University, 1996), "
    "www.cs.columbia.edu/CAVE/software/softlib/coil-20.php.",
    licence="research only.",
    size="1,440 images of 20 objects, 1 x 64 x 64; a tenth is held out.",
    files="`coil20/obj<object>__<pose>.png` (or `coil-20-proc/...`); or one `coil20/coil20*.npz` with `images` (n, H, W), "
    "`object` and `pose`. Checksum: none, as the public files were not available.",
    groups="none.",
    labels="the object.",
    factors="`object` (its number) and `pose` (degrees).",
    sources='none: the class is the source, and `validation_split(by="classes")` holds whole classes out.',
    studies={
        "lord_table2": "Demystifying Inter-Class Disentanglement, table 2",
    },
)


@described(CARD)
def coil20(
    *, held_out: str = "images", n_test: int | None = None, size: int = 64, seed: int = 0, folder: str | Path | None = None
) -> Splits:
    """COIL-20, twenty objects on a turntable in 72 poses; needs its files.

    Every object was photographed every 5 degrees (1,440 images), cropped and resized to 128 x 128, grey; here to `size`.
    Each object has its own zero pose, and some look alike in many poses, so that poses of different objects do not correspond:
    suited to measuring leakage, not the error of content transfer.

    Parameters
    ----------
    held_out
        What is held out for testing: "images" at random, or all images of some "objects".
    n_test
        Number of images or objects to hold out: by default a tenth of the images, or 4 objects.
    size
        Side length of the images in pixels, from 8 to 128.
    seed
        Decides which images or objects are held out.
    folder
        Folder that contains `coil20/`; by default the environment variable UNTWINE_DATA, then ~/.cache/untwine.
    """
    check_choice("held_out", held_out, ("images", "objects"))
    seed = check_int("seed", seed, 0)
    grid = coil20_grid(size=size, folder=folder)
    return grid.hold_out(n_test, seed, "object" if held_out == "objects" else None, n_levels=4)


def coil20_grid(*, size: int = 64, folder: str | Path | None = None) -> FactorGrid:
    """Return all of COIL-20 as a grid of object and pose, in memory."""
    size = check_size(size)
    source = "the processed images of www.cs.columbia.edu/CAVE/software/softlib/coil-20.php"
    root = locate(folder, "COIL-20", ("coil20", "coil-20-proc"), source, "coil20")
    npz = next(iter(sorted(root.glob("coil20*.npz"))), None)
    images, factors = _read_npz(npz, size) if npz is not None else _read_folder(root, size)
    objects, poses = (np.unique(column) for column in factors.T)
    levels = np.stack([np.searchsorted(objects, factors[:, 0]), np.searchsorted(poses, factors[:, 1])])
    indices = np.ravel_multi_index(tuple(levels), (len(objects), len(poses)))
    if len(indices) != len(objects) * len(poses) or len(np.unique(indices)) != len(indices):
        raise ValueError(
            f"{root} must have every object in every pose once; got {len(indices)} images of {len(objects)} objects and "
            f"{len(poses)} poses; unpack it again."
        )
    x = images[np.argsort(indices)]
    names = tuple(f"object {number}" for number in objects)
    values = objects.astype(np.float64), DEGREES * poses.astype(np.float64)
    return FactorGrid(("object", "pose"), values, lambda i: x[i], "object", names)


def _read_folder(folder: Path, size: int) -> tuple[Array, Array]:
    """Return the images (n, 1, size, size), and object and pose of each (n, 2)."""
    root = next((path for path in (folder, folder / "coil-20-proc") if path.is_dir() and any(path.glob("obj*__*.png"))), None)
    if root is None:
        raise ValueError(
            f"COIL-20 must be in {folder} as obj1__0.png and so on, or as one coil20*.npz; not found; unpack it there."
        )
    files = [(path, match) for path in image_paths(root) if (match := FILE.search(path.name))]
    factors = np.array([[int(number) for number in match.groups()] for _, match in files])
    return read_squares([path for path, _ in files], size, "L"), factors


def _read_npz(path: Path, size: int) -> tuple[Array, Array]:
    arrays = load_arrays(path, ARRAYS)
    images, objects, poses = (arrays[name] for name in ARRAYS)
    fits = images.dtype == np.uint8 and images.ndim == 3 and objects.shape == poses.shape == (len(images),) and len(images)
    if not fits or objects.dtype.kind not in "ui" or poses.dtype.kind not in "ui":
        raise ValueError(
            f"{path} must hold images (n, H, W) of uint8, and object (n,) and pose (n,) of integers; got "
            f"{', '.join(f'{name} {array.dtype} {array.shape}' for name, array in arrays.items())}; convert them."
        )
    return resize(images, size)[:, None], np.column_stack([objects, poses]).astype(np.int64)


def _check_files(folder: Path) -> None:
    if not any(folder.glob("coil20*.npz")):
        require_files(folder, {"**/obj*__*.png": 1_440})


COIL20 = Download(
    name="coil20",
    licence=CARD.licence,
    folder="coil20",
    files=(RemoteFile(("https://www.cs.columbia.edu/CAVE/databases/SLAM_coil-20_coil-100/coil-20/coil-20-proc.zip",)),),
    check=_check_files,
    limits=(2_000, 500_000_000),
)
ENTRIES = {"coil20": DataSet(coil20, grid=coil20_grid, downloads=(COIL20,))}
