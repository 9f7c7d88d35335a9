"""The pictures that show what came apart, as arrays ready to be drawn."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from untwine import files
from untwine.encoded import Fitted
from untwine.latents import Latents
from untwine.metrics import tsne
from untwine.metrics.rows import target_rows, varied_rows
from untwine.samples import Samples

Array = NDArray[Any]

PLANE_TARGETS, PLANE_BACKGROUNDS = 1_500, 500
SWAPPED, STEPS = 6, 8
MADE, WALKED = 6, 6
WALK = (-1.5, 1.5, 7)  # in the prior's deviations, as in paper 003


def gallery(method: Fitted, samples: Samples, seed: int = 0, pictures: int = 10) -> dict[str, Array]:
    """Return the arrays that show what came apart, ready to be drawn; pictures as uint8.

    `originals` and `reconstructions` of targets of different classes; for pictures taken apart into common and salient also
    `only_common`, `only_salient`, `background_originals`, `background_reconstructions`, `swap_grid` (row i has the common part
    of `swap_common[i]`, column j the salient part of `swap_salient[j]`) and `interpolation` (bilinear between four salient
    codes, with the common code of the first, at [0, 0]), `background_with_salient` (background i with the salient part of
    target i) and `walks` (row i moves the i-th of the liveliest salient dimensions of the first target); where the method draws
    codes, `made` (every row has one common part, first without a salient part and then with several). For every block the t-SNE
    `plane_<block>` of targets and background together, with `plane_labels` (-1 unknown), `plane_groups`, `label_names` and
    `group_names`.
    """
    rng, target = np.random.default_rng(seed), target_rows(samples.groups, len(samples))
    order, others = varied_rows(samples.labels, np.flatnonzero(target), rng), rng.permutation(np.flatnonzero(~target))
    x = samples.x[order[:pictures] if len(order) else others[:pictures]]
    z = method.encode(x)
    arrays = {"originals": x, "reconstructions": method.decode(z)}
    if samples.is_image and {"common", "salient"} <= set(z) and len(order) and len(others):
        y = samples.x[others[:pictures]]
        arrays |= {"only_common": method.decode(z.remove("salient")), "only_salient": method.decode(z.remove("common"))}
        arrays |= {"background_originals": y, "background_reconstructions": method.decode(method.encode(y))}
        arrays |= _recombined(method, samples.x, order)
        mine, theirs = (np.arange(len(y)), np.arange(len(y)) % len(x))
        arrays["background_with_salient"] = method.decode(method.encode(y).take(mine).swap(z.take(theirs), "salient"))
        arrays |= {"walks": _walks(method, z), **_made(method, z.neutral, seed)}
    if samples.is_image:
        arrays = {name: _bytes(array) for name, array in arrays.items()}
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


def _walks(method: Fitted, z: Latents) -> Array:
    """Return the first row with single salient dimensions moved, one in each row; those that vary most among targets."""
    lively = np.sort(np.argsort(-z.salient.var(0), kind="stable")[:WALKED])
    rows = [method.decode(z.take([0]).walk("salient", int(j), np.linspace(*WALK))) for j in lively]
    return np.stack(rows)


def _made(method: Fitted, neutral: Mapping[str, Array], seed: int) -> dict[str, Array]:
    """Return pictures made from drawn codes, every common part without a salient one and with the same ones as all others."""
    if not hasattr(method, "prior"):
        return {}
    chance = torch.Generator().manual_seed(seed)
    drawn = Latents({name: codes.numpy() for name, codes in method.prior(MADE, chance).items()}, neutral)
    i, j = np.divmod(np.arange(MADE * MADE), MADE)
    alone, joined = method.decode(drawn.remove("salient")), method.decode(drawn.take(i).swap(drawn.take(j), "salient"))
    return {"made": np.concatenate([alone[:, None], joined.reshape(MADE, MADE, *alone.shape[1:])], axis=1)}


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
