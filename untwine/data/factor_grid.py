"""Images of every combination of some factors, addressed by these factors and read or drawn only when asked for."""

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
    """Images of every combination of some factors; a few are in memory at a time, however many there are.

    An image is told by its levels, a whole number for each factor, or by its row: rows count through the levels, those of
    the last factor first.

    Parameters
    ----------
    factor_names
        A name for each of the k factors.
    factor_values
        For each factor the values that its levels 0, 1, ... stand for.
    read
        From rows (n,) to their images (n, C, H, W), uint8.
    label
        The factor that is the class of an image, where there is one.
    label_names
        The names of its levels; numbered where not given.

    Examples
    --------
    >>> import numpy as np
    >>> values = (np.arange(2.0), np.array([0.5, 0.7, 1.0]))
    >>> grid = FactorGrid(("shape", "scale"), values, lambda rows: np.zeros((len(rows), 1, 8, 8), np.uint8))
    >>> grid
    FactorGrid(6 images: shape 2, scale 3)
    >>> grid.rows([[1, 2]]), grid.images([[1, 2], [0, 0]]).shape
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
        return f"FactorGrid({len(self)} images: {self._counted()})"

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many levels each factor has."""
        return tuple(len(values) for values in self.factor_values)

    def rows(self, levels: ArrayLike) -> Array:
        """Return the rows (n,) of images with these levels (n, k)."""
        levels = np.asarray(levels)
        fits = levels.ndim == 2 and levels.shape[1] == len(self.sizes) and levels.dtype.kind in "ui"
        if not fits or (levels < 0).any() or (levels >= self.sizes).any():
            came = f"{levels.dtype} of shape {levels.shape}" if not fits else f"levels up to {levels.max(axis=0).tolist()}"
            raise ValueError(
                f"levels must be whole numbers (n, {len(self.sizes)}) counted from 0 ({self._counted()}); got {came}."
            )
        rows: Array = np.ravel_multi_index(tuple(levels.T), self.sizes)
        return rows

    def levels(self, rows: ArrayLike) -> Array:
        """Return the levels (n, k) of these rows (n,)."""
        return np.stack(np.unravel_index(np.asarray(rows), self.sizes), axis=1)

    def images(self, levels: ArrayLike) -> Array:
        """Return the images with these levels (n, k): (n, C, H, W), uint8."""
        return self.read(self.rows(levels))

    def samples(self, rows: Array) -> Samples:
        """Return the images of these rows with the values of their factors, and their class where there is one."""
        levels = self.levels(rows)
        factors = np.column_stack([values[level] for values, level in zip(self.factor_values, levels.T, strict=True)])
        classes: dict[str, Any] = {}
        if self.label is not None:
            column = self.factor_names.index(self.label)
            names = self.label_names or tuple(map(str, range(self.sizes[column])))
            classes = {"labels": levels[:, column], "label_names": names}
        return Samples(self.read(rows), factors=factors, factor_names=self.factor_names, **classes)

    def split(self, n_train: int | None, n_test: int, seed: int) -> Splits:
        """Draw rows for testing and others for training (all others where `n_train` is None), each at random."""
        n_test = check_int("n_test", n_test, 1, len(self) - 1)
        n_train = len(self) - n_test if n_train is None else check_int("n_train", n_train, 1, len(self) - n_test)
        rows = np.random.default_rng(check_int("seed", seed, 0)).permutation(len(self))
        return Splits(self.samples(rows[n_test : n_test + n_train]), self.samples(rows[:n_test]))

    def apart(self, factor: str, held_out: Array) -> Splits:
        """Hold out all images with these levels of one factor for testing, and train on the others."""
        column = self.levels(np.arange(len(self)))[:, self.factor_names.index(factor)]
        test = np.isin(column, held_out)
        return Splits(self.samples(np.flatnonzero(~test)), self.samples(np.flatnonzero(test)))

    def _counted(self) -> str:
        return ", ".join(f"{name} {size}" for name, size in zip(self.factor_names, self.sizes, strict=True))


def averaged(images: Array, size: int) -> Array:
    """Shrink square uint8 images (n, C, H, H) to `size`, which divides their side, by averaging over squares of pixels."""
    n, channels, side, _ = images.shape
    if size == side:
        return images
    blocks = images.reshape(n, channels, size, side // size, size, side // size)
    shrunk: Array = np.rint(blocks.mean(axis=(3, 5), dtype=np.float32)).astype(np.uint8)
    return shrunk


def divisor(size: object, side: int) -> int:
    """Return the option `size` if it divides `side`, or say what was expected."""
    choices = [one for one in range(8, side + 1) if side % one == 0]
    if isinstance(size, bool) or size not in choices:
        raise ValueError(f"size must be one of {', '.join(map(str, choices))}; got {size!r}.")
    return check_int("size", size, choices[0], side)
