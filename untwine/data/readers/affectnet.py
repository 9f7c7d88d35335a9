"""AffectNet's lists of faces, and its images moved so that their landmarks lie on one shape."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NamedTuple

import numpy as np

from untwine._typing import Array
from untwine.data.images.procrustes import similarity, warp

EXPRESSIONS = ("neutral", "happiness", "sadness", "surprise", "fear", "disgust", "anger", "contempt")
COLUMNS = ("subDirectory_filePath", "facial_landmarks", "expression", "valence", "arousal")
IMAGES = ("Manually_Annotated_Images", "Manually_Annotated/Manually_Annotated_Images")
LANDMARKS = 68


class Face(NamedTuple):
    """A line of one of AffectNet's lists."""

    line: str  # what to call it: file and line
    image: Path
    landmarks: str
    affect: tuple[float, float]


def read_list(root: Path, name: str) -> list[list[Face]]:
    """Read one of AffectNet's lists: the faces of each of the eight expressions; none of an absent validation list."""
    path = next((p for p in (root / name, root / "Manually_Annotated_file_lists" / name) if p.is_file()), None)
    faces: list[list[Face]] = [[] for _ in EXPRESSIONS]
    if path is None:
        if name == "training.csv":
            raise ValueError(
                f"AffectNet was must be in {root} with the list {name}, but that is not there; place your copy there, or "
                "set the environment variable UNTWINE_DATA (or the option folder) to the folder that holds affectnet/."
            )
        return faces
    images = next((root / inner for inner in IMAGES if (root / inner).is_dir()), root)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            missing = [column for column in COLUMNS if column not in (reader.fieldnames or ())]
            if missing:
                raise ValueError(f"{path} expected AffectNet's columns {', '.join(COLUMNS)}, but lacks {', '.join(missing)}.")
            for row in reader:
                line = f"{path}, line {reader.line_num}"
                expression, valence, arousal = (_number(row[c], c, line) for c in ("expression", "valence", "arousal"))
                # 8 to 10 mean none, uncertain and no face.
                if expression in range(len(EXPRESSIONS)):
                    image = images / row["subDirectory_filePath"].replace("\\", "/")
                    faces[int(expression)].append(Face(line, image, row["facial_landmarks"] or "", (valence, arousal)))
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{path} expected comma-separated text, but it cannot be read ({error}).") from None
    return faces


def shape_of(face: Face) -> Array:
    """Return the landmarks of a face as a complex shape."""
    try:
        numbers = np.array(face.landmarks.split(";"), dtype=np.float64)
        points: Array = numbers.reshape(-1, 2) @ np.array([1, 1j])
    except ValueError:
        points = np.zeros(0)
    if len(points) != LANDMARKS or np.ptp(points.real) == 0 or not np.isfinite(points).all():
        raise ValueError(
            f"{face.line} expected {LANDMARKS} landmarks as x;y;x;y..., but has {face.landmarks[:40]!r}; drop the line."
        )
    return points


def aligned(faces: list[Face], mean: Array, size: int) -> Array:
    """Read faces, each moved by the similarity that brings it nearest to the complex shape `mean`: (n, 3, size, size)."""
    from PIL import Image

    x = np.empty((len(faces), size, size, 3), np.uint8)
    for place, face in zip(x, faces, strict=True):
        a, b = similarity(shape_of(face), mean)
        try:
            with Image.open(face.image) as image:
                place[:] = np.asarray(warp(image.convert("RGB"), complex(a), complex(b), size))
        except FileNotFoundError:
            raise ValueError(f"{face.line} names the image {face.image}, but it is not there.") from None
        except (OSError, SyntaxError, Image.DecompressionBombError) as error:
            raise ValueError(f"{face.image} must be an image, but it cannot be read ({error}); replace it.") from None
    return np.ascontiguousarray(np.moveaxis(x, -1, 1))


def _number(cell: str | None, column: str, line: str) -> float:
    try:
        return float(cell or "")
    except ValueError:
        raise ValueError(f"{line} must be a number as {column}, but has {cell!r}.") from None
