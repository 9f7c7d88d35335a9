"""Scans read for a fitted method as the data of its run were read: slices, size, field of view, intensities."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from untwine.data.readers.roles import Roles
from untwine.data.readers.volumes import Scans, read_scans, read_volumes
from untwine.registry.checks import suggestion

# What is read of one file is not what is read of a folder, and whoever applies a method may have no masks.
OF_FOLDERS = ("masks", "groups_by_mask")


def volume_options() -> dict[str, Any]:
    """Return the options of `read_volumes` with their defaults."""
    parameters = inspect.signature(read_volumes).parameters.values()
    return {one.name: one.default for one in parameters if one.kind is one.KEYWORD_ONLY}


def read_scans_like(stored: Mapping[str, Any], shape: tuple[int, ...], path: Path, given: Mapping[str, Any]) -> Scans:
    """Read scans for a method.

    Parameters
    ----------
    stored
        Name and options of the data of its run.
    shape
        The shape of its samples, which must be (1, H, W) or (1, D, H, W).
    path
        A file or folder.
    given
        Options in place of those of the run.
    """
    known = volume_options()
    for name in given:
        if name not in known:
            raise ValueError(f"scans have no option {name!r} of reading; {suggestion(name, known)}")
    own = {name: value for name, value in stored.get("options", {}).items() if name in known and name not in OF_FOLDERS}
    options: dict[str, Any] = {"volumes": len(shape) == 4, **own, **given}
    if len(shape) not in (3, 4) or options["volumes"] != (len(shape) == 4):
        raise ValueError(f"scans become images or volumes, as volumes= says; the run has samples of shape {shape}; correct it.")
    if len(set(shape[1:])) == 1:  # of whatever size voxels would have
        options.setdefault("size", shape[-1])
    scans = read_scans(path, Roles(), **options)
    if scans.samples.shape != shape:
        raise ValueError(
            f"{path} must become samples of the shape of the run, {shape}; it becomes {scans.samples.shape}; read it as the "
            "data of the run were read, by its options of axis, size and volumes."
        )
    return scans
