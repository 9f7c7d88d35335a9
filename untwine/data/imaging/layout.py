"""Which files of a folder are scans, of whom, and which are masks: BIDS, a folder for each patient, or one folder of files."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

import numpy as np

from untwine.data.imaging.dicom import find_series, is_dicom
from untwine.data.imaging.scan import ENDINGS, Scan, open_nifti, warn_without_orientation
from untwine.registry.checks import listed

SUBJECT = re.compile(r"(?:^|[_/])(sub-[A-Za-z0-9]+)(?=[_/.]|$)")
VISIT = re.compile(r"^(BraTS-[A-Z]+-\d+)-\d+")  # since 2023 the number of the visit follows that of the patient
DERIVED = ("derivatives", "sourcedata", "code")  # folders of BIDS without scans of its own
SAME_GRID = 1e-3


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Which files are read: the endings of names of scans and of masks, session, run, and a pattern; see `read_volumes`."""

    suffix: str | None = None
    masks: str | None = None
    session: str | None = None
    run: str | None = None
    pattern: str | None = None


def holds_volumes(path: Path) -> bool:
    """Whether a path is a NIfTI or DICOM file, or a folder that holds one at any depth."""
    if path.is_file():
        return is_nifti(path) or path.suffix.lower() == ".dcm" or (not path.suffix and is_dicom(path))
    return path.is_dir() and any(is_nifti(one) or one.suffix.lower() == ".dcm" or is_dicom(one) for one in _walk(path))


def is_nifti(path: Path) -> bool:
    """Whether a name ends as those of NIfTI files do."""
    return path.name.lower().endswith(ENDINGS)


def find_scans(path: Path, selection: Selection) -> list[Scan]:
    """Return the scans of a file or folder, sorted by name; a subject has several only where sessions or runs are asked for."""
    root = path if path.is_dir() else path.parent
    files = sorted(_walk(path)) if path.is_dir() else [path]
    nifti = [one for one in files if is_nifti(one)]
    if not nifti:
        series = find_series([one for one in files if is_dicom(one) or one.suffix.lower() == ".dcm"], root)
        if not series:
            raise ValueError(f"{path} must be or hold NIfTI files (.nii, .nii.gz) or DICOM; it has none; name another folder.")
        return series
    groups = group_folders(root) if path.is_dir() else {}
    scans, names_of = [], dict[tuple[str, ...], str]()
    for one in _selected(nifti, root, selection, path.is_dir()):
        name = one.relative_to(root).as_posix()
        group = one.relative_to(root).parts[0] if one.relative_to(root).parts[0] in groups else ""
        within = name.removeprefix(f"{group}/")
        session, run = _entity(within, "ses"), _entity(within, "run")
        subject = _subject(within, selection.suffix)
        visit = (session or str(Path(within).parent)) if selection.session == "all" else ""
        key = (group, subject, visit, run if selection.run == "all" else "")
        if key in names_of:
            raise ValueError(
                f"{root} must have one scan of {subject}; got {names_of[key]} and {name}; choose with suffix='T1w', "
                "session='1', run='1' or pattern='*...*', or take all with session='all' or run='all'."
            )
        names_of[key] = name
        image = open_nifti(one)
        warn_without_orientation(image, one)
        shape = (int(image.shape[0]), int(image.shape[1]), int(image.shape[2]))
        scans.append(Scan(one, name, subject, shape, np.asarray(image.affine), session, run, group))
    return scans


def group_folders(root: Path) -> dict[str, str]:
    """Return the name of the group of each folder `background`, `target` and `target_...`; empty without both sides."""
    named = sorted(one.name for one in root.iterdir() if one.is_dir())
    targets = [name for name in named if name == "target" or (name.startswith("target_") and name != "target_")]
    if "background" not in named or not targets:
        return {}
    return {"background": "background", **{name: name.removeprefix("target_") for name in targets}}


def mask_of(scan: Scan, ending: str, root: Path) -> Path | None:
    """Return the mask of a scan: the file of its name, with or without its own ending, that ends in that of masks."""
    stem, ending = _stem(Path(scan.name)), ending.lstrip("_-")
    starts = {stem, re.sub(r"[-_][A-Za-z0-9]+$", "", stem)}
    folder = scan.path.parent
    near = sorted(one for one in folder.iterdir() if is_nifti(one))
    far = sorted(_walk(root / "derivatives", skip=())) if (root / "derivatives").is_dir() else []
    names = {f"{start}{mark}{ending}" for start in starts for mark in "_-"}
    matching = [one for one in (*near, *far) if is_nifti(one) and _stem(one) in names]
    if len(matching) > 1:
        raise ValueError(f"{scan.path} must have one mask; got {listed(map(str, matching), 200)}; remove all but one.")
    return matching[0] if matching else None


def check_same_grid(scan: Scan, mask: Path) -> None:
    """Refuse a mask with other voxels than its scan."""
    image = open_nifti(mask)
    if image.shape[:3] != scan.shape or not np.allclose(image.affine, scan.affine, atol=SAME_GRID):
        raise ValueError(
            f"{mask} must have the voxels of {scan.path.name}, {scan.shape}, and its affine; got {image.shape[:3]}"
            f"{' with another affine' if image.shape[:3] == scan.shape else ''}; resample it to its scan."
        )


def _selected(files: Sequence[Path], root: Path, selection: Selection, several: bool) -> list[Path]:
    """Return the files that the selection leaves; a file that was named itself is never left out."""
    if not several:
        return list(files)
    known = {one: one.relative_to(root).as_posix() for one in files}
    if selection.masks:
        known = {one: name for one, name in known.items() if not _ends_in(one, selection.masks)}
    choices: dict[str, Callable[[Path, str], bool]] = {
        "pattern": lambda one, wanted: fnmatch(known[one], wanted),
        "suffix": _ends_in,
        "session": lambda one, wanted: wanted == "all" or _entity(known[one], "ses") == wanted.removeprefix("ses-"),
        "run": lambda one, wanted: wanted == "all" or _entity(known[one], "run") == wanted.removeprefix("run-"),
    }
    left = list(known)
    for option, holds in choices.items():
        wanted = getattr(selection, option)
        if wanted is None:
            continue
        before, left = left, [one for one in left if holds(one, str(wanted))]
        if not left:
            raise ValueError(
                f"{root} must have files with {option}={wanted!r}; none of {len(before)} has, such as "
                f"{listed((known[one] for one in before[:3]), 160)}; correct it."
            )
    return left


def _ends_in(path: Path, suffix: str) -> bool:
    stem, suffix = _stem(path), suffix.lstrip("_-")
    return stem == suffix or stem.endswith((f"_{suffix}", f"-{suffix}"))


def _subject(name: str, suffix: str | None) -> str:
    """Return whose scan a file is, by its name from the root: sub-..., its first folder, or its name without the ending."""
    if match := SUBJECT.search(name):
        return match.group(1)
    path = Path(name)
    stem = _stem(path)
    own = stem[: -len(suffix.lstrip("_-")) - 1] if suffix and _ends_in(path, suffix) and stem != suffix.lstrip("_-") else stem
    subject = path.parts[0] if len(path.parts) > 1 else own
    return visit.group(1) if (visit := VISIT.match(subject)) else subject


def _entity(name: str, entity: str) -> str:
    match = re.search(rf"[_/]{entity}-([A-Za-z0-9]+)", f"/{name}")
    return match.group(1) if match else ""


def _stem(path: Path) -> str:
    return re.sub(r"\.nii(\.gz)?$", "", path.name, flags=re.IGNORECASE)


def _walk(folder: Path, skip: Sequence[str] = DERIVED) -> Iterable[Path]:
    """Yield the files below a folder, without hidden ones and without those of folders right below it that are skipped."""
    for path, folders, names in os.walk(folder):
        folders[:] = sorted(one for one in folders if not one.startswith(".") and not (Path(path) == folder and one in skip))
        yield from (Path(path) / name for name in sorted(names) if not name.startswith("."))
