"""Faces with a hat or eyeglasses against faces with neither, from CelebA.

As used in "Towards principled objectives for contrastive disentanglement" (appendix A.1) and "Double InfoGAN for contrastive
analysis" (section 4): 64 x 64, hats and eyeglasses as the classes of the target.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from untwine._typing import Array
from untwine.data.data_card import DataCard, described
from untwine.data.data_set import DataSet
from untwine.data.options import check_limit, check_size, check_test_share
from untwine.data.readers.celeba import TEST, Faces, read_celeba
from untwine.data.splits import Splits
from untwine.registry.checks import check_int
from untwine.samples import Samples

LABELS = ("hat", "eyeglasses")
ATTRIBUTES = ("Male", "Smiling", "Young", "Blond_Hair", "Pale_Skin")
# Mouth, cheeks and chin of an aligned face, as fractions of the square's height and width: below glasses and hats.
LOWER_FACE = (0.62, 0.85), (0.3, 0.7)


CARD = DataCard(
    source="CelebA (Z. Liu, P. Luo, X. Wang, X. Tang, 2015).",
    licence="non-commercial research only, no redistribution.",
    size="all faces with a hat or eyeglasses in the files and four times as many with neither, 3 x 64 x 64.",
    files="`celeba/img_align_celeba/` with `celeba/list_attr_celeba.txt` (or .csv), or a subset as `celeba/celeba*.npz`, "
    "see `untwine.data.readers.celeba`. Checksum: none, as any subset is accepted.",
    groups="0 neither, 1 hat or eyeglasses.",
    labels="hat or eyeglasses, unknown for neither.",
    factors="all common: CelebA's `Male`, `Smiling`, `Young`, `Blond_Hair` and `Pale_Skin` as 0 or 1 (hair under a hat counts"
    " as not blond), and `lower face brightness`, the mean grey value in [0, 1] of mouth, cheeks and chin. They "
    "depend on group and label: faces with either are more often men, and faces with eyeglasses more often not young.",
    sources="none: people are not told apart; see `celeba_identity`.",
    studies={
        "contrast_search": "Contrastive methods: settings, chosen on a validation split",
        "infogan_table1": "Double InfoGAN for Contrastive Analysis, table 1",
        "principled_goals": "Towards Principled Objectives for Contrastive Disentanglement, table 1",
        "principled_table1": "Towards Principled Objectives for Contrastive Disentanglement, table 1",
        "principled_table2": "Towards Principled Objectives for Contrastive Disentanglement, table 2",
    },
)


@described(CARD)
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

    Each image is the central square of an aligned face, resized to `size`, RGB. Faces with both a hat and eyeglasses are left
    out. If CelebA's own partition (`list_eval_partition`) is available, its test split is held out and shares no person with
    training; otherwise faces are held out at random, and a person may be in both splits. The test split has as many hats as
    eyeglasses, and as many faces with neither as with either.

    Parameters
    ----------
    size
        Side length of the images in pixels, from 8 to 128.
    n_per_class
        Maximum number of training faces with a hat, and with eyeglasses; by default all.
    n_background
        Maximum number of training faces with neither; by default four times as many as with either.
    test
        Share of the faces of the rarer label that is held out, if CelebA's own partition is not available.
    seed
        Decides which faces are held out, and which are used where there are more than the maximum.
    folder
        Folder that contains `celeba/`; by default the environment variable UNTWINE_DATA, then ~/.cache/untwine.
    """
    size, seed, test = check_size(size), check_int("seed", seed, 0), check_test_share(test)
    n_per_class, n_background = check_limit("n_per_class", n_per_class), check_limit("n_background", n_background)
    faces = read_celeba(folder)
    train, held_out = _divide(faces, test, np.random.default_rng(seed))
    train[:2] = [indices[:n_per_class] for indices in train[:2]]
    n_target = len(train[0]) + len(train[1])
    train[2] = train[2][: 4 * n_target if n_background is None else n_background]
    return Splits(_contrast(faces, train, size), _contrast(faces, held_out, size))


def _divide(faces: Faces, test: float, rng: np.random.Generator) -> tuple[list[Array], list[Array]]:
    """Return the indices for training and testing: of hats, of eyeglasses and of neither, each in random order."""
    hat, glasses = faces.has("Wearing_Hat"), faces.has("Eyeglasses")
    kinds = [rng.permutation(np.flatnonzero(kind)) for kind in (hat & ~glasses, glasses & ~hat, ~hat & ~glasses)]
    if faces.partition is None:
        n = max(1, round(test * min(len(indices) for indices in kinds[:2])))
        counts = (n, n, 2 * n)
        held_out = [indices[:count] for indices, count in zip(kinds, counts, strict=True)]
        train = [indices[count:] for indices, count in zip(kinds, counts, strict=True)]
    else:
        held_out = [indices[faces.partition[indices] == TEST] for indices in kinds]
        train = [indices[faces.partition[indices] != TEST] for indices in kinds]
        n = min(len(indices) for indices in held_out[:2])
        held_out = [indices[:count] for indices, count in zip(held_out, (n, n, 2 * n), strict=True)]
    for split, name in ((train, "training"), (held_out, "test")):
        if not all(len(indices) for indices in split):
            counted = ", ".join(f"{len(some)} with {kind}" for kind, some in zip((*LABELS, "neither"), split, strict=True))
            raise ValueError(f"{faces.source} must have {name} faces of every kind; got {counted}; use more of CelebA.")
    return train, held_out


def _contrast(faces: Faces, kinds: list[Array], size: int) -> Samples:
    """Read the faces with these indices: hats, eyeglasses and neither."""
    indices = np.concatenate(kinds[:2])
    labels = np.repeat([0, 1], [len(kinds[0]), len(kinds[1])])
    x = faces.images(indices, size)
    target = Samples(
        x,
        labels=labels,
        factors=_factors(faces, indices, x),
        label_names=LABELS,
        factor_names=(*ATTRIBUTES, "lower face brightness"),
    )
    x = faces.images(kinds[2], size)
    background = Samples(x, factors=_factors(faces, kinds[2], x), factor_names=target.factor_names)
    return Samples.contrast(target=target, background=background)


def _factors(faces: Faces, indices: Array, x: Array) -> Array:
    attributes = [faces.has(name)[indices] for name in ATTRIBUTES]
    (top, bottom), (left, right) = (np.round(np.array(span) * x.shape[-1]).astype(int) for span in LOWER_FACE)
    return np.column_stack([*attributes, x[:, :, top:bottom, left:right].mean(axis=(1, 2, 3)) / 255])


ENTRIES = {"celeba_accessories": DataSet(celeba_accessories)}
