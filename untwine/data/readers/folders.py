"""Your own data: arrays, tables, and folders of images."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from untwine._typing import Array
from untwine.data.images.resizing import channels_first
from untwine.data.options import check_size
from untwine.data.readers.arrays import read_arrays
from untwine.data.readers.image_files import open_image
from untwine.data.readers.tables import read_table
from untwine.samples import SIDES, Samples

if TYPE_CHECKING:
    from PIL import Image

ENDINGS = (".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".webp")
GREY, COLOUR = ("1", "L", "LA"), ("P", "RGB", "RGBA", "CMYK", "YCbCr")
GREY_16 = ("I;16", "I;16L", "I;16B", "I;16N")
LAYOUT = (
    "a folder must contain images, or the folders background/ and target/ (or target_a/, target_b/, ...) of images, or a "
    "folder of images for each class"
)


def read_samples(path: str | Path, *, size: int | None = None) -> Samples:
    """Read samples from an .npz, .npy or .csv file, an image, or a folder of images.

    Parameters
    ----------
    path
        An `.npz` with the array `x` and, where known, `groups`, `labels`, `factors`, `sources`, `ids` and `group_names`,
        `label_names`, `factor_names`, `source_names`, `feature_names`; or with the arrays `background` and `target`
        (or several `target_...`).
        Nothing pickled is read. An array `split` beside x, "train" or "test" for each sample, is for `load`.

        An `.npy` with x alone.

        A `.csv` of numbers, with or without a header; columns named `group`, `label`, `source` and `id` become
        groups, labels, sources and ids, and the names of all others feature_names.

        A folder with `background/` and `target/`, or several `target_.../`, of images; or with a folder of images for each
        class, whose names become the labels; or of images alone, without groups and labels. Images are grey if all of them
        are, else RGB. Grey images of 16 bits are divided by 65535, where all have 16 bits.
    size
        For images: side length in pixels to which the central square of each is resized. Without it all images must have
        the same size.

    Returns
    -------
    samples
        Samples in the order of the file, or of the sorted file names, the background first. Images have their file names as
        ids.
    """
    if not isinstance(path, (str, Path)):
        raise TypeError(f"path must be a str or Path; got {path!r}.")
    path = Path(path).expanduser()
    if size is not None:
        size = check_size(size)
    if path.is_dir():
        return _read_folder(path, size)
    if not path.exists():
        raise ValueError(f"path must be a file or a folder; {path} does not exist; correct the path.")
    ending = path.suffix.lower()
    if ending in ENDINGS:
        return Samples(_read_images([path], size), ids=np.array([path.name]))
    if size is not None:
        raise ValueError(f"size applies to images; {path} is neither an image nor a folder of images; drop size.")
    if ending in (".npz", ".npy"):
        return read_arrays(path)
    if ending == ".csv":
        return read_table(path)
    raise ValueError(
        f"path must be an .npz, .npy or .csv file, an image ({', '.join(ENDINGS)}) or a folder; got {path}; convert it."
    )


def _read_folder(folder: Path, size: int | None) -> Samples:
    targets = sorted(p for p in folder.iterdir() if p.is_dir() and (p.name == "target" or p.name.startswith("target_")))
    background = folder / "background"
    if background.is_dir() != bool(targets):
        present, lacking = ("background/", "target/") if background.is_dir() else (f"{targets[0].name}/", "background/")
        raise ValueError(f"{folder} has {present} but no {lacking}; {LAYOUT}.")
    if not targets:
        classes = _class_folders(folder)
        if not classes:
            paths = _list_images(folder)
            return Samples(_read_images(paths, size), ids=_ids(paths, folder))
        labels = np.repeat(np.arange(len(classes)), [len(paths) for paths in classes.values()])
        paths = [path for own in classes.values() for path in own]
        return Samples(_read_images(paths, size), labels=labels, label_names=tuple(classes), ids=_ids(paths, folder))
    groups = {"background": _list_images(background), **{p.name.removeprefix("target_"): _list_images(p) for p in targets}}
    if len(groups) != len(targets) + 1 or "" in groups:
        names = ", ".join(p.name for p in targets)
        raise ValueError(f"{folder} must have target folders of different names; got {names}; rename them.")
    numbers = np.repeat(np.arange(len(groups)), [len(paths) for paths in groups.values()])
    paths = [path for own in groups.values() for path in own]
    return Samples(_read_images(paths, size), groups=numbers, group_names=tuple(groups), ids=_ids(paths, folder))


def _ids(paths: list[Path], folder: Path) -> Array:
    """Return the names of files, from the folder on."""
    return np.array([path.relative_to(folder).as_posix() for path in paths])


def _class_folders(folder: Path) -> dict[str, list[Path]]:
    """Return the images of each class if a folder contains a folder for each and no images itself; else an empty dict."""
    if any(path.suffix.lower() in ENDINGS and path.is_file() for path in folder.iterdir()):
        return {}
    inside = sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
    return {path.name: _list_images(path) for path in inside}


def _list_images(folder: Path) -> list[Path]:
    paths = sorted(p for p in folder.iterdir() if p.suffix.lower() in ENDINGS and p.is_file())
    if not paths:
        raise ValueError(f"{folder} has no images ({', '.join(ENDINGS)}); {LAYOUT}.")
    return paths


def _read_images(paths: list[Path], size: int | None) -> Array:
    """Read images of one size as (n, C, H, W) uint8: one channel if all are grey, else three; 16 bits as floats in [0, 1]."""
    from PIL import Image

    images = [_open(path) for path in paths]
    deep = [image.mode == "F" for image in images]
    if any(deep) and not all(deep):
        raise ValueError(
            f"{paths[deep.index(True)]} must have 8 bits per channel, as {paths[deep.index(False)].name} has; got 16; save all "
            "of them with 8 or all with 16 bits."
        )
    mode = "F" if any(deep) else "L" if all(image.mode in GREY for image in images) else "RGB"
    arrays = []
    for path, image in zip(paths, images, strict=True):
        one = image.convert(mode)
        if size is not None:
            side = min(one.size)
            left, top = (one.width - side) // 2, (one.height - side) // 2
            one = one.crop((left, top, left + side, top + side)).resize((size, size), Image.Resampling.BICUBIC)
        elif one.width not in SIDES or one.height not in SIDES:
            raise ValueError(
                f"{path} must have sides from {SIDES[0]} to {SIDES[-1]} pixels; got {one.width} x {one.height}; "
                "pass size, for instance size=64, to resize all images."
            )
        elif one.size != images[0].size:
            raise ValueError(
                f"images must have one size; {path} is {one.width} x {one.height} and {paths[0].name} is "
                f"{images[0].width} x {images[0].height}; pass size, for instance size=64, to resize all images."
            )
        arrays.append(np.asarray(one).reshape(one.height, one.width, -1))
    stacked = channels_first(np.stack(arrays))
    return np.clip(stacked, 0, 1) if mode == "F" else stacked  # resizing overshoots at edges


def _open(path: Path) -> Image.Image:
    opened = open_image(path)
    if opened.mode in GREY_16:
        from PIL import Image

        return Image.fromarray(np.asarray(opened).astype(np.float32) / np.float32(65535))
    if opened.mode not in GREY + COLOUR:
        raise ValueError(
            f"{path} must have 8 bits per channel, grey or colour, or 16 bits, grey; got Pillow's mode {opened.mode}; save it "
            "otherwise, or write an .npz of floats in [0, 1], (x - low) / (high - low)."
        )
    if opened.has_transparency_data:
        opened = opened.convert("LA" if opened.mode in GREY else "RGBA")
        if opened.getchannel("A").getextrema() != (255, 255):
            raise ValueError(f"{path} must be opaque; it is partly transparent; put it on a background first.")
    return opened
