"""Every block scored by what its single latents tell of the factors that it should hold, with 95 % intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from untwine._typing import Array
from untwine.metrics.attributes import attributes
from untwine.metrics.blocks import FOLDS, Blocks, Measurement
from untwine.metrics.factor_vae_score import factor_vae_score
from untwine.metrics.held_out import Split
from untwine.metrics.intervals import halves, over_folds, over_halves
from untwine.metrics.unsupervised import unsupervised
from untwine.metrics.z_diff import z_diff

REPEATED = {
    "total_correlation": "total_correlation",
    "wasserstein_correlation": "relative",
    "latent_information": "mutual_information",
}
# A block, its codes (n, d), the factors (n, k) that it should hold, and which of them lie on a scale.
Truths = Iterator[tuple[str, Array, Array, list[bool]]]


def resampled(
    truths: Truths, metric: Callable[..., Any], fields: Mapping[str, str], seeds: int, least: int = 1
) -> Iterator[Measurement]:
    """Yield fields of what a metric finds in each block that has factors enough, with intervals over halves of the rows.

    `fields` maps the name of each score, which is in [0, 1], to the field.
    """
    for block, codes, factors, continuous in truths:
        if factors.shape[1] < least:
            continue
        found = metric(codes, factors, continuous)
        parts = [metric(codes[half], factors[half], continuous) for half in halves(np.zeros(len(codes), dtype=int), seeds)]
        for name, field in fields.items():
            value = getattr(found, field)
            interval = over_halves(value, [getattr(part, field) for part in parts], (0, 1))
            yield Measurement(f"{name}.{block}", value, interval, len(codes), "higher")


def differences(truths: Truths) -> Iterator[Measurement]:
    """Yield the Z-diff score of each block that has two factors, with its interval over parts of the test points."""
    for block, codes, factors, continuous in truths:
        if factors.shape[1] > 1:
            found = z_diff(codes, factors, continuous)
            interval = over_folds(found.accuracy, found.folds, (0, 1))
            yield Measurement(f"z_diff.{block}", found.accuracy, interval, len(codes), "higher")


def votes(truths: Truths) -> Iterator[Measurement]:
    """Yield the FactorVAE score of each block that has two factors, with its interval over parts of the test votes."""
    for block, codes, factors, continuous in truths:
        if factors.shape[1] > 1:
            found = factor_vae_score(codes, factors, continuous)
            interval = over_folds(found.accuracy, found.folds, (0, 1))
            yield Measurement(f"factor_vae_score.{block}", found.accuracy, interval, len(codes), "higher")


def attributed(blocks: Blocks, truth: Array, held: Mapping[str, Array], split: Split | None = None) -> Iterator[Measurement]:
    """Yield the mean accuracy of the binary factors that each block should hold, and of guessing the more frequent."""
    for block, codes in blocks.items():
        if held[block].any():
            found = attributes(codes, truth[:, held[block]], FOLDS, split=split)
            yield Measurement(
                f"attributes.{block}", found.accuracy, over_folds(found.accuracy, found.folds, (0, 1)), found.n, "higher"
            )
            guess = float(np.mean(found.majority))
            yield Measurement(f"attributes_guess.{block}", guess, (guess, guess), found.n, "info")


def attributed_each(blocks: Blocks, truth: Array, names: Sequence[str], split: Split | None = None) -> Iterator[Measurement]:
    """Yield the accuracy of every binary factor by itself in each block, and of always guessing the more frequent."""
    for number, (block, codes) in enumerate(blocks.items()):
        found = attributes(codes, truth, FOLDS, split=split)
        for name, value, guess in zip(names, found.per_attribute, found.majority, strict=True):
            # The part of an error that comes from how many rows there are; no folds by attribute are kept.
            wide = 1.96 * float(np.sqrt(value * (1 - value) / found.n))
            yield Measurement(
                f"attributes_{name}.{block}", value, (max(0.0, value - wide), min(1.0, value + wide)), found.n, "higher"
            )
            if number == 0:
                yield Measurement(f"attributes_{name}_guess.x", guess, (guess, guess), found.n, "info")


def repeated(blocks: Blocks, seeds: int) -> Iterator[Measurement]:
    """Yield how much the latents of each block repeat each other, with intervals over halves of the rows."""
    for block, codes in blocks.items():
        found = unsupervised(codes)
        parts = [unsupervised(codes[half]) for half in halves(np.zeros(len(codes), dtype=int), seeds)]
        for name, field in REPEATED.items():
            value = getattr(found, field)
            interval = over_halves(value, [getattr(part, field) for part in parts], (0, np.inf))
            yield Measurement(f"{name}.{block}", value, interval, len(codes), "lower")
