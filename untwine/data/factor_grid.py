"""Images of every combination of some factors, addressed by these factors and read or drawn on demand."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.data.splits import Splits
from untwine.registry.checks import check_int
from untwine.samples import Samples


@dataclass(frozen=True, repr=False)
class FactorGrid:
    """Images of every combination of some factors; only requested images are in memory.

    An image is addressed by its levels, one integer for each factor, or by its index in the flattened grid, in which the
    last factor varies fastest.

    Parameters
    ----------
    factor_names
        Names of the k factors.
    factor_values
        For each factor the values of its levels 0, 1, ...
    read
        From indices (n,) to images (n, C, H, W), uint8.
    label
        The factor that is the class of an image, if any.
    label_names
        Names of its levels; numbers by default.

    Examples
    --------
    >>> import numpy as np
    >>> values = (np.arange(2.0), np.array([0.5, 0.7, 1.0]))
    >>> grid = FactorGrid(("shape", "scale"), values, lambda indices: np.zeros((len(indices), 1, 8, 8), np.uint8))
    >>> grid
    FactorGrid(6 images: shape 2, scale 3)
    >>> grid.indices([[1, 2]]), grid.images([[1, 2], [0, 0]]).shape
    (array([5]), (2, 1, 8, 8))
    """

    factor_names: tuple[str, ...]
    factor_values: tuple[Array, ...]
    read: Callable[[Array], Array]
    label: str | None = None
    label_names: tuple[str, ...] = ()

    def __len__(self) -> int:
        return math.prod(self.sizes)

    def __repr__(self) -> str:
        return f"FactorGrid({len(self)} images: {self._describe()})"

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of levels of each factor."""
        return tuple(len(values) for values in self.factor_values)

    def indices(self, levels: ArrayLike) -> Array:
        """Return the indices (n,) of images with these levels (n, k)."""
        levels = np.asarray(levels)
        fits = levels.ndim == 2 and levels.shape[1] == len(self.sizes) and levels.dtype.kind in "ui"
        if not fits or (levels < 0).any() or (levels >= self.sizes).any():
            got = f"{levels.dtype} of shape {levels.shape}" if not fits else f"levels up to {levels.max(axis=0).tolist()}"
            raise ValueError(f"levels must be integers (n, {len(self.sizes)}) counted from 0 ({self._describe()}); got {got}.")
        indices: Array = np.ravel_multi_index(tuple(levels.T), self.sizes)
        return indices

    def levels(self, indices: ArrayLike) -> Array:
        """Return the levels (n, k) of images with these indices (n,)."""
        return np.stack(np.unravel_index(np.asarray(indices), self.sizes), axis=1)

    def images(self, levels: ArrayLike) -> Array:
        """Return the images with these levels (n, k): (n, C, H, W), uint8."""
        return self.read(self.indices(levels))

    def samples(self, indices: Array) -> Samples:
        """Return the images with these indices, their factor values and, if there is a class, their labels."""
        levels = self.levels(indices)
        factors = np.column_stack([values[level] for values, level in zip(self.factor_values, levels.T, strict=True)])
        classes: dict[str, Any] = {}
        if self.label is not None:
            column = self.factor_names.index(self.label)
            names = self.label_names or tuple(map(str, range(self.sizes[column])))
            classes = {"labels": levels[:, column], "label_names": names}
        return Samples(self.read(indices), factors=factors, factor_names=self.factor_names, **classes)

    def split(self, n_train: int | None, n_test: int, seed: int) -> Splits:
        """Draw test images and other training images at random; `n_train=None` trains on all that are not held out."""
        n_test = check_int("n_test", n_test, 1, len(self) - 1)
        n_train = len(self) - n_test if n_train is None else check_int("n_train", n_train, 1, len(self) - n_test)
        order = np.random.default_rng(check_int("seed", seed, 0)).permutation(len(self))
        return Splits(self.samples(order[n_test : n_test + n_train]), self.samples(order[:n_test]))

    def hold_out(self, n_test: int | None, seed: int, factor: str | None = None, n_levels: int = 1) -> Splits:
        """Hold out images at random, or all images of random levels of one factor.

        Parameters
        ----------
        n_test
            Number of images or levels to hold out; by default a tenth of the images, or `n_levels` levels.
        seed
            Decides which are held out.
        factor
            The factor whose levels are held out; None holds out single images.
        n_levels
            Number of levels to hold out where `n_test` is not given.
        """
        if factor is None:
            return self.split(None, max(1, len(self) // 10) if n_test is None else n_test, seed)
        size = self.sizes[self.factor_names.index(factor)]
        n_test = check_int("n_test", n_levels if n_test is None else n_test, 1, size - 1)
        return self.hold_out_levels(factor, np.random.default_rng(seed).permutation(size)[:n_test])

    def hold_out_levels(self, factor: str, levels: Array) -> Splits:
        """Hold out all images with these levels of one factor as test split, and train on the others."""
        column = self.levels(np.arange(len(self)))[:, self.factor_names.index(factor)]
        is_test = np.isin(column, levels)
        return Splits(self.samples(np.flatnonzero(~is_test)), self.samples(np.flatnonzero(is_test)))

    def _describe(self) -> str:
        return ", ".join(f"{name} {size}" for name, size in zip(self.factor_names, self.sizes, strict=True))
