"""Statistics of the data and of the codes that explain why blocks are not disentangled.

The contrast test is of the training split, the samples that the method was fitted on and that `n_salient="auto"` is chosen
from. It involves no method, so nothing in it could have been fitted to them. The statistics of the codes are of the test split.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from untwine._typing import Array
from untwine.latents import Latents
from untwine.linear.contrast import contrast_record
from untwine.metrics.encoded import Fitted, encode
from untwine.registry.blocks import names_of
from untwine.runs.diagnostics import COUNTS, write_codes, write_contrast
from untwine.samples import Samples

ROUNDING = 1e-6  # relative to the size of the samples: what varies by less is rounding error
SAMPLES = 1000  # of each group, at most; enough for means


def diagnose(
    folder: str | os.PathLike[str],
    method: Fitted,
    train: Samples,
    test: Samples,
    tested: Mapping[str, Any] | None = None,
) -> None:
    """Write the contrast test and the statistics of the codes into a run folder; nothing without a common and a salient block.

    The contrast test needs two samples of each group, and is left out where there are fewer. `tested` is its record where it is
    known, as for several methods on the same data.
    """
    statistics = code_statistics(method, test)
    if not {"common", "salient"} <= set(statistics):
        return
    write_codes(folder, statistics)
    write_contrast(folder, contrast_of(train) if tested is None else tested)


def contrast_of(train: Samples) -> dict[str, Any] | None:
    """Return the record of the contrast test; None where there are too few samples of a group."""
    testable = train.groups is not None and min(int((train.groups != 0).sum()), int((train.groups == 0).sum())) > 1
    return contrast_record(train) if testable else None


def code_statistics(method: Fitted, samples: Samples) -> dict[str, Any]:
    """Return statistics of the codes of every block, and of how many samples of `target` and `background` they are.

    For each group that has samples: `variance` of each dimension, `energy` (the mean squared distance of the codes from the
    block's neutral value), `effect` (how much the decoded samples change when all codes of the block are set to their mean, as
    a share of the samples' own variance), and whether the samples vary at all (`varies`).
    """
    statistics: dict[str, Any] = {}
    for group, chosen in _groups(samples).items():
        x = samples.dense(chosen)
        latents = encode(method, samples[chosen])
        decoded = method.decode(latents)
        for block in names_of(latents):  # of several salient blocks each alone, and all of them as `salient`
            numbers = moments(latents[block], latents.remove(block)[block])
            numbers["effect"] = effect(x, decoded, method.decode(with_mean(latents, block)))
            numbers["varies"] = varies(x)
            statistics.setdefault(block, {})[group] = numbers
        statistics.setdefault(COUNTS, {})[group] = len(chosen)
    return statistics


def moments(codes: Array, neutral: Array) -> dict[str, Any]:
    """Return the `variance` of each column of codes (n, w), and their `energy`: the mean squared distance from neutral ones."""
    codes, neutral = codes.astype(np.float64), neutral.astype(np.float64)
    return {"variance": codes.var(axis=0).tolist(), "energy": float(np.square(codes - neutral).sum(axis=1).mean())}


def with_mean(latents: Latents, block: str) -> Latents:
    """Return the latents with the codes of one block replaced by their mean."""
    mean = latents[block].mean(axis=0, keepdims=True)
    return latents.swap(Latents({block: np.repeat(mean, latents.n_samples, axis=0)}), block)


def effect(x: Array, decoded: Array, without: Array) -> float:
    """Return the mean squared change between two decodings of x, over the variance of x.

    The columns of vectors, which may have any units, are scaled to unit variance first; pixels share their unit.
    """
    flat, a, b = (np.asarray(rows, dtype=np.float64).reshape(len(rows), -1) for rows in (x, decoded, without))
    variance = flat.var(axis=0) / (255.0**2 if x.dtype == np.uint8 else 1.0)
    change = np.square(a - b).mean(axis=0)
    if x.ndim > 2:
        variance, change = variance.mean(keepdims=True), change.mean(keepdims=True)
    varies = np.sqrt(variance) > ROUNDING * np.sqrt(np.square(flat).mean())
    return float((change[varies] / variance[varies]).mean()) if varies.any() else 0.0


def varies(x: Array) -> bool:
    """Whether the samples differ by more than rounding error."""
    flat = np.asarray(x, dtype=np.float64).reshape(len(x), -1)
    return bool((flat.std(axis=0) > ROUNDING * np.sqrt(np.square(flat).mean())).any())


def _groups(samples: Samples) -> Mapping[str, Array]:
    """Return the indices of each group, at most `SAMPLES` and evenly spread; all are targets where there are no groups."""
    target = np.ones(len(samples), dtype=bool) if samples.groups is None else samples.groups != 0
    indices = {"target": np.flatnonzero(target), "background": np.flatnonzero(~target)}
    few = {name: those[np.linspace(0, len(those) - 1, min(SAMPLES, len(those))).astype(int)] for name, those in indices.items()}
    return {name: those for name, those in few.items() if len(those)}
