"""AffectNet's faces with an expression against neutral ones, aligned by their landmarks, from the user's copy.

"Learning disentangled representations with reference-based variational autoencoders", appendix C.2, and "Towards principled
objectives for contrastive disentanglement", appendix A.1. Deviations from the former: the neutral faces are AffectNet's own,
not a collection of the authors'; the landmarks are those of AffectNet's lists; the map onto the mean shape is a similarity.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from untwine._typing import Array
from untwine.data.images.procrustes import frame, mean_shape
from untwine.data.location import data_folder
from untwine.data.readers.affectnet import EXPRESSIONS, Face, aligned, read_list, shape_of
from untwine.data.splits import Splits
from untwine.registry.checks import check_int
from untwine.samples import SIDES, Samples

FACTORS = ("brightness", "salient valence", "salient arousal")
FACES_FOR_THE_MEAN = 2000
UNKNOWN = -2.0


def affectnet(
    *,
    size: int = 96,
    n_per_class: int = 5000,
    n_background: int = 10000,
    n_test: int = 500,
    seed: int = 0,
    folder: str | Path | None = None,
) -> Splits:
    """AffectNet's faces with one of seven expressions against neutral ones, aligned; needs the user's copy of it.

    Faces are moved by the similarity that brings their landmarks nearest to the mean shape of training faces (Procrustes),
    which is 0.7 of the image wide, and cut to `size`, RGB; black where the photograph ends.

    **For classifiers of the expression**: the first half of `test.target` is for their training and the other half for their
    test, each with `n_test` faces of every expression (500, as in the paper). The other half and the neutral faces of the test
    part are of `validation.csv` where that is there; all else is of `training.csv`.

    Source: AffectNet (A. Mollahosseini, B. Hasani, M. H. Mahoor, 2017; research only, on request from its authors): the
    manually annotated lists with the columns subDirectory_filePath, facial_landmarks (x;y;x;y...), expression, valence and
    arousal, as `affectnet/training.csv` and, where present, `affectnet/validation.csv` (or in
    `Manually_Annotated_file_lists/`), and the images that they name below `affectnet/`, or below
    `Manually_Annotated_Images/` in it. Checksum: none, as any part of it will do. Group: 0 neutral, 1 with an expression.
    Label: happiness, sadness, surprise, fear, disgust, anger or contempt; unknown for neutral ones. Factors: `brightness`
    (mean grey value of the image in [0, 1]), `salient valence` and `salient arousal` (from -1 to 1).

    Parameters
    ----------
    size
        The side of the images in pixels, from 8 to 128.
    n_per_class
        At most how many faces of each expression to train on.
    n_background
        At most how many neutral faces to train on.
    n_test
        How many faces of each expression either half of the test part has, and how many neutral ones come with them.
    seed
        Decides which faces are used, and for what.
    folder
        The folder that holds `affectnet/`; without it the environment variable UNTWINE_DATA, then ~/.cache/untwine.
    """
    size, seed, n_test = (
        check_int("size", size, SIDES[0], SIDES[-1]),
        check_int("seed", seed, 0),
        check_int("n_test", n_test, 1),
    )
    n_per_class, n_background = check_int("n_per_class", n_per_class, 1), check_int("n_background", n_background, 1)
    place = data_folder(folder)
    lists = (place / "training.csv", place / "Manually_Annotated_file_lists")
    root = place if any(path.exists() for path in lists) else place / "affectnet"
    rng = np.random.default_rng(seed)
    given = [_shuffled(read_list(root, name), rng) for name in ("training.csv", "validation.csv")]
    kept, halves = _divide(root, given, n_test)
    train = [faces[: n_per_class if label else n_background] for label, faces in enumerate(kept)]
    some = [face for faces in train for face in faces]
    some = [some[i] for i in rng.permutation(len(some))[:FACES_FOR_THE_MEAN]]
    mean = frame(mean_shape(np.stack([shape_of(face) for face in some])), size)
    first, second = halves
    return Splits(_contrast(train[0], [train[1:]], mean, size), _contrast(second[0], [first[1:], second[1:]], mean, size))


def _shuffled(faces: list[list[Face]], rng: np.random.Generator) -> list[list[Face]]:
    return [[some[i] for i in rng.permutation(len(some))] for some in faces]


def _divide(
    root: Path, given: list[list[list[Face]]], n_test: int
) -> tuple[list[list[Face]], tuple[list[list[Face]], list[list[Face]]]]:
    """Return, by expression, the faces to train on, and those of the two halves of the test part."""
    training, validation = given
    taken = 1 if any(validation) else 2
    for label, name in enumerate(EXPRESSIONS):
        needed = taken * n_test + 1
        if len(training[label]) < needed or (taken == 1 and len(validation[label]) < n_test):
            raise ValueError(
                f"AffectNet's lists in {root} expected at least {needed} faces of {name} for training"
                f"{f' and {n_test} for validation' if taken == 1 else ''}, but have {len(training[label])} and "
                f"{len(validation[label])}; lower n_test."
            )
    first = [faces[:n_test] for faces in training]
    second = [faces[:n_test] for faces in validation] if taken == 1 else [faces[n_test : 2 * n_test] for faces in training]
    return [faces[taken * n_test :] for faces in training], (first, second)


def _contrast(neutral: list[Face], expressive: list[list[list[Face]]], mean: Array, size: int) -> Samples:
    """Read neutral faces, and those with an expression: lists of lists by expression, in this order."""
    faces = [face for half in expressive for some in half for face in some]
    labels = np.concatenate([np.repeat(np.arange(7), [len(some) for some in half]) for half in expressive])
    x = aligned(faces, mean, size)
    target = Samples(x, labels=labels, factors=_factors(faces, x), label_names=EXPRESSIONS[1:], factor_names=FACTORS)
    x = aligned(neutral, mean, size)
    return Samples.contrast(target=target, background=Samples(x, factors=_factors(neutral, x), factor_names=FACTORS))


def _factors(faces: list[Face], x: Array) -> Array:
    affect = np.array([face.affect for face in faces])
    return np.column_stack([x.mean(axis=(1, 2, 3)) / 255, np.where(affect == UNKNOWN, np.nan, affect)])
