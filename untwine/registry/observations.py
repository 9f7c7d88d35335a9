"""What a sample may be: vectors, images and volumes, checked on entry and kept in one form."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.registry.columns import kind_of
from untwine.registry.containers import values_of
from untwine.registry.sparse_vectors import is_sparse, to_csr

SIDES = range(8, 129)
VOLUME_SIDES = range(8, 65)


def observations(x: ArrayLike) -> Array:
    """Check x on entry and return it as uint8 images or volumes, float32 ones in [0, 1], or float32 vectors; sparse as CSR."""
    values = values_of(x)
    try:
        x = values if is_sparse(values) else np.asarray(values)
    except ValueError as error:
        raise ValueError("x must be one rectangular array; its samples differ in length; bring them to one length.") from error
    if x.dtype == bool:
        x = x.astype(np.float32)
    if x.dtype.kind not in "uif":
        raise TypeError(f"x must be numbers; got an array of {kind_of(x)}; convert it to float or, for images, uint8.")
    if x.ndim not in (2, 4, 5):
        hint = "add a channel axis with x[:, None]" if x.ndim == 3 else "reshape it, for instance with x.reshape(n, -1)"
        raise ValueError(
            ("Reshape your data: " if x.ndim < 2 else "")
            + f"x must be vectors (n, d), images (n, C, H, W) or volumes (n, C, D, H, W); got an array of shape {x.shape}; "
            f"{hint}."
        )
    if 0 in x.shape:
        what = "0 feature(s)" if x.shape[0] else "0 sample(s)"
        raise ValueError(
            f"x must hold at least one sample of one feature; got {what} (shape={x.shape}) while a minimum of 1 is required."
        )
    if is_sparse(x):
        return _sparse_vectors(x)
    if x.dtype.kind == "f" and not np.isfinite(x).all():
        bad = int((~np.isfinite(x).reshape(len(x), -1).all(axis=1)).sum())
        raise ValueError(f"x must be finite; {bad} of {len(x)} samples hold NaN or infinity; drop or impute them first.")
    return _vectors(x) if x.ndim == 2 else _images(x)


def middle_slices(x: Array) -> Array:
    """Return the middle axial slices (..., H, W) of volumes (..., D, H, W), which stand for them in figures."""
    return x[..., x.shape[-3] // 2, :, :]


def _vectors(x: Array) -> Array:
    _check_size(max(abs(float(x.max())), abs(float(x.min()))))  # without an array of absolute values as large as x
    return np.ascontiguousarray(x, dtype=np.float32)


def _sparse_vectors(x: Any) -> Array:
    csr = to_csr(x)
    if not np.isfinite(csr.data).all():
        bad = np.unique(np.searchsorted(csr.indptr, np.flatnonzero(~np.isfinite(csr.data)), side="right"))
        raise ValueError(
            f"x must be finite; {len(bad)} of {csr.shape[0]} samples hold NaN or infinity; drop or impute them first."
        )
    _check_size(np.abs(csr.data).max(initial=0))
    return csr  # type: ignore[no-any-return]


def _check_size(largest: float) -> None:
    if largest > 1e30:
        raise ValueError(f"x must be numbers that single precision can square; got {largest:.3g}; rescale the features first.")


def _images(x: Array) -> Array:
    """Check images, or volumes, whose sides have other bounds and whose values have the same."""
    channels, width = x.shape[1], x.shape[-1]
    kind, layout, sides = ("images", "(n, C, H, W)", SIDES) if x.ndim == 4 else ("volumes", "(n, C, D, H, W)", VOLUME_SIDES)
    if any(side not in sides for side in x.shape[2:]):
        hint = (
            "move the channels to the front with np.moveaxis(x, -1, 1)" if channels in SIDES and width <= 4 else "resize them"
        )
        raise ValueError(f"x must be {kind} {layout} with sides from {sides[0]} to {sides[-1]}; got shape {x.shape}; {hint}.")
    if channels > 4:
        hint = "; move the channels to the front with np.moveaxis(x, -1, 1)" if width <= 4 else ""
        raise ValueError(f"x must be {kind} with 1 to 4 channels; got {channels} in shape {x.shape}{hint}.")
    if x.dtype == np.uint8:
        return np.ascontiguousarray(x)
    low, high = float(x.min()), float(x.max())
    if x.dtype == np.uint16 and high > 255:
        return np.ascontiguousarray(x / np.float32(65535), dtype=np.float32)
    if low < 0 or high > 1:
        advice = (
            "use x.astype('uint8')"
            if low >= 0 and high <= 255 and (x == np.rint(x)).all()
            else "rescale them to [0, 1] as floats, (x - low) / (high - low), with the same low and high for all your data"
        )
        raise ValueError(
            f"x must be {kind} as uint8 or uint16, or as floats in [0, 1]; got {x.dtype} from {low:.4g} to {high:.4g}; "
            f"{advice}."
        )
    return np.ascontiguousarray(x, dtype=np.float32)
