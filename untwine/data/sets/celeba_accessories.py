"""Faces with a hat or eyeglasses against faces with neither, from CelebA.

As "Towards principled objectives for contrastive disentanglement" (appendix A.1) and "Double InfoGAN for contrastive analysis"
(section 4) use it: 64 x 64, hats and eyeglasses as the classes of the target.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from untwine._typing import Array
from untwine.data.readers.celeba import TEST, Faces, read_celeba
from untwine.data.splits import Splits
from untwine.registry.checks import check_float, check_int
from untwine.samples import SIDES, Samples

LABELS = ("hat", "eyeglasses")
ATTRIBUTES = ("Male", "Smiling", "Young", "Blond_Hair", "Pale_Skin")
# Mouth, cheeks and chin of an aligned face, as shares of the square's height and width: below glasses and hats.
LOWER_FACE = (0.62, 0.85), (0.3, 0.7)


def celeba_accessories(
    *,
    size: int = 64,
    n_per_class: int | None = None,
    n_background: int | None = None,
    test: float = 0.25,
    seed: int = 0,
    folder: str | Path | None = None,
) -> Splits:
    """CelebA's faces with a hat or eyeglasses against faces with neither; needs its files in a folder.

    Each image is the central square of an aligned face, brought to `size`, RGB. Faces with both a hat and eyeglasses are
    left out. Where CelebA's own partition is there (`list_eval_partition`), its test part is held out, and nobody in it is in
    training; otherwise faces are held out at random, and one person may be in both parts. The test part has as many hats as
    eyeglasses, and as many faces with neither as with either.

    Source: CelebA (Z. Liu, P. Luo, X. Wang, X. Tang, 2015), for non-commercial research only, not to be passed on; from
    `celeba/img_align_celeba/` with `celeba/list_attr_celeba.txt` (or .csv), or a subset as `celeba/celeba*.npz`, see
    `untwine.data.readers.celeba`. Checksum: none, as any subset will do. Group: 0 neither, 1 hat or eyeglasses. Label: hat or
    eyeglasses, unknown for neither. Factors, all of the common part: CelebA's `Male`, `Smiling`, `Young`, `Blond_Hair` and
    `Pale_Skin` as 0 or 1 (hair under a hat counts as not blond), and `lower face brightness`, the mean grey value in [0, 1] of
    mouth, cheeks and chin, measured. They are not independent of group and label: those
    with either are more often men, and those with eyeglasses more often not young.

    Parameters
    ----------
    size
        The side of the images in pixels, from 8 to 128.
    n_per_class
        At most how many faces with a hat, and how many with eyeglasses, to train on; all where not given.
    n_background
        At most how many faces with neither to train on; four times as many as with either where not given.
    test
        Which share of the faces of the rarer label is held out; CelebA's own partition, where it is there, decides instead.
    seed
        Decides which faces are held out, and which are used where there are more than asked for.
    folder
        The folder that holds `celeba/`; without it the environment variable UNTWINE_DATA, then ~/.cache/untwine.
    """
    size, seed, test = (
        check_int("size", size, SIDES[0], SIDES[-1]),
        check_int("seed", seed, 0),
        check_float("test", test, 0.01, 0.9),
    )
    n_per_class = None if n_per_class is None else check_int("n_per_class", n_per_class, 1)
    n_background = None if n_background is None else check_int("n_background", n_background, 1)
    faces = read_celeba(folder)
    train, held_out = _divide(faces, test, np.random.default_rng(seed))
    train[:2] = [rows[:n_per_class] for rows in train[:2]]
    targets = len(train[0]) + len(train[1])
    train[2] = train[2][: 4 * targets if n_background is None else n_background]
    return Splits(_contrast(faces, train, size), _contrast(faces, held_out, size))


def _divide(faces: Faces, test: float, rng: np.random.Generator) -> tuple[list[Array], list[Array]]:
    """Return the rows for training and for testing: of hats, of eyeglasses and of neither, each in random order."""
    hat, glasses = faces.has("Wearing_Hat"), faces.has("Eyeglasses")
    kinds = [rng.permutation(np.flatnonzero(kind)) for kind in (hat & ~glasses, glasses & ~hat, ~hat & ~glasses)]
    if faces.partition is None:
        many = max(1, round(test * min(len(rows) for rows in kinds[:2])))
        counts = (many, many, 2 * many)
        held_out = [rows[:count] for rows, count in zip(kinds, counts, strict=True)]
        train = [rows[count:] for rows, count in zip(kinds, counts, strict=True)]
    else:
        held_out = [rows[faces.partition[rows] == TEST] for rows in kinds]
        train = [rows[faces.partition[rows] != TEST] for rows in kinds]
        many = min(len(rows) for rows in held_out[:2])
        held_out = [rows[:count] for rows, count in zip(held_out, (many, many, 2 * many), strict=True)]
    for part, kind in ((train, "training"), (held_out, "testing")):
        if not all(len(rows) for rows in part):
            counted = ", ".join(f"{len(rows)} with {name}" for name, rows in zip((*LABELS, "neither"), part, strict=True))
            raise ValueError(f"{faces.source} expected faces of every kind for {kind}, but has {counted}; use more of CelebA.")
    return train, held_out


def _contrast(faces: Faces, kinds: list[Array], size: int) -> Samples:
    """Read the faces of these rows: hats, eyeglasses and neither."""
    rows = np.concatenate(kinds[:2])
    labels = np.repeat([0, 1], [len(kinds[0]), len(kinds[1])])
    x = faces.images(rows, size)
    target = Samples(
        x,
        labels=labels,
        factors=_factors(faces, rows, x),
        label_names=LABELS,
        factor_names=(*ATTRIBUTES, "lower face brightness"),
    )
    x = faces.images(kinds[2], size)
    background = Samples(x, factors=_factors(faces, kinds[2], x), factor_names=target.factor_names)
    return Samples.contrast(target=target, background=background)


def _factors(faces: Faces, rows: Array, x: Array) -> Array:
    attributes = [faces.has(name)[rows] for name in ATTRIBUTES]
    (top, bottom), (left, right) = (np.round(np.array(span) * x.shape[-1]).astype(int) for span in LOWER_FACE)
    return np.column_stack([*attributes, x[:, :, top:bottom, left:right].mean(axis=(1, 2, 3)) / 255])
