"""MPI3D: objects on a robot arm, drawn simply, drawn realistically, or photographed; from its public files."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from untwine._typing import Array
from untwine.data.factor_grid import FactorGrid, averaged, divisor
from untwine.data.location import placed
from untwine.data.readers.stored_rows import stored_rows
from untwine.data.splits import Splits

NAMES = (
    "object colour",
    "object shape",
    "object size",
    "camera height",
    "background colour",
    "horizontal axis",
    "vertical axis",
)
# How many levels each factor has, by the number of images: the complex objects are fewer.
SIZES = {1_036_800: (6, 6, 2, 3, 3, 40, 40), 460_800: (4, 4, 2, 3, 3, 40, 40)}
# What the files of each kind are called; the complex objects were published under a name of their own.
KINDS = {
    "toy": ("mpi3d_toy",),
    "realistic": ("mpi3d_realistic",),
    "real": ("mpi3d_real",),
    "real_complex": ("mpi3d_real_complex", "real3d_complicated_shapes_ordered"),
}


def mpi3d(
    *,
    kind: str = "toy",
    n_train: int = 50_000,
    n_test: int = 10_000,
    size: int = 64,
    seed: int = 0,
    folder: str | Path | None = None,
) -> Splits:
    """MPI3D, objects on a robot arm with seven independent factors; needs its file.

    Every combination of 6 colours, 6 shapes, 2 sizes, 3 camera heights, 3 background colours and 40 x 40 positions of the arm
    is one of 1,036,800 images (460,800 with 4 colours and 4 shapes for real_complex), 64 x 64, RGB. Rows for testing and for
    training are drawn from all of them; a compressed file is read once for each.

    Source: `mpi3d/mpi3d_toy.npz` (or _realistic, _real; for real_complex `mpi3d/real3d_complicated_shapes_ordered.npz`, as it
    is published, or `mpi3d/mpi3d_real_complex.npz`) of github.com/rr-learning/disentanglement_dataset (M. W. Gondal and
    others, 2019; CC BY 4.0), or its array `images` as an .npy of that name, of which single images are read quickly.
    Checksum: none, as the file was not at hand. Group: none. Label: the object's shape. Factors: `object colour`, `object
    shape`, `object size`, `camera height`, `background colour`, `horizontal axis` and `vertical axis`, counted from 0.

    Parameters
    ----------
    kind
        "toy" (drawn simply), "realistic" (drawn so), "real" or "real_complex" (photographed).
    n_train, n_test
        How many images to train and to test on.
    size
        The side in pixels: 64, or 32, 16 or 8, averaged over squares of pixels.
    seed
        Decides which images are used for what.
    folder
        The folder that holds `mpi3d/`; without it the environment variable UNTWINE_DATA, then ~/.cache/untwine.
    """
    return mpi3d_grid(kind=kind, size=size, folder=folder).split(n_train, n_test, seed)


def mpi3d_grid(*, kind: str = "toy", size: int = 64, folder: str | Path | None = None) -> FactorGrid:
    """Return all of MPI3D, addressed by its factors and read when asked for: quickly from an .npy, slowly from an .npz."""
    size = divisor(size, 64)
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}; got {kind!r}.")
    files = tuple(f"mpi3d/{name}.{ending}" for ending in ("npy", "npz") for name in KINDS[kind])
    path = placed(folder, "MPI3D", files, "github.com/rr-learning/disentanglement_dataset")
    shape, read_rows = stored_rows(path, "images")
    if shape[1:] != (64, 64, 3) or shape[0] not in SIZES:
        counts = " or ".join(map(str, SIZES))
        raise ValueError(f"{path} must be images ({counts}, 64, 64, 3), but has {shape}; fetch it again.")

    def read(rows: Array) -> Array:
        return averaged(np.ascontiguousarray(np.moveaxis(read_rows(rows), -1, 1)), size)

    return FactorGrid(NAMES, tuple(np.arange(float(many)) for many in SIZES[shape[0]]), read, label="object shape")
