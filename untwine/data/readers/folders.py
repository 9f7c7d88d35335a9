"""Images and folders of images."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from untwine.data.readers import notes
from untwine.data.readers.formats import IMAGES
from untwine.data.readers.image_stack import Fit, ImageRules, read_stack
from untwine.data.readers.roles import Roles
from untwine.registry.checks import listed
from untwine.samples import Samples

LAYOUT = (
    "a folder must contain images, or the folders background/ and target/ (or target_a/, target_b/, ...) of images, or a "
    "folder of images for each class"
)


class _Files(NamedTuple):
    """Images of one set: their files, and the class of each where it has a folder for each class."""

    paths: list[Path]
    classes: list[str]


def read_images(
    path: Path,
    roles: Roles,
    *,
    size: int | None = None,
    fit: Fit = "crop",
    bits: int | None = None,
    matte: str | None = None,
    orientation: bool = True,
) -> Samples:
    """Read an image or a folder of images.

    Parameters
    ----------
    path
        An image; or a folder with `background/` and `target/`, or several `target_.../`, of images; or with a folder of images
        for each class, whose names become the labels; or of images alone, without groups and labels. The folders of groups may
        have a folder for each class too. Images are grey if all of them are, else RGB; photographs are turned as their camera
        noted (EXIF).
    roles
        None can be given: images have no columns. A table that lists files (see `read_table`) has them.
    size
        Side length in pixels to which each image is brought. Without it all images must have the same size.
    fit
        How: "crop" takes the central square, "pad" the whole image with black beside it, "stretch" changes its proportions.
    bits
        Of grey images of 16 bits, the bits that are used: values are divided by 2^bits - 1. It must be given where the largest
        value over all files needs at most 14.
    matte
        The colour behind transparent pixels, such as "white" or "#808080"; without it transparent images are refused.
    orientation
        Whether photographs are turned as EXIF says.

    Returns
    -------
    samples
        Samples in the order of the sorted file names, the background first, with the file names as ids.
    """
    _refuse_roles(path, roles)
    rules = ImageRules.of(size=size, fit=fit, bits=bits, matte=matte, orientation=orientation)
    if not path.is_dir():
        return Samples(read_stack([path], rules), ids=np.array([path.name]))
    targets = [p for p in _entries(path) if p.is_dir() and (p.name == "target" or p.name.startswith("target_"))]
    background = path / "background"
    if background.is_dir() != bool(targets):
        present, lacking = ("background/", "target/") if background.is_dir() else (f"{targets[0].name}/", "background/")
        raise ValueError(f"{path} has {present} but no {lacking}; {LAYOUT}.")
    if not targets:
        files = _gather(path)
        return Samples(read_stack(files.paths, rules), **_labels(files.classes), ids=np.array(_ids(files.paths, path)))
    groups = {"background": background, **{p.name.removeprefix("target_"): p for p in targets}}
    if len(groups) != len(targets) + 1 or "" in groups:
        names = ", ".join(p.name for p in targets)
        raise ValueError(f"{path} must have target folders of different names; got {names}; rename them.")
    sets = {name: _gather(one) for name, one in groups.items()}
    return _join(sets, [_ids(files.paths, path) for files in sets.values()], rules)


def read_image_sets(paths: Mapping[str, Path], roles: Roles, **rules: Any) -> Samples:
    """Read sets of images, each from its path, the background first: of one size, number of channels and range."""
    _refuse_roles(next(iter(paths.values())), roles)
    checked = ImageRules.of(**rules)
    sets = {name: _gather(path) if path.is_dir() else _Files([path], []) for name, path in paths.items()}
    ids = [
        [f"{name}/{own}" for own in (_ids(files.paths, paths[name]) if paths[name].is_dir() else [paths[name].name])]
        for name, files in sets.items()
    ]
    return _join(sets, ids, checked)


def _join(sets: Mapping[str, _Files], ids: list[list[str]], rules: ImageRules) -> Samples:
    """Return the images of several groups as one set."""
    numbers = np.repeat(np.arange(len(sets)), [len(files.paths) for files in sets.values()])
    # A group without folders of classes has unknown labels where others have some.
    classes = [one for files in sets.values() for one in files.classes or [""] * len(files.paths)]
    x = read_stack([path for files in sets.values() for path in files.paths], rules)
    labels = _labels(classes if any(classes) else [])
    return Samples(x, groups=numbers, group_names=tuple(sets), **labels, ids=np.array([one for own in ids for one in own]))


def _labels(classes: list[str]) -> dict[str, Any]:
    names = tuple(sorted(set(classes) - {""}))
    numbers = {name: i for i, name in enumerate(names)} | {"": -1}
    return {"labels": np.array([numbers[one] for one in classes]), "label_names": names} if classes else {}


def _refuse_roles(path: Path, roles: Roles) -> None:
    if roles.names and roles.required:
        raise ValueError(
            f"{path} must be a table where columns are named; got {roles.names[0]!r} with images, which have no columns; list "
            "the files "
            "in a .csv with a column file beside those, and read that."
        )


def _ids(paths: list[Path], folder: Path) -> list[str]:
    """Return the names of files, from the folder on."""
    return [path.relative_to(folder).as_posix() for path in paths]


def _entries(folder: Path) -> list[Path]:
    """Return what a folder has, sorted by name; hidden files, which systems write, are none of it."""
    try:
        return sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except OSError as error:
        raise ValueError(
            f"{folder} must be a folder that can be read; it cannot ({error.strerror}); change its permissions."
        ) from None


def _gather(folder: Path) -> _Files:
    """Return the images of a folder, or those of the folder of each class in it."""
    images = _images(folder)
    inside = [path for path in _entries(folder) if path.is_dir()]
    if images:
        if inside:
            notes.say(f"{folder}: folders beside images are left out: {listed(path.name for path in inside)}.")
        return _Files(images, [])
    own = {path.name: _images(path) for path in inside}
    for path in inside:
        if not own[path.name]:
            raise ValueError(f"{path} has no images ({', '.join(IMAGES)}); {LAYOUT}.")
    if not own:
        raise ValueError(f"{folder} has no images ({', '.join(IMAGES)}); {LAYOUT}.")
    return _Files([path for some in own.values() for path in some], [name for name, some in own.items() for _ in some])


def _images(folder: Path) -> list[Path]:
    files = [path for path in _entries(folder) if not path.is_dir()]
    images = [path for path in files if path.name.lower().endswith(IMAGES) and path.is_file()]
    if others := [path.name for path in files if path not in set(images)]:
        notes.say(f"{folder}: {len(others)} files that are no images are left out: {listed(others, 100)}.")
    return images
