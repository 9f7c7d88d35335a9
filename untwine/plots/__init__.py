"""Images of what came apart: functions of blocks and arrays that return a matplotlib Figure."""

from __future__ import annotations

from untwine.plots.bars import scores_bars
from untwine.plots.classes import class_samples
from untwine.plots.curves import curves
from untwine.plots.images import image_rows, interpolation, strips, swap_grid
from untwine.plots.latents import factor_matrix, latent_spread
from untwine.plots.neighbours import neighbours
from untwine.plots.planes import plane
from untwine.plots.posterior_statistics import posterior
from untwine.plots.profiles import profiles
from untwine.plots.spectrum import contrast_spectrum
from untwine.plots.trade import trade_off
from untwine.plots.walks import traversals

__all__ = [
    "class_samples",
    "contrast_spectrum",
    "curves",
    "factor_matrix",
    "image_rows",
    "interpolation",
    "latent_spread",
    "neighbours",
    "plane",
    "posterior",
    "profiles",
    "scores_bars",
    "strips",
    "swap_grid",
    "trade_off",
    "traversals",
]
