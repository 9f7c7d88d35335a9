"""The Radboud Faces Database, from the user's copy: the class is the expression, the content all else."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from untwine.data.data_card import DataCard, described
from untwine.data.data_set import DataSet
from untwine.data.location import locate
from untwine.data.options import check_size, check_test_share
from untwine.data.readers.image_files import image_paths, read_squares
from untwine.data.splits import Splits, count_held_out, hold_out_at_random
from untwine.registry.checks import check_int
from untwine.samples import Samples

EXPRESSIONS = ("angry", "contemptuous", "disgusted", "fearful", "happy", "neutral", "sad", "surprised")
GAZES = ("left", "frontal", "right")
FILE = re.compile(rf"^Rafd(\d+)_(\d+)_([^_]+)_([^_]+)_({'|'.join(EXPRESSIONS)})_({'|'.join(GAZES)})\.", re.IGNORECASE)
ANGLES = (45, 90, 135)  # of the camera in degrees; 90 is frontal, and full profiles are left out
FACTORS = ("person", "angle", "gaze")


CARD = DataCard(
    source="www.rafd.nl (O. Langner and others, 2010), on request.",
    licence="research only.",
    size="4,824 images of 67 people, 3 x 128 x 128; a tenth is held out.",
    files="`rafd/Rafd<angle>_<person>_<group>_<gender>_<expression>_<gaze>.jpg`. Checksum: none, as any subset is accepted.",
    groups="none.",
    labels="the expression, angry to surprised.",
    factors="`person` (the database's number), `angle` (of the camera in degrees, 90 is frontal) and `gaze` (0 left, 1 "
    "frontal, 2 right).",
    sources="none, as the paper holds out images of all people at random; the person is a factor.",
    studies={
        "lord_table4": "Demystifying Inter-Class Disentanglement, table 4",
    },
)


@described(CARD)
def rafd(*, test: float = 0.1, size: int = 128, seed: int = 0, folder: str | Path | None = None) -> Splits:
    """Radboud Faces Database with the expression as class; needs the user's copy.

    67 people show eight expressions, with three gazes, to three cameras (4,824 images). Each image is the central square of
    a photograph, resized to `size`, RGB. As in "Demystifying inter-class disentanglement", a tenth of the images is held out.

    Parameters
    ----------
    test
        Share of the images that is held out.
    size
        Side length of the images in pixels, from 8 to 128.
    seed
        Decides which images are held out.
    folder
        Folder that contains `rafd/`; by default the environment variable UNTWINE_DATA, then ~/.cache/untwine.
    """
    size, seed, share = check_size(size), check_int("seed", seed, 0), check_test_share(test)
    root = locate(folder, "RaFD", ("rafd", "RafD", "RaFD"), "your copy of www.rafd.nl")
    files = [(path, match.groups()) for path in image_paths(root) if (match := FILE.match(path.name))]
    files = [(path, fields) for path, fields in files if int(fields[0]) in ANGLES]
    if len(files) < 2:
        raise ValueError(
            f"RaFD must be in {root} as files like Rafd090_01_Caucasian_female_happy_frontal.jpg of the angles 45, 90 and 135; "
            f"got {len(files)}; place all files there."
        )
    labels = np.array([EXPRESSIONS.index(fields[4].lower()) for _, fields in files])
    factors = np.array([(int(fields[1]), int(fields[0]), GAZES.index(fields[5].lower())) for _, fields in files], np.float64)
    samples = Samples(
        read_squares([path for path, _ in files], size),
        labels=labels,
        factors=factors,
        label_names=EXPRESSIONS,
        factor_names=FACTORS,
    )
    return hold_out_at_random(samples, count_held_out(len(samples), share), np.random.default_rng(seed))


ENTRIES = {"rafd": DataSet(rafd)}
