"""Scores of single latents: of each block for the factors that it should encode, with intervals over halves of the samples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from untwine._typing import Array
from untwine.metrics.intervals import halves_interval, random_halves
from untwine.metrics.metric import Measurement


def measure_over_halves(
    blocks: Iterable[tuple[str, Array, Array, list[bool]]],
    function: Callable[..., Any],
    fields: Mapping[str, str],
    seeds: int,
    least: int = 1,
    sources: Callable[[str], Array | None] = lambda block: None,
    splits: bool = False,
) -> Iterator[Measurement]:
    """Yield the scores of each block that has at least `least` factors.

    Parameters
    ----------
    blocks
        For each block its name, codes (n, d), factors (n, k), and which factors are continuous: `Encoded.factors_by_block`.
    function
        From codes, factors and which of these are continuous to a result.
    fields
        The name of each score, which is in [0, 1], and the field of the result that holds it.
    seeds
        How many random halves an interval takes.
    sources
        From a block to the sources of its samples: no half cuts through one.
    splits
        Whether the function holds samples out by itself, and takes `sources` for that.
    """
    for block, codes, factors, continuous in blocks:
        if factors.shape[1] < least:
            continue
        own = sources(block)
        held: Mapping[str, Any] = {} if own is None or not splits else {"sources": own}
        result = function(codes, factors, continuous, **held)
        halves = random_halves(np.zeros(len(codes), dtype=int), seeds, sources=own)
        repeats = [
            function(codes[half], factors[half], continuous, **{key: value[half] for key, value in held.items()})
            for half in halves
        ]
        for name, field in fields.items():
            value = getattr(result, field)
            interval = halves_interval(value, [getattr(one, field) for one in repeats], (0, 1))
            yield Measurement(f"{name}.{block}", value, interval, len(codes))
