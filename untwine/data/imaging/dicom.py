"""DICOM series: the slices of a folder, joined into volumes by their positions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from untwine._typing import Array
from untwine.data.imaging.scan import MAX_VOXELS, Scan
from untwine.registry.extras import optional

MAGIC_AT, MAGIC = 128, b"DICM"
UNEVEN = 0.1  # of the spacing of slices: more is a missing slice
PLACE = ("ImagePositionPatient", "ImageOrientationPatient", "PixelSpacing")
TAGS = [
    *PLACE,
    "SeriesInstanceUID",
    "PatientID",
    "SliceThickness",
    "Rows",
    "Columns",
    "SamplesPerPixel",
    "NumberOfFrames",
]


def is_dicom(path: Path) -> bool:
    """Whether a file is DICOM, by its first bytes."""
    try:
        with path.open("rb") as file:
            file.seek(MAGIC_AT)
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def find_series(files: Sequence[Path], root: Path) -> list[Scan]:
    """Return a scan for every series among DICOM files; its subject is its first folder, or else its patient."""
    pydicom = optional("pydicom", "reading DICOM")
    series: dict[tuple[Path, str], list[tuple[Path, Any]]] = {}
    for path in files:
        try:
            header = pydicom.dcmread(path, stop_before_pixels=True, specific_tags=TAGS)
        except (OSError, ValueError, EOFError, pydicom.errors.InvalidDicomError) as error:
            raise ValueError(f"{path} must be a DICOM file; it cannot be read ({error}); replace or remove it.") from None
        series.setdefault((path.parent, str(header.get("SeriesInstanceUID", ""))), []).append((path, header))
    scans: list[Scan] = []
    for (folder, uid), slices in sorted(series.items(), key=lambda one: (one[0][0], one[1][0][0])):
        relative = folder.relative_to(root)
        number = sum(one.path == folder for one in scans)
        several = sum(other == folder for other, _ in series) > 1
        name = (relative.as_posix() if relative.parts else root.name) + (f"/series_{number}" if several else "")
        subject = relative.parts[0] if relative.parts else str(slices[0][1].get("PatientID", "")).strip() or root.name
        scans.append(_join(slices, folder, name, subject, uid))
    return scans


def read_series(slices: Sequence[Path]) -> Array:
    """Return the values (x, y, z) of a series with the slope and intercept of each slice, as float32."""
    pydicom, images = optional("pydicom", "reading DICOM"), []
    for path in slices:
        try:
            header = pydicom.dcmread(path)
            pixels = header.pixel_array
        except (OSError, ValueError, EOFError, AttributeError, RuntimeError, NotImplementedError) as error:
            reason = str(error).split("\n")[0].rstrip(".")
            raise ValueError(
                f"{path} must have pixels that pydicom can decode; it cannot ({reason}); convert the series to NIfTI."
            ) from None
        slope, intercept = float(header.get("RescaleSlope", 1)), float(header.get("RescaleIntercept", 0))
        images.append(pixels.T.astype(np.float32) * np.float32(slope) + np.float32(intercept))
    return np.stack(images, axis=2)


def _join(slices: Sequence[tuple[Path, Any]], folder: Path, name: str, subject: str, uid: str) -> Scan:
    """Return the scan of one series: its slices by position, and its affine."""
    what = f"{folder} (series {uid[-12:] or 'without UID'}, {len(slices)} slices)"
    for path, header in slices:
        if missing := [tag for tag in PLACE if not header.get(tag)]:
            raise ValueError(
                f"{path} must say where its slice lies; it has no {missing[0]}; remove it, or convert it to NIfTI."
            )
        if int(header.get("SamplesPerPixel", 1)) != 1 or int(header.get("NumberOfFrames", 1) or 1) != 1:
            raise ValueError(f"{path} must be one grey slice; it has colours or several frames; convert it to NIfTI.")
    _require_equal(what, slices, {"sizes": ("Rows", "Columns"), "spacings": ("PixelSpacing",)})
    row, column = (np.array(half, dtype=float) for half in np.split(np.array(slices[0][1].ImageOrientationPatient, float), 2))
    normal = np.cross(row, column)
    for path, header in slices:
        if not np.allclose(header.ImageOrientationPatient, [*row, *column], atol=1e-3):
            raise ValueError(f"{what} must have slices of one orientation; {path.name} has another; split the series.")
    position = {path: float(np.dot(normal, np.array(header.ImagePositionPatient, float))) for path, header in slices}
    ordered = sorted(slices, key=lambda one: position[one[0]])
    step = _step(what, [position[path] for path, _ in ordered], slices[0][1])
    down, right = (float(one) for one in slices[0][1].PixelSpacing)
    shape = (int(slices[0][1].Columns), int(slices[0][1].Rows), len(ordered))
    if math.prod(shape) > MAX_VOXELS:
        raise ValueError(f"{what} must have at most {MAX_VOXELS:,} voxels; its headers say {shape}; leave it out.")
    affine = np.eye(4)
    affine[:3, 0], affine[:3, 1], affine[:3, 2] = row * right, column * down, normal * step
    affine[:3, 3] = np.array(ordered[0][1].ImagePositionPatient, float)
    # DICOM's axes go to the left and to posterior, NIfTI's to the right and to anterior.
    affine = np.diag([-1.0, -1.0, 1.0, 1.0]) @ affine
    return Scan(folder, name, subject, shape, affine, slices=tuple(path for path, _ in ordered))


def _require_equal(what: str, slices: Iterable[tuple[Path, Any]], columns: Mapping[str, tuple[str, ...]]) -> None:
    for name, tags in columns.items():
        values = {tuple(str(header.get(tag)) for tag in tags): path.name for path, header in slices}
        if len(values) > 1:
            one, other = list(values.items())[:2]
            raise ValueError(
                f"{what} must have slices of equal {name}; got {', '.join(one[0])} in {one[1]} and {', '.join(other[0])} in "
                f"{other[1]}; split the series."
            )


def _step(what: str, positions: Sequence[float], header: Any) -> float:
    """Return the spacing of slices in millimetres, or refuse a series with a gap."""
    if len(positions) == 1:
        return float(header.get("SliceThickness", 1) or 1)
    steps = np.diff(positions)
    step = float(np.median(steps))
    if step < 1e-6 or steps.min() < 1e-6:
        raise ValueError(f"{what} must have one slice at every position; several share one; split the series.")
    if (off := np.abs(steps - step) > UNEVEN * step).any():
        place = int(np.flatnonzero(off)[0])
        raise ValueError(
            f"{what} must have slices in equal steps; after {positions[place]:.4g} mm comes {positions[place + 1]:.4g} mm, "
            f"where {step:.4g} mm is one step: a slice is missing; restore it, or resample the series."
        )
    return step
