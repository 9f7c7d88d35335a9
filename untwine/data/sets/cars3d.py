"""Cars3D: car models from many viewpoints; from its public .mat files."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np

from untwine._typing import Array
from untwine.data.data_card import DataCard, described
from untwine.data.data_set import DataSet
from untwine.data.factor_grid import FactorGrid
from untwine.data.images.resizing import channels_first, resize
from untwine.data.location import locate
from untwine.data.options import check_size
from untwine.data.remote import Download, RemoteFile, require_files
from untwine.data.splits import Splits
from untwine.registry.checks import check_choice, check_int

AZIMUTHS, ELEVATIONS = 24, 4


CARD = DataCard(
    source="nips2015-analogy-data.tar.gz, www.scottreed.info (S. Reed, Y. Zhang, Y. Zhang, H. Lee, 2015).",
    licence="none is stated.",
    size="183 models of 96 images, 3 x 64 x 64.",
    files="`cars3d/*.mat` (or `cars/*.mat`), each with the array `im` (128, 128, 3, 24, 4). Checksum: none, as the files "
    "were not available.",
    groups="none.",
    labels="the model.",
    factors="`model` (in the order of the files), `azimuth` and `elevation`, counted from 0.",
    sources='none: the class is the source, and `validation_split(by="classes")` holds whole classes out.',
    studies={
        "lord_table1": "Demystifying Inter-Class Disentanglement, table 1",
        "lord_table2": "Demystifying Inter-Class Disentanglement, table 2",
        "lord_table3": "Demystifying Inter-Class Disentanglement, table 3",
    },
)


@described(CARD)
def cars3d(
    *, held_out: str = "images", n_test: int | None = None, size: int = 64, seed: int = 0, folder: str | Path | None = None
) -> Splits:
    """Cars3D, car models from 24 azimuths and 4 elevations; needs its files.

    Every combination of model, azimuth and elevation is one image (183 models, 17,568 images), resized from 128 x 128, RGB.

    Parameters
    ----------
    held_out
        What is held out for testing: "images" at random, or all images of some "models".
    n_test
        Number of images or models to hold out: by default a tenth of the images, or 20 models.
    size
        Side length of the images in pixels, from 8 to 128.
    seed
        Decides which images or models are held out.
    folder
        Folder that contains `cars3d/`; by default the environment variable UNTWINE_DATA, then ~/.cache/untwine.
    """
    check_choice("held_out", held_out, ("images", "models"))
    seed = check_int("seed", seed, 0)
    grid = cars3d_grid(size=size, folder=folder)
    return grid.hold_out(n_test, seed, "model" if held_out == "models" else None, n_levels=20)


def cars3d_grid(*, size: int = 64, folder: str | Path | None = None) -> FactorGrid:
    """Return all of Cars3D as a grid of its factors, in memory."""
    size = check_size(size)
    root = locate(folder, "Cars3D", ("cars3d", "cars"), "nips2015-analogy-data.tar.gz of www.scottreed.info", "cars3d")
    paths = sorted(root.glob("*.mat"))
    if not paths:
        raise ValueError(f"Cars3D must be in {root} as .mat files; there are none; unpack the archive there.")
    images = np.concatenate([_read_model(path, size) for path in paths])
    values = tuple(np.arange(float(n)) for n in (len(paths), AZIMUTHS, ELEVATIONS))
    names = tuple(path.stem for path in paths)
    return FactorGrid(("model", "azimuth", "elevation"), values, lambda indices: images[indices], "model", names)


def _read_model(path: Path, size: int) -> Array:
    """Read the images of one model (96, 3, size, size); the elevation varies fastest."""
    from scipy.io import loadmat
    from scipy.io.matlab import MatReadError

    try:
        content = loadmat(path)
    except (OSError, ValueError, TypeError, KeyError, NotImplementedError, MatReadError, struct.error, zlib.error) as error:
        raise ValueError(f"{path} must be a .mat file of MATLAB 5; it cannot be read ({error}); unpack it again.") from None
    im = content.get("im")
    if im is None or im.dtype != np.uint8 or im.ndim != 5 or im.shape[2:] != (3, AZIMUTHS, ELEVATIONS):
        got = "no such array" if im is None else f"{im.dtype} {im.shape}"
        raise ValueError(
            f"{path} must hold an array im (h, w, 3, {AZIMUTHS}, {ELEVATIONS}) of uint8; got {got}; unpack it again."
        )
    return channels_first(resize(im.transpose(3, 4, 0, 1, 2).reshape(-1, *im.shape[:3]), size))


CARS3D = Download(
    name="cars3d",
    licence=CARD.licence,
    folder="cars3d",
    files=(RemoteFile(("http://www.scottreed.info/files/nips2015-analogy-data.tar.gz",)),),
    check=lambda folder: require_files(folder, {"*.mat": 183}),
    within="data/cars",
)
ENTRIES = {"cars3d": DataSet(cars3d, grid=cars3d_grid, downloads=(CARS3D,))}
