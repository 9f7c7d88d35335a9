"""CelebA from local files: its public folders, or a subset in one .npz.

Public layout: `img_align_celeba/*.jpg`, `list_attr_celeba.txt` (or .csv, as Kaggle has it) and, where present,
`list_eval_partition.txt` (or .csv); all of them in one folder or in the release's `Img/`, `Anno/` and `Eval/`. In an .npz: the
concatenated bytes of all JPEG files as `jpeg`, where each begins and ends as `offsets`, `filenames`, `attr` (n, 40) of 0 and
1, and `attr_names`.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from untwine._typing import Array
from untwine.data.images.resizing import channels_first
from untwine.data.location import data_folder, missing_files
from untwine.data.readers.arrays import load_arrays
from untwine.data.readers.image_files import open_image

ARRAYS = ("jpeg", "offsets", "filenames", "attr", "attr_names")
TEST = 2  # in CelebA's own partition (0 training, 1 validation, 2 test), which shares no person between splits


@dataclass(frozen=True)
class Faces:
    """The faces of a copy of CelebA; images are read on demand.

    Parameters
    ----------
    source
        The file that lists them.
    attributes
        Whether each face has each attribute (n, k), bool.
    attribute_names
        CelebA's names of the attributes.
    partition
        CelebA's own split of each face (0 training, 1 validation, 2 test), if its file exists.
    open
        From the index of a face to its file: an open file or a path, and its name for error messages.
    names
        CelebA's name of each file.
    """

    source: Path
    attributes: Array
    attribute_names: tuple[str, ...]
    partition: Array | None
    open: Callable[[int], tuple[Any, str]]
    names: tuple[str, ...]

    def has(self, attribute: str) -> Array:
        """Return which faces have an attribute (n,), bool."""
        if attribute not in self.attribute_names:
            raise ValueError(
                f"{self.source} must have the attribute {attribute}; got {', '.join(self.attribute_names[:5])}, ...; "
                "use CelebA's own file of attributes."
            )
        column: Array = self.attributes[:, self.attribute_names.index(attribute)]
        return column

    def images(self, indices: Array, size: int) -> Array:
        """Read the faces with these indices, each its central square resized to `size`: (n, 3, size, size), uint8."""
        from PIL import Image

        x = np.empty((len(indices), size, size, 3), np.uint8)
        for out, index in zip(x, indices, strict=True):
            file, name = self.open(int(index))
            if isinstance(file, Path) and not file.is_file():
                raise ValueError(f"{self.source} must list existing images; {name} does not exist; unpack the whole archive.")
            face = open_image(file, "RGB", name)
            side = min(face.size)
            left, top = (face.width - side) / 2, (face.height - side) / 2
            box = (left, top, left + side, top + side)
            out[:] = np.asarray(face.resize((size, size), Image.Resampling.BICUBIC, box=box))
        return channels_first(x)


def read_celeba(folder: str | Path | None) -> Faces:
    """Find CelebA in `celeba/` below the data folder, or in the folder itself, and read its attributes."""
    base = data_folder(folder)
    for root in (base / "celeba", base):
        table = _first(root, "list_attr_celeba.txt", "list_attr_celeba.csv", below="Anno")
        if table is not None:
            return _read_folder(root, table)
        npz = next(iter(sorted(root.glob("celeba*.npz"))), None)
        if npz is not None:
            return _read_npz(npz)
    files = "img_align_celeba/ with list_attr_celeba.txt (or .csv), or as one celeba*.npz"
    raise missing_files("CelebA", base / "celeba", files, "the files of mmlab.ie.cuhk.edu.hk/projects/CelebA.html", "celeba/")


def read_column(faces: Faces, name: str) -> tuple[tuple[str, ...], Array] | None:
    """Read another of CelebA's lists, such as `identity_CelebA`: names of columns, and numbers (n, k), NaN where unknown.

    None if the list does not exist.
    """
    root = faces.source.parent.parent if faces.source.parent.name == "Anno" else faces.source.parent
    path = _first(root, f"{name}.txt", f"{name}.csv", below="Anno")
    if path is None:
        return None
    # Landmarks of a detector are between pixels; identities are numbers of people.
    kind: type = np.float64 if name.startswith("list_landmarks") else np.int64
    header, listed, values = _read_list(path, width=1 if name.startswith("identity") else None, kind=kind)
    numbers = dict(zip(listed, values.tolist(), strict=True))
    unknown = [np.nan] * values.shape[1]
    return header, np.array([numbers.get(file, unknown) for file in faces.names], dtype=np.float64)


def _read_folder(root: Path, table: Path) -> Faces:
    images = next((p for p in (root / "img_align_celeba", root / "Img" / "img_align_celeba") if p.is_dir()), None)
    if images is None:
        raise ValueError(f"CelebA's images must be in {root / 'img_align_celeba'}; there is no such folder; unpack them there.")
    inner = images / "img_align_celeba"  # the layout of Kaggle's archive
    images = inner if inner.is_dir() else images
    header, names, values = _read_list(table)
    partition_list = _first(root, "list_eval_partition.txt", "list_eval_partition.csv", below="Eval")
    partition = None
    if partition_list is not None:
        _, listed, column = _read_list(partition_list, width=1)
        known = dict(zip(listed, column[:, 0].tolist(), strict=True))
        partition = np.array([known.get(name, 0) for name in names])
    return Faces(table, values > 0, header, partition, lambda i: (images / names[i], str(images / names[i])), tuple(names))


def _read_list(path: Path, width: int | None = None, kind: type = np.int64) -> tuple[tuple[str, ...], list[str], Array]:
    """Read one of CelebA's lists, separated by commas or blanks: names of columns, of files, and numbers (n, k) of a kind."""
    try:
        rows = list(_cells(path))
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{path} must be text; it cannot be read ({error}); use CelebA's own file.") from None
    # Lists begin with the number of rows, then the names of columns, with or without one for the file; partitions do not.
    rows = rows[1:] if rows and len(rows[0]) == 1 else rows
    header: list[str] = []
    if rows and not rows[0][0].lower().endswith((".jpg", ".png")):
        header, rows = [cell for cell in rows[0] if cell != "image_id"], rows[1:]
    width = width or len(header)
    wrong = next((i for i, row in enumerate(rows) if len(row) != width + 1), None)
    if not rows or not width or wrong is not None:
        got = "no rows" if not rows else "no names of columns" if wrong is None else f"{rows[wrong][:3]} in row {wrong + 1}"
        raise ValueError(
            f"{path} must have a file name and {width or 40} numbers in every row; got {got}; use CelebA's own file."
        )
    try:
        values: Array = np.array([row[1:] for row in rows]).astype(kind)
        if not np.isfinite(values).all():
            raise ValueError("one is not finite")
    except ValueError as error:
        numbers = "integers" if kind is np.int64 else "finite numbers"
        raise ValueError(f"{path} must have {numbers} after each file name ({error}); use CelebA's own file.") from None
    return tuple(header), [row[0] for row in rows], values


def _cells(path: Path) -> Iterator[list[str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        lines = csv.reader(file) if path.suffix == ".csv" else (line.split() for line in file)
        yield from (row for row in lines if row)


def _read_npz(path: Path) -> Faces:
    arrays = load_arrays(path, ARRAYS)
    jpeg, offsets, names, attributes, header = (arrays[name] for name in ARRAYS)
    n = len(names)
    fits = offsets.shape == (n + 1,) and attributes.shape == (n, len(header)) and offsets[-1] <= len(jpeg)
    if not fits or not n:
        raise ValueError(
            f"{path} must hold n filenames, n + 1 offsets and attr (n, k); got shapes {names.shape}, {offsets.shape} and "
            f"{attributes.shape} for {len(header)} attr_names and {len(jpeg)} bytes."
        )

    def open_one(i: int) -> tuple[Any, str]:
        return io.BytesIO(jpeg[offsets[i] : offsets[i + 1]].tobytes()), f"{names[i]} in {path}"

    return Faces(path, attributes > 0, tuple(map(str, header)), None, open_one, tuple(map(str, names)))


def _first(root: Path, *names: str, below: str) -> Path | None:
    return next((p for name in names for p in (root / name, root / below / name) if p.is_file()), None)
