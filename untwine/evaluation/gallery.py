"""The images that show what came apart, as arrays ready to be drawn."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping, Sequence

import numpy as np
import torch

from untwine._typing import Array
from untwine.evaluation.class_gallery import nearest_images, switched
from untwine.latents import Latents
from untwine.manipulate import cross_product, traverse_codes
from untwine.metrics import information_matrix, tsne
from untwine.metrics.encoded import Fitted
from untwine.metrics.scored_samples import class_balanced_order, target_mask
from untwine.runs import files
from untwine.samples import Samples

PLANE_TARGETS, PLANE_BACKGROUNDS = 1_500, 500
SWAPPED, STEPS = 6, 8
CODES, WALKED = 10_000, 12  # rows behind what is said of single latents; latents that are walked along
WIDEST = 512  # latents of a block that are looked at one by one; no figure could show more
MADE = 6


def gallery(method: Fitted, samples: Samples, seed: int = 0, images: int = 10) -> dict[str, Array]:
    """Return the arrays that show what came apart, ready to be drawn; images as uint8.

    `originals` and `reconstructions` of targets of different classes; for images taken apart into common and salient also
    `only_common`, `only_salient`, `background_originals`, `background_reconstructions`, `swap_grid` (row i has the common part
    of `swap_common[i]`, column j the salient part of `swap_salient[j]`) and `interpolation` (bilinear between four salient
    codes, with the common code of the first, at [0, 0]) and `background_with_salient` (background i with the salient part of
    target i); where the method draws codes, `made` (every row has one common part, first without a salient part and then with
    several). For images taken apart into class and content `switch_grid` (row i has the class of `switch_sources[i]`, column
    j the content of `switch_sources[j]`), and `near_sources` with `near_class` and `near_content`, the images nearest to
    each in either space. For every block the t-SNE `plane_<block>` of targets and background together, with `plane_labels` (-1
    unknown), `plane_groups`, `label_names` and `group_names`; `spread_<block>`, mean and deviation of each latent over the
    targets; `told_<block>`, the share that each latent tells of each of `factor_names`; and of images `walk_<block>`, what is
    decoded while single latents move, with `walk_latents_<block>`, `walk_values_<block>` and `walk_change_<block>`. A block
    that is the image itself (the content of `StarGAN`) has no latents to look at one by one. `posterior_<block>`
    has the mean size and the mean deviation of each dimension's Gaussian, where codes are inferred as such.
    """
    rng, target = np.random.default_rng(seed), target_mask(samples.groups, len(samples))
    order, others = class_balanced_order(samples.labels, np.flatnonzero(target), rng), rng.permutation(np.flatnonzero(~target))
    x = samples.x[order[:images] if len(order) else others[:images]]
    z = method.encode(x)
    arrays = {"originals": x, "reconstructions": method.decode(z)}
    if samples.is_image and {"common", "salient"} <= set(z) and len(order) and len(others):
        y = samples.x[others[:images]]
        arrays |= {"only_common": method.decode(z.remove("salient")), "only_salient": method.decode(z.remove("common"))}
        arrays |= {"background_originals": y, "background_reconstructions": method.decode(method.encode(y))}
        arrays |= _recombined(method, samples.x, order)
        mine, theirs = (np.arange(len(y)), np.arange(len(y)) % len(x))
        arrays["background_with_salient"] = method.decode(method.encode(y).take(mine).swap(z.take(theirs), "salient"))
        arrays |= _made(method, z.neutral, seed)
    by_class = samples.is_image and {"class", "content"} <= set(z)
    if by_class:
        arrays |= switched(method, samples.x, order)
    some = np.sort(order[:CODES] if len(order) else others[:CODES])
    latents = method.encode(samples.x[some])
    if by_class:
        arrays |= nearest_images(latents, samples.x, some, order)
    single = _single(latents, samples)
    if samples.is_image:
        walks = _walks(method, latents, single)
        arrays = {name: _bytes(array) for name, array in arrays.items()}
        arrays |= {name: _bytes(array) if array.ndim == 5 else array for name, array in walks.items()}
    arrays |= _posteriors(method, latents, samples.x[some])
    arrays |= _single_latents(single, None if samples.factors is None else samples.factors[some], samples.factor_names)
    return arrays | _planes(method, samples, np.concatenate([order[:PLANE_TARGETS], others[:PLANE_BACKGROUNDS]]), seed)


def _recombined(method: Fitted, x: Array, order: Array) -> dict[str, Array]:
    """Return the grids of swapped and of interpolated codes; few rows are used several times."""
    k = min(SWAPPED, len(order))
    rows, columns = order[:k], order[np.arange(k, 2 * k) % len(order)]
    i, j = np.divmod(np.arange(k * k), k)
    swapped = method.encode(x[rows]).take(i).swap(method.encode(x[columns]).take(j), "salient")
    corners = method.encode(x[order[np.arange(4) % len(order)]])
    down, right = (t.ravel()[:, None] for t in np.meshgrid(*[np.linspace(0, 1, STEPS)] * 2, indexing="ij"))
    weights = np.hstack([(1 - down) * (1 - right), (1 - down) * right, down * (1 - right), down * right])
    between = Latents({"salient": (weights @ corners.salient).astype(corners.salient.dtype)})
    mixed = corners.take(np.zeros(STEPS**2, dtype=int)).swap(between, "salient")
    return {
        "swap_common": x[rows],
        "swap_salient": x[columns],
        "swap_grid": method.decode(swapped).reshape(k, k, *x.shape[1:]),
        "interpolation": method.decode(mixed).reshape(STEPS, STEPS, *x.shape[1:]),
    }


def _single(latents: Latents, samples: Samples) -> dict[str, Array]:
    """Return the blocks whose latents are looked at one by one: not too wide ones, nor those that are the image itself."""
    most = min(WIDEST, samples.x[0].size - 1) if samples.is_image else WIDEST
    return {block: codes for block, codes in latents.items() if codes.shape[1] <= most}


def _walks(method: Fitted, latents: Latents, single: Mapping[str, Array]) -> dict[str, Array]:
    """Return for each block what is decoded while single latents move, from the row whose codes are nearest to the mean."""
    if not single:
        return {}
    codes = np.hstack(list(single.values())).astype(np.float64)
    off = (codes - codes.mean(axis=0)) / np.maximum(codes.std(axis=0), 1e-12 + 1e-6 * codes.std(axis=0).max())
    start = latents.take([int(np.square(off).sum(axis=1).argmin())])
    arrays: dict[str, Array] = {}
    for block, moved in single.items():
        found = traverse_codes(method.decode, start, moved, block, STEPS, WALKED)
        arrays |= {f"walk_{block}": found.rows, f"walk_values_{block}": found.values}
        arrays |= {f"walk_latents_{block}": found.latents, f"walk_change_{block}": found.change}
    return arrays


def _single_latents(latents: Mapping[str, Array], factors: Array | None, names: Sequence[str]) -> dict[str, Array]:
    """Return for each block mean and deviation of its latents and, where there are factors, what each tells of them."""
    arrays = {
        f"spread_{block}": np.stack([codes.mean(axis=0, dtype=np.float64), codes.std(axis=0, dtype=np.float64)])
        for block, codes in latents.items()
    }
    if factors is None:
        return arrays
    columns = np.flatnonzero(~np.isnan(factors).all(axis=0))
    known = ~np.isnan(factors[:, columns]).any(axis=1)
    truth = factors[known][:, columns]
    varies = np.ptp(truth, axis=0) > 0 if len(truth) else np.zeros(len(columns), dtype=bool)
    if not varies.any():
        return arrays
    arrays |= {f"told_{block}": information_matrix(codes[known], truth[:, varies]) for block, codes in latents.items()}
    return arrays | {"factor_names": np.array([names[j] for j in columns[varies]], dtype=np.str_)}


def _posteriors(method: Fitted, latents: Latents, x: Array) -> dict[str, Array]:
    """Return for each block that is inferred as Gaussians the size of the mean and the deviation of each dimension."""
    unsure: Mapping[str, Array] = method.deviations(x) if hasattr(method, "deviations") else {}
    return {
        f"posterior_{block}": np.stack([np.abs(latents[block]).mean(0, dtype=np.float64), found.mean(0, dtype=np.float64)])
        for block, found in unsure.items()
    }


def _made(method: Fitted, neutral: Mapping[str, Array], seed: int) -> dict[str, Array]:
    """Return images made from drawn codes, every common part without a salient one and with the same ones as all others."""
    if not hasattr(method, "prior"):
        return {}
    chance = torch.Generator().manual_seed(seed)
    drawn = Latents({name: codes.numpy() for name, codes in method.prior(MADE, chance).items()}, neutral)
    return {"made": cross_product(method.decode, drawn, MADE, MADE, "salient")}


def _planes(method: Fitted, samples: Samples, rows: Array, seed: int) -> dict[str, Array]:
    planes = {f"plane_{block}": tsne(codes, seed) for block, codes in method.encode(samples.x[rows]).items()}
    return planes | {
        "plane_labels": np.full(len(rows), -1) if samples.labels is None else samples.labels[rows],
        "plane_groups": np.ones(len(rows), dtype=int) if samples.groups is None else samples.groups[rows],
        "label_names": np.array(samples.label_names, dtype=np.str_),
        "group_names": np.array(samples.group_names or ("background", "target"), dtype=np.str_),
    }


def _bytes(x: Array) -> Array:
    return x if x.dtype == np.uint8 else np.rint(np.clip(x, 0, 1) * 255).astype(np.uint8)


def save_gallery(path: str | os.PathLike[str], arrays: Mapping[str, Array]) -> None:
    """Write the arrays of `gallery` as npz without objects, whole or not at all."""
    content = io.BytesIO()
    np.savez_compressed(content, allow_pickle=False, **arrays)
    files.write(path, content.getvalue())
