"""R2 of a strong network for the factors of each target, on its own samples: which block encodes its response."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from untwine._typing import Array
from untwine.metrics.directions import Direction, Directions
from untwine.metrics.encoded import Encoded
from untwine.metrics.held_out import FOLDS
from untwine.metrics.intervals import fold_interval
from untwine.metrics.metric import MLP, Measurement, Metric, Requirement, ScoreInfo, score_names
from untwine.metrics.probe_strong import strong_factor_r2
from untwine.metrics.requirements import SOURCES
from untwine.metrics.scored_samples import varying_factors
from untwine.registry.blocks import kind, salient_blocks
from untwine.samples import BACKGROUND

# The response of a target belongs in a salient block.
RESPONSES = Directions("info", {"common": "lower", "salient": "higher"})


def _responses(data: Encoded) -> Iterator[tuple[int, Array, Array]]:
    """Yield each target with the indices of its samples and its response: its salient factors, where they vary over them."""
    samples = data.samples
    if samples.groups is None or samples.factors is None:
        return
    for target in np.unique(samples.groups[samples.groups != BACKGROUND]).tolist():
        own = samples.groups == target
        columns = varying_factors(samples.factors, samples.factor_names, own, 2 * FOLDS, True)
        if len(columns):
            indices = np.flatnonzero(own)
            yield target, indices, samples.factors[np.ix_(indices, columns)]


def _measure(data: Encoded) -> Iterator[Measurement]:
    words, blocks = score_names(data.samples.group_names), salient_blocks(data.samples.group_names)
    for target, indices, response in _responses(data):
        codes = data.latents.take(indices)
        for block in codes:
            direction: Direction | None = None
            if kind(block) != block:  # the block of one target
                direction = "higher" if block == blocks[target - 1] else "lower"
            result = strong_factor_r2(codes[block], response, FOLDS, sources=data.sources_of(indices))
            interval = fold_interval(result.r2, result.folds, (0, 1))
            yield Measurement(f"response_{words[target]}.{block}", result.r2, interval, result.n, direction)


METRIC = Metric(
    name="responses",
    function=_measure,
    description="R2 of a small MLP for the salient factors of each target, on its own samples, for each block.",
    scores={
        "response_*": ScoreInfo(
            "How well does a small network predict the response of this target, its salient factors, on its own samples from "
            "this block alone? Mean R² on held-out samples: 0 is the chance level. Its own salient block should, others not.",
            RESPONSES,
            reader=MLP,
        )
    },
    requires=(
        SOURCES,
        Requirement(
            "responses",
            lambda data: any(True for _ in _responses(data)),
            f'factors named "salient ..." that vary and are known for {2 * FOLDS} samples of a target',
            "none",
            "pass samples with salient factors",
        ),
    ),
)
