"""Figures of latents, images, scores and training: functions of arrays that return a matplotlib Figure."""

from __future__ import annotations

from untwine.plots.bars import scores_bars
from untwine.plots.classes import class_samples
from untwine.plots.counterparts import salient_maps
from untwine.plots.curves import training_curves
from untwine.plots.effects import feature_effects
from untwine.plots.embeddings import embedding_scatter
from untwine.plots.features import feature_histograms
from untwine.plots.images import image_rows, interpolation, strips, swap_grid
from untwine.plots.latents import factor_matrix, latent_statistics
from untwine.plots.neighbours import nearest_neighbours
from untwine.plots.posterior import posterior_statistics
from untwine.plots.profiles import feature_profiles
from untwine.plots.spectrum import contrast_spectrum
from untwine.plots.synthesis import conditional_synthesis
from untwine.plots.trade_offs import trade_off
from untwine.plots.traversals import traversal_grid
from untwine.plots.tuning import tuning_history

__all__ = [
    "class_samples",
    "conditional_synthesis",
    "contrast_spectrum",
    "embedding_scatter",
    "factor_matrix",
    "feature_effects",
    "feature_histograms",
    "feature_profiles",
    "image_rows",
    "interpolation",
    "latent_statistics",
    "nearest_neighbours",
    "posterior_statistics",
    "salient_maps",
    "scores_bars",
    "strips",
    "swap_grid",
    "trade_off",
    "training_curves",
    "traversal_grid",
    "tuning_history",
]
