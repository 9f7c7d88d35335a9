"""Pictures of what came apart: functions of blocks and arrays that return a matplotlib Figure."""

from __future__ import annotations

from untwine.plots.bars import scores_bars
from untwine.plots.curves import curves, terms
from untwine.plots.pictures import interpolation, picture_rows, strips, swap_grid
from untwine.plots.planes import plane
from untwine.plots.profiles import profiles
from untwine.plots.spectrum import contrast_spectrum

__all__ = [
    "contrast_spectrum",
    "curves",
    "interpolation",
    "picture_rows",
    "plane",
    "profiles",
    "scores_bars",
    "strips",
    "swap_grid",
    "terms",
]
