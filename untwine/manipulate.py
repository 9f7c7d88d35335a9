"""What the blocks are good for: swap, remove, draw, interpolate and traverse them; a fitted method and rows in, rows out.

Rows that come out are as `decode` makes them: images in [0, 1], vectors in the units of the data. A block is any block of the
method, by name: `salient` or `common`, `class` or `content`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.latents import Latents
from untwine.method.contract import Method
from untwine.samples import Samples

Rows = Samples | ArrayLike

SPAN = 0.98  # the middle share of the codes: the outermost ones are single rows, not the data


def swap(method: Method, a: Rows, b: Rows, block: str = "salient") -> Array:
    """Return each row of `a` with the block of the row of `b` beside it.

    Parameters
    ----------
    method
        A fitted method.
    a, b
        Equally many rows (n, ...), or a single row of one of them, which then goes with every row of the other.
    block
        The block that comes from `b`; all others are those of `a`.

    Returns
    -------
    swapped
        Rows (n, ...).

    Examples
    --------
    >>> import untwine as un
    >>> data = un.load("toy_contrast", n_target=60, n_background=60).train
    >>> method = un.ContrastivePCA().fit(data)
    >>> x = data.target.x[:4]
    >>> bool(np.allclose(swap(method, x, x), method.reconstruct(x)))
    True
    """
    z, w = _codes(method, a, "a"), _codes(method, b, "b")
    other_block(method, block)
    return method.decode(_match(z, w).swap(_match(w, z), block))


def grid(method: Method, a: Rows, b: Rows, block: str = "salient") -> Array:
    """Return every row of `a` with the block of every row of `b`.

    Parameters
    ----------
    method
        A fitted method.
    a
        Rows (n, ...) that give all other blocks, one for each row of the grid.
    b
        Rows (m, ...) that give the block, one for each column of the grid.
    block
        The block that comes from `b`.

    Returns
    -------
    swapped
        Rows (n, m, ...); `untwine.plots.swap_grid(a, b, swapped)` draws them.
    """
    z, w = _codes(method, a, "a"), _codes(method, b, "b")
    other_block(method, block)
    i, j = np.divmod(np.arange(z.n_samples * w.n_samples), w.n_samples)
    rows = method.decode(z.take(i).swap(w.take(j), block))
    return rows.reshape(z.n_samples, w.n_samples, *rows.shape[1:])


def remove(method: Method, x: Rows, block: str = "salient") -> Array:
    """Return rows without a block; without the salient one, a target becomes its background counterpart.

    The block is set to what the method takes for "nothing there": 0, or the reference that it has learned.
    """
    z = _codes(method, x, "x")
    other_block(method, block)
    return method.decode(z.remove(block))


def sample(
    method: Method, x: Rows, n: int = 8, block: str = "salient", *, seed: int = 0, from_rows: Rows | None = None
) -> Array:
    """Return every row of `x` with `n` new blocks, the same ones for every row.

    Parameters
    ----------
    method
        A fitted method.
    x
        Rows (m, ...) whose other blocks stay.
    n
        How many blocks to draw.
    block
        The block that is drawn.
    seed
        The same seed draws the same blocks.
    from_rows
        Draw near the codes of these rows, targets for instance, and not from the method's prior. In many methods the codes of
        real rows fill only a corner of the prior, and what it draws elsewhere looks like nothing in the data.

    Returns
    -------
    sampled
        Rows (m, n, ...); column j has the j-th block.
    """
    _at_least("n", n, 1)
    _at_least("seed", seed, 0)
    z = _codes(method, x, "x")
    other_block(method, block)
    if from_rows is None:
        codes = method.prior(n, torch.Generator().manual_seed(seed))[block].numpy()
    else:
        codes = _near(_codes(method, from_rows, "from_rows")[block], n, seed)
    i, j = np.divmod(np.arange(z.n_samples * n), n)
    rows = method.decode(z.take(i).swap(Latents({block: codes[j]}), block))
    return rows.reshape(z.n_samples, n, *rows.shape[1:])


def made(method: Method, rows: int = 6, n: int = 6, block: str = "salient", *, seed: int = 0) -> Array:
    """Return rows made from drawn codes alone: every drawn rest without the block, and then with `n` drawn blocks.

    Parameters
    ----------
    method
        A fitted method.
    rows
        How many times all but the block is drawn: one for each row of the grid.
    n
        How many blocks are drawn, the same ones for every row.
    block
        The block that is absent in the first column and changes from there on.
    seed
        The same seed draws the same codes.

    Returns
    -------
    made
        Rows (rows, 1 + n, ...); `untwine.plots.strips(made[:, 1:], made[:, 0])` draws them.
    """
    _at_least("rows", rows, 1)
    _at_least("n", n, 1)
    _at_least("seed", seed, 0)
    other_block(method, block)
    codes = method.prior(max(rows, n), torch.Generator().manual_seed(seed))
    drawn = Latents({name: code.numpy() for name, code in codes.items()}, method.neutral())
    return cross_product(method.decode, drawn, rows, n, block)


def interpolate(method: Method, a: Rows, b: Rows, block: str | None = "salient", steps: int = 8) -> Array:
    """Return the way from each row of `a` to the row of `b` beside it, in equal steps of the codes.

    Parameters
    ----------
    method
        A fitted method.
    a, b
        Equally many rows (n, ...), or a single row of one of them, which then goes with every row of the other.
    block
        The block that moves while all others stay those of `a`; None moves all.
    steps
        How many rows on the way, both ends included.

    Returns
    -------
    interpolated
        Rows (n, steps, ...): the first of each is `a` reconstructed, the last is `a` with the block of `b`.
    """
    _at_least("steps", steps, 2)
    z, w = _codes(method, a, "a"), _codes(method, b, "b")
    z, w = _match(z, w), _match(w, z)
    if block is not None:
        known_block(method, block)
    return np.stack([method.decode(z.take([i]).interpolate(w.take([i]), steps, block)) for i in range(z.n_samples)])


def traverse(
    method: Method,
    x: Rows,
    from_rows: Rows | None = None,
    block: str | None = None,
    steps: int = 8,
    most: int | None = None,
    *,
    ends: tuple[float, float] | None = None,
) -> Traversal:
    """Move each latent of a block through its range, or between two ends, while all else stays that of one row.

    Parameters
    ----------
    method
        A fitted method.
    x
        The row (1, ...) to start from.
    from_rows
        Rows (n, ...) that give the range: each latent goes in equal steps through the middle 98 % of its own codes of them.
    block
        The block whose latents move; where not given the only one, or `salient`.
    steps
        How many, both ends included.
    most
        Keep only so many latents, those that change most; all where not given.
    ends
        The first and the last value of every latent, such as (-1.5, 1.5), in place of the range of `from_rows`.

    Returns
    -------
    traversal
        `rows` (latents, steps, ...), the latent that changes them most first, with `values`, `latents` and `change` of each;
        `untwine.plots.traversal_grid(found.rows, found.values)` draws them.
    """
    _at_least("steps", steps, 2)
    if most is not None:
        _at_least("most", most, 1)
    block = traversed_block(method, block)
    start = _codes(method, x, "x")
    if (from_rows is None) == (ends is None):
        raise ValueError("traverse expected the range of the latents, from_rows or ends; got both or neither; pass one.")
    if ends is None:
        codes = _codes(method, from_rows, "from_rows")[block]  # type: ignore[arg-type]
    elif np.shape(ends) == (2,) and np.isfinite(ends).all() and ends[0] < ends[1]:
        codes = np.repeat(np.asarray(ends, dtype=np.float32)[:, None], start[block].shape[1], axis=1)
    else:
        raise ValueError(f"ends must be two numbers, the lower one first; got {ends!r}.")
    if start.n_samples != 1:
        raise ValueError(f"x must be one row to start from; got {start.n_samples}; pass x[:1].")
    return traverse_codes(method.decode, start, codes, block, steps, most, SPAN if ends is None else 1.0)


class Traversal(NamedTuple):
    """What `traverse` returns: a row for each latent, the one that changes most first.

    Attributes
    ----------
    rows
        What was decoded (d, steps, ...).
    values
        The values (d, steps) that the latent went through.
    latents
        Which latent of its block each row is about (d,), from 0.
    change
        How much the rows vary along the walk (d,): their variance over the steps, mean over pixels or features.
    """

    rows: Array
    values: Array
    latents: Array
    change: Array


def traverse_codes(
    decode: Callable[[Latents], Array],
    start: Latents,
    codes: Array,
    block: str,
    steps: int,
    most: int | None = None,
    span: float = SPAN,
) -> Traversal:
    """Move each latent of a block through the range that it has in codes (n, width), all else being that of one row.

    Parameters
    ----------
    decode
        From codes to rows, such as the method's.
    start
        The codes of one row.
    codes
        The block's codes of many rows: each latent goes in equal steps through the middle share of its own.
    most
        Keep only so many latents, those that change most.
    span
        That share; 1 goes from the least code to the largest.
    """
    low, high = np.quantile(codes, [(1 - span) / 2, (1 + span) / 2], axis=0)
    values = np.linspace(low, high, steps, axis=1)
    rows = np.stack([decode(start.traverse(block, i, row)) for i, row in enumerate(values)])
    change = rows.reshape(len(rows), steps, -1).var(axis=1, dtype=np.float64).mean(axis=1)
    order = np.argsort(-change, kind="stable")[:most]
    return Traversal(rows[order], values[order], order, change[order])


def cross_product(decode: Callable[[Latents], Array], drawn: Latents, rows: int, n: int, block: str) -> Array:
    """Return (rows, 1 + n, ...): each of the first drawn rests without the block, then with each of the first drawn blocks."""
    i, j = np.divmod(np.arange(rows * n), n)
    alone, joined = decode(drawn.take(slice(rows)).remove(block)), decode(drawn.take(i).swap(drawn.take(j), block))
    return np.concatenate([alone[:, None], joined.reshape(rows, n, *alone.shape[1:])], axis=1)


def traversed_block(method: Method, block: str | None) -> str:
    """Return the block whose latents a traversal moves: the one given, the only one, or the salient one."""
    only = next(iter(method.blocks)) if len(method.blocks) == 1 else "salient"
    return known_block(method, only if block is None else block)


def known_block(method: Method, block: str) -> str:
    """Return the name of a block that the method has, or say which it has."""
    if block not in method.blocks:
        names = " or ".join(method.blocks)
        raise ValueError(f"block expected {names}, as {method.name} has; got {block!r}; choose a block of the method.")
    return block


def other_block(method: Method, block: str) -> str:
    """Name what stays when the block changes; refuse a block that the method lacks, or besides which it has nothing."""
    if len(method.blocks) < 2:
        raise ValueError(
            f"a method with several blocks was expected, so that one can change, but {method.name} has the block "
            f"{next(iter(method.blocks))} alone; fit one that takes rows apart."
        )
    rest = [name for name in method.blocks if name != known_block(method, block)]
    return rest[0] if len(rest) == 1 else "other"


def _near(codes: Array, n: int, seed: int) -> Array:
    """Draw n codes near the given ones, with their mean and covariance: the smoothed bootstrap."""
    chance, rows = np.random.default_rng(seed), len(codes)
    centre = codes.mean(0)
    off = codes - centre
    h = rows ** (-1 / (codes.shape[1] + 4))  # the more rows there are, the closer to them
    spread = chance.normal(size=(n, rows)) @ off / np.sqrt(rows)
    chosen = off[chance.choice(rows, n, replace=n > rows)]
    drawn: Array = centre + (chosen + h * spread) / np.sqrt(1 + h**2)
    return drawn.astype(codes.dtype)


def _codes(method: Method, x: Rows, name: str) -> Latents:
    shape = None if isinstance(x, Samples) else np.shape(x)
    if shape is not None and shape == getattr(method, "shape_", None):
        raise ValueError(f"{name} expected rows (n, ...); got a single one of shape {shape}; pass {name}[None].")
    return method.encode(x)


def _match(z: Latents, w: Latents) -> Latents:
    """Return z, its single row repeated where w has more."""
    if w.n_samples in (z.n_samples, 1):
        return z
    if z.n_samples != 1:
        raise ValueError(f"a and b expected equally many rows, or a single one; got {z.n_samples} and {w.n_samples}.")
    return z.take(np.zeros(w.n_samples, dtype=int))


def _at_least(name: str, value: object, least: int) -> None:
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}; got {value!r}.")
