"""CelebA's faces by person, from the user's copy: who it is is the class, how the face looks at the moment the content."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from untwine._typing import Array
from untwine.data.readers.celeba import Faces, read_celeba, read_column
from untwine.data.splits import Splits
from untwine.registry.checks import check_int
from untwine.samples import SIDES, Samples


def celeba_identity(
    *,
    n_test: int = 1000,
    n_train: int | None = None,
    least: int = 1,
    size: int = 64,
    seed: int = 0,
    folder: str | Path | None = None,
) -> Splits:
    """CelebA's faces with the person as class, other people for the test; needs its files in a folder.

    Each image is the central square of an aligned face, brought to `size`, RGB. As in "Demystifying inter-class
    disentanglement", all faces of 1,000 of the 10,177 people are held out.

    Source, licence and checksum: as in `celeba_accessories`, with `identity_CelebA.txt` (on request from CelebA's authors)
    beside the list of attributes. Group: none. Label: the person, by CelebA's number. Factors: CelebA's five landmarks,
    `landmark lefteye_x` to `landmark rightmouth_y` in pixels of the aligned image, where `list_landmarks_align_celeba.txt` is
    there; else none. A list of the same form with more landmarks, such as the paper's 68, is taken whole.

    Parameters
    ----------
    n_test, n_train
        How many people to hold out for the test, and at most how many to train on; all others where not given.
    least
        Leave out people with fewer faces.
    size
        The side of the images in pixels, from 8 to 128.
    seed
        Decides who is held out, and who is used where there are more people than asked for.
    folder
        The folder that holds `celeba/`; without it the environment variable UNTWINE_DATA, then ~/.cache/untwine.
    """
    size, seed, least = check_int("size", size, SIDES[0], SIDES[-1]), check_int("seed", seed, 0), check_int("least", least, 1)
    faces = read_celeba(folder)
    found = read_column(faces, "identity_CelebA")
    if found is None:
        raise ValueError(
            f"CelebA's identities were expected beside {faces.source} as identity_CelebA.txt, but are not there; ask its "
            "authors for that file, as mmlab.ie.cuhk.edu.hk/projects/CelebA.html says."
        )
    identity = found[1][:, 0]
    people, counts = np.unique(identity[~np.isnan(identity)], return_counts=True)
    people = np.random.default_rng(seed).permutation(people[counts >= least])
    n_test = check_int("n_test", n_test, 1)
    if n_test >= len(people):
        raise ValueError(
            f"n_test expected fewer than the {len(people)} people with at least {least} faces, to train on the others; got "
            f"{n_test}."
        )
    last = None if n_train is None else n_test + check_int("n_train", n_train, 1)
    parts = people[n_test:last], people[:n_test]
    names = np.concatenate(parts)
    marks = read_column(faces, "list_landmarks_align_celeba")
    train, test = (_samples(faces, np.flatnonzero(np.isin(identity, some)), identity, names, marks, size) for some in parts)
    return Splits(train, test)


def _samples(
    faces: Faces, rows: Array, identity: Array, names: Array, marks: tuple[tuple[str, ...], Array] | None, size: int
) -> Samples:
    """Read the faces of some people; classes are numbered as `names` has them, those to train on first."""
    order = np.argsort(names)
    labels = order[np.searchsorted(names[order], identity[rows])]
    factors: dict[str, Any] = {} if marks is None else {"factors": marks[1][rows], "factor_names": _named(marks)}
    named = tuple(str(int(person)) for person in names)
    return Samples(faces.images(rows, size), labels=labels, label_names=named, **factors)


def _named(marks: tuple[tuple[str, ...], Array]) -> tuple[str, ...]:
    """Return the names by which the metrics know landmarks."""
    return tuple(f"landmark {name}" for name in marks[0])
