"""AffectNet's faces with an expression against neutral ones, aligned by their landmarks, from the user's copy.

"Learning disentangled representations with reference-based variational autoencoders", appendix C.2, and "Towards principled
objectives for contrastive disentanglement", appendix A.1. Deviations from the former: the neutral faces are AffectNet's own,
not a collection of the authors'; the landmarks are those of AffectNet's lists; faces are aligned by a similarity transform.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from untwine._typing import Array
from untwine.data.data_card import DataCard, described
from untwine.data.data_set import DataSet
from untwine.data.images.procrustes import frame, mean_shape
from untwine.data.location import data_folder
from untwine.data.options import check_size
from untwine.data.readers.affectnet import EXPRESSIONS, Face, landmark_shape, read_aligned, read_list
from untwine.data.splits import Splits
from untwine.registry.checks import check_int
from untwine.samples import Samples

FACTORS = ("brightness", "salient valence", "salient arousal")
FACES_FOR_THE_MEAN = 2000
UNKNOWN = -2.0


CARD = DataCard(
    source="AffectNet (A. Mollahosseini, B. Hasani, M. H. Mahoor, 2017), on request from its authors.",
    licence="research only.",
    size="35,000 training faces with an expression and 10,000 neutral ones, 3 x 96 x 96; 7,000 and 500 for testing.",
    files="the manually annotated lists with the columns subDirectory_filePath, facial_landmarks (x;y;x;y...), expression, "
    "valence and arousal, as `affectnet/training.csv` and, if available, `affectnet/validation.csv` (or in "
    "`Manually_Annotated_file_lists/`), and the images that they name below `affectnet/` or its "
    "`Manually_Annotated_Images/`. Checksum: none, as any subset is accepted.",
    groups="0 neutral, 1 with an expression.",
    labels="happiness, sadness, surprise, fear, disgust, anger or contempt; unknown for neutral faces.",
    factors="`brightness` (mean grey value of the image in [0, 1]), `salient valence` and `salient arousal` (from -1 to 1).",
    sources="none: each photograph is one sample, and people are not known.",
    studies={
        "principled_table1": "Towards Principled Objectives for Contrastive Disentanglement, table 1",
        "principled_table2": "Towards Principled Objectives for Contrastive Disentanglement, table 2",
        "reference_affectnet": "Learning Disentangled Representations with Reference-Based Variational Autoencoders, table 1",
    },
)


@described(CARD)
def affectnet(
    *,
    size: int = 96,
    n_per_class: int = 5000,
    n_background: int = 10000,
    n_test: int = 500,
    seed: int = 0,
    folder: str | Path | None = None,
) -> Splits:
    """AffectNet's faces with one of seven expressions against neutral ones, aligned; needs the user's copy.

    Faces are aligned by the similarity transform that brings their landmarks closest to the mean shape of training faces
    (Procrustes), which is 0.7 of the image wide, and cropped to `size`, RGB; black outside of the photograph.

    **For classifiers of the expression**: the first half of `test.target` is their training set and the second half their test
    set, each with `n_test` faces of every expression (500, as in the paper). The second half and the neutral faces of the test
    split are from `validation.csv` if that exists; all others are from `training.csv`.

    Parameters
    ----------
    size
        Side length of the images in pixels, from 8 to 128.
    n_per_class
        Maximum number of training faces of each expression.
    n_background
        Maximum number of neutral training faces.
    n_test
        Number of faces of each expression in either half of the test targets, and number of neutral test faces.
    seed
        Decides which faces are used, and in which split.
    folder
        Folder that contains `affectnet/`; by default the environment variable UNTWINE_DATA, then ~/.cache/untwine.
    """
    size, seed, n_test = check_size(size), check_int("seed", seed, 0), check_int("n_test", n_test, 1)
    n_per_class, n_background = check_int("n_per_class", n_per_class, 1), check_int("n_background", n_background, 1)
    base = data_folder(folder)
    lists = (base / "training.csv", base / "Manually_Annotated_file_lists")
    root = base if any(path.exists() for path in lists) else base / "affectnet"
    rng = np.random.default_rng(seed)
    shuffled = [_shuffle(read_list(root, name), rng) for name in ("training.csv", "validation.csv")]
    others, halves = _divide(root, shuffled, n_test)
    train = [faces[: n_per_class if label else n_background] for label, faces in enumerate(others)]
    some = [face for faces in train for face in faces]
    some = [some[i] for i in rng.permutation(len(some))[:FACES_FOR_THE_MEAN]]
    mean = frame(mean_shape(np.stack([landmark_shape(face) for face in some])), size)
    first, second = halves
    return Splits(_contrast(train[0], [train[1:]], mean, size), _contrast(second[0], [first[1:], second[1:]], mean, size))


def _shuffle(faces: list[list[Face]], rng: np.random.Generator) -> list[list[Face]]:
    return [[some[i] for i in rng.permutation(len(some))] for some in faces]


def _divide(
    root: Path, lists: list[list[list[Face]]], n_test: int
) -> tuple[list[list[Face]], tuple[list[list[Face]], list[list[Face]]]]:
    """Return, by expression, the faces for training and those of the two halves of the test split."""
    training, validation = lists
    halves_of_training = 1 if any(validation) else 2
    for label, name in enumerate(EXPRESSIONS):
        needed = halves_of_training * n_test + 1
        if len(training[label]) < needed or (halves_of_training == 1 and len(validation[label]) < n_test):
            raise ValueError(
                f"AffectNet's lists in {root} must have at least {needed} faces of {name} for training"
                f"{f' and {n_test} for validation' if halves_of_training == 1 else ''}; got {len(training[label])} and "
                f"{len(validation[label])}; lower n_test."
            )
    first = [faces[:n_test] for faces in training]
    second = [faces[:n_test] for faces in (validation if halves_of_training == 1 else [some[n_test:] for some in training])]
    return [faces[halves_of_training * n_test :] for faces in training], (first, second)


def _contrast(neutral: list[Face], expressive: list[list[list[Face]]], mean: Array, size: int) -> Samples:
    """Read neutral faces as background, and as target those with an expression: lists of lists by expression, in this order."""
    faces = [face for half in expressive for some in half for face in some]
    labels = np.concatenate([np.repeat(np.arange(7), [len(some) for some in half]) for half in expressive])
    x = read_aligned(faces, mean, size)
    target = Samples(x, labels=labels, factors=_factors(faces, x), label_names=EXPRESSIONS[1:], factor_names=FACTORS)
    x = read_aligned(neutral, mean, size)
    return Samples.contrast(target=target, background=Samples(x, factors=_factors(neutral, x), factor_names=FACTORS))


def _factors(faces: list[Face], x: Array) -> Array:
    affect = np.array([face.affect for face in faces])
    return np.column_stack([x.mean(axis=(1, 2, 3)) / 255, np.where(affect == UNKNOWN, np.nan, affect)])


ENTRIES = {"affectnet": DataSet(affectnet)}
