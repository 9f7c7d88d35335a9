"""Users' own data: arrays, tables, and folders of images."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from untwine._typing import Array
from untwine.data.readers.arrays import read_arrays
from untwine.data.readers.tables import read_table
from untwine.registry.checks import check_int
from untwine.samples import SIDES, Samples

if TYPE_CHECKING:
    from PIL import Image

ENDINGS = (".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".webp")
GREY, COLOUR = ("1", "L", "LA"), ("P", "RGB", "RGBA", "CMYK", "YCbCr")
LAYOUT = (
    "a folder holds images, or the folders background/ and target/ (or target_a/, target_b/ and so on) with images, or a "
    "folder of images for each class"
)


def read_samples(path: str | Path, *, size: int | None = None) -> Samples:
    """Read samples from an .npz, .npy or .csv file, an image, or a folder of images.

    Parameters
    ----------
    path
        An `.npz` with the array `x` and, where known, `groups`, `labels`, `factors` and `group_names`, `label_names`,
        `factor_names`; or with the arrays `background` and `target` (or several `target_...`). Nothing pickled is read.

        An `.npy` with x alone.

        A `.csv` of numbers, with or without a line of names; columns named `group` and `label` are taken as such.

        A folder with `background/` and `target/`, or several `target_.../`, of images; or with a folder of images for each
        class, whose names are the labels; or of images alone, which then have neither. Images are grey if all of them
        are, and else RGB.
    size
        For images: cut each to its central square and bring it to this many pixels a side. Without it all must have
        the same size.

    Returns
    -------
    samples
        The rows, in the order of the file or of the sorted file names, the background first.
    """
    if not isinstance(path, (str, Path)):
        raise TypeError(f"read_samples must be a path; got {path!r}.")
    path = Path(path).expanduser()
    if size is not None:
        size = check_int("size", size, SIDES[0], SIDES[-1])
    if path.is_dir():
        return _read_folder(path, size)
    if not path.exists():
        raise ValueError(f"read_samples must be a file or a folder, but {path} does not exist.")
    ending = path.suffix.lower()
    if ending in ENDINGS:
        return Samples(_read_images([path], size))
    if size is not None:
        raise ValueError(f"size goes with images, but {path} is not an image or a folder of images; drop it.")
    if ending in (".npz", ".npy"):
        return read_arrays(path)
    if ending == ".csv":
        return read_table(path)
    raise ValueError(f"read_samples reads .npz, .npy, .csv, images ({', '.join(ENDINGS)}) and folders, but {path} is none.")


def _read_folder(folder: Path, size: int | None) -> Samples:
    targets = sorted(p for p in folder.iterdir() if p.is_dir() and (p.name == "target" or p.name.startswith("target_")))
    background = folder / "background"
    if background.is_dir() != bool(targets):
        there, lacking = ("background/", "target/") if background.is_dir() else (f"{targets[0].name}/", "background/")
        raise ValueError(f"{folder} has {there} but no {lacking}; {LAYOUT}.")
    if not targets:
        classes = _class_folders(folder)
        if not classes:
            return Samples(_read_images(_listed(folder), size))
        labels = np.repeat(np.arange(len(classes)), [len(paths) for paths in classes.values()])
        images = _read_images([path for paths in classes.values() for path in paths], size)
        return Samples(images, labels=labels, label_names=tuple(classes))
    parts = {"background": _listed(background), **{p.name.removeprefix("target_"): _listed(p) for p in targets}}
    if len(parts) != len(targets) + 1 or "" in parts:
        raise ValueError(f"{folder} has target folders whose names clash or are empty ({', '.join(p.name for p in targets)}).")
    groups = np.repeat(np.arange(len(parts)), [len(paths) for paths in parts.values()])
    images = _read_images([path for paths in parts.values() for path in paths], size)
    return Samples(images, groups=groups, group_names=tuple(parts))


def _class_folders(folder: Path) -> dict[str, list[Path]]:
    """Return the images of each class where a folder holds a folder for each and no images of its own; else nothing."""
    if any(path.suffix.lower() in ENDINGS and path.is_file() for path in folder.iterdir()):
        return {}
    inside = sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
    return {path.name: _listed(path) for path in inside}


def _listed(folder: Path) -> list[Path]:
    paths = sorted(p for p in folder.iterdir() if p.suffix.lower() in ENDINGS and p.is_file())
    if not paths:
        raise ValueError(f"{folder} has no images ({', '.join(ENDINGS)}); {LAYOUT}.")
    return paths


def _read_images(paths: list[Path], size: int | None) -> Array:
    """Read images of one size as (n, C, H, W) uint8: one channel if all are grey, else three."""
    from PIL import Image

    images = [_open(path) for path in paths]
    mode = "L" if all(image.mode in GREY for image in images) else "RGB"
    rows = []
    for path, image in zip(paths, images, strict=True):
        one = image.convert(mode)
        if size is not None:
            side = min(one.size)
            left, top = (one.width - side) // 2, (one.height - side) // 2
            one = one.crop((left, top, left + side, top + side)).resize((size, size), Image.Resampling.BICUBIC)
        elif one.width not in SIDES or one.height not in SIDES:
            raise ValueError(
                f"{path} expected sides from {SIDES[0]} to {SIDES[-1]} pixels, but is {one.width} x {one.height}; "
                "give size, for instance size=64, to have all images brought to it."
            )
        elif one.size != images[0].size:
            raise ValueError(
                f"{path} is {one.width} x {one.height}, but {paths[0].name} is {images[0].width} x {images[0].height}; "
                "give size, for instance size=64, to have all images brought to it."
            )
        rows.append(np.asarray(one).reshape(one.height, one.width, -1))
    return np.ascontiguousarray(np.moveaxis(np.stack(rows), -1, 1))


def _open(path: Path) -> Image.Image:
    from PIL import Image

    try:
        with Image.open(path) as image:
            image.load()
            opened = image.copy()
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise ValueError(f"{path} must be an image, but it cannot be read ({error}); replace or remove it.") from None
    if opened.mode not in GREY + COLOUR:
        raise ValueError(
            f"{path} expected 8 bits a channel, grey or colour, but has PIL's mode {opened.mode}; convert it, or use an .npz."
        )
    if opened.has_transparency_data:
        opened = opened.convert("LA" if opened.mode in GREY else "RGBA")
        if opened.getchannel("A").getextrema() != (255, 255):
            raise ValueError(f"{path} is partly transparent, so what is seen there is open; put it on a background first.")
    return opened
