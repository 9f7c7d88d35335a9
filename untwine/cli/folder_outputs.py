"""Outputs in a folder: one NIfTI volume for each scan, or one image for each image file, under the names of the inputs."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from untwine.cli.settings import parse_settings

if TYPE_CHECKING:
    from untwine._typing import Array
    from untwine.data.readers.volumes import Scans
    from untwine.method.contract import Method


@dataclass(frozen=True)
class Inputs:
    """Samples that were read from a path, and the scans that they are slices of, where they are."""

    x: Array
    names: tuple[str, ...]
    scans: Scans | None
    notes: tuple[str, ...]


def is_folder(out: Path) -> bool:
    """Whether --out names a folder: it is one, or has no ending."""
    return out.is_dir() or not out.suffix


def check_folder(out: Path, path: Path | None, method: Method, run: Path) -> None:
    """Refuse a folder as the output of samples that are no files, or no images."""
    from untwine.runs import files

    if path is None:
        raise ValueError(f"--out {out} is a folder, for files of the names of your own; got no file or folder to read; add it.")
    if len(method.shape_) < 3:
        raise ValueError(f"--out {out} is a folder, for images and scans; {run} has vectors; name a file, such as out.csv.")
    files.make_folder(out)


def read_inputs(path: Path, method: Method, settings: Sequence[str]) -> Inputs:
    """Read scans as the data of the run were read, or image files."""
    from untwine.cli.inputs import read_input
    from untwine.data.imaging.layout import holds_volumes

    path = path.expanduser()
    if holds_volumes(path):
        from untwine.data.imaging.again import read_scans_like

        scans = read_scans_like(method.data_, method.shape_, path, parse_settings(settings, "--data-set"))
        names = tuple(map(str, scans.samples.ids)) if scans.samples.ids is not None else ()
        return Inputs(scans.samples.x, names, scans, ())
    samples, note = read_input(path, method)
    names = tuple(map(str, samples.ids)) if samples.ids is not None else tuple(map(str, range(len(samples))))
    return Inputs(samples.dense(), names, None, (note,) if note else ())


def image_paths(names: Sequence[str], out: Path, ending: str, overwrite: bool) -> list[Path]:
    """Return the .png of each image, or refuse names that two images would share, and files that are there."""
    paths: dict[Path, str] = {}
    for name in names:
        relative = PurePosixPath(name)
        path = out / relative.with_name(f"{relative.stem}{ending}.png")
        if path in paths:
            raise ValueError(
                f"images must have different names before their endings; got {paths[path]} and {name}; rename one."
            )
        if path.exists() and not overwrite:
            raise ValueError(f"--out must not hold {path} yet; it exists; choose another folder or pass --overwrite.")
        paths[path] = name
    return list(paths)


def write_images(paths: Sequence[Path], images: Array) -> None:
    """Write images (n, C, H, W) in [0, 1], grey or RGB, as .png of 8 bits."""
    import numpy as np
    from PIL import Image

    from untwine.runs import files

    for path, image in zip(paths, images, strict=True):
        pixels = np.rint(np.clip(image[:3] if len(image) > 2 else image[:1], 0, 1) * 255).astype(np.uint8)
        content = io.BytesIO()
        Image.fromarray(np.moveaxis(pixels, 0, -1) if len(pixels) == 3 else pixels[0]).save(content, format="png")
        files.write(path, content.getvalue())
