"""Random choices of samples with equal counts."""

from __future__ import annotations

import numpy as np

from untwine._typing import Array


def sample_in_rounds(rng: np.random.Generator, indices: Array, n: int) -> Array:
    """Draw n of the indices in random order; none is repeated before all have been drawn."""
    rounds = -(-n // len(indices))
    return np.concatenate([rng.permutation(indices) for _ in range(rounds)])[:n]


def sample_balanced(rng: np.random.Generator, classes: Array, n: int) -> Array:
    """Draw n indices in random order with class counts that differ by at most one; small classes are repeated."""
    names = np.unique(classes)
    counts = np.full(len(names), n // len(names))
    counts[rng.permutation(len(names))[: n % len(names)]] += 1
    indices = [np.resize(rng.permutation(np.flatnonzero(classes == c)), k) for c, k in zip(names, counts, strict=True)]
    return rng.permutation(np.concatenate(indices))
