"""What is decoded of recombined codes: each recipe takes an open run and a query, and returns what it made of them.

Every recipe says with which lines of Python the same is made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import torch

from untwine._typing import Array
from untwine.explore.opened import Opened, joined
from untwine.explore.query import Query
from untwine.latents import Latents
from untwine.manipulate import smoothed_bootstrap

MAX_GRID, MAX_DRAWN, MAX_SEED = 10, 24, 2**31 - 1
CORNERS = 4
MAX_RANKED = 256  # latents whose effect is measured; of wider blocks, those that vary most


@dataclass(frozen=True, eq=False)
class Decoded:
    """What a recipe made.

    Parameters
    ----------
    arrays
        Samples by name: one (...), a series (n, ...) or a grid (r, c, ...) of them.
    python
        The lines that make the same, below those of `python_start`; the last one names the result.
    info
        What else there is to say, as JSON.
    """

    arrays: Mapping[str, Array]
    python: str
    info: Mapping[str, Any] = field(default_factory=dict)


class Recipe(NamedTuple):
    """A function that makes something, and which of its arrays is the result."""

    make: Callable[[Opened, Query], Decoded]
    result: str


def python_start(opened: Opened) -> str:
    """Return the lines of Python that load the run and its samples as `samples`."""
    lines = ["import numpy as np", "import untwine as un"]
    folder = str(opened.folder)
    if opened.shown.of == "gallery":
        lines += [
            "from untwine.runs.gallery import read_gallery",
            "",
            f"folder = {folder!r}",
            "method = un.load_method(folder)",
        ]
        lines += ["gallery = read_gallery(folder)", "sets = [gallery.targets, gallery.background]"]
        lines += ["samples = un.Samples(np.concatenate([one.originals for one in sets if one is not None]))"]
    else:
        every = "" if opened.shown.step == 1 else f"[::{opened.shown.step}]"
        lines += ["from untwine.evaluation.run import checked_run_data", "", f"folder = {folder!r}"]
        lines += ["method = un.load_method(folder)", f"samples = checked_run_data(method, folder).test{every}"]
    return "\n".join(lines) + "\n"


def other_block(opened: Opened, query: Query) -> str:
    """Return the block that changes, by default salient or class; refuse a method with a single block."""
    if opened.changed_block is None:
        only = next(iter(opened.codes))
        raise ValueError(f"the method must have several blocks, so that one can change; this one has only {only}.")
    return query.choice("block", opened.blocks, opened.changed_block)


def one_sample(opened: Opened, query: Query) -> Decoded:
    """Return a sample, its reconstruction and its counterpart without a block, where there are several blocks."""
    i = query.integer("sample", 0, len(opened) - 1)
    z = opened.take([i])
    arrays = {"original": opened.x([i])[0]}
    python = f"z = method.encode(samples[[{i}]])\noriginal = samples.dense([{i}])[0]\nreconstruction = method.decode(z)[0]\n"
    if opened.changed_block is None:
        query.text("block", "")
        arrays["reconstruction"] = opened.decode(z)[0]
        return Decoded(arrays, python)
    block = other_block(opened, query)
    both = opened.decode(joined([z, z.remove(block)]))
    arrays |= {"reconstruction": both[0], "counterpart": both[1]}
    return Decoded(arrays, python + f"counterpart = method.decode(z.remove({block!r}))[0]\n", {"block": block})


def swapped(opened: Opened, query: Query) -> Decoded:
    """Return two samples, and each with a block of the other."""
    a, b = (query.integer(name, 0, len(opened) - 1) for name in ("a", "b"))
    block = other_block(opened, query)
    z, w = opened.take([a]), opened.take([b])
    both = opened.decode(joined([z.swap(w, block), w.swap(z, block)]))
    arrays = {"a": opened.x([a])[0], "b": opened.x([b])[0], "a_with_b": both[0], "b_with_a": both[1]}
    python = (
        f"a, b = samples[[{a}]], samples[[{b}]]\n"
        f"a_with_b = un.manipulate.swap(method, a, b, {block!r})[0]\n"
        f"b_with_a = un.manipulate.swap(method, b, a, {block!r})[0]\n"
    )
    return Decoded(arrays, python, {"block": block})


def swap_grid(opened: Opened, query: Query) -> Decoded:
    """Return every sample of the rows with the block of every sample of the columns."""
    rows, columns = (query.integers(name, len(opened), range(1, MAX_GRID + 1)) for name in ("rows", "columns"))
    block = other_block(opened, query)
    cells = opened.decode(opened.take(rows).cross(opened.take(columns), block))
    grid = cells.reshape(len(rows), len(columns), *cells.shape[1:])
    arrays = {"rows": opened.x(rows), "columns": opened.x(columns), "grid": grid}
    python = f"rows, columns = samples[{rows}], samples[{columns}]\n"
    python += f"grid = un.manipulate.swap_grid(method, rows, columns, {block!r})\n"
    return Decoded(arrays, python, {"block": block})


def between(opened: Opened, query: Query) -> Decoded:
    """Return what is decoded at a point of the square between the codes of four samples, bilinear in a block or in all."""
    corners = query.integers("corners", len(opened), range(CORNERS, CORNERS + 1))
    right, down = query.number("right", 0, 1), query.number("down", 0, 1)
    block = query.choice("block", ["all", *opened.blocks], opened.changed_block or "all")
    weights = np.array([(1 - down) * (1 - right), (1 - down) * right, down * (1 - right), down * right])
    z = opened.take(corners)
    moving = list(opened.codes) if block == "all" else list(z.members(block))
    mixed = z.take([0])
    for name in moving:
        mixed = mixed.swap(Latents({name: (weights @ z[name])[None].astype(z[name].dtype)}), name)
    python = (
        f"z = method.encode(samples[{corners}])  # upper left, upper right, lower left, lower right\n"
        f"right, down = {right!r}, {down!r}\n"
        "weights = np.array([(1 - down) * (1 - right), (1 - down) * right, down * (1 - right), down * right])\n"
        "mixed = z.take([0])\n"
        f"for block in {moving!r}:\n"
        "    mixed = mixed.swap(un.Latents({block: (weights @ z[block])[None].astype(z[block].dtype)}), block)\n"
        "between = method.decode(mixed)[0]\n"
    )
    return Decoded({"between": opened.decode(mixed)[0]}, python, {"weights": weights.tolist(), "block": block})


def changed(opened: Opened, query: Query) -> Decoded:
    """Return a sample decoded with some latents set to other values."""
    i = query.integer("sample", 0, len(opened) - 1)
    edits = query.edits("edits", opened.blocks)
    z = opened.take([i])
    for edit in edits:
        z = z.traverse(edit.block, edit.latent, [edit.value])
    lines = "".join(f"z = z.traverse({edit.block!r}, {edit.latent}, [{edit.value!r}])\n" for edit in edits)
    python = f"z = method.encode(samples[[{i}]])\n{lines}changed = method.decode(z)[0]\n"
    return Decoded({"changed": opened.decode(z)[0]}, python)


def drawn(opened: Opened, query: Query) -> Decoded:
    """Return a sample with newly drawn codes of a block, from the method's prior or near the codes of the data."""
    i = query.integer("sample", 0, len(opened) - 1)
    n, seed = query.integer("n", 1, MAX_DRAWN, 8), query.integer("seed", 0, MAX_SEED, 0)
    source = query.choice("source", ("prior", "data"), "prior")
    block = query.choice("block", opened.blocks, opened.changed_block or next(iter(opened.codes)))
    if source == "prior":
        codes = opened.method.block_prior(block, n, torch.Generator().manual_seed(seed)).numpy()
        python = f"import torch\n\ncodes = method.block_prior({block!r}, {n}, torch.Generator().manual_seed({seed})).numpy()\n"
    else:
        codes = smoothed_bootstrap(opened.take(opened.donors)[block], n, seed)
        python = f"near = method.encode(samples[{_listed(opened.donors)}])[{block!r}]\n"
        python += f"codes = un.manipulate.smoothed_bootstrap(near, {n}, {seed})\n"
    samples = opened.decode(opened.take([i]).cross(Latents({block: codes}), block))
    python += (
        f"z = method.encode(samples[[{i}]])\ndrawn = method.decode(z.cross(un.Latents({{{block!r}: codes}}), {block!r}))\n"
    )
    return Decoded({"original": opened.x([i])[0], "drawn": samples}, python, {"block": block})


RECIPES: Mapping[str, Recipe] = {
    "sample": Recipe(one_sample, "reconstruction"),
    "swap": Recipe(swapped, "a_with_b"),
    "grid": Recipe(swap_grid, "grid"),
    "between": Recipe(between, "between"),
    "change": Recipe(changed, "changed"),
    "draw": Recipe(drawn, "drawn"),
}


def latent_effects(opened: Opened, query: Query) -> dict[str, Any]:
    """Return for each latent of a block its code in a sample, its usual range, and how much it changes what is decoded.

    The change is the root mean square of what is decoded at the upper end minus at the lower end, over pixels, or over features
    in their standard deviations; 0 for the latents of a very wide block that vary least.
    """
    i = query.integer("sample", 0, len(opened) - 1)
    block = query.choice("block", opened.blocks, opened.changed_block or next(iter(opened.codes)))
    low, high, std = opened.ranges[block]
    z = opened.take([i])
    ranked = np.sort(np.argsort(-std, kind="stable")[:MAX_RANKED])
    codes = np.repeat(z[block], 2 * len(ranked), axis=0)
    codes[np.arange(len(ranked)), ranked] = low[ranked]
    codes[len(ranked) + np.arange(len(ranked)), ranked] = high[ranked]
    ends = opened.decode(z.take(np.zeros(2 * len(ranked), dtype=int)).swap(Latents({block: codes}), block))
    difference = (ends[len(ranked) :] - ends[: len(ranked)]).reshape(len(ranked), -1)
    difference = difference if opened.is_image else difference / opened.feature_std
    change = np.zeros(len(low))
    change[ranked] = np.sqrt(np.square(difference).mean(axis=1, dtype=np.float64))
    numbers = {"code": z[block][0], "low": low, "high": high, "std": std, "change": change}
    return {"block": block, **{name: [float(v) for v in values] for name, values in numbers.items()}}


def _listed(positions: Array) -> str:
    """Return ascending positions as an index in Python: a slice where there is no gap."""
    if len(positions) == positions[-1] - positions[0] + 1:
        return f"{positions[0]}:{positions[-1] + 1}"
    return f"{positions.tolist()}"
