"""AffectNet's lists of faces, and its images aligned by their landmarks."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NamedTuple

import numpy as np

from untwine._typing import Array
from untwine.data.images.procrustes import similarity, warp
from untwine.data.images.resizing import channels_first
from untwine.data.location import missing_files
from untwine.data.readers.image_files import open_image

EXPRESSIONS = ("neutral", "happiness", "sadness", "surprise", "fear", "disgust", "anger", "contempt")
COLUMNS = ("subDirectory_filePath", "facial_landmarks", "expression", "valence", "arousal")
IMAGES = ("Manually_Annotated_Images", "Manually_Annotated/Manually_Annotated_Images")
LANDMARKS = 68


class Face(NamedTuple):
    """A line of one of AffectNet's lists."""

    line: str  # file and line number, for error messages
    image: Path
    landmarks: str
    affect: tuple[float, float]


def read_list(root: Path, name: str) -> list[list[Face]]:
    """Read one of AffectNet's lists: the faces of each of the eight expressions; empty for a missing validation list."""
    path = next((p for p in (root / name, root / "Manually_Annotated_file_lists" / name) if p.is_file()), None)
    faces: list[list[Face]] = [[] for _ in EXPRESSIONS]
    if path is None:
        if name == "training.csv":
            raise missing_files("AffectNet", root, f"the list {name}", "your copy", "affectnet/")
        return faces
    images = next((root / inner for inner in IMAGES if (root / inner).is_dir()), root)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            missing = [column for column in COLUMNS if column not in (reader.fieldnames or ())]
            if missing:
                raise ValueError(
                    f"{path} must have AffectNet's columns {', '.join(COLUMNS)}; it lacks {', '.join(missing)}; "
                    "use AffectNet's own list."
                )
            for row in reader:
                line = f"{path}, line {reader.line_num}"
                expression, valence, arousal = (_number(row[c], c, line) for c in ("expression", "valence", "arousal"))
                # 8 to 10 stand for none, uncertain and no face.
                if expression in range(len(EXPRESSIONS)):
                    image = images / row["subDirectory_filePath"].replace("\\", "/")
                    faces[int(expression)].append(Face(line, image, row["facial_landmarks"] or "", (valence, arousal)))
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(
            f"{path} must be comma-separated text; it cannot be read ({error}); use AffectNet's own list."
        ) from None
    return faces


def landmark_shape(face: Face) -> Array:
    """Return the landmarks of a face as a complex shape."""
    try:
        numbers = np.array(face.landmarks.split(";"), dtype=np.float64)
        points: Array = numbers.reshape(-1, 2) @ np.array([1, 1j])
    except ValueError:
        points = np.zeros(0)
    if len(points) != LANDMARKS or np.ptp(points.real) == 0 or not np.isfinite(points).all():
        raise ValueError(
            f"{face.line} must have {LANDMARKS} landmarks as x;y;x;y...; got {face.landmarks[:40]!r}; remove the line."
        )
    return points


def read_aligned(faces: list[Face], mean: Array, size: int) -> Array:
    """Read faces, each warped by the similarity that brings it closest to the shape `mean`: (n, 3, size, size), uint8."""
    x = np.empty((len(faces), size, size, 3), np.uint8)
    for out, face in zip(x, faces, strict=True):
        a, b = similarity(landmark_shape(face), mean)
        if not face.image.is_file():
            raise ValueError(f"{face.line} must name an existing image; {face.image} does not exist; place it there.")
        out[:] = np.asarray(warp(open_image(face.image, "RGB"), complex(a), complex(b), size))
    return channels_first(x)


def _number(cell: str | None, column: str, line: str) -> float:
    try:
        return float(cell or "")
    except ValueError:
        raise ValueError(f"{line} must have a number as {column}; got {cell!r}; correct or remove the line.") from None
