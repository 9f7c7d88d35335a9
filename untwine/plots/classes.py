"""Random images of each class."""

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
    """Draw random images of each class, one class per row (for styles, figure 12 of Gabbay and Hoshen 2020).

    Parameters
    ----------
    x
        Images (n, C, H, W), uint8 or floats in [0, 1].
    labels
        The class (n,) of each image.
    names
        A name for each class; numbered where not given.
    each, most
        The maximum number of images per class and of classes; where there are more, random ones are drawn.
    seed
        Seed of the random choice.
    """
    images, classes = np.asarray(x), np.asarray(labels)
    if len(images) != len(classes) or not len(classes):
        raise ValueError(f"labels must have one class for each of the {len(images)} images; got {len(classes)}.")
    rng = np.random.default_rng(seed)
    selected = np.sort(rng.permutation(np.unique(classes))[:most])
    rows = {}
    for label in selected.tolist():
        members = np.flatnonzero(classes == label)
        rows[names[label] if names else str(label)] = images[rng.permutation(members)[:each]]
    return image_rows(rows)
