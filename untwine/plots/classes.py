"""Images of classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from untwine.plots.images import image_rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def class_samples(
    x: ArrayLike, labels: ArrayLike, names: Sequence[str] = (), *, each: int = 8, most: int = 10, seed: int = 0
) -> Figure:
    """Draw random images of each class, one class a row: of styles, what each cluster has in common (figure 12 of paper 004).

    Parameters
    ----------
    x
        Images (n, C, H, W), uint8 or floats in [0, 1].
    labels
        The class of each, (n,).
    names
        A name for each class; numbers where not given.
    each, most
        How many images of a class, and how many classes, drawn at random where there are more.
    seed
        Which ones.
    """
    images, classes = np.asarray(x), np.asarray(labels)
    if len(images) != len(classes) or not len(classes):
        raise ValueError(f"class_samples must be a label for every image; got {len(images)} and {len(classes)}.")
    chance = np.random.default_rng(seed)
    known = np.unique(classes)
    shown = np.sort(chance.permutation(known)[:most])
    rows = {}
    for label in shown.tolist():
        own = np.flatnonzero(classes == label)
        rows[names[label] if names else str(label)] = images[chance.permutation(own)[:each]]
    return image_rows(rows)
