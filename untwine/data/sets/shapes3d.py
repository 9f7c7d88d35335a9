"""3D Shapes: a cube, cylinder, sphere or pill in a room, in many colours; from its public file."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from untwine._typing import Array
from untwine.data.data_card import DataCard, described
from untwine.data.data_set import DataSet
from untwine.data.factor_grid import FactorGrid
from untwine.data.images.resizing import average_pool, channels_first
from untwine.data.location import locate
from untwine.data.options import check_pooled_size
from untwine.data.readers.large_arrays import load_array, open_array
from untwine.data.remote import Download, RemoteFile, require_files
from untwine.data.splits import Splits

NAMES = ("floor hue", "wall hue", "object hue", "scale", "shape", "orientation")
SHAPES = ("cube", "cylinder", "sphere", "pill")
FILES = ("shapes3d/3dshapes.h5", "shapes3d/3dshapes.npz")


CARD = DataCard(
    source="github.com/google-deepmind/3d-shapes (C. Burgess, H. Kim, 2018).",
    licence="Apache 2.0.",
    size="480,000 images, of which 50,000 are for training and 10,000 for testing, 3 x 64 x 64.",
    files="`shapes3d/3dshapes.h5`, or the same arrays `images` and `labels` as `shapes3d/3dshapes.npz`. Checksum: none, as "
    "the file was not available.",
    groups="none.",
    labels="the shape.",
    factors="`floor hue`, `wall hue`, `object hue` (0 to 0.9), `scale` (0.75 to 1.25), `shape` (0 cube, 1 cylinder, 2 sphere,"
    " 3 pill) and `orientation` (-30 to 30 degrees), as in the file.",
    sources="none: no two images have anything in common but factors.",
)


@described(CARD)
def shapes3d(
    *, n_train: int = 50_000, n_test: int = 10_000, size: int = 64, seed: int = 0, folder: str | Path | None = None
) -> Splits:
    """3D Shapes, objects in a room with six independent factors; needs its file, and h5py for the public one.

    Every combination of 10 floor, 10 wall and 10 object hues, 8 scales, 4 shapes and 15 orientations is one of 480,000
    images, 64 x 64, RGB. Test and training images are drawn at random from all of them.

    Parameters
    ----------
    n_train, n_test
        Number of training and test images.
    size
        Side length in pixels: 64, or 32, 16 or 8 by average pooling.
    seed
        Decides which images are in which split.
    folder
        Folder that contains `shapes3d/`; by default the environment variable UNTWINE_DATA, then ~/.cache/untwine.
    """
    return shapes3d_grid(size=size, folder=folder).split(n_train, n_test, seed)


def shapes3d_grid(*, size: int = 64, folder: str | Path | None = None) -> FactorGrid:
    """Return all of 3D Shapes as a grid of its factors, read on demand."""
    size = check_pooled_size(size, 64)
    path = locate(folder, "3D Shapes", FILES, "the file of github.com/google-deepmind/3d-shapes", "shapes3d")
    labels = load_array(path, "labels")
    shape, read_images = open_array(path, "images")
    if shape[1:] != (64, 64, 3) or labels.shape != (shape[0], len(NAMES)):
        raise ValueError(
            f"{path} must hold images (n, 64, 64, 3) and labels (n, {len(NAMES)}); got {shape} and {labels.shape}; "
            "download it again."
        )
    values = tuple(np.unique(column) for column in labels.T)
    levels = np.indices([len(column) for column in values]).reshape(len(NAMES), -1)
    expected = np.stack([column[level] for column, level in zip(values, levels, strict=True)], axis=1)
    if expected.shape != labels.shape or not np.array_equal(expected, labels):
        raise ValueError(
            f"{path} must hold every combination of its factors once and in order; it does not; download it again."
        )

    def read(indices: Array) -> Array:
        return average_pool(channels_first(read_images(indices)), size)

    return FactorGrid(NAMES, values, read, label="shape", label_names=SHAPES)


def _check_signature(folder: Path) -> None:
    """Refuse a folder without a file that begins as HDF5 does; what is in it is read with h5py, which may not be installed."""
    path = next((folder / Path(name).name for name in FILES if (folder / Path(name).name).is_file()), folder / "3dshapes.h5")
    require_files(folder, {path.name: 1})
    with path.open("rb") as file:
        beginning = file.read(8)
    if path.suffix == ".h5" and beginning != b"\x89HDF\r\n\x1a\n":
        raise ValueError(f"{path} must be an HDF5 file; it begins with {beginning.hex() or 'nothing'}; download it again.")


SHAPES3D = Download(
    name="shapes3d",
    licence=CARD.licence,
    folder="shapes3d",
    files=(RemoteFile(("https://storage.googleapis.com/3d-shapes/3dshapes.h5",), 267_573_662),),
    check=_check_signature,
)
ENTRIES = {"shapes3d": DataSet(shapes3d, grid=shapes3d_grid, downloads=(SHAPES3D,))}
