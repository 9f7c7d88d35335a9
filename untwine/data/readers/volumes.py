"""Volumes of medical imaging as samples: NIfTI files, folders of them, BIDS, folders of patients, DICOM series."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from untwine._typing import Array
from untwine.data.imaging.grid import resample
from untwine.data.imaging.layout import Selection, check_same_grid, find_scans, mask_of
from untwine.data.imaging.participants import columns_of_scans, per_sample
from untwine.data.imaging.scan import Scaling, Scan, finite, read_values, scaling_of
from untwine.data.imaging.slicing import Sampling, Slices
from untwine.data.readers.roles import Roles
from untwine.samples import BACKGROUND, Samples

MOST_BYTES = 2**34


@dataclass(frozen=True, eq=False)
class Scans:
    """Samples of scans, and where each comes from, so that samples of their shape can be written back as NIfTI.

    Parameters
    ----------
    samples
        What `read_volumes` returns.
    scans, scalings
        The files, and the intensities of each that became 0 and 1.
    which, index
        For each sample the number of its scan, and of its slice along the axis; -1 for a whole volume.
    sampling
        The options of axis, slices, size and intensities.
    """

    samples: Samples
    scans: tuple[Scan, ...]
    scalings: tuple[Scaling, ...]
    which: Array
    index: Array
    sampling: Sampling


def read_volumes(
    path: Path,
    roles: Roles,
    *,
    axis: str = "axial",
    slices: Slices = "middle",
    every: int = 1,
    size: int | None = None,
    volumes: bool = False,
    fov: float | None = None,
    percentiles: Sequence[float] = (1.0, 99.5),
    suffix: str | None = None,
    masks: str | None = None,
    groups_by_mask: bool = False,
    session: str | None = None,
    run: str | None = None,
    pattern: str | None = None,
) -> Samples:
    """Read slices of scans as images, or whole scans as volumes.

    A NIfTI file; a folder of them, of folders of patients, or BIDS; or a folder of DICOM. The subject of a scan is the source
    of its samples: `sub-...` in its path, else its first folder, else the name of the file. In `participants.tsv` the columns
    of `roles` are found, by `participant_id`; without it `background/` and `target/` (or several `target_.../`) are the groups.

    Scans are brought to the closest canonical orientation, and slices have anterior or superior above, left or posterior at the
    left. Intensities are scaled for each scan by percentiles of its voxels that are not 0, and clipped to [0, 1]. NaN is 0.

    Parameters
    ----------
    path
        A file or a folder.
    roles
        Which columns of `participants.tsv` are group, label, covariates, factors and, where subjects belong together, source.
    axis
        `axial`, `coronal` or `sagittal`: what slices are perpendicular to.
    slices
        `middle`, `all`, or the first and the one after the last: as numbers from the lowest, hindmost or leftmost slice, or as
        fractions of the volume, such as (0.4, 0.6).
    every
        Take only every k-th of these.
    size
        The side of images (8 to 128) or of volumes (8 to 64), to which a square (a cube) around the centre of each scan is
        resampled, in millimetres. Without it voxels stay as they are.
    volumes
        Whether samples are whole volumes (1, D, H, W), stacks of axial slices.
    fov
        The side of that square in millimetres; by default the longest side of each scan, which must then be alike in all.
    percentiles
        The percentiles that become 0 and 1.
    suffix
        How the names of scans end, such as "T1w" or "t1".
    masks
        How the names of segmentations end, such as "seg" or "lesion": where they are not 0, `Samples.masks` is true. Scans of
        the background need none.
    groups_by_mask
        Whether samples with a mask that is not empty are the targets, and all others the background.
    session, run
        Which session and run of BIDS are read, or "all".
    pattern
        Read only files whose path from the folder matches it, such as "*acq-mprage*".

    Returns
    -------
    samples
        Images (n, 1, H, W) or volumes (n, 1, D, H, W) as floats in [0, 1]; their ids are the file and, for slices, the axis and
        the number of the slice.
    """
    given = dict(locals())
    return read_scans(given.pop("path"), given.pop("roles"), **given).samples


def read_scans(
    path: str | Path,
    roles: Roles | None = None,
    *,
    axis: str = "axial",
    slices: Slices = "middle",
    every: int = 1,
    size: int | None = None,
    volumes: bool = False,
    fov: float | None = None,
    percentiles: Sequence[float] = (1.0, 99.5),
    masks: str | None = None,
    groups_by_mask: bool = False,
    **files: Any,
) -> Scans:
    """Read the same as `read_volumes`, and keep where each sample comes from."""
    sampling = Sampling.of(axis=axis, slices=slices, every=every, size=size, volumes=volumes, fov=fov, percentiles=percentiles)
    path, roles = Path(path).expanduser(), roles or Roles()
    if not path.exists():
        raise ValueError(f"path must be a file or a folder; {path} does not exist; correct the path.")
    if groups_by_mask and (not masks or roles.group):
        raise ValueError("groups_by_mask takes the groups from masks; pass how their names end, masks='seg', and no group.")
    root = path if path.is_dir() else path.parent
    scans = find_scans(path, Selection(masks=masks, **files))
    known = columns_of_scans(scans, root, roles)
    sampling.check_sizes(scans)
    segmentations = None if masks is None else _find_masks(scans, masks, root, known.get("groups"), groups_by_mask)
    indices = [sampling.indices(scan) for scan in scans]
    _check_memory(sampling, scans, indices)
    which = np.repeat(np.arange(len(scans)), [len(one) for one in indices])
    x, scalings, masked = [], [], []
    for number, scan in enumerate(scans):
        pixels, scaling = _read(scan, indices[number], sampling)
        x.append(pixels)
        scalings.append(scaling)
        if segmentations is not None:
            masked.append(_read_mask(segmentations[number], scan, indices[number], sampling))
    index = np.concatenate(indices)
    columns = per_sample(known, which)
    if segmentations is not None:
        columns["masks"] = np.concatenate(masked)
        if groups_by_mask:
            columns |= _groups_of(columns["masks"], root)
    ids = [scans[k].name if i < 0 else f"{scans[k].name} {axis} {i}" for k, i in zip(which, index, strict=True)]
    samples = Samples(np.concatenate(x)[:, None], ids=np.array(ids), **columns)
    return Scans(samples, tuple(scans), tuple(scalings), which, index, sampling)


def _read(scan: Scan, indices: Array, sampling: Sampling) -> tuple[Array, Scaling]:
    """Return the pixels (n, H, W) or (1, D, H, W) of a scan, and the scaling of its intensities."""
    values = finite(scan.values(), scan.path)
    scaling = scaling_of(values, sampling.percentiles, scan.path)
    chosen = _chosen(scan.view(values, sampling.axis), indices)
    return np.clip(resample(scaling.to_unit(chosen), sampling.frame(scan).forward), 0, 1), scaling


def _read_mask(path: Path | None, scan: Scan, indices: Array, sampling: Sampling) -> Array:
    """Return the pixels at least half of which are in the mask; none without a mask."""
    if path is None:
        shape = tuple(len(one) for one in sampling.frame(scan).forward)
        return np.zeros((len(indices), *shape), dtype=bool)
    values = np.nan_to_num(read_values(path)) != 0
    chosen = _chosen(scan.view(values, sampling.axis), indices).astype(np.float32)
    mask: Array = resample(chosen, sampling.frame(scan).forward) >= 0.5
    return mask


def _chosen(view: Array, indices: Array) -> Array:
    return view[None] if indices[0] < 0 else view[indices]


def _find_masks(scans: Sequence[Scan], ending: str, root: Path, groups: Array | None, every_scan: bool) -> list[Path | None]:
    """Return the mask of each scan; a scan of the background may have none."""
    paths = [mask_of(scan, ending, root) for scan in scans]
    for number, (scan, mask) in enumerate(zip(scans, paths, strict=True)):
        if mask is not None:
            check_same_grid(scan, mask)
        elif every_scan or groups is None or groups[number] != BACKGROUND:
            raise ValueError(
                f"{scan.path} must have a mask, a file of its name that ends in {ending.lstrip('_-')}.nii.gz, as all but those "
                "of the background; there is none beside it or in derivatives/; add it, or leave masks out."
            )
    return paths


def _groups_of(masks: Array, root: Path) -> dict[str, Any]:
    target = np.asarray(masks.reshape(len(masks), -1).any(axis=1))
    if target.all() or not target.any():
        raise ValueError(
            f"{root} must have samples with and without a mask for groups_by_mask; {int(target.sum())} of {len(target)} have "
            "one; take more slices."
        )
    return {"groups": target.astype(int), "group_names": ("background", "target")}


def _check_memory(sampling: Sampling, scans: Sequence[Scan], indices: Sequence[Array]) -> None:
    pixels = sum(
        len(chosen) * int(np.prod([len(one) for one in sampling.frame(scan).forward]))
        for scan, chosen in zip(scans, indices, strict=True)
    )
    if 4 * pixels > MOST_BYTES:
        raise ValueError(
            f"the samples must fit in {MOST_BYTES / 2**30:.0f} GiB; these take {4 * pixels / 2**30:.0f} GiB; take fewer slices "
            "(every=...), or a smaller size."
        )
