"""MPI3D: objects on a robot arm, rendered simply, rendered realistically, or photographed; from its public files."""

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
from untwine.data.readers.large_arrays import open_array
from untwine.data.remote import Download, RemoteFile
from untwine.data.splits import Splits
from untwine.registry.checks import check_choice

NAMES = (
    "object colour",
    "object shape",
    "object size",
    "camera height",
    "background colour",
    "horizontal axis",
    "vertical axis",
)
ADDRESS = "https://huggingface.co/datasets/waleedgondal/mpi3d/resolve/main"
# Levels of each factor by the number of images: real_complex has fewer.
SIZES = {1_036_800: (6, 6, 2, 3, 3, 40, 40), 460_800: (4, 4, 2, 3, 3, 40, 40)}
# File names of each kind; real_complex was published under a name of its own.
KINDS = {
    "toy": ("mpi3d_toy",),
    "realistic": ("mpi3d_realistic",),
    "real": ("mpi3d_real",),
    "real_complex": ("mpi3d_real_complex", "real3d_complicated_shapes_ordered"),
}


CARD = DataCard(
    source="github.com/rr-learning/disentanglement_dataset (M. W. Gondal and others, 2019).",
    licence="CC BY 4.0.",
    size="1,036,800 images, of which 50,000 are for training and 10,000 for testing, 3 x 64 x 64.",
    files="`mpi3d/mpi3d_toy.npz` (or _realistic, _real; for real_complex `mpi3d/real3d_complicated_shapes_ordered.npz`, as "
    "published, or `mpi3d/mpi3d_real_complex.npz`), or its array `images` as an .npy of that name, from which single "
    "images are read quickly. Checksum: none, as the file was not available.",
    groups="none.",
    labels="the shape of the object.",
    factors="`object colour`, `object shape`, `object size`, `camera height`, `background colour`, `horizontal axis` and "
    "`vertical axis`, counted from 0.",
    sources="none: no two images have anything in common but factors.",
)


@described(CARD)
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
    is one of 1,036,800 images (460,800 with 4 colours and 4 shapes for real_complex), 64 x 64, RGB. Test and training images
    are drawn at random from all of them; a compressed file is read once for each split.

    Parameters
    ----------
    kind
        "toy" (rendered simply), "realistic" (rendered realistically), "real" or "real_complex" (photographed).
    n_train, n_test
        Number of training and test images.
    size
        Side length in pixels: 64, or 32, 16 or 8 by average pooling.
    seed
        Decides which images are in which split.
    folder
        Folder that contains `mpi3d/`; by default the environment variable UNTWINE_DATA, then ~/.cache/untwine.
    """
    return mpi3d_grid(kind=kind, size=size, folder=folder).split(n_train, n_test, seed)


def mpi3d_grid(*, kind: str = "toy", size: int = 64, folder: str | Path | None = None) -> FactorGrid:
    """Return all of MPI3D as a grid of its factors, read on demand: quickly from an .npy, slowly from an .npz."""
    size = check_pooled_size(size, 64)
    check_choice("kind", kind, KINDS)
    path = locate(
        folder, "MPI3D", _file_names(kind), "the file of github.com/rr-learning/disentanglement_dataset", f"mpi3d_{kind}"
    )
    shape, read_images = open_array(path, "images")
    if shape[1:] != (64, 64, 3) or shape[0] not in SIZES:
        counts = " or ".join(map(str, SIZES))
        raise ValueError(f"{path} must hold images ({counts}, 64, 64, 3); got {shape}; download it again.")

    def read(indices: Array) -> Array:
        return average_pool(channels_first(read_images(indices)), size)

    return FactorGrid(NAMES, tuple(np.arange(float(n)) for n in SIZES[shape[0]]), read, label="object shape")


def _download(kind: str) -> Download:
    """Return the download of a kind; real_complex is published where only a browser can download it."""
    if kind == "real_complex":
        files: tuple[RemoteFile, ...] = ()
        by_hand = f"{KINDS[kind][1]}.npz, which github.com/rr-learning/disentanglement_dataset links to."
    else:
        files, by_hand = (RemoteFile((f"{ADDRESS}/mpi3d_{kind}.npz",)),), ""
    return Download(
        name=f"mpi3d_{kind}",
        licence=CARD.licence,
        folder="mpi3d",
        files=files,
        check=lambda folder: _check_kind(folder, kind),
        by_hand=by_hand,
        when={"kind": kind},
    )


def _check_kind(folder: Path, kind: str) -> None:
    open_array(locate(folder, "MPI3D", _file_names(kind), "its file"), "images")


def _file_names(kind: str) -> tuple[str, ...]:
    return tuple(f"mpi3d/{name}.{ending}" for ending in ("npy", "npz") for name in KINDS[kind])


ENTRIES = {"mpi3d": DataSet(mpi3d, grid=mpi3d_grid, downloads=tuple(map(_download, KINDS)))}
