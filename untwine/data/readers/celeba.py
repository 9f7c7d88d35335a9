"""CelebA from files that the user has placed: its public folders, or a subset packed into one .npz.

Public layout: `img_align_celeba/*.jpg`, `list_attr_celeba.txt` (or .csv, as Kaggle has it) and, where present,
`list_eval_partition.txt` (or .csv); all of them in one folder or in the release's `Img/`, `Anno/` and `Eval/`. Packed: the
bytes of all JPEG files as `jpeg`, where each begins and ends as `offsets`, `filenames`, `attr` (n, 40) of 0 and 1, and
`attr_names`.
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
from untwine.data.location import data_folder
from untwine.data.readers.arrays import load_arrays

PACKED = ("jpeg", "offsets", "filenames", "attr", "attr_names")
TEST = 2  # CelebA's own partition: 0 training, 1 validation, 2 test; nobody is in two of them


@dataclass(frozen=True)
class Faces:
    """The faces that are there, of which no image has been read yet.

    Parameters
    ----------
    source
        The file that names them.
    attributes
        Whether each face has each attribute (n, k), bool.
    attribute_names
        What CelebA calls them.
    partition
        CelebA's own part for each face (0 training, 1 validation, 2 test), where its file is there.
    open
        From a face's row to its file: an open file or a path, and what to call it.
    names
        What CelebA calls each file.
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
                f"{self.source} expected the attribute {attribute}, but has {', '.join(self.attribute_names[:5])} and so on; "
                "use CelebA's own file of attributes."
            )
        column: Array = self.attributes[:, self.attribute_names.index(attribute)]
        return column

    def images(self, rows: Array, size: int) -> Array:
        """Read the faces of these rows, each its central square brought to `size`: (n, 3, size, size), uint8."""
        from PIL import Image

        x = np.empty((len(rows), size, size, 3), np.uint8)
        for place, row in zip(x, rows, strict=True):
            file, name = self.open(int(row))
            try:
                with Image.open(file) as image:
                    face = image.convert("RGB")
            except FileNotFoundError:
                raise ValueError(f"{self.source} names the image {name}, but it is not there; unpack all of them.") from None
            except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
                raise ValueError(f"{name} must be an image, but it cannot be read ({error}); replace it.") from None
            side = min(face.size)
            left, top = (face.width - side) / 2, (face.height - side) / 2
            box = (left, top, left + side, top + side)
            place[:] = np.asarray(face.resize((size, size), Image.Resampling.BICUBIC, box=box))
        return np.ascontiguousarray(np.moveaxis(x, -1, 1))


def read_celeba(folder: str | Path | None) -> Faces:
    """Find CelebA in `celeba/` below the data folder, or in the folder itself, and read its attributes."""
    place = data_folder(folder)
    for root in (place / "celeba", place):
        table = _first(root, "list_attr_celeba.txt", "list_attr_celeba.csv", below="Anno")
        if table is not None:
            return _read_folder(root, table)
        packed = next(iter(sorted(root.glob("celeba*.npz"))), None)
        if packed is not None:
            return _read_packed(packed)
    raise ValueError(
        f"CelebA was must be in {place / 'celeba'} as img_align_celeba/ with list_attr_celeba.txt (or .csv), or as one "
        "celeba*.npz, but neither is there; place what mmlab.ie.cuhk.edu.hk/projects/CelebA.html gives there, or set the "
        "environment variable UNTWINE_DATA (or the option folder) to the folder that holds celeba/."
    )


def read_column(faces: Faces, name: str) -> tuple[tuple[str, ...], Array] | None:
    """Read one more list of CelebA's, `identity_CelebA` for instance: names of columns, and numbers (n, k), NaN where unknown.

    None where the list is not there.
    """
    root = faces.source.parent.parent if faces.source.parent.name == "Anno" else faces.source.parent
    path = _first(root, f"{name}.txt", f"{name}.csv", below="Anno")
    if path is None:
        return None
    header, listed, values = _read_list(path, width=1 if name.startswith("identity") else None)
    numbers = dict(zip(listed, values.tolist(), strict=True))
    unknown = [np.nan] * values.shape[1]
    return header, np.array([numbers.get(file, unknown) for file in faces.names], dtype=np.float64)


def _read_folder(root: Path, table: Path) -> Faces:
    images = next((p for p in (root / "img_align_celeba", root / "Img" / "img_align_celeba") if p.is_dir()), None)
    if images is None:
        raise ValueError(f"CelebA's images were must be in {root / 'img_align_celeba'}, but there is no such folder.")
    inner = images / "img_align_celeba"  # where Kaggle's archive unpacks to
    images = inner if inner.is_dir() else images
    header, names, values = _read_list(table)
    partition = _first(root, "list_eval_partition.txt", "list_eval_partition.csv", below="Eval")
    parts = None
    if partition is not None:
        _, listed, column = _read_list(partition, width=1)
        known = dict(zip(listed, column[:, 0].tolist(), strict=True))
        parts = np.array([known.get(name, 0) for name in names])
    return Faces(table, values > 0, header, parts, lambda row: (images / names[row], str(images / names[row])), tuple(names))


def _read_list(path: Path, width: int | None = None) -> tuple[tuple[str, ...], list[str], Array]:
    """Read a list of CelebA's, with commas or blanks: names of columns, of files, and whole numbers (n, k)."""
    try:
        rows = list(_cells(path))
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{path} must be text, but it cannot be read ({error}).") from None
    # The releases begin with the number of rows, then the columns' names with or without one for the file; partitions do not.
    rows = rows[1:] if rows and len(rows[0]) == 1 else rows
    header: list[str] = []
    if rows and not rows[0][0].lower().endswith((".jpg", ".png")):
        header, rows = [cell for cell in rows[0] if cell != "image_id"], rows[1:]
    width = width or len(header)
    wrong = next((i for i, row in enumerate(rows) if len(row) != width + 1), None)
    if not rows or not width or wrong is not None:
        came = "no rows" if not rows else "no names of columns" if wrong is None else f"{rows[wrong][:3]} in row {wrong + 1}"
        raise ValueError(
            f"{path} must be a file's name and {width or 40} numbers in every row, as CelebA has it, but has {came}."
        )
    try:
        values = np.array([row[1:] for row in rows]).astype(np.int64)
    except ValueError as error:
        raise ValueError(f"{path} must be whole numbers after each file's name ({error}); use CelebA's own file.") from None
    return tuple(header), [row[0] for row in rows], values


def _cells(path: Path) -> Iterator[list[str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        lines = csv.reader(file) if path.suffix == ".csv" else (line.split() for line in file)
        yield from (row for row in lines if row)


def _read_packed(path: Path) -> Faces:
    arrays = load_arrays(path)
    missing = [name for name in PACKED if name not in arrays]
    if missing:
        raise ValueError(f"{path} expected the arrays {', '.join(PACKED)}, but lacks {', '.join(missing)}.")
    jpeg, offsets, names, attributes, header = (arrays[name] for name in PACKED)
    n = len(names)
    fits = offsets.shape == (n + 1,) and attributes.shape == (n, len(header)) and offsets[-1] <= len(jpeg)
    if not fits or not n:
        raise ValueError(
            f"{path} expected n filenames, n + 1 offsets and attr (n, k); got shapes {names.shape}, {offsets.shape} and "
            f"{attributes.shape} for {len(header)} attr_names and {len(jpeg)} bytes."
        )

    def open_one(row: int) -> tuple[Any, str]:
        return io.BytesIO(jpeg[offsets[row] : offsets[row + 1]].tobytes()), f"{names[row]} in {path}"

    return Faces(path, attributes > 0, tuple(map(str, header)), None, open_one, tuple(map(str, names)))


def _first(root: Path, *names: str, below: str) -> Path | None:
    return next((p for name in names for p in (root / name, root / below / name) if p.is_file()), None)
