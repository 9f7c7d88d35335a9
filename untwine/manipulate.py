"""What the latent blocks are good for: swap, remove, sample, interpolate and traverse them.

Functions of a fitted method and of samples. They return samples as `decode` does: images in [0, 1], vectors in the units of the
data. A block is any block of the method, by name: `salient` or `common`, `class` or `content`. Where every target has a salient
block of its own, `salient` stands for all of them (`untwine.registry.blocks`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.latents import Latents, bilinear
from untwine.method.blocks import block_or_default as block_or_default  # noqa: PLC0414 (commands take them from here)
from untwine.method.blocks import changed_block as changed_block  # noqa: PLC0414
from untwine.method.blocks import other_block as other_block  # noqa: PLC0414
from untwine.method.contract import Method
from untwine.method.difference import difference_map
from untwine.registry.blocks import kind, width
from untwine.registry.checks import check_int, check_latents
from untwine.samples import Samples

Observations = Samples | ArrayLike
SPAN = 0.98  # the middle fraction of the codes: the outermost ones are single samples


def swap(method: Method, a: Observations, b: Observations, block: str | None = None) -> Array:
    """Return each sample of `a` with the block of the corresponding sample of `b`.

    Parameters
    ----------
    method
        A fitted method.
    a, b
        As many samples (n, ...) of each, or a single sample of one of them, which then goes with every sample of the other.
    block
        The block that comes from `b`, by default salient, or class; all others are those of `a`.

    Returns
    -------
    swapped
        Samples (n, ...).

    Examples
    --------
    >>> import untwine as un
    >>> data = un.load("toy_contrast", n_target=60, n_background=60).train
    >>> method = un.ContrastivePCA().fit(data)
    >>> x = data.target.x[:4]
    >>> bool(np.allclose(swap(method, x, x), method.reconstruct(x)))
    True
    """
    z, w = _encode(method, a, "a"), _encode(method, b, "b")
    block = changed_block(method, block)
    return method.decode(_match(z, w).swap(_match(w, z), block))


def swap_grid(method: Method, a: Observations, b: Observations, block: str | None = None) -> Array:
    """Return every sample of `a` with the block of every sample of `b`.

    Parameters
    ----------
    method
        A fitted method.
    a
        Samples (n, ...) that give all other blocks, one for each row of the grid.
    b
        Samples (m, ...) that give the block, one for each column of the grid.
    block
        The block that comes from `b`; by default salient, or class.

    Returns
    -------
    swapped
        Samples (n, m, ...); `untwine.plots.swap_grid(a, b, swapped)` draws them.
    """
    z, w = _encode(method, a, "a"), _encode(method, b, "b")
    block = changed_block(method, block)
    return _grid(method.decode(z.cross(w, block)), z.n_samples)


def remove(method: Method, x: Observations, block: str | None = None) -> Array:
    """Return samples without a block; without the salient one, a target becomes its background counterpart.

    The block (by default salient, or class) is set to its neutral value: 0, or the reference that the method has learned.
    """
    z = _encode(method, x, "x")
    block = changed_block(method, block)
    return method.decode(z.remove(block))


def difference(method: Method, x: Observations, block: str | None = None) -> Array:
    """Return maps of where images differ from their counterparts: each image minus itself without a block.

    Parameters
    ----------
    method
        A fitted method.
    x, block
        Images (n, C, H, W) or volumes (n, C, D, H, W), and the block that is removed; by default salient, or class.

    Returns
    -------
    maps
        The differences (n, H, W) or (n, D, H, W) in [-1, 1], mean over channels: negative where the image is the darker one.
    """
    return difference_map(x.x if isinstance(x, Samples) else np.asarray(x), remove(method, x, block))


def sample(
    method: Method,
    x: Observations,
    n: int = 8,
    block: str | None = None,
    *,
    seed: int = 0,
    from_samples: Observations | None = None,
) -> Array:
    """Return every sample of `x` with `n` newly drawn codes of a block, the same ones for every sample.

    Parameters
    ----------
    method
        A fitted method.
    x
        Samples (m, ...) whose other blocks stay.
    n
        How many codes to draw.
    block
        The block that is drawn; by default salient, or class.
    seed
        The same seed draws the same codes.
    from_samples
        Draw near the codes of these samples, for instance targets, and not from the method's prior. In many methods the codes
        of real samples fill only a corner of the prior, and what is decoded from elsewhere looks like nothing in the data.

    Returns
    -------
    sampled
        Samples (m, n, ...); column j has the j-th code.
    """
    check_int("n", n, 1)
    check_int("seed", seed, 0)
    z = _encode(method, x, "x")
    block = changed_block(method, block)
    if from_samples is None:
        codes = method.block_prior(block, n, torch.Generator().manual_seed(seed)).numpy()
    else:
        codes = smoothed_bootstrap(_encode(method, from_samples, "from_samples")[block], n, seed)
    return _grid(method.decode(z.cross(Latents({block: codes}), block)), z.n_samples)


def sample_grid(method: Method, rows: int = 6, n: int = 6, block: str | None = None, *, seed: int = 0) -> Array:
    """Return samples decoded from the prior alone: every draw of the other blocks without the block, then with `n` draws of it.

    Parameters
    ----------
    method
        A fitted method.
    rows
        How often the other blocks are drawn: one for each row of the grid.
    n
        How often the block is drawn; the same draws for every row.
    block
        The block that is removed in the first column and changes from there on; by default salient, or class.
    seed
        The same seed draws the same codes.

    Returns
    -------
    generated
        Samples (rows, 1 + n, ...); `untwine.plots.strips(generated[:, 1:], generated[:, 0])` draws them.
    """
    check_int("rows", rows, 1)
    check_int("n", n, 1)
    check_int("seed", seed, 0)
    block = changed_block(method, block)
    codes = method.prior(max(rows, n), generator := torch.Generator().manual_seed(seed))
    drawn = Latents({name: code.numpy() for name, code in codes.items()}, method.neutral())
    if kind(block) != block:  # the block of one target is drawn for samples that have no other target's
        own = method.block_prior(block, max(rows, n), generator).numpy()
        drawn = drawn.remove(kind(block)).swap(Latents({block: own}), block)
    return cross_product(method.decode, drawn, rows, n, block)


def interpolate(method: Method, a: Observations, b: Observations, block: str | None = "salient", steps: int = 8) -> Array:
    """Return the path from each sample of `a` to the corresponding sample of `b`, in equal steps of the codes.

    Parameters
    ----------
    method
        A fitted method.
    a, b
        As many samples (n, ...) of each, or a single sample of one of them, which then goes with every sample of the other.
    block
        The block that is interpolated while all others stay those of `a`; None interpolates all.
    steps
        How many samples on the path, both ends included.

    Returns
    -------
    interpolated
        Samples (n, steps, ...): the first of each is `a` reconstructed, the last is `a` with the block of `b`.
    """
    check_int("steps", steps, 2)
    if block is not None:
        block_or_default(method, block)
    z, w = _encode(method, a, "a"), _encode(method, b, "b")
    z, w = _match(z, w), _match(w, z)
    return np.stack([method.decode(z.take([i]).interpolate(w.take([i]), steps, block)) for i in range(z.n_samples)])


def interpolate_four(method: Method, corners: Observations, block: str | None = "salient", steps: int = 8) -> Array:
    """Return a grid between four samples, bilinear in the codes.

    Parameters
    ----------
    method
        A fitted method.
    corners
        Four samples (4, ...): upper left, upper right, lower left and lower right.
    block
        The block that is interpolated while all others stay those of the upper left; None interpolates all.
    steps
        How many samples along each side, corners included.

    Returns
    -------
    interpolated
        Samples (steps, steps, ...); `untwine.plots.interpolation` draws them.
    """
    check_int("steps", steps, 2)
    if block is not None:
        block_or_default(method, block)
    z = _encode(method, corners, "corners")
    if z.n_samples != 4:
        raise ValueError(f"corners must be four samples; got {z.n_samples}; pass x[:4].")
    return _grid(method.decode(bilinear(z, steps, block)), steps)


class Traversal(NamedTuple):
    """What `traverse` returns: an entry for each latent, the one that changes the samples most first.

    Attributes
    ----------
    samples
        What was decoded (d, steps, ...).
    values
        The values (d, steps) of the latent.
    latents
        Which latent of its block each entry is about (d,), from 0.
    change
        How much the samples vary along the traversal (d,): their variance over the steps, mean over pixels or features.
    """

    samples: Array
    values: Array
    latents: Array
    change: Array


def traverse(
    method: Method,
    x: Observations,
    from_samples: Observations | None = None,
    block: str | None = None,
    steps: int = 8,
    most: int | None = None,
    *,
    ends: tuple[float, float] | None = None,
    latents: Sequence[int] | None = None,
) -> Traversal:
    """Vary each latent of a block over its range, or between two ends, while all else stays that of one sample.

    Parameters
    ----------
    method
        A fitted method.
    x
        The sample (1, ...) to start from.
    from_samples
        Samples (n, ...) that give the range: each latent goes in equal steps through the middle 98 % of its codes of them.
    block
        The block whose latents are traversed; by default salient, class, or the only one.
    steps
        How many values, both ends included.
    most
        Return only this many latents, those that change the samples most; all where not given.
    ends
        The first and the last value of every latent, such as (-1.5, 1.5), in place of the range of `from_samples`.
    latents
        Return these latents of the block, by number from 0 and in this order, in place of those that change the samples most.

    Returns
    -------
    traversal
        `samples` (latents, steps, ...), the latent that changes them most first, with `values`, `latents` and `change` of each;
        `untwine.plots.traversal_grid(traversal.samples, traversal.values)` draws them.
    """
    check_int("steps", steps, 2)
    if most is not None:
        check_int("most", most, 1)
    block = block_or_default(method, block)
    check_latents("latents", latents, width(block, method.blocks))
    if latents is not None and most is not None:
        raise ValueError("traverse takes most or latents; got both; pass one.")
    start = _encode(method, x, "x")
    if start.n_samples != 1:
        raise ValueError(f"x must be one sample to start from; got {start.n_samples}; pass x[:1].")
    if ends is None and from_samples is not None:
        codes = _encode(method, from_samples, "from_samples")[block]
        return traverse_codes(method.decode, start, codes, block, steps, most, latents=latents)
    if ends is None or from_samples is not None:
        raise ValueError("traverse needs the range of the latents, from_samples or ends; got both or neither; pass one.")
    if np.shape(ends) != (2,) or not np.isfinite(ends).all() or ends[0] >= ends[1]:
        raise ValueError(f"ends must be two numbers, the lower one first; got {ends!r}.")
    codes = np.repeat(np.asarray(ends, dtype=np.float32)[:, None], start[block].shape[1], axis=1)
    return traverse_codes(method.decode, start, codes, block, steps, most, 1.0, latents)


def traverse_codes(
    decode: Callable[[Latents], Array],
    start: Latents,
    codes: Array,
    block: str,
    steps: int,
    most: int | None = None,
    span: float = SPAN,
    latents: Sequence[int] | None = None,
) -> Traversal:
    """Vary each latent of a block over its range in codes (n, width), all else being that of one sample.

    Parameters
    ----------
    decode
        From codes to samples, such as the method's.
    start
        The codes of one sample.
    codes
        The block's codes of many samples: each latent goes in equal steps through the middle fraction of its own.
    most
        Return only this many latents, those that change the samples most.
    span
        That fraction; 1 goes from the least code to the largest.
    latents
        Return these latents, in this order.
    """
    numbers = np.arange(codes.shape[1]) if latents is None else np.asarray(latents)
    low, high = np.quantile(codes[:, numbers], [(1 - span) / 2, (1 + span) / 2], axis=0)
    values = np.linspace(low, high, steps, axis=1)
    samples = np.stack([decode(start.traverse(block, int(i), row)) for i, row in zip(numbers, values, strict=True)])
    change = samples.reshape(len(samples), steps, -1).var(axis=1, dtype=np.float64).mean(axis=1)
    order = np.argsort(-change, kind="stable")[:most] if latents is None else np.arange(len(numbers))
    return Traversal(samples[order], values[order], numbers[order], change[order])


def cross_product(decode: Callable[[Latents], Array], drawn: Latents, rows: int, n: int, block: str) -> Array:
    """Return (rows, 1 + n, ...): each of the first samples without the block, then with the block of each of the first n."""
    first = drawn.take(slice(rows))
    without, crossed = decode(first.remove(block)), decode(first.cross(drawn.take(slice(n)), block))
    return np.concatenate([without[:, None], _grid(crossed, rows)], axis=1)


def smoothed_bootstrap(codes: Array, n: int, seed: int) -> Array:
    """Draw n codes near the given ones, with their mean and covariance."""
    rng, many = np.random.default_rng(seed), len(codes)
    centre = codes.mean(0)
    centred = codes - centre
    h = many ** (-1 / (codes.shape[1] + 4))  # the more codes there are, the closer to them
    noise = rng.normal(size=(n, many)) @ centred / np.sqrt(many)
    chosen = centred[rng.choice(many, n, replace=n > many)]
    drawn: Array = centre + (chosen + h * noise) / np.sqrt(1 + h**2)
    return drawn.astype(codes.dtype)


def _encode(method: Method, x: Observations, name: str) -> Latents:
    shape = None if isinstance(x, Samples) else np.shape(x)
    if shape is not None and shape == getattr(method, "shape_", None):
        raise ValueError(f"{name} must be samples (n, ...); got a single one of shape {shape}; pass {name}[None].")
    return method.encode(x)


def _match(z: Latents, w: Latents) -> Latents:
    """Return z, its single sample repeated where w has more."""
    if w.n_samples in (z.n_samples, 1):
        return z
    if z.n_samples != 1:
        raise ValueError(f"a and b must have as many samples, or a single one; got {z.n_samples} and {w.n_samples}.")
    return z.take(np.zeros(w.n_samples, dtype=int))


def _grid(samples: Array, rows: int) -> Array:
    return samples.reshape(rows, -1, *samples.shape[1:])
