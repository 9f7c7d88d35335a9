"""One scan: its values, its orientation and spacing, and the scaling of its intensities to [0, 1].

Volumes are seen in the closest canonical orientation: x from left to right, y from posterior to anterior, z from inferior to
superior. Slices are images with the upper edge anterior (axial) or superior (coronal and sagittal), and the left edge left,
or posterior (sagittal). A whole volume is a stack of axial slices, the lowest first.
"""

from __future__ import annotations

import math
import warnings
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from untwine._typing import Array
from untwine.registry.extras import optional

ENDINGS = (".nii", ".nii.gz")
MAX_VOXELS = 2**27  # as many as 512 x 512 x 512
# For each axis: the order of canonical axes (x, y, z) as slice, row and column; rows go down, so y and z are reversed.
VIEWS = {"axial": (2, 1, 0), "coronal": (1, 2, 0), "sagittal": (0, 2, 1)}


@dataclass(frozen=True, eq=False)
class Scan:
    """A volume on disk, and what is known of it before its values are read.

    Parameters
    ----------
    path
        The NIfTI file, or the folder of a DICOM series.
    name
        The file from the folder that was read on, with forward slashes; for a DICOM series its folder and number.
    subject
        Who it is of.
    shape, affine
        Voxels along each axis of the file, and the matrix (4, 4) from voxels to millimetres.
    session, run, group
        What the name or the folder says of it, where it says something.
    slices
        The files of a DICOM series, by position; empty for NIfTI.
    """

    path: Path
    name: str
    subject: str
    shape: tuple[int, int, int]
    affine: Array
    session: str = ""
    run: str = ""
    group: str = ""
    slices: tuple[Path, ...] = ()

    def values(self) -> Array:
        """Return the values (x, y, z) in the order of the file and in its units, as float32."""
        if self.slices:
            from untwine.data.imaging.dicom import read_series

            return read_series(self.slices)
        return read_values(self.path).astype(np.float32)

    def spacing(self, axis: str) -> tuple[float, ...]:
        """Return millimetres between slices, rows and columns."""
        sizes, order = np.sqrt(np.square(self.affine[:3, :3]).sum(axis=0)), _axes(self.affine)[0]
        return tuple(float(sizes[order[one]]) for one in VIEWS[axis])

    def view_shape(self, axis: str) -> tuple[int, ...]:
        """Return the shape (slices, H, W) of the view along an axis."""
        return self.view(np.broadcast_to(np.False_, self.shape), axis).shape

    def view(self, values: Array, axis: str) -> Array:
        """Return a view (slices, H, W) of an array (x, y, z) in the order of the file; writing to it writes to the array."""
        order, flips = _axes(self.affine)
        canonical: Array = values.transpose(order)[tuple(slice(None, None, flip) for flip in flips)]
        return canonical.transpose(VIEWS[axis])[:, ::-1, :]


class Scaling(NamedTuple):
    """The intensities of a file that are 0 and 1 in a sample."""

    low: float
    high: float

    def to_unit(self, values: Array) -> Array:
        """Return intensities in [0, 1], those beyond clipped."""
        return np.asarray(np.clip((values - np.float32(self.low)) / np.float32(self.high - self.low), 0, 1))

    def from_unit(self, values: Array) -> Array:
        """Return intensities in the units of the file."""
        return values * np.float32(self.high - self.low) + np.float32(self.low)


def open_nifti(path: Path) -> Any:
    """Return the image of a NIfTI file whose values are not read yet; refuse what is no volume of plain numbers."""
    nibabel = optional("nibabel", "reading a NIfTI volume")
    errors = nibabel.filebasedimages.ImageFileError, nibabel.spatialimages.HeaderDataError
    try:
        image = nibabel.load(path, mmap=False)
    except (*errors, OSError, EOFError, ValueError, OverflowError, zlib.error) as error:
        raise ValueError(
            f"{path} must be a NIfTI volume (.nii or .nii.gz); it cannot be read ({_first_line(error)}); replace or remove it."
        ) from None
    if not isinstance(image, nibabel.Nifti1Image) or not image.header.is_single:
        raise ValueError(f"{path} must be a single NIfTI file; it is {type(image).__name__}; convert it to .nii.gz.")
    shape, dtype = image.shape, image.get_data_dtype()
    if dtype.fields is not None or dtype.kind == "c":
        kind = "colours (RGB)" if dtype.fields is not None else "complex numbers"
        raise ValueError(f"{path} must hold one plain number in every voxel; it holds {kind}; convert it to intensities.")
    if len(shape) < 3 or min(shape) < 1 or any(n > 1 for n in shape[3:]):
        raise ValueError(
            f"{path} must be one volume (x, y, z); got the shape {shape}; save one of its volumes, or their mean, as a file of "
            "its own."
        )
    if math.prod(shape) > MAX_VOXELS:
        raise ValueError(f"{path} must have at most {MAX_VOXELS:,} voxels; its header says {shape}; resample or remove it.")
    affine = image.affine
    if not np.isfinite(affine).all() or abs(np.linalg.det(affine[:3, :3])) < 1e-12:
        raise ValueError(f"{path} must have an affine that can be inverted; got {affine.tolist()}; correct its header.")
    return image


def read_values(path: Path) -> Array:
    """Return the values (x, y, z) of a NIfTI file, in the order of the file, with the slope and intercept of its header."""
    image = open_nifti(path)
    try:
        values = np.asanyarray(image.dataobj)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise ValueError(
            f"{path} must hold {' x '.join(map(str, image.shape))} voxels; it is truncated or damaged ({_first_line(error)}); "
            "copy it again."
        ) from None
    return np.asarray(values.reshape(values.shape[:3]), dtype=values.dtype.newbyteorder("="))


def warn_without_orientation(image: Any, path: Path) -> None:
    """Warn of a file that does not say how its axes lie."""
    if not int(image.header["sform_code"]) and not int(image.header["qform_code"]):
        warnings.warn(
            f"{path} does not say how its axes lie (sform and qform codes are 0); they are taken as x from right to left, y to "
            "anterior, z to superior, as NIfTI prescribes; left and right may be exchanged.",
            stacklevel=2,
        )


def finite(values: Array, path: Path) -> Array:
    """Return the values with 0 for NaN and infinity, and warn of them."""
    bad = ~np.isfinite(values)
    if not bad.any():
        return values
    warnings.warn(f"{path} has {int(bad.sum()):,} voxels with NaN or infinity; they are taken as 0.", stacklevel=2)
    return np.where(bad, np.float32(0), values)


def scaling_of(values: Array, percentiles: tuple[float, float], path: Path) -> Scaling:
    """Return the scaling by percentiles of the voxels that are not 0: the first becomes 0, the second 1."""
    some = values[values != 0]
    if not len(some):
        raise ValueError(f"{path} must have voxels other than 0; all {values.size:,} are 0; remove it.")
    low, high = (float(one) for one in np.percentile(some, percentiles))
    if not high > low:  # one intensity, such as a mask
        low, high = min(0.0, low), max(0.0, high)
    return Scaling(low, high)


def _axes(affine: Array) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return for each canonical axis the axis of the file along it, and 1 or -1 for its direction."""
    orientations = optional("nibabel.orientations", "orienting a volume")
    orientation = orientations.io_orientation(affine)
    order = tuple(int(np.flatnonzero(orientation[:, 0] == axis)[0]) for axis in range(3))
    return order, tuple(int(orientation[one, 1]) for one in order)


def _first_line(error: BaseException) -> str:
    return str(error).split("\n")[0].rstrip(".") or type(error).__name__
