"""Cars3D: car models seen from any side; from its public .mat files."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np

from untwine._typing import Array
from untwine.data.factor_grid import FactorGrid
from untwine.data.location import placed
from untwine.data.splits import Splits
from untwine.registry.checks import check_int
from untwine.samples import SIDES

AZIMUTHS, ELEVATIONS = 24, 4


def cars3d(
    *, held_out: str = "images", n_test: int | None = None, size: int = 64, seed: int = 0, folder: str | Path | None = None
) -> Splits:
    """Cars3D, car models from 24 directions and 4 heights; needs its files.

    Every combination of model, azimuth and elevation is one image (183 models, 17,568 images), shrunk from 128 x 128, RGB.

    Source: `cars3d/*.mat` (or `cars/*.mat`) of nips2015-analogy-data.tar.gz, www.scottreed.info (S. Reed, Y. Zhang, Y. Zhang,
    H. Lee, 2015), each with the array `im` (128, 128, 3, 24, 4); no licence is stated. Checksum: none, as the files were not
    at hand. Group: none. Label: the model. Factors: `model` (by the files' order), `azimuth` and `elevation`, counted from 0.

    Parameters
    ----------
    held_out
        What is held out for testing: "images" at random, or all images of some "models".
    n_test
        How many images or models are held out: a tenth of the images, or 20 models, where not given.
    size
        The side of the images in pixels, from 8 to 128.
    seed
        Decides which are held out.
    folder
        The folder that holds `cars3d/`; without it the environment variable UNTWINE_DATA, then ~/.cache/untwine.
    """
    if held_out not in ("images", "models"):
        raise ValueError(f"held_out expected 'images' or 'models'; got {held_out!r}.")
    seed = check_int("seed", seed, 0)
    grid = cars3d_grid(size=size, folder=folder)
    if held_out == "images":
        return grid.split(None, max(1, len(grid) // 10) if n_test is None else n_test, seed)
    models = grid.sizes[0]
    many = check_int("n_test", 20 if n_test is None else n_test, 1, models - 1)
    return grid.apart("model", np.random.default_rng(seed).permutation(models)[:many])


def cars3d_grid(*, size: int = 64, folder: str | Path | None = None) -> FactorGrid:
    """Return all of Cars3D, addressed by its factors and kept in memory."""
    size = check_int("size", size, SIDES[0], SIDES[-1])
    place = placed(folder, "Cars3D", ("cars3d", "cars"), "nips2015-analogy-data.tar.gz of www.scottreed.info")
    paths = sorted(place.glob("*.mat"))
    if not paths:
        raise ValueError(f"Cars3D was must be in {place} as .mat files, but there are none.")
    images = np.concatenate([_read_model(path, size) for path in paths])
    values = tuple(np.arange(float(many)) for many in (len(paths), AZIMUTHS, ELEVATIONS))
    return FactorGrid(
        ("model", "azimuth", "elevation"), values, lambda rows: images[rows], "model", tuple(path.stem for path in paths)
    )


def _read_model(path: Path, size: int) -> Array:
    """Read one model's images (96, 3, size, size), the elevation changing first."""
    from PIL import Image
    from scipy.io import loadmat
    from scipy.io.matlab import MatReadError

    try:
        content = loadmat(path)
    except (OSError, ValueError, TypeError, KeyError, NotImplementedError, MatReadError, struct.error, zlib.error) as error:
        raise ValueError(f"{path} must be a .mat file of MATLAB 5, but it cannot be read ({error}).") from None
    im = content.get("im")
    if im is None or im.dtype != np.uint8 or im.ndim != 5 or im.shape[2:] != (3, AZIMUTHS, ELEVATIONS):
        came = "has none" if im is None else f"has {im.dtype} {im.shape}"
        raise ValueError(f"{path} must be an array im (h, w, 3, {AZIMUTHS}, {ELEVATIONS}) of uint8, but {came}.")
    views = im.transpose(3, 4, 0, 1, 2).reshape(-1, *im.shape[:3])
    shrunk = [Image.fromarray(view).resize((size, size), Image.Resampling.BICUBIC) for view in views]
    return np.ascontiguousarray(np.moveaxis(np.stack([np.asarray(one) for one in shrunk]), -1, 1))
