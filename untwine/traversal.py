"""What is decoded along one latent at a time, over the range that the data gives it, and from every pair of drawn parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from untwine.latents import Latents

Array = NDArray[Any]

SPAN = 0.98  # the middle share of the codes: the outermost ones are single rows, not the data


class Traversal(NamedTuple):
    """What `traverse` made: a row for each latent, the one that changes most first.

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


def traverse(
    decode: Callable[[Latents], Array],
    start: Latents,
    codes: Array,
    part: str,
    steps: int,
    most: int | None = None,
    span: float = SPAN,
) -> Traversal:
    """Move each latent of a part through the range that it has in codes (n, width), all else being that of one row.

    Parameters
    ----------
    decode
        From codes to rows, such as the method's.
    start
        The codes of one row.
    codes
        The part's codes of many rows: each latent goes in equal steps through the middle share of its own.
    most
        Keep only so many latents, those that change most.
    span
        That share; 1 goes from the least code to the largest.
    """
    low, high = np.quantile(codes, [(1 - span) / 2, (1 + span) / 2], axis=0)
    values = np.linspace(low, high, steps, axis=1)
    rows = np.stack([decode(start.walk(part, i, row)) for i, row in enumerate(values)])
    change = rows.reshape(len(rows), steps, -1).var(axis=1, dtype=np.float64).mean(axis=1)
    order = np.argsort(-change, kind="stable")[:most]
    return Traversal(rows[order], values[order], order, change[order])


def crossed(decode: Callable[[Latents], Array], drawn: Latents, rows: int, n: int, part: str) -> Array:
    """Return (rows, 1 + n, ...): each of the first drawn rests without the part, then with each of the first drawn parts."""
    i, j = np.divmod(np.arange(rows * n), n)
    alone, joined = decode(drawn.take(slice(rows)).remove(part)), decode(drawn.take(i).swap(drawn.take(j), part))
    return np.concatenate([alone[:, None], joined.reshape(rows, n, *alone.shape[1:])], axis=1)
