"""Samples of scans written back as NIfTI: in the grid, the orientation and the header of the file that they come from."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from untwine._typing import Array
from untwine.data.imaging.grid import Frame, resample
from untwine.data.imaging.layout import is_nifti
from untwine.data.imaging.scan import Scan, open_nifti
from untwine.registry.extras import optional
from untwine.runs import files

if TYPE_CHECKING:
    from untwine.data.readers.volumes import Scans

# Fields of the header that differ from the input's where values are of another type.
OF_VALUES = ("datatype", "bitpix", "scl_slope", "scl_inter", "cal_max", "cal_min")


def write_images(scans: Scans, x: Array, folder: str | Path, *, overwrite: bool = False) -> list[Path]:
    """Write samples as volumes in the units, the type and with the header of their files, under the names of these.

    Voxels that no sample covers stay as they are in the file: those of other slices, and those outside of the square that was
    resampled. So do NaN and, where the intensity that became 0 is not negative, voxels that are 0 in the file: what is outside
    of the brain. All others are resampled from the samples and brought back to the units of the file.

    Parameters
    ----------
    scans
        What `read_scans` returned.
    x
        As many samples (n, 1, H, W) or volumes (n, 1, D, H, W) in [0, 1], in their order.
    folder
        Where files are written, each under its name from the folder that was read.
    overwrite
        Whether files that are there are replaced.
    """
    x = _checked(scans, x)
    paths = output_paths(scans, folder, "", overwrite)
    for number, scan in enumerate(scans.scans):
        stored, slope, intercept = _stored(scan)
        file = scan.values()
        low = scans.scalings[number].low
        keep = ~np.isfinite(file) | ((file == 0) if low >= 0 else np.zeros(file.shape, dtype=bool))
        views = [scan.view(one, scans.sampling.axis) for one in (stored, keep)]
        for at, pixels, inside in _samples_of(scans, number, x):
            units = (scans.scalings[number].from_unit(pixels) - intercept) / slope
            if stored.dtype.kind in "ui":
                limits = np.iinfo(stored.dtype)
                units = np.clip(np.rint(units), limits.min, limits.max)
            change = inside & ~views[1][at]
            views[0][at][change] = units[change].astype(stored.dtype)
        _write(scan, stored, paths[number], header_of(scan))
    return paths


def write_maps(
    scans: Scans,
    maps: Array,
    folder: str | Path,
    ending: str = "difference",
    *,
    at_least: float | None = None,
    overwrite: bool = False,
) -> list[Path]:
    """Write maps (n, H, W) or (n, D, H, W) as volumes with the header of their files, 0 where no sample is.

    The header is that of the file, but for the type of values, their scaling (none) and the range for display (none): the
    fields `OF_VALUES`.

    Parameters
    ----------
    scans
        What `read_scans` returned.
    maps
        One map for each sample, in their order.
    folder, ending
        Where files are written, each under its name from the folder that was read, with this ending.
    at_least
        Write a mask of the voxels with at least this value, as bytes; by default the values themselves, as float32.
    overwrite
        Whether files that are there are replaced.
    """
    maps = _checked(scans, maps[:, None]).astype(np.float32)
    dtype = np.dtype(np.float32 if at_least is None else np.uint8)
    paths = output_paths(scans, folder, f"_{ending}", overwrite)
    for number, scan in enumerate(scans.scans):
        volume = np.zeros(scan.shape, dtype)
        view = scan.view(volume, scans.sampling.axis)
        for at, values, inside in _samples_of(scans, number, maps):
            view[at] = np.where(inside, values if at_least is None else values >= at_least, 0).astype(dtype)
        header = header_of(scan)
        header.set_data_dtype(dtype.newbyteorder(header.endianness))
        header["scl_slope"], header["scl_inter"], header["cal_max"], header["cal_min"] = 1, 0, 0, 0
        _write(scan, volume, paths[number], header)
    return paths


def output_paths(scans: Scans, folder: str | Path, ending: str, overwrite: bool = False) -> list[Path]:
    """Return where the volume of each scan is written, or refuse a folder that cannot be written, and files that are there."""
    folder, paths = Path(folder).expanduser(), []
    for scan in scans.scans:
        name = scan.name if is_nifti(scan.path) else f"{scan.name}.nii.gz"
        stem, dot, rest = name.rpartition(".nii") if ".nii" in name else name.lower().rpartition(".nii")
        path = folder / f"{stem}{ending}{dot}{rest}"
        if path.resolve() == scan.path.resolve():
            raise ValueError(f"out must be another folder than that of the scans; {path} is one of them; choose another.")
        if path.exists() and not overwrite:
            raise ValueError(f"out must not hold {path} yet; it exists; choose another folder, or replace it (overwrite).")
        paths.append(path)
    for parent in dict.fromkeys((folder, *(path.parent for path in paths))):
        files.make_folder(parent)
    return paths


def header_of(scan: Scan) -> Any:
    """Return the header of a NIfTI file as it is stored, with extensions; a new one for a DICOM series."""
    nibabel = optional("nibabel", "writing a NIfTI volume")
    if not is_nifti(scan.path):
        return nibabel.Nifti1Image(np.zeros(scan.shape, np.float32), scan.affine).header
    kind = type(open_nifti(scan.path).header)
    with nibabel.openers.ImageOpener(scan.path, "rb") as file:
        return kind.from_fileobj(file, check=False)


def _stored(scan: Scan) -> tuple[Array, float, float]:
    """Return the numbers (x, y, z) that the file stores, unscaled, and the slope and intercept to its units."""
    if not is_nifti(scan.path):
        return scan.values(), 1.0, 0.0
    proxy = open_nifti(scan.path).dataobj
    return np.array(proxy.get_unscaled()).reshape(scan.shape), float(proxy.slope), float(proxy.inter)


def _samples_of(scans: Scans, number: int, x: Array) -> Iterator[tuple[Any, Array, Array]]:
    """Yield for each sample of a scan where it lies in the view, its values in the voxels, and which voxels it covers."""
    scan = scans.scans[number]
    frame: Frame = scans.sampling.frame(scan)
    inside = np.ones((), dtype=bool)
    for axis in frame.inside:
        inside = inside[..., None] & axis
    for sample in np.flatnonzero(scans.which == number):
        at = ... if scans.index[sample] < 0 else int(scans.index[sample])
        yield at, resample(x[sample, 0], frame.back), inside


def _checked(scans: Scans, x: Array) -> Array:
    if x.shape != scans.samples.x.shape:
        raise ValueError(f"x must have one sample for each of the scans' samples, {scans.samples.x.shape}; got {x.shape}.")
    return x


def _write(scan: Scan, values: Array, path: Path, header: Any) -> None:
    """Write a header and values: what nibabel would recompute from an affine, such as the quaternion, stays as it is."""
    dtype = header.get_data_dtype()
    with files.atomic(path) as file:
        if path.name.lower().endswith(".gz"):
            # Without the time, so that the same values are the same bytes.
            with gzip.GzipFile(fileobj=file, mode="wb", filename="", mtime=0) as packed:
                _write_plain(packed, values, header, dtype)
        else:
            _write_plain(file, values, header, dtype)


def _write_plain(file: IO[bytes] | gzip.GzipFile, values: Array, header: Any, dtype: Any) -> None:
    header.write_to(file)
    file.write(b"\0" * (int(header["vox_offset"]) - file.tell()))
    file.write(values.astype(dtype).tobytes(order="F"))
