"""Build the gallery of a fitted method: what shows whether its blocks are disentangled, as arrays ready to be drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from untwine._typing import Array
from untwine.evaluation.class_gallery import class_swaps, nearest_images
from untwine.latents import Latents, bilinear
from untwine.manipulate import cross_product, traverse_codes
from untwine.metrics import information_matrix, tsne
from untwine.metrics.encoded import Encoded, Fitted, encode
from untwine.metrics.scored_samples import class_balanced_order, target_mask
from untwine.registry.observations import middle_slices
from untwine.runs.gallery import (
    ClassSwaps,
    Gallery,
    LatentStatistics,
    Neighbours,
    Planes,
    Posterior,
    Reconstructions,
    SingleBlocks,
    Swaps,
    Traversal,
)
from untwine.samples import Samples

PLANE_TARGETS, PLANE_BACKGROUNDS = 1_500, 500
SWAPPED, STEPS = 6, 8
CODES, TRAVERSED = 10_000, 12  # samples behind statistics of single latents; latents that are traversed
WIDEST = 512  # dimensions of a block whose latents are shown one by one; no figure could show more
GENERATED = 6


def gallery(method: Fitted, samples: Samples, seed: int = 0, images: int = 10) -> Gallery:
    """Return what shows whether the blocks of a fitted method are disentangled; images as uint8.

    Targets are of different classes. A block that is the image itself (the content of `StarGAN`) has no single latents to
    show. Of volumes the middle slices are shown. Where samples are features of images, each decoded vector is shown as the
    image whose features are nearest to it.

    Parameters
    ----------
    seed
        Chooses the samples, and starts t-SNE and the draws from the prior.
    images
        How many targets, and how many backgrounds, are reconstructed.
    """
    rng, target = np.random.default_rng(seed), target_mask(samples.groups, len(samples))
    order, others = class_balanced_order(samples.labels, np.flatnonzero(target), rng), rng.permutation(np.flatnonzero(~target))
    drawn = samples.x.ndim > 2 or samples.images is not None
    if samples.is_volume:
        method = _MiddleSlices(method)
    shown = _choose_images(samples)
    first = samples[order[:images] if len(order) else others[:images]]
    x, z = first.dense(), encode(method, first)
    entries: dict[str, object] = {"targets": Reconstructions(shown(_flat(x)), shown(method.decode(z)))}
    if drawn and "common" in z and "salient" in z and len(order) and len(others):
        y, z_y = samples.x[others[:images]], encode(method, samples[others[:images]])
        without = SingleBlocks(shown(method.decode(z.remove("salient"))), shown(method.decode(z.remove("common"))))
        background = Reconstructions(shown(_flat(y)), shown(method.decode(z_y)))
        entries |= {"single_blocks": without, "background": background}
        entries |= {"swaps": _swaps(method, samples, order, shown)}
        entries["interpolation"] = _interpolation(method, samples, order, shown)
        own, donors = (np.arange(len(y)), np.arange(len(y)) % len(x))
        entries["background_with_salient"] = shown(method.decode(z_y.take(own).swap(z.take(donors), "salient")))
        entries["generated"] = _generated(method, z.neutral, seed, shown)
    some = np.sort(order[:CODES] if len(order) else others[:CODES])
    latents = encode(method, samples[some])
    if drawn and {"class", "content"} <= set(z):
        swaps, near = class_swaps(method, samples, order), nearest_images(latents, samples.x, some, order)
        entries["class_swaps"] = ClassSwaps(shown(swaps.sources), shown(swaps.grid))
        blocks = {block: shown(images) for block, images in near.nearest.items()}
        entries["neighbours"] = Neighbours(shown(near.sources), blocks)
    single = _narrow_blocks(latents, samples)
    if drawn:
        entries["traversals"] = _traversals(method, latents, single, shown)
    entries["posteriors"] = _posteriors(method, latents, samples[some])
    factors = None if samples.factors is None else samples.factors[some]
    entries["latents"], entries["factor_names"] = _statistics(single, factors, samples.factor_names)
    entries["planes"] = _planes(method, samples, np.concatenate([order[:PLANE_TARGETS], others[:PLANE_BACKGROUNDS]]), seed)
    return Gallery(**entries, nearest=samples.images is not None)  # type: ignore[arg-type]


def _choose_images(samples: Samples) -> Callable[[Array], Array]:
    """Return what turns decoded samples (..., d) or (..., C, H, W) into what is drawn of them."""
    if samples.images is None:
        return _to_uint8 if samples.x.ndim > 2 else np.asarray
    x, images = samples.dense().astype(np.float64), _to_uint8(samples.images)
    units = x.std(axis=0)
    units[units == 0] = np.inf  # a feature that never varies says nothing of which image is near
    known = x / units

    def nearest(decoded: Array) -> Array:
        """Return for each vector the image whose features are nearest to it, each feature in units of its std."""
        wanted = np.asarray(decoded, np.float64).reshape(-1, x.shape[1]) / units
        squares = np.square(known).sum(axis=1)
        closest = np.concatenate(
            [(squares - 2 * wanted[i : i + CODES] @ known.T).argmin(axis=1) for i in range(0, len(wanted), CODES)]
        )
        chosen: Array = images[closest]
        return chosen.reshape(*np.shape(decoded)[:-1], *images.shape[1:])

    return nearest


def _swaps(method: Fitted, samples: Samples, order: Array, shown: Callable[[Array], Array]) -> Swaps:
    """Return every common block with every salient one; few samples are used several times."""
    k = min(SWAPPED, len(order))
    rows, columns = order[:k], order[np.arange(k, 2 * k) % len(order)]
    swapped = encode(method, samples[rows]).cross(encode(method, samples[columns]), "salient")
    grid = method.decode(swapped)
    left, top = (shown(_flat(samples.dense(some))) for some in (rows, columns))
    return Swaps(left, top, shown(grid.reshape(k, k, *grid.shape[1:])))


def _interpolation(method: Fitted, samples: Samples, order: Array, shown: Callable[[Array], Array]) -> Array:
    """Return the grid that is bilinear between the salient codes of four samples, with the common code of the first."""
    corners = encode(method, samples[order[np.arange(4) % len(order)]])
    grid = method.decode(bilinear(corners, STEPS, "salient"))
    return shown(grid.reshape(STEPS, STEPS, *grid.shape[1:]))


def _narrow_blocks(latents: Latents, samples: Samples) -> dict[str, Array]:
    """Return the blocks whose latents are shown one by one: not too wide ones, nor those that are the image itself."""
    most = min(WIDEST, samples.x[0].size - 1) if samples.x.ndim > 2 else WIDEST
    return {block: codes for block, codes in latents.items() if codes.shape[1] <= most}


def _traversals(
    method: Fitted, latents: Latents, single: Mapping[str, Array], shown: Callable[[Array], Array]
) -> dict[str, Traversal]:
    """Return for each block what is decoded along single latents, from the sample whose codes are nearest to the mean."""
    if not single:
        return {}
    codes = np.hstack(list(single.values())).astype(np.float64)
    off = (codes - codes.mean(axis=0)) / np.maximum(codes.std(axis=0), 1e-12 + 1e-6 * codes.std(axis=0).max())
    start = latents.take([int(np.square(off).sum(axis=1).argmin())])
    traversals: dict[str, Traversal] = {}
    for block, block_codes in single.items():
        result = traverse_codes(method.decode, start, block_codes, block, STEPS, TRAVERSED)
        traversals[block] = Traversal(shown(result.samples), result.latents, result.values, result.change)
    return traversals


def _statistics(
    latents: Mapping[str, Array], factors: Array | None, names: Sequence[str]
) -> tuple[dict[str, LatentStatistics], tuple[str, ...]]:
    """Return mean and std of each block's latents and, where factors are known, the information of each on each of them."""
    information: dict[str, Array] = {}
    factor_names: tuple[str, ...] = ()
    if factors is not None:
        columns = np.flatnonzero(~np.isnan(factors).all(axis=0))
        known = ~np.isnan(factors[:, columns]).any(axis=1)
        truth = factors[known][:, columns]
        varies = np.ptp(truth, axis=0) > 0 if len(truth) else np.zeros(len(columns), dtype=bool)
        if varies.any():
            information = {block: information_matrix(codes[known], truth[:, varies]) for block, codes in latents.items()}
            factor_names = tuple(names[j] for j in columns[varies])
    statistics = {
        block: LatentStatistics(
            codes.mean(axis=0, dtype=np.float64), codes.std(axis=0, dtype=np.float64), information.get(block)
        )
        for block, codes in latents.items()
    }
    return statistics, factor_names


def _posteriors(method: Fitted, latents: Latents, samples: Samples) -> dict[str, Posterior]:
    """Return for each block with a Gaussian posterior the size of the mean and the std of each dimension."""
    stds = Encoded(method, samples, latents, 0).posterior_std(len(samples))
    return {
        block: Posterior(np.abs(latents[block]).mean(0, dtype=np.float64), std.mean(0, dtype=np.float64))
        for block, std in stds.items()
    }


def _generated(method: Fitted, neutral: Mapping[str, Array], seed: int, shown: Callable[[Array], Array]) -> Array | None:
    """Return images of codes drawn from the prior: each common code without a salient code, and with each of several."""
    if not hasattr(method, "prior"):
        return None
    generator = torch.Generator().manual_seed(seed)
    drawn = Latents({name: codes.numpy() for name, codes in method.prior(GENERATED, generator).items()}, neutral)
    return shown(cross_product(method.decode, drawn, GENERATED, GENERATED, "salient"))


def _planes(method: Fitted, samples: Samples, chosen: Array, seed: int) -> Planes:
    return Planes(
        {block: tsne(codes, seed) for block, codes in encode(method, samples[chosen]).items()},
        np.full(len(chosen), -1) if samples.labels is None else samples.labels[chosen],
        np.ones(len(chosen), dtype=int) if samples.groups is None else samples.groups[chosen],
        tuple(map(str, samples.label_names)),
        tuple(map(str, samples.group_names or ("background", "target"))),
    )


class _MiddleSlices:
    """A fitted method on volumes that decodes their middle slices."""

    def __init__(self, method: Fitted) -> None:
        self._method = method

    def __getattr__(self, name: str) -> Any:
        return getattr(self._method, name)

    def encode(self, x: Array, /) -> Latents:
        """Return the latents of volumes."""
        return self._method.encode(x)

    def decode(self, latents: Latents, /) -> Array:
        """Return the middle slices (n, C, H, W) of latents."""
        return middle_slices(self._method.decode(latents))


def _flat(x: Array) -> Array:
    """Return images as they are, and the middle slices of volumes (n, C, D, H, W)."""
    return middle_slices(x) if x.ndim == 5 else x


def _to_uint8(x: Array) -> Array:
    return x if x.dtype == np.uint8 else np.rint(np.clip(x, 0, 1) * 255).astype(np.uint8)
