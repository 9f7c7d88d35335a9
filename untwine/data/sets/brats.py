"""Brain slices with a tumour against slices without, from BraTS: T1-weighted, grouped by the segmentation.

"Double InfoGAN for contrastive analysis", section 5: 128 x 128. The paper does not say how slices are chosen and scaled; see
`brats` for the choices made here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from untwine._typing import Array
from untwine.data.data_card import DataCard, described
from untwine.data.data_set import DataSet
from untwine.data.imaging.scan import read_values
from untwine.data.location import data_folder, missing_files
from untwine.data.options import check_size, check_test_share
from untwine.data.readers.arrays import load_arrays
from untwine.data.splits import Splits
from untwine.registry.checks import check_float, check_int
from untwine.samples import Samples

if TYPE_CHECKING:
    from PIL.Image import Resampling

ARRAYS = ("x", "tumour", "patient")
T1 = re.compile(r"[-_](t1|t1n)\.nii(\.gz)?$", re.IGNORECASE)
# Since 2023 a name such as BraTS-GLI-00005-001 ends in the number of the visit.
VISIT = re.compile(r"^(BraTS-[A-Z]+-\d+)-\d+$", re.IGNORECASE)
FACTORS = ("salient tumour", "height", "brain")


class Slices(NamedTuple):
    """Slices (n, H, W) of one visit, uint8, with tumour and brain fraction of each, and its height from 0 to 1.

    The tumour's masks (n, H, W) are None where only its size is known.
    """

    x: Array
    tumour: Array
    brain: Array
    height: Array
    mask: Array | None = None


CARD = DataCard(
    source="BraTS (B. Menze and others, 2014), synapse.org.",
    licence="registration needed; see the terms of the release.",
    size="one 1 x 128 x 128 image for every third slice of a volume; a fifth of the patients is held out.",
    files="`brats/`, below which each patient has a folder with `..._t1.nii.gz` (or `-t1n`) and `..._seg.nii.gz`, plain or "
    "gzipped; or your own slices as `brats/brats.npz` with `x` (n, H, W) uint8, `tumour` (n,) or (n, H, W) and "
    "`patient` (n,). Checksum: none, as any subset is accepted.",
    groups="0 without, 1 with a tumour.",
    labels="none.",
    factors="`salient tumour`, the fraction of the brain that is tumour; `height`, the position of the slice from 0 to 1; "
    "`brain`, the fraction of the image that is brain.",
    masks="the pixels of the tumour, if the files have them.",
    sources="the patient, with all visits.",
    studies={
        "brats": "Double InfoGAN for Contrastive Analysis, figures 6 and 7",
        "untuned": "Data that nobody tuned for: contrastive methods with their defaults",
    },
)


@described(CARD)
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
    """Brain slices with a tumour against slices without, from BraTS; needs its files in a folder.

    Axial slices of T1-weighted volumes: targets contain a tumour by the segmentation, backgrounds do not. Grey values of a
    volume are scaled from 0 to the 99.5th percentile of its positive values. Each slice is cropped to its central square and
    resized to `size`, grey, and so is its segmentation: a pixel is tumour if at least half of it is. Patients are held out with
    all their visits, so that no patient is in both splits.

    Parameters
    ----------
    size
        Side length of the images in pixels, from 8 to 128.
    every
        Use only every n-th slice of a volume, as neighbouring slices are similar.
    least_brain
        Smallest fraction of the image that is brain; slices with less are left out.
    least_tumour
        Smallest fraction of the brain that is tumour; slices with less, but some, are in neither group.
    test
        Share of the patients that is held out.
    seed
        Decides which patients are held out.
    folder
        Folder that contains `brats/`; by default the environment variable UNTWINE_DATA, then ~/.cache/untwine.
    """
    size, seed, every = check_size(size), check_int("seed", seed, 0), check_int("every", every, 1)
    least_brain, least_tumour = check_float("least_brain", least_brain, 0, 1), check_float("least_tumour", least_tumour, 0, 1)
    test, root = check_test_share(test), data_folder(folder) / "brats"
    npz = root / "brats.npz"
    visits = _read_npz(npz, every) if npz.is_file() else _read_volumes(root, every)
    patients: dict[str, list[Slices]] = {}
    for patient, slices in visits:
        patients.setdefault(patient, []).append(_select(slices, least_brain, least_tumour, size))
    names, order = list(patients), np.random.default_rng(seed).permutation(len(patients))
    n_test = max(1, round(test * len(patients)))
    splits = ([(names[i], one) for i in some for one in patients[names[i]]] for some in (order[n_test:], order[:n_test]))
    return Splits(*(_contrast(split, root) for split in splits))


def _read_volumes(root: Path, every: int) -> Iterator[tuple[str, Slices]]:
    """Yield the patient and the slices of each T1 volume that has a segmentation beside it."""
    paths = sorted(path for path in root.rglob("*.nii*") if T1.search(path.name)) if root.is_dir() else []
    if not paths:
        files = "folders with ..._t1.nii.gz and ..._seg.nii.gz, or as brats.npz"
        raise missing_files("BraTS", root, files, "the files of synapse.org", "brats/")
    for path in paths:
        visit = T1.sub("", path.name)
        pattern = re.compile(rf"{re.escape(visit)}[-_]seg\.nii(\.gz)?")
        segmentation = next((other for other in sorted(path.parent.iterdir()) if pattern.fullmatch(other.name)), None)
        if segmentation is None:
            raise ValueError(f"{path} must have a segmentation {visit}_seg.nii.gz beside it; not found; place it there.")
        yield VISIT.sub(r"\1", visit), extract_slices(read_values(path), read_values(segmentation), every, str(path))


def extract_slices(volume: Array, segmentation: Array, every: int = 1, name: str = "volume") -> Slices:
    """Return the axial slices of a volume (x, y, z) with a segmentation (x, y, z) that is 0 where there is no tumour."""
    if volume.ndim != 3 or volume.shape != segmentation.shape:
        raise ValueError(
            f"{name} must have three dimensions and a segmentation of the same shape; got {volume.shape} and "
            f"{segmentation.shape}; replace one of them."
        )
    head, tumour = (np.moveaxis(mask, 2, 0)[::every].swapaxes(1, 2) for mask in (volume > 0, segmentation > 0))
    top = np.percentile(volume[volume > 0], 99.5) if (volume > 0).any() else 1
    grey = np.clip(np.moveaxis(volume, 2, 0)[::every].swapaxes(1, 2) / top, 0, 1)
    brain = head.mean(axis=(1, 2))
    fraction = tumour.sum(axis=(1, 2)) / np.maximum(head.sum(axis=(1, 2)), 1)
    height = np.arange(volume.shape[2])[::every] / max(volume.shape[2] - 1, 1)
    return Slices(np.rint(255 * grey).astype(np.uint8), fraction, brain, height, tumour)


def _read_npz(path: Path, every: int) -> Iterator[tuple[str, Slices]]:
    arrays = load_arrays(path, ARRAYS)
    x, tumour, patient = (arrays[name] for name in ARRAYS)
    if x.ndim != 3 or x.dtype != np.uint8 or tumour.shape not in ((len(x),), x.shape) or patient.shape != (len(x),):
        raise ValueError(
            f"{path} must hold x (n, H, W) of uint8, tumour per slice (n,) or pixel (n, H, W), and patient (n,); got "
            f"{x.dtype} {x.shape}, {tumour.shape} and {patient.shape}; reshape them."
        )
    if tumour.dtype.kind not in "buif" or not (np.isfinite(tumour).all() and (tumour >= 0).all()):
        raise ValueError(
            f"{path} must hold finite numbers of at least 0 as tumour; some are not; write 0 where there is no tumour."
        )
    for one in np.unique(patient):
        indices = np.flatnonzero(patient == one)
        height = np.arange(len(indices)) / max(len(indices) - 1, 1)
        brain = (x[indices] > 0).sum(axis=(1, 2))
        if tumour.ndim == 3:
            fraction = (tumour[indices] > 0).reshape(len(indices), -1).sum(axis=1) / np.maximum(brain, 1)
        else:
            fraction = tumour[indices].astype(float)
        mask = (tumour[indices] > 0)[::every] if tumour.ndim == 3 else None
        images, fraction, brain, height = (column[::every] for column in (x[indices], fraction, brain / x[0].size, height))
        yield str(one), Slices(images, fraction, brain, height, mask)


def _select(slices: Slices, least_brain: float, least_tumour: float, size: int) -> Slices:
    """Return the slices of either group, their central squares resized."""
    from PIL import Image

    selected = (slices.brain >= least_brain) & ((slices.tumour >= least_tumour) | (slices.tumour == 0))
    x = _resize(slices.x[selected], size, Image.Resampling.BICUBIC)
    # The mean over the pixels that become one is the fraction of it that is tumour.
    mask = None if slices.mask is None else _resize(slices.mask[selected].astype(np.float32), size, Image.Resampling.BOX) >= 0.5
    return Slices(x, slices.tumour[selected], slices.brain[selected], slices.height[selected], mask)


def _resize(images: Array, size: int, resample: Resampling) -> Array:
    """Return the central squares of images (n, H, W), resized."""
    from PIL import Image

    resized = np.empty((len(images), size, size), images.dtype)
    side = min(images.shape[1:])
    top, left = ((length - side) // 2 for length in images.shape[1:])
    for out, image in zip(resized, images, strict=True):
        out[:] = np.asarray(Image.fromarray(image).resize((size, size), resample, box=(left, top, left + side, top + side)))
    return resized


def _contrast(named: list[tuple[str, Slices]], root: Path) -> Samples:
    visits = [one for _, one in named]
    patients = np.repeat([patient for patient, _ in named], [len(one.x) for one in visits])
    columns = zip(*((one.x, one.tumour, one.brain, one.height) for one in visits), strict=True)
    x, tumour, brain, height = map(np.concatenate, columns) if visits else [np.empty(0)] * 4
    known = [one.mask for one in visits if one.mask is not None]
    masks = np.concatenate(known) if known and len(known) == len(visits) else None
    has_tumour = tumour > 0
    if not has_tumour.any() or has_tumour.all():
        raise ValueError(
            f"{root} must have slices with and without a tumour for both splits; got {int(has_tumour.sum())} of "
            f"{len(has_tumour)} with one in a split; add patients, or lower least_tumour."
        )
    factors = np.column_stack([tumour, height, brain])
    target, background = (
        Samples(
            x[group, None],
            factors=factors[group],
            factor_names=FACTORS,
            masks=None if masks is None else masks[group],
            sources=patients[group],
        )
        for group in (has_tumour, ~has_tumour)
    )
    return Samples.contrast(target=target, background=background)


ENTRIES = {"brats": DataSet(brats)}
