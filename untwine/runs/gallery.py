"""The gallery of a run: what is drawn of it, as arrays, and the file that holds them.

Images are uint8 (C, H, W); where samples are vectors only reconstructions, planes and statistics of single latents are there.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from untwine._typing import Array
from untwine.runs import files
from untwine.runs.names import GALLERY


@dataclass(frozen=True, eq=False)
class Reconstructions:
    """Samples (n, ...) and what encoding and decoding makes of them."""

    originals: Array
    reconstructions: Array


@dataclass(frozen=True, eq=False)
class SingleBlocks:
    """Targets decoded from one block, the other removed: from the common block, and from the salient one."""

    common: Array
    salient: Array


@dataclass(frozen=True, eq=False)
class Swaps:
    """Images in every combination: `grid[i, j]` has the common block of `common[i]` and the salient block of `salient[j]`."""

    common: Array
    salient: Array
    grid: Array


@dataclass(frozen=True, eq=False)
class ClassSwaps:
    """Images in every combination: `grid[i, j]` has the class of `sources[i]` and the content of `sources[j]`."""

    sources: Array
    grid: Array


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Images (k, ...) and by block those nearest to each (k, m, ...) in its latent space, the nearest first."""

    sources: Array
    nearest: Mapping[str, Array]


@dataclass(frozen=True, eq=False)
class Traversal:
    """What is decoded while single latents of a block change, all other codes held.

    `images` (l, steps, ...) has a row for each of `latents` (l,), the indices of those with the largest effect; `values` (l,
    steps) are the codes along a row, `change` (l,) is how much it changes.
    """

    images: Array
    latents: Array
    values: Array | None = None
    change: Array | None = None


@dataclass(frozen=True, eq=False)
class LatentStatistics:
    """Mean and std (w,) of each latent of a block over the samples, and the information (w, k) that each has on each factor.

    The information is mutual information over the factor's entropy; None where no factor is known.
    """

    mean: Array
    std: Array
    information: Array | None = None


@dataclass(frozen=True, eq=False)
class Posterior:
    """Of each dimension (w,) of a block with a Gaussian posterior: size of its mean and its std, averaged over samples."""

    mean_size: Array
    std: Array


@dataclass(frozen=True, eq=False)
class Planes:
    """t-SNE of the codes of each block (n, 2), with the class (-1: unknown) and the group (0: background) of each sample."""

    points: Mapping[str, Array]
    labels: Array | None = None
    groups: Array | None = None
    label_names: tuple[str, ...] = ()
    group_names: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Gallery:
    """All that is drawn of a run; what its method or its data cannot have is None or empty.

    Parameters
    ----------
    targets, background
        Samples and reconstructions of targets (all samples are targets where there are no groups), and of the background.
    single_blocks
        The targets, decoded from one block each.
    background_with_salient
        The background's samples with the salient block of the target of the same index.
    swaps, class_swaps
        The cross product of blocks: common and salient, class and content.
    interpolation
        A grid (g, g, ...), bilinear between four salient codes, with the common code of the first, at [0, 0].
    generated
        A grid (k, 1 + l, ...) from codes drawn from the prior: row i has common code i, first without a salient code, then
        with each of l.
    neighbours
        The nearest images by class and by content.
    traversals, latents, posteriors
        By block: traversals of single latents, statistics of each, and the posterior of each dimension.
    factor_names
        The factors that `latents` has information on.
    planes
        The codes of each block in two dimensions.
    nearest
        Whether the samples are features of images, and each image stands for a decoded vector that its features are nearest to.
    """

    targets: Reconstructions | None = None
    background: Reconstructions | None = None
    single_blocks: SingleBlocks | None = None
    background_with_salient: Array | None = None
    swaps: Swaps | None = None
    interpolation: Array | None = None
    generated: Array | None = None
    class_swaps: ClassSwaps | None = None
    neighbours: Neighbours | None = None
    traversals: Mapping[str, Traversal] = field(default_factory=dict)
    latents: Mapping[str, LatentStatistics] = field(default_factory=dict)
    posteriors: Mapping[str, Posterior] = field(default_factory=dict)
    factor_names: tuple[str, ...] = ()
    planes: Planes | None = None
    nearest: bool = False


# The names that the arrays have in the file: they were chosen with the first version, and files keep their names.
GROUPED: Mapping[str, tuple[type, Mapping[str, str]]] = {
    "targets": (Reconstructions, {"originals": "originals", "reconstructions": "reconstructions"}),
    "background": (
        Reconstructions,
        {"originals": "background_originals", "reconstructions": "background_reconstructions"},
    ),
    "single_blocks": (SingleBlocks, {"common": "only_common", "salient": "only_salient"}),
    "swaps": (Swaps, {"common": "swap_common", "salient": "swap_salient", "grid": "swap_grid"}),
    "class_swaps": (ClassSwaps, {"sources": "switch_sources", "grid": "switch_grid"}),
}
SINGLE = {"background_with_salient": "background_with_salient", "interpolation": "interpolation", "generated": "made"}
TRAVERSAL = {"latents": "walk_latents_", "images": "walk_", "values": "walk_values_", "change": "walk_change_"}
STATISTICS, INFORMATION, POSTERIOR, FACTORS = "spread_", "told_", "posterior_", "factor_names"
NEIGHBOURS, NEIGHBOUR_SOURCES = "near_", "near_sources"
PLANES = "plane_"
NEAREST = "nearest_images"
PLANE_COLUMNS = {"labels": "plane_labels", "groups": "plane_groups"}
PLANE_NAMES = {"label_names": "label_names", "group_names": "group_names"}


def write_gallery(folder: str | os.PathLike[str], gallery: Gallery) -> None:
    """Write the gallery of a run as npz without objects, whole or not at all."""
    files.write_arrays(Path(folder) / GALLERY, dict(_arrays(gallery)))


def read_gallery(folder: str | os.PathLike[str]) -> Gallery | None:
    """Read what `write_gallery` wrote, of any version; None where there is no file. Objects in it are never unpickled."""
    path = Path(folder) / GALLERY
    if not path.exists():
        return None
    try:
        return _gallery(files.read_arrays(path))
    except ValueError as error:
        raise ValueError(
            f"{path} must hold plain arrays, as untwine evaluate writes them; it is damaged or holds something else ({error}); "
            "run untwine evaluate again."
        ) from None


def _arrays(gallery: Gallery) -> Iterator[tuple[str, Array]]:
    """Yield the arrays of a gallery under the names that they have in the file."""
    for entry, (_, names) in GROUPED.items():
        if (whole := getattr(gallery, entry)) is not None:
            yield from ((stored, getattr(whole, name)) for name, stored in names.items())
    for name, stored in SINGLE.items():
        if (array := getattr(gallery, name)) is not None:
            yield stored, array
    if gallery.nearest:
        yield NEAREST, np.array(True)
    if gallery.neighbours is not None:
        yield NEIGHBOUR_SOURCES, gallery.neighbours.sources
        yield from ((f"{NEIGHBOURS}{block}", near) for block, near in gallery.neighbours.nearest.items())
    for block, traversal in gallery.traversals.items():
        optional = {f"{stored}{block}": getattr(traversal, name) for name, stored in TRAVERSAL.items()}
        yield from ((name, array) for name, array in optional.items() if array is not None)
    for block, posterior in gallery.posteriors.items():
        yield f"{POSTERIOR}{block}", np.stack([posterior.mean_size, posterior.std])
    for block, latents in gallery.latents.items():
        yield f"{STATISTICS}{block}", np.stack([latents.mean, latents.std])
        if latents.information is not None:
            yield f"{INFORMATION}{block}", latents.information
    if gallery.factor_names:
        yield FACTORS, np.array(gallery.factor_names, dtype=np.str_)
    if (planes := gallery.planes) is not None:
        yield from ((f"{PLANES}{block}", points) for block, points in planes.points.items())
        columns = {stored: getattr(planes, name) for name, stored in PLANE_COLUMNS.items()}
        yield from ((stored, column) for stored, column in columns.items() if column is not None)
        yield from ((stored, np.array(getattr(planes, name), dtype=np.str_)) for name, stored in PLANE_NAMES.items())


def _gallery(arrays: Mapping[str, Array]) -> Gallery:
    """Return the gallery of stored arrays; an entry of which an array is missing is left out."""
    entries: dict[str, Any] = {}
    for entry, (kind, names) in GROUPED.items():
        if set(names.values()) <= set(arrays):
            entries[entry] = kind(**{name: arrays[stored] for name, stored in names.items()})
    entries |= {name: arrays[stored] for name, stored in SINGLE.items() if stored in arrays}
    near = {block: array for block, array in _by_block(arrays, NEIGHBOURS) if f"{NEIGHBOURS}{block}" != NEIGHBOUR_SOURCES}
    if NEIGHBOUR_SOURCES in arrays and near:
        entries["neighbours"] = Neighbours(arrays[NEIGHBOUR_SOURCES], near)
    entries["traversals"] = {
        block: Traversal(**{name: arrays.get(f"{stored}{block}") for name, stored in TRAVERSAL.items()})  # type: ignore[arg-type]
        for block, _ in _by_block(arrays, TRAVERSAL["latents"])
        if f"{TRAVERSAL['images']}{block}" in arrays
    }
    entries["latents"] = {
        block: LatentStatistics(*_two(f"{STATISTICS}{block}", both), arrays.get(f"{INFORMATION}{block}"))
        for block, both in _by_block(arrays, STATISTICS)
    }
    entries["posteriors"] = {
        block: Posterior(*_two(f"{POSTERIOR}{block}", both)) for block, both in _by_block(arrays, POSTERIOR)
    }
    entries["factor_names"] = _names(arrays, FACTORS)
    points = {block: array for block, array in _by_block(arrays, PLANES) if block not in PLANE_COLUMNS}
    columns: dict[str, Any] = {name: arrays.get(stored) for name, stored in PLANE_COLUMNS.items()}
    plane_names: dict[str, Any] = {name: _names(arrays, stored) for name, stored in PLANE_NAMES.items()}
    if points or any(column is not None for column in columns.values()):
        entries["planes"] = Planes(points, **columns, **plane_names)
    return Gallery(**entries, nearest=NEAREST in arrays)


def _by_block(arrays: Mapping[str, Array], prefix: str) -> Iterator[tuple[str, Array]]:
    return ((name.removeprefix(prefix), array) for name, array in arrays.items() if name.startswith(prefix))


def _two(name: str, array: Array) -> tuple[Array, Array]:
    if array.ndim != 2 or len(array) != 2:
        raise ValueError(f"{name} must have the shape (2, dimensions); got {array.shape}")
    return array[0], array[1]


def _names(arrays: Mapping[str, Array], stored: str) -> tuple[str, ...]:
    return tuple(map(str, arrays[stored].ravel())) if stored in arrays else ()
