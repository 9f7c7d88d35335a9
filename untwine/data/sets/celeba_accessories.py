"""Faces with a hat or eyeglasses against faces with neither, from CelebA.

As used in "Towards principled objectives for contrastive disentanglement" (appendix A.1) and "Double InfoGAN for contrastive
analysis" (section 4): 64 x 64, hats and eyeglasses as the classes of the target.
"""

from __future__ import annotations

import warnings
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
        "untuned": "Data that nobody tuned for: contrastive methods with their defaults",
    },
)


@described(CARD)
def celeba_accessories(
    *,
    size: int = 64,
    n_per_class: int | None = None,
    n_background: int | None = None,
    n_test: int | None = None,
    test: float = 0.25,
    seed: int = 0,
    folder: str | Path | None = None,
) -> Splits:
    """CelebA's faces with a hat or eyeglasses against faces with neither; needs its files in a folder.

    Each image is the central square of an aligned face, resized to `size`, RGB. Faces with both a hat and eyeglasses are left
    out. If CelebA's own partition (`list_eval_partition`) is available, its test split is held out and shares no person with
    training; otherwise, or with `n_test`, faces are held out at random, and a person may be in both splits. The test split has
    as many hats as eyeglasses, and as many faces with neither as with either.

    Parameters
    ----------
    size
        Side length of the images in pixels, from 8 to 128.
    n_per_class
        Maximum number of training faces with a hat, and with eyeglasses; by default all.
    n_background
        Maximum number of training faces with neither; by default four times as many as with either.
    n_test
        Number of test faces with a hat, and with eyeglasses, drawn at random: CelebA's own test split, which is then not used,
        has fewer than the paper's 5,000. Where there are not enough faces, this and both numbers above are
        reduced by the same factor, with a warning. By default CelebA's own test split, or the share `test`.
    test
        Share of the faces of the rarer label that is held out, if CelebA's own partition is not available.
    seed
        Decides which faces are held out, and which are used where there are more than the maximum.
    folder
        Folder that contains `celeba/`; by default the environment variable UNTWINE_DATA, then ~/.cache/untwine.
    """
    size, seed, test = check_size(size), check_int("seed", seed, 0), check_test_share(test)
    n_per_class, n_background = check_limit("n_per_class", n_per_class), check_limit("n_background", n_background)
    n_test, faces = check_limit("n_test", n_test), read_celeba(folder)
    kinds = _find_kinds(faces, np.random.default_rng(seed))
    if n_test is not None:
        n_per_class, n_background, n_test = _reduce((n_per_class, n_background, n_test), kinds, faces)
    elif faces.partition is None:
        n_test = max(1, round(test * min(len(indices) for indices in kinds[:2])))
    train, held_out = _divide(kinds, n_test, faces.partition)
    _check_kinds(faces, train, held_out)
    train[:2] = [indices[:n_per_class] for indices in train[:2]]
    n_target = len(train[0]) + len(train[1])
    train[2] = train[2][: 4 * n_target if n_background is None else n_background]
    return Splits(_contrast(faces, train, size), _contrast(faces, held_out, size))


def _find_kinds(faces: Faces, rng: np.random.Generator) -> list[Array]:
    """Return the indices of hats, of eyeglasses and of neither, each in random order."""
    hat, glasses = faces.has("Wearing_Hat"), faces.has("Eyeglasses")
    return [rng.permutation(np.flatnonzero(kind)) for kind in (hat & ~glasses, glasses & ~hat, ~hat & ~glasses)]


def _divide(kinds: list[Array], n_test: int | None, partition: Array | None) -> tuple[list[Array], list[Array]]:
    """Return the indices of each kind for training and testing: `n_test` to test on or, for None, CelebA's own test split."""
    if n_test is None and partition is not None:
        held_out = [indices[partition[indices] == TEST] for indices in kinds]
        train = [indices[partition[indices] != TEST] for indices in kinds]
        n = min(len(indices) for indices in held_out[:2])
        return train, [indices[:count] for indices, count in zip(held_out, (n, n, 2 * n), strict=True)]
    n = n_test or 0
    counted = list(zip(kinds, (n, n, 2 * n), strict=True))
    return [indices[count:] for indices, count in counted], [indices[:count] for indices, count in counted]


def _reduce(limits: tuple[int | None, int | None, int], kinds: list[Array], faces: Faces) -> tuple[int | None, int | None, int]:
    """Return `n_per_class`, `n_background` and `n_test`, reduced by one factor where there are not as many faces."""
    n_per_class, n_background, n_test = limits
    rarer, neither = min(len(indices) for indices in kinds[:2]), len(kinds[2])
    share = min(1.0, rarer / (n_test + (n_per_class or 1)), neither / (2 * n_test + (n_background or 1)))
    if share == 1:
        return limits
    fewer = [None if limit is None else max(1, int(share * limit + 1e-9)) for limit in (n_per_class, n_background)]
    n = max(1, int(share * n_test + 1e-9))
    warnings.warn(
        f"{faces.source} has {rarer} faces of the rarer label and {neither} with neither, too few for "
        f"n_per_class={n_per_class}, n_background={n_background} and n_test={n_test}, so {fewer[0]}, {fewer[1]} and {n} are "
        "used, and scores cannot be compared with published ones; use more of CelebA.",
        stacklevel=5,
    )
    return fewer[0], fewer[1], n


def _check_kinds(faces: Faces, train: list[Array], held_out: list[Array]) -> None:
    """Refuse splits in which a kind is missing."""
    for split, name in ((train, "training"), (held_out, "test")):
        if not all(len(indices) for indices in split):
            counted = ", ".join(f"{len(some)} with {kind}" for kind, some in zip((*LABELS, "neither"), split, strict=True))
            raise ValueError(f"{faces.source} must have {name} faces of every kind; got {counted}; use more of CelebA.")


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
