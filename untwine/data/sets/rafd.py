"""The Radboud Faces Database, from the user's copy: the expression is the class, all else the content."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from untwine.data.location import placed
from untwine.data.readers.image_files import image_paths, read_squares
from untwine.data.splits import Splits
from untwine.registry.checks import check_float, check_int
from untwine.samples import SIDES, Samples

EXPRESSIONS = ("angry", "contemptuous", "disgusted", "fearful", "happy", "neutral", "sad", "surprised")
GAZES = ("left", "frontal", "right")
FILE = re.compile(rf"^Rafd(\d+)_(\d+)_([^_]+)_([^_]+)_({'|'.join(EXPRESSIONS)})_({'|'.join(GAZES)})\.", re.IGNORECASE)
ANGLES = (45, 90, 135)  # degrees of the camera; 90 is from the front, and full profiles are left out
FACTORS = ("person", "angle", "gaze")


def rafd(*, test: float = 0.1, size: int = 128, seed: int = 0, folder: str | Path | None = None) -> Splits:
    """Radboud Faces Database with the expression as class; needs the user's copy of it.

    67 people show eight expressions, with three gazes, to three cameras (4,824 images). Each image is the central square of
    a photograph, brought to `size`, RGB. As in "Demystifying inter-class disentanglement", a tenth of the images is held out.

    Source: `rafd/Rafd<angle>_<person>_<group>_<gender>_<expression>_<gaze>.jpg` of www.rafd.nl (O. Langner and others, 2010;
    for research, on request). Checksum: none, as any part of it will do. Group: none. Label: the expression, angry to
    surprised. Factors: `person` (the database's number), `angle` (of the camera in degrees, 90 from the front) and `gaze`
    (0 left, 1 frontal, 2 right).

    Parameters
    ----------
    test
        Which share of the images is held out.
    size
        The side of the images in pixels, from 8 to 128.
    seed
        Decides which images are held out.
    folder
        The folder that holds `rafd/`; without it the environment variable UNTWINE_DATA, then ~/.cache/untwine.
    """
    size, seed, share = (
        check_int("size", size, SIDES[0], SIDES[-1]),
        check_int("seed", seed, 0),
        check_float("test", test, 0.01, 0.9),
    )
    place = placed(folder, "RaFD", ("rafd", "RafD", "RaFD"), "www.rafd.nl")
    found = [(path, named.groups()) for path in image_paths(place) if (named := FILE.match(path.name))]
    found = [(path, parts) for path, parts in found if int(parts[0]) in ANGLES]
    if len(found) < 2:
        raise ValueError(
            f"RaFD was must be in {place} as files like Rafd090_01_Caucasian_female_happy_frontal.jpg of the angles 45, 90 "
            f"and 135, but there are {len(found)}."
        )
    labels = np.array([EXPRESSIONS.index(parts[4].lower()) for _, parts in found])
    factors = np.array([(int(parts[1]), int(parts[0]), GAZES.index(parts[5].lower())) for _, parts in found], dtype=np.float64)
    data = Samples(
        read_squares([path for path, _ in found], size),
        labels=labels,
        factors=factors,
        label_names=EXPRESSIONS,
        factor_names=FACTORS,
    )
    order = np.random.default_rng(seed).permutation(len(data))
    many = min(max(1, round(share * len(data))), len(data) - 1)
    return Splits(data[np.sort(order[many:])], data[np.sort(order[:many])])
