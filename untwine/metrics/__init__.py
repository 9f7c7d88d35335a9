"""Scores of codes: arrays in, floats out."""

from __future__ import annotations

from untwine.metrics.clustering import clustering, matching_accuracy, tsne
from untwine.metrics.factors import factors
from untwine.metrics.probe import probe
from untwine.metrics.reconstruction import reconstruction
from untwine.metrics.subspace import canonical_correlation
from untwine.metrics.transport import w2

__all__ = ["canonical_correlation", "clustering", "factors", "matching_accuracy", "probe", "reconstruction", "tsne", "w2"]
