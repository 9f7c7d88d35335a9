"""The difference of an image and its counterpart, and from where on it is more than the background has."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.registry.checks import check_choice, check_float
from untwine.samples import unit_range

FOREGROUND = 0.05  # darker pixels are outside of the brain
Side = Literal["either", "darker", "brighter"]


def difference_map(x: ArrayLike, counterpart: ArrayLike) -> Array:
    """Return images minus their counterparts, mean over channels: (n, H, W), for volumes (n, D, H, W), in [-1, 1].

    Negative where an image is darker than its counterpart, positive where it is brighter.
    """
    image, other = unit_range(np.asarray(x)), unit_range(np.asarray(counterpart))
    if image.shape != other.shape or image.ndim < 4:
        raise ValueError(
            f"x and counterpart must be images (n, C, H, W) or volumes (n, C, D, H, W) of one shape; got {image.shape} and "
            f"{other.shape}."
        )
    maps: Array = (image - other).mean(axis=1)
    return maps


def one_sided(maps: Array, side: str) -> Array:
    """Return maps that are large where an image is darker than its counterpart, brighter, or either."""
    check_choice("side", side, get_args(Side))
    return np.abs(maps) if side == "either" else -maps if side == "darker" else maps


def foreground(x: ArrayLike) -> Array:
    """Return the pixels (n, H, W), or voxels, that are no empty margin: those above 0.05, mean over channels."""
    return np.asarray(unit_range(np.asarray(x)).mean(axis=1) > FOREGROUND)


def threshold(maps: Array, inside: Array, above: float = 1.0, side: str = "either") -> float:
    """Return the value that `above` percent of the pixels of background maps exceed: what is found where nothing is.

    Parameters
    ----------
    maps
        Differences (n, H, W) of backgrounds that the method was not fitted to.
    inside
        The pixels (n, H, W) that count, such as `foreground` of these backgrounds.
    above
        How many percent of them are above the threshold, more than 0 and at most 50.
    side
        Whether pixels count that are darker than their counterparts, brighter, or either.
    """
    check_float("above", above, 1e-6, 50)
    if maps.shape != inside.shape or not inside.any():
        raise ValueError(f"maps and inside must have one shape, with a pixel inside; got {maps.shape} and {inside.shape}.")
    return float(np.quantile(one_sided(maps, side)[inside], 1 - above / 100))
