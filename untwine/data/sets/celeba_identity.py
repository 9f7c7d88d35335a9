"""CelebA's faces by person, from the user's copy: the class is the person, the content pose, expression and all else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from untwine._typing import Array
from untwine.data.data_card import described
from untwine.data.data_set import DataSet
from untwine.data.options import check_size
from untwine.data.readers.celeba import Faces, read_celeba, read_column
from untwine.data.sets.celeba_accessories import CARD as ACCESSORIES
from untwine.data.splits import Splits
from untwine.registry.checks import check_int
from untwine.samples import Samples

CARD = replace(
    ACCESSORIES,
    size="202,599 faces of 10,177 people, 3 x 64 x 64; those of 1,000 people are held out.",
    files="as in `celeba_accessories`, with `identity_CelebA.txt` (on request from CelebA's authors) beside the list of "
    "attributes; `list_landmarks_align_celeba.txt` if available. Checksum: none, as any subset is accepted.",
    groups="none.",
    labels="the person, by CelebA's number.",
    factors="CelebA's five landmarks, `landmark lefteye_x` to `landmark rightmouth_y` in pixels of the aligned image, if "
    "`list_landmarks_align_celeba.txt` exists; else none. A list of the same form with more landmarks, such as the "
    "paper's 68, or with decimals is used as it is.",
    sources='none: the class is the source, and `validation_split(by="classes")` holds whole classes out.',
    studies={
        "lord_table1": "Demystifying Inter-Class Disentanglement, table 1",
        "lord_table2": "Demystifying Inter-Class Disentanglement, table 2",
    },
)


@described(CARD)
def celeba_identity(
    *,
    n_test: int = 1000,
    n_train: int | None = None,
    least: int = 1,
    size: int = 64,
    seed: int = 0,
    folder: str | Path | None = None,
) -> Splits:
    """CelebA's faces with the person as class, other people in the test split; needs its files in a folder.

    Each image is the central square of an aligned face, resized to `size`, RGB. As in "Demystifying inter-class
    disentanglement", all faces of 1,000 of the 10,177 people are held out.

    Parameters
    ----------
    n_test, n_train
        Number of people to hold out, and maximum number of people to train on; by default all others.
    least
        Smallest number of faces of a person; people with fewer are left out.
    size
        Side length of the images in pixels, from 8 to 128.
    seed
        Decides which people are held out, and which are used where there are more than `n_train`.
    folder
        Folder that contains `celeba/`; by default the environment variable UNTWINE_DATA, then ~/.cache/untwine.
    """
    size, seed, least = check_size(size), check_int("seed", seed, 0), check_int("least", least, 1)
    faces = read_celeba(folder)
    identities = read_column(faces, "identity_CelebA")
    if identities is None:
        raise ValueError(
            f"CelebA's identities must be beside {faces.source} as identity_CelebA.txt; not found; ask CelebA's authors for "
            "that file, see mmlab.ie.cuhk.edu.hk/projects/CelebA.html."
        )
    identity = identities[1][:, 0]
    people, counts = np.unique(identity[~np.isnan(identity)], return_counts=True)
    people = np.random.default_rng(seed).permutation(people[counts >= least])
    n_test = check_int("n_test", n_test, 1)
    if n_test >= len(people):
        raise ValueError(
            f"n_test must be below the number of people with at least {least} faces, {len(people)}; got {n_test}; lower it."
        )
    last = None if n_train is None else n_test + check_int("n_train", n_train, 1)
    people_of_splits = people[n_test:last], people[:n_test]
    classes = np.concatenate(people_of_splits)
    landmarks = read_column(faces, "list_landmarks_align_celeba")
    train, test = (
        _samples(faces, np.flatnonzero(np.isin(identity, some)), identity, classes, landmarks, size)
        for some in people_of_splits
    )
    return Splits(train, test)


def _samples(
    faces: Faces,
    indices: Array,
    identity: Array,
    classes: Array,
    landmarks: tuple[tuple[str, ...], Array] | None,
    size: int,
) -> Samples:
    """Read the faces of some people; labels are positions in `classes`, the training people first."""
    order = np.argsort(classes)
    labels = order[np.searchsorted(classes[order], identity[indices])]
    factors: dict[str, Any] = {}
    if landmarks is not None:
        # The metrics identify landmarks by these names.
        names, values = landmarks
        factors = {"factors": values[indices], "factor_names": tuple(f"landmark {name}" for name in names)}
    label_names = tuple(str(int(person)) for person in classes)
    return Samples(faces.images(indices, size), labels=labels, label_names=label_names, **factors)


ENTRIES = {"celeba_identity": DataSet(celeba_identity)}
