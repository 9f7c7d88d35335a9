"""How much of the rows is lost on the way through the codes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array


def reconstruction(x: ArrayLike, decoded: ArrayLike) -> float:
    """Return the mean squared error of `decoded` for `x`, over all rows and all elements.

    (1 / n m) sum_ij (x_ij - xhat_ij)^2, m being the number of elements (pixels and channels) of a row. Images are compared
    on [0, 1]: uint8 is divided by 255 on either side. Vectors are compared in their own units, unscaled. From 0, lower is
    better: 0 means equal; the mean of the elements' variances is what the mean row scores; on [0, 1] it cannot exceed 1.
    """
    return float(squared_errors(x, decoded).mean())


def squared_errors(x: ArrayLike, decoded: ArrayLike) -> Array:
    """Return for each row the mean over its elements of the squared error, as `reconstruction` has it."""
    x, decoded = np.asarray(x), np.asarray(decoded)
    if x.shape != decoded.shape or x.ndim < 2 or 0 in x.shape:
        raise ValueError(f"reconstruction expected two arrays of one shape (n, ...); got {x.shape} and {decoded.shape}.")
    errors: Array = ((_unit(x) - _unit(decoded)) ** 2).reshape(len(x), -1).mean(axis=1)
    return errors


def _unit(x: Array) -> Array:
    return x.astype(np.float64) / 255.0 if x.dtype == np.uint8 else x.astype(np.float64)
