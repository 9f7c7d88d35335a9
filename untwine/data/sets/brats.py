"""Slices of brains with a tumour against slices without, from BraTS: T1-weighted, told by the segmentation.

"Double InfoGAN for contrastive analysis", section 5: 128 x 128. How its slices are chosen and scaled is not said; here see
`brats`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from untwine._typing import Array
from untwine.data.location import data_folder
from untwine.data.readers.arrays import load_arrays
from untwine.data.readers.nifti import read_nifti
from untwine.data.splits import Splits
from untwine.registry.checks import check_float, check_int
from untwine.samples import SIDES, Samples

ARRAYS = ("x", "tumour", "patient")
T1 = re.compile(r"[-_](t1|t1n)\.nii(\.gz)?$", re.IGNORECASE)
# Since 2023 a name such as BraTS-GLI-00005-001 ends in the visit: the patient is what stands before.
VISIT = re.compile(r"^(BraTS-[A-Z]+-\d+)-\d+$", re.IGNORECASE)
FACTORS = ("salient tumour", "height", "brain")


class Slices(NamedTuple):
    """Slices (n, H, W) of one visit, uint8, with the share of tumour and of brain in each, and its height from 0 to 1."""

    x: Array
    tumour: Array
    brain: Array
    height: Array


def brats(
    *,
    size: int = 128,
    every: int = 3,
    least_brain: float = 0.1,
    least_tumour: float = 0.005,
    test: float = 0.2,
    seed: int = 0,
    folder: str | Path | None = None,
) -> Splits:
    """Slices of brains with a tumour against slices without, from BraTS; needs its files in a folder.

    Axial slices of T1-weighted volumes: targets have a tumour by the segmentation, backgrounds have none. A volume's grey
    values go from 0 to the 99.5th percentile of those above 0. Each slice is cut to its central square and brought to
    `size`, grey. Patients are held out with all their visits, never single slices, so nobody is in both parts.

    Source: BraTS (B. Menze and others, 2014; registration needed, synapse.org) as `brats/`, below which each patient has a
    folder with `..._t1.nii.gz` (or `-t1n`) and `..._seg.nii.gz`, plain or gzipped; or your own as `brats/brats.npz` with `x`
    (n, H, W) uint8, `tumour` (n,) or (n, H, W) and `patient` (n,). Checksum: none, as any subset will do. Group: 0 without, 1
    with a tumour. Label: none. Factors: `salient tumour`, the share of the brain that is tumour; `height`, the slice's place
    from 0 to 1; `brain`, the share of the image that is brain.

    Parameters
    ----------
    size
        The side of the images in pixels, from 8 to 128.
    every
        Take every so many slices of a volume: neighbours are much alike.
    least_brain
        Leave out slices with a smaller share of brain.
    least_tumour
        Slices with a smaller share of tumour, but some, are left out: neither with nor without.
    test
        Which share of the patients is held out.
    seed
        Decides which patients these are.
    folder
        The folder that holds `brats/`; without it the environment variable UNTWINE_DATA, then ~/.cache/untwine.
    """
    size, seed, every = check_int("size", size, SIDES[0], SIDES[-1]), check_int("seed", seed, 0), check_int("every", every, 1)
    least_brain, least_tumour = check_float("least_brain", least_brain, 0, 1), check_float("least_tumour", least_tumour, 0, 1)
    test, place = check_float("test", test, 0.01, 0.9), data_folder(folder) / "brats"
    packed = place / "brats.npz"
    read = _packed(packed, every) if packed.is_file() else _volumes(place, every)
    patients: dict[str, list[Slices]] = {}
    for patient, one in read:
        patients.setdefault(patient, []).append(_kept(one, least_brain, least_tumour, size))
    of_patient, order = list(patients.values()), np.random.default_rng(seed).permutation(len(patients))
    many = max(1, round(test * len(patients)))
    parts = ([one for i in some for one in of_patient[i]] for some in (order[many:], order[:many]))
    return Splits(*(_contrast(part, place) for part in parts))


def _volumes(place: Path, every: int) -> Iterator[tuple[str, Slices]]:
    """Yield the patient and the slices of each T1 volume, which has a segmentation beside it."""
    found = sorted(path for path in place.rglob("*.nii*") if T1.search(path.name)) if place.is_dir() else []
    if not found:
        raise ValueError(
            f"BraTS was must be in {place} as folders with ..._t1.nii.gz and ..._seg.nii.gz, or as brats.npz, but neither is "
            "there; place what synapse.org gives there, or set the environment variable UNTWINE_DATA (or the option folder)."
        )
    for path in found:
        start = T1.sub("", path.name)
        named = re.compile(rf"{re.escape(start)}[-_]seg\.nii(\.gz)?")
        seg = next((other for other in sorted(path.parent.iterdir()) if named.fullmatch(other.name)), None)
        if seg is None:
            raise ValueError(f"{path} must be a segmentation {start}_seg.nii.gz beside it, but there is none.")
        yield VISIT.sub(r"\1", start), slices(read_nifti(path), read_nifti(seg), every, str(path))


def slices(volume: Array, segmentation: Array, every: int = 1, name: str = "the volume") -> Slices:
    """Return the axial slices of a volume (x, y, z) with a segmentation (x, y, z) that is 0 where there is no tumour."""
    if volume.ndim != 3 or volume.shape != segmentation.shape:
        raise ValueError(
            f"{name} expected three dimensions and a segmentation of the same; got {volume.shape} and {segmentation.shape}."
        )
    head, tumour = (np.moveaxis(part, 2, 0)[::every].swapaxes(1, 2) for part in (volume > 0, segmentation > 0))
    top = np.percentile(volume[volume > 0], 99.5) if (volume > 0).any() else 1
    grey = np.clip(np.moveaxis(volume, 2, 0)[::every].swapaxes(1, 2) / top, 0, 1)
    brain = head.mean(axis=(1, 2))
    share = tumour.sum(axis=(1, 2)) / np.maximum(head.sum(axis=(1, 2)), 1)
    height = np.arange(volume.shape[2])[::every] / max(volume.shape[2] - 1, 1)
    return Slices(np.rint(255 * grey).astype(np.uint8), share, brain, height)


def _packed(path: Path, every: int) -> Iterator[tuple[str, Slices]]:
    arrays = load_arrays(path)
    if missing := [name for name in ARRAYS if name not in arrays]:
        raise ValueError(f"{path} expected the arrays {', '.join(ARRAYS)}, but lacks {', '.join(missing)}.")
    x, tumour, patient = (arrays[name] for name in ARRAYS)
    if x.ndim != 3 or x.dtype != np.uint8 or tumour.shape not in ((len(x),), x.shape) or patient.shape != (len(x),):
        raise ValueError(
            f"{path} expected x (n, H, W) of uint8, tumour for each slice (n,) or pixel (n, H, W), and patient (n,); got "
            f"{x.dtype} {x.shape}, {tumour.shape} and {patient.shape}."
        )
    if tumour.dtype.kind not in "buif" or not (np.isfinite(tumour).all() and (tumour >= 0).all()):
        raise ValueError(
            f"{path} must be finite numbers of at least 0 as tumour, but some are not; write 0 where there is none."
        )
    for one in np.unique(patient):
        rows = np.flatnonzero(patient == one)
        height = np.arange(len(rows)) / max(len(rows) - 1, 1)
        inside, ill = (x[rows] > 0).sum(axis=(1, 2)), (tumour[rows] > 0).reshape(len(rows), -1).sum(axis=1)
        share = ill / np.maximum(inside, 1) if tumour.ndim == 3 else tumour[rows].astype(float)
        yield str(one), Slices(*(part[::every] for part in (x[rows], share, inside / x[0].size, height)))


def _kept(one: Slices, least_brain: float, least_tumour: float, size: int) -> Slices:
    from PIL import Image

    kept = (one.brain >= least_brain) & ((one.tumour >= least_tumour) | (one.tumour == 0))
    x = np.empty((int(kept.sum()), size, size), np.uint8)
    side = min(one.x.shape[1:])
    top, left = ((length - side) // 2 for length in one.x.shape[1:])
    for place, image in zip(x, one.x[kept], strict=True):
        box = (left, top, left + side, top + side)
        place[:] = np.asarray(Image.fromarray(image).resize((size, size), Image.Resampling.BICUBIC, box=box))
    return Slices(x, one.tumour[kept], one.brain[kept], one.height[kept])


def _contrast(patients: list[Slices], place: Path) -> Samples:
    x, tumour, brain, height = (
        (np.concatenate(parts) for parts in zip(*patients, strict=True)) if patients else [np.empty(0)] * 4
    )
    ill = tumour > 0
    if not ill.any() or ill.all():
        raise ValueError(
            f"{place} expected slices with and without a tumour in both parts, but {int(ill.sum())} of {len(ill)} have one in "
            "a part of it; place more patients there, or lower least_tumour."
        )
    factors = np.column_stack([tumour, height, brain])
    target, background = (Samples(x[rows, None], factors=factors[rows], factor_names=FACTORS) for rows in (ill, ~ill))
    return Samples.contrast(target=target, background=background)
