"""dSprites: a white square, ellipse or heart in any scale, orientation and position; from its file, or redrawn."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from untwine._typing import Array
from untwine.data.data_card import DataCard, described
from untwine.data.data_set import DataSet
from untwine.data.factor_grid import FactorGrid
from untwine.data.images.resizing import average_pool
from untwine.data.images.sprites import SHAPES, SIDE, draw_sprites
from untwine.data.location import data_folder
from untwine.data.options import check_pooled_size
from untwine.data.readers.large_arrays import iterate_blocks, open_array
from untwine.data.remote import Download, RemoteFile
from untwine.data.splits import Splits

NAMES = ("shape", "scale", "orientation", "x", "y")
FILE = "dsprites_ndarray_co1sh3sc6or40x32y32_64x64.npz"


def factor_values() -> tuple[Array, ...]:
    """Return the values of shape, scale, orientation, x and y."""
    position = np.linspace(0, 1, 32)
    return np.arange(3.0), np.linspace(0.5, 1, 6), np.linspace(0, 2 * np.pi, 40), position, position


CARD = DataCard(
    source="github.com/google-deepmind/dsprites-dataset (L. Matthey, I. Higgins, D. Hassabis, A. Lerchner, 2017).",
    licence="zlib.",
    size="737,280 images, of which 50,000 are for training and 10,000 for testing, 1 x 64 x 64.",
    files="`dsprites/dsprites_ndarray_co1sh3sc6or40x32y32_64x64.npz`, of which only the images are read, nothing pickled. "
    "Checksum: none, as the file was not available. Without the file this is `dsprites_redrawn`.",
    groups="none.",
    labels="the shape.",
    factors="`shape` (0 square, 1 ellipse, 2 heart), `scale` (0.5 to 1), `orientation` (0 to 2 pi), `x` and `y` (0 to 1).",
    sources="none: no two images have anything in common but factors.",
    studies={
        "dip_table1": "Variational Inference of Disentangled Latent Concepts from Unlabeled Observations, table 1",
    },
)


@described(CARD)
def dsprites(
    *, n_train: int = 50_000, n_test: int = 10_000, size: int = 64, seed: int = 0, folder: str | Path | None = None
) -> Splits:
    """Sprites of dSprites' public file; without the file they are redrawn, with a warning.

    Every combination of 3 shapes, 6 scales, 40 orientations and 32 x 32 positions is one of 737,280 images, 64 x 64, black and
    white. Test and training images are drawn at random from all of them. The first and the last orientation give the same
    image, so that one of such a pair may be in either split.

    Parameters
    ----------
    n_train, n_test
        Number of training and test images.
    size
        Side length in pixels: 64, or 32, 16 or 8 by average pooling, which makes edges grey.
    seed
        Decides which images are in which split.
    folder
        Folder that contains `dsprites/`; by default the environment variable UNTWINE_DATA, then ~/.cache/untwine.
    """
    return dsprites_grid(size=size, folder=folder).split(n_train, n_test, seed)


CARD_REDRAWN = replace(
    CARD,
    source="drawn here; differs from dSprites by about one pixel per image.",
    licence="none.",
    files="none.",
    studies={
        "dip_figure1": "Variational Inference of Disentangled Latent Concepts from Unlabeled Observations, figure 1",
        "dip_goals": "Variational Inference of Disentangled Latent Concepts from Unlabeled Observations, table 1",
        "dip_search": "DIP-VAE on 64 x 64 sprites: settings, on a validation split",
        "dip_table1": "Variational Inference of Disentangled Latent Concepts from Unlabeled Observations, table 1",
        "dip_z_diff": "Variational Inference of Disentangled Latent Concepts from Unlabeled Observations, table 1",
        "infogan_table9": "Double InfoGAN for Contrastive Analysis, table 9",
    },
)


@described(CARD_REDRAWN)
def dsprites_redrawn(*, n_train: int = 50_000, n_test: int = 10_000, size: int = 64, seed: int = 0) -> Splits:
    """Redrawn sprites of dSprites, which differ from dSprites by about one pixel per image; no download.

    As `dsprites`, with images drawn by `untwine.data.images.sprites`.

    Parameters
    ----------
    n_train, n_test, size, seed
        As in `dsprites`.
    """
    return dsprites_redrawn_grid(size=size).split(n_train, n_test, seed)


def dsprites_stand_in(options: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the name and options of what `dsprites` loads: `dsprites_redrawn` if the public file does not exist."""
    if _file(options.get("folder")).is_file():
        return "dsprites", dict(options)
    return "dsprites_redrawn", {key: value for key, value in options.items() if key != "folder"}


def _file(folder: str | Path | None) -> Path:
    return data_folder(folder) / "dsprites" / FILE


def dsprites_grid(*, size: int = 64, folder: str | Path | None = None) -> FactorGrid:
    """Return all of dSprites as a grid of its factors: 377 MB in memory, or drawn on demand if the file does not exist."""
    size = check_pooled_size(size, SIDE)
    path = _file(folder)
    if not path.is_file():
        warnings.warn(
            f"{path} does not exist, so this is dSprites redrawn, not dSprites; load 'dsprites_redrawn' to avoid this warning.",
            stacklevel=3,
        )
        return dsprites_redrawn_grid(size=size)
    values = factor_values()
    expected = (math.prod(map(len, values)), SIDE, SIDE)
    shape, _ = open_array(path, "imgs")
    if shape != expected:
        raise ValueError(f"{path} must hold imgs of shape {expected}; got {shape}; download it again.")
    cache: list[Array] = []

    def read(indices: Array) -> Array:
        if not cache:
            cache.append(_read_bits(path, expected[0]))
        images = np.unpackbits(cache[0][indices], axis=1).reshape(-1, 1, SIDE, SIDE)
        return average_pool(255 * images, size)

    return FactorGrid(NAMES, values, read, label="shape", label_names=SHAPES)


def _read_bits(path: Path, n: int) -> Array:
    """Return all images of the file with one bit per pixel, (n, 512), without ever holding all as bytes."""
    bits = np.empty((n, SIDE * SIDE // 8), np.uint8)
    for start, block in iterate_blocks(path, "imgs"):
        bits[start : start + len(block)] = np.packbits(block.reshape(len(block), -1), axis=1)
    return bits


def dsprites_redrawn_grid(*, size: int = 64) -> FactorGrid:
    """Return all of dSprites redrawn as a grid of its factors, drawn on demand."""
    size, values = check_pooled_size(size, SIDE), factor_values()

    def read(indices: Array) -> Array:
        shape, *levels = np.unravel_index(indices, [len(column) for column in values])
        scale, angle, x, y = (column[level] for column, level in zip(values[1:], levels, strict=True))
        sprites = draw_sprites(shape, scale, -angle, 16 + 32 * np.stack([x, y], axis=1))
        return average_pool(255 * sprites[:, None].astype(np.uint8), size)

    return FactorGrid(NAMES, values, read, label="shape", label_names=SHAPES)


DSPRITES = Download(
    name="dsprites",
    licence=CARD.licence,
    folder="dsprites",
    files=(RemoteFile((f"https://github.com/google-deepmind/dsprites-dataset/raw/master/{FILE}",)),),
    check=lambda folder: open_array(folder / FILE, "imgs"),
)
ENTRIES = {
    "dsprites": DataSet(dsprites, grid=dsprites_grid, stand_in=dsprites_stand_in, downloads=(DSPRITES,)),
    "dsprites_redrawn": DataSet(dsprites_redrawn, grid=dsprites_redrawn_grid),
}
