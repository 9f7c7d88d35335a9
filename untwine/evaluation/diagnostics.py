"""What the data has and what the codes do, in numbers that a run folder keeps: they tell why parts did not come apart.

`contrast.json` is the test of the training part, the rows that the method learnt from and that `n_salient="auto"` looks at. The
test knows no method, so there is nothing in it that could have been fitted to them. `codes.json` is of the test part.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from untwine._typing import Array
from untwine.latents import Latents
from untwine.linear.contrast import contrast_record
from untwine.runs import files
from untwine.samples import Samples

ROUNDING = 1e-6  # of the rows' own size: what varies by less only rounds
ROWS = 1000  # of each group, at most; means of so many are known well enough


class Fitted(Protocol):
    """What is asked of a method here: that it was fitted, encodes and decodes."""

    def encode(self, x: Array, /) -> Latents:
        """Return the codes of rows."""

    def decode(self, latents: Latents, /) -> Array:
        """Return the rows of codes."""


def diagnose(folder: str | os.PathLike[str], method: Fitted, train: Samples, test: Samples) -> None:
    """Write `contrast.json` and `codes.json` into a run folder; nothing for methods without a common and a salient part.

    What the data does not allow is left out: the contrast where there are not two rows of each group.
    """
    record = code_record(method, test)
    if not {"common", "salient"} <= set(record):
        return
    files.write_json(Path(folder) / "codes.json", record)
    if train.groups is not None and min(int((train.groups != 0).sum()), int((train.groups == 0).sum())) > 1:
        files.write_json(Path(folder) / "contrast.json", contrast_record(train))
    else:
        (Path(folder) / "contrast.json").unlink(missing_ok=True)


def code_record(method: Fitted, samples: Samples) -> dict[str, Any]:
    """Return for every block what its codes do, and on how many rows of `target` and `background` that was seen.

    For each group that has rows: `variance` of each dimension, `energy` (the mean squared distance of the codes from the value
    that means "nothing there"), `effect` (how much what is decoded changes when the codes of all rows are held at their
    mean, 1 being as much as the rows themselves vary), and whether the rows vary at all (`varies`).
    """
    found: dict[str, Any] = {}
    for group, rows in _groups(samples).items():
        x = samples.x[rows]
        latents = method.encode(x)
        whole = method.decode(latents)
        for block in latents:
            numbers = statistics(latents[block], latents.remove(block)[block])
            numbers["effect"] = effect(x, whole, method.decode(held(latents, block)))
            numbers["varies"] = varies(x)
            found.setdefault(block, {})[group] = numbers
        found.setdefault("rows", {})[group] = len(rows)
    return found


def statistics(codes: Array, neutral: Array) -> dict[str, Any]:
    """Return the `variance` of each column of codes (n, w), and their `energy`: the mean squared distance from neutral ones."""
    codes, neutral = codes.astype(np.float64), neutral.astype(np.float64)
    return {"variance": codes.var(axis=0).tolist(), "energy": float(np.square(codes - neutral).sum(axis=1).mean())}


def held(latents: Latents, block: str) -> Latents:
    """Return the codes with one block held at its mean, the same for all rows."""
    mean = latents[block].mean(axis=0, keepdims=True)
    return latents.swap(Latents({block: np.repeat(mean, latents.n_samples, axis=0)}), block)


def effect(x: Array, whole: Array, without: Array) -> float:
    """Return the mean squared change between two decodings of x, over the variance of x.

    The columns of vectors, which may have any units, are brought to one variance first; pixels have one unit.
    """
    flat, a, b = (np.asarray(rows, dtype=np.float64).reshape(len(rows), -1) for rows in (x, whole, without))
    variance = flat.var(axis=0) / (255.0**2 if x.dtype == np.uint8 else 1.0)
    change = np.square(a - b).mean(axis=0)
    if x.ndim > 2:
        variance, change = variance.mean(keepdims=True), change.mean(keepdims=True)
    varies = np.sqrt(variance) > ROUNDING * np.sqrt(np.square(flat).mean())
    return float((change[varies] / variance[varies]).mean()) if varies.any() else 0.0


def varies(x: Array) -> bool:
    """Say whether rows differ at all."""
    flat = np.asarray(x, dtype=np.float64).reshape(len(x), -1)
    return bool((flat.std(axis=0) > ROUNDING * np.sqrt(np.square(flat).mean())).any())


def _groups(samples: Samples) -> Mapping[str, Array]:
    """Return the rows of each group, at most `ROWS` and evenly spread; all are targets where there are no groups."""
    target = np.ones(len(samples), dtype=bool) if samples.groups is None else samples.groups != 0
    rows = {"target": np.flatnonzero(target), "background": np.flatnonzero(~target)}
    few = {name: those[np.linspace(0, len(those) - 1, min(ROWS, len(those))).astype(int)] for name, those in rows.items()}
    return {name: those for name, those in few.items() if len(those)}
