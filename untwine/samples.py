"""What was observed: images or vectors, with what is known about each sample."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array

SIDES = range(8, 129)
BACKGROUND = 0


@dataclass(frozen=True, eq=False)
class Samples:
    """Observations, and optional columns that say what is known of each sample.

    Parameters
    ----------
    x
        Vectors (n, d), or images (n, C, H, W) as uint8 or as floats in [0, 1], with sides from 8 to 128.
        Kept as uint8 or float32.
    groups
        One integer a sample: 0 is the background, 1 and above are targets. What contrastive methods need.
    labels
        One class a sample, as integers or strings. What class-supervised methods need; contrastive ones never see it.
        -1 means unknown.
    factors
        The true factors (n, k), for evaluation only. NaN means unknown.
    masks
        For images, the pixels (n, H, W) where something salient is, such as a tumour; for evaluation only.
    group_names, label_names, factor_names
        A name for each group, class and factor; numbered where not given.

    Examples
    --------
    >>> import numpy as np
    >>> data = Samples.contrast(target=np.ones((3, 2)), background=np.zeros((2, 2)))
    >>> data
    Samples(5 vectors of 2: background 2, target 3)
    >>> len(data.target), data.background.x.shape
    (3, (2, 2))
    """

    x: Array
    groups: Array | None = None
    labels: Array | None = None
    factors: Array | None = None
    group_names: tuple[str, ...] = ()
    label_names: tuple[str, ...] = ()
    factor_names: tuple[str, ...] = ()
    masks: Array | None = None

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "x", observations(self.x))
        if self.groups is not None:
            groups = _integers("groups", self.groups, len(self.x), least=0)
            put(self, "groups", groups)
            many = int(groups.max()) + 1
            default = ("background", "target") if many <= 2 else ("background", *(f"target {i}" for i in range(1, many)))
            put(self, "group_names", _names("group_names", self.group_names, many, default))
        if self.labels is not None:
            labels, names = _classes(self.labels, len(self.x), self.label_names)
            put(self, "labels", labels)
            many = int(labels.max()) + 1
            put(self, "label_names", _names("label_names", names, many, tuple(map(str, range(many)))))
        if self.factors is not None:
            factors = _factors(self.factors, len(self.x))
            put(self, "factors", factors)
            many = factors.shape[1]
            put(
                self, "factor_names", _names("factor_names", self.factor_names, many, tuple(f"factor {i}" for i in range(many)))
            )
        if self.masks is not None:
            put(self, "masks", _masks(self.masks, self.x))

    @classmethod
    def contrast(
        cls,
        *,
        target: ArrayLike | Samples | Mapping[str, ArrayLike | Samples] | Sequence[ArrayLike | Samples],
        background: ArrayLike | Samples,
    ) -> Samples:
        """Join target and background into one set whose `groups` tell them apart.

        Parameters
        ----------
        target
            An array or `Samples`; or several, as a list or as a mapping from name to samples. Several targets
            are pooled in training, and stay apart for scoring.
        background
            An array or `Samples`: what the targets are compared with.
        """
        if isinstance(target, Mapping):
            targets: dict[str, ArrayLike | Samples] = dict(target)
        elif isinstance(target, (list, tuple)) and len(target) and not np.isscalar(target[0]) and _is_set(target[0]):
            targets = {f"target {i + 1}": one for i, one in enumerate(target)}
        else:
            targets = {"target": target}  # type: ignore[dict-item]
        if not targets:
            raise ValueError("Samples.contrast needs at least one target; got an empty mapping; pass target=samples.")
        given = {"background": background, **targets}
        if len(given) == len(targets):
            raise ValueError("Samples.contrast got a target named 'background'; give it another name.")
        sets = [_as_samples(name, one) for name, one in given.items()]
        for name, one in zip(given, sets, strict=True):
            if one.x.shape[1:] != sets[0].x.shape[1:] or one.x.dtype != sets[0].x.dtype:
                raise ValueError(
                    f"target and background must have one shape and type; the background has {_describe(sets[0].x)}, "
                    f"{name!r} has {_describe(one.x)}; convert one of them."
                )
        factor_names = next((one.factor_names for one in sets if one.factors is not None), ())
        for name, one in zip(given, sets, strict=True):
            if one.factors is not None and one.factor_names != factor_names:
                raise ValueError(
                    f"target and background must have the same factors; got {factor_names} and, in {name!r}, "
                    f"{one.factor_names}; give all of them the same columns."
                )
        label_names = tuple(dict.fromkeys(n for one in sets if one.labels is not None for n in one.label_names))
        return cls(
            x=np.concatenate([one.x for one in sets]),
            groups=np.concatenate([np.full(len(one), group) for group, one in enumerate(sets)]),
            labels=_join_labels(sets, label_names) if label_names else None,
            factors=_join_factors(sets, len(factor_names)) if factor_names else None,
            group_names=tuple(given),
            label_names=label_names,
            factor_names=factor_names,
            masks=_join_masks(given, sets),
        )

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, index: Any) -> Samples:
        """Return the chosen samples (a slice, a mask or indices), with all their columns."""
        chosen = np.atleast_1d(np.arange(len(self))[index])
        if not len(chosen):
            raise ValueError(f"the index must choose at least one of {len(self)} samples; it chose none.")
        return replace(
            self,
            x=self.x[chosen],
            groups=None if self.groups is None else self.groups[chosen],
            labels=None if self.labels is None else self.labels[chosen],
            factors=None if self.factors is None else self.factors[chosen],
            masks=None if self.masks is None else self.masks[chosen],
        )

    def __repr__(self) -> str:
        text = f"{len(self)} {_describe(self.x)}"
        if self.groups is not None:
            counts = np.bincount(self.groups, minlength=len(self.group_names))
            text += ": " + ", ".join(f"{name} {count}" for name, count in zip(self.group_names, counts, strict=True))
        if self.labels is not None:
            text += f"; {len(self.label_names)} classes"
        if self.factors is not None:
            text += f"; factors {', '.join(self.factor_names)}"
        text += "" if self.masks is None else "; masks"
        return f"Samples({text})"

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one sample: (d,) or (C, H, W)."""
        return tuple(self.x.shape[1:])

    @property
    def is_image(self) -> bool:
        """Whether the samples are images."""
        return self.x.ndim == 4

    @property
    def target(self) -> Samples:
        """The samples of all targets."""
        return self._side("target", self._groups() != BACKGROUND)

    @property
    def background(self) -> Samples:
        """The samples of the background."""
        return self._side("background", self._groups() == BACKGROUND)

    def _side(self, name: str, mask: Array) -> Samples:
        if not mask.any():
            raise ValueError(
                f"these samples have no {name}: all {len(self)} are of the other side; "
                "take samples of both, or make them with Samples.contrast(target=..., background=...)."
            )
        return self[mask]

    def _groups(self) -> Array:
        if self.groups is None:
            raise ValueError(
                "these samples have no groups, so there is no target and no background; "
                "make them with Samples.contrast(target=..., background=...)."
            )
        return self.groups

    def fingerprint(self) -> str:
        """Return a SHA-256 of x and all columns but masks: the same data, the same fingerprint.

        Nothing is ever fitted to masks, and runs from before there were any stay valid.
        """
        digest = hashlib.sha256()
        for name in ("x", "groups", "labels", "factors"):
            column = getattr(self, name)
            if column is not None:
                digest.update(f"{name} {column.dtype} {column.shape}".encode())
                digest.update(np.ascontiguousarray(column).data)
        return digest.hexdigest()


def observations(x: ArrayLike) -> Array:
    """Check x on entry and return it as uint8 images, float32 images in [0, 1], or float32 vectors."""
    if hasattr(x, "tocsr"):
        raise TypeError("x must be a dense array; got a sparse one; convert it with x.toarray().")
    try:
        x = np.asarray(x)
    except ValueError as error:
        raise ValueError("x must be one rectangular array; its samples differ in length; bring them to one length.") from error
    if x.dtype == bool:
        x = x.astype(np.float32)
    if x.dtype.kind not in "uif":
        raise TypeError(f"x must be numbers; got an array of {_kind(x)}; convert it to float or, for images, uint8.")
    if x.ndim not in (2, 4):
        hint = "add a channel axis with x[:, None]" if x.ndim == 3 else "reshape it, for instance with x.reshape(n, -1)"
        raise ValueError(
            ("Reshape your data: " if x.ndim < 2 else "")
            + f"x must be vectors (n, d) or images (n, C, H, W); got an array of shape {x.shape}; {hint}."
        )
    if 0 in x.shape:
        what = "0 feature(s)" if len(x) else "0 sample(s)"
        raise ValueError(
            f"x must hold at least one sample of one feature; got {what} (shape={x.shape}) while a minimum of 1 is required."
        )
    if x.dtype.kind == "f" and not np.isfinite(x).all():
        bad = int((~np.isfinite(x).reshape(len(x), -1).all(axis=1)).sum())
        raise ValueError(f"x must be finite; {bad} of {len(x)} samples hold NaN or infinity; drop or impute them first.")
    return _images(x) if x.ndim == 4 else _vectors(x)


def _vectors(x: Array) -> Array:
    largest = np.abs(x.astype(np.float64) if x.dtype.kind != "f" else x).max()
    if largest > 1e30:
        raise ValueError(f"x must be numbers that single precision can square; got {largest:.3g}; rescale the features first.")
    return np.ascontiguousarray(x, dtype=np.float32)


def _images(x: Array) -> Array:
    _, channels, height, width = x.shape
    if height not in SIDES or width not in SIDES:
        hint = (
            "move the channels to the front with np.moveaxis(x, -1, 1)" if channels in SIDES and width <= 4 else "resize them"
        )
        raise ValueError(
            f"x must be images (n, C, H, W) with sides from {SIDES[0]} to {SIDES[-1]}; got shape {x.shape}; {hint}."
        )
    if channels > 4:
        hint = "; move the channels to the front with np.moveaxis(x, -1, 1)" if width <= 4 else ""
        raise ValueError(f"x must be images with 1 to 4 channels; got {channels} in shape {x.shape}{hint}.")
    if x.dtype == np.uint8:
        return np.ascontiguousarray(x)
    low, high = float(x.min()), float(x.max())
    if low < 0 or high > 1:
        raise ValueError(
            f"x must be images as uint8 or as floats in [0, 1]; got {x.dtype} from {low:.4g} to {high:.4g}; "
            "use x.astype('uint8') for 0 to 255, or rescale."
        )
    return np.ascontiguousarray(x, dtype=np.float32)


def _integers(name: str, column: ArrayLike, n: int, least: int) -> Array:
    column = np.asarray(column)
    if column.shape != (n,):
        raise ValueError(f"{name} must be one value for each of the {n} samples of x; got shape {column.shape}.")
    if column.dtype.kind not in "uifb" or not np.equal(column, np.round(column)).all():
        raise ValueError(f"{name} must be integers; got {_kind(column)} with other values; number them from {max(least, 0)}.")
    if column.min() < least:
        raise ValueError(f"{name} must be numbers from {least} up; got {column.min()}.")
    if column.max() > 1_000_000:
        raise ValueError(f"{name} must be numbers counted from 0; got {column.max()}; number them 0, 1, 2 and so on.")
    return column.astype(np.int64)


def _classes(labels: ArrayLike, n: int, names: tuple[str, ...]) -> tuple[Array, tuple[str, ...]]:
    labels = np.asarray(labels)
    if labels.dtype.kind == "O" and all(isinstance(label, str) for label in labels.flat):
        labels = labels.astype(str)
    if labels.dtype.kind not in "US":
        labels = _integers("labels", labels, n, least=-1)
        # Samples chosen from a larger set may all be unlabelled; then the names of its classes come with them.
        if labels.max() < 0 and not names:
            raise ValueError("labels must have at least one known class; every label is -1 (unknown).")
        return labels, names
    if labels.shape != (n,):
        raise ValueError(f"labels must be one value for each of the {n} samples of x; got shape {labels.shape}.")
    if names:
        raise ValueError(
            "label_names goes with whole-number labels; the labels are strings and name themselves; drop label_names."
        )
    unique, numbers = np.unique(labels.astype(str), return_inverse=True)
    return numbers.astype(np.int64), tuple(map(str, unique))


def _factors(factors: ArrayLike, n: int) -> Array:
    factors = np.asarray(factors)
    if factors.dtype.kind not in "uifb":
        raise TypeError(f"factors must be numbers; got {_kind(factors)}.")
    if factors.ndim == 1:
        factors = factors[:, None]
    if factors.ndim != 2 or len(factors) != n or not factors.shape[1]:
        raise ValueError(f"factors must have shape ({n}, k), as x has {n} samples; got {factors.shape}.")
    factors = factors.astype(np.float64)
    if np.isinf(factors).any():
        raise ValueError("factors must be finite numbers (NaN for unknown); got infinities.")
    return factors


def _masks(masks: ArrayLike, x: Array) -> Array:
    masks = np.asarray(masks)
    if x.ndim != 4 or masks.shape != (len(x), *x.shape[2:]):
        raise ValueError(f"masks must have shape (n, H, W) of images x (n, C, H, W); got {masks.shape} and x {x.shape}.")
    if masks.dtype.kind not in "uifb" or not np.isin(masks, (0, 1)).all():
        raise ValueError(f"masks must be 0 or 1 at every pixel; got {_kind(masks)} with other values; compare with > 0.")
    return masks.astype(bool)


def _names(field: str, names: Sequence[str], many: int, default: tuple[str, ...]) -> tuple[str, ...]:
    if isinstance(names, str):
        raise TypeError(f"{field} must be a sequence of names; got the single string {names!r}; wrap it in a tuple.")
    names = tuple(map(str, names)) or default
    if len(names) < many or len(set(names)) != len(names):
        raise ValueError(f"{field} must be {many} different names; got {names}.")
    return names


def _join_labels(sets: Sequence[Samples], names: tuple[str, ...]) -> Array:
    columns = []
    for one in sets:
        if one.labels is None:
            columns.append(np.full(len(one), -1))
        else:
            numbers = np.array([*(names.index(name) for name in one.label_names), -1])
            columns.append(numbers[one.labels])
    return np.concatenate(columns)


def _join_factors(sets: Sequence[Samples], width: int) -> Array:
    return np.concatenate([np.full((len(s), width), np.nan) if s.factors is None else s.factors for s in sets])


def _join_masks(given: Mapping[str, object], sets: Sequence[Samples]) -> Array | None:
    """Join the masks; a background without masks has nothing salient at any pixel."""
    if all(one.masks is None for one in sets):
        return None
    if missing := [name for name, one in zip(given, sets, strict=True) if one.masks is None and name != "background"]:
        raise ValueError(f"every target must have masks where one has; {missing[0]!r} has none; give it some.")
    return np.concatenate([np.zeros((len(s), *s.x.shape[2:]), bool) if s.masks is None else s.masks for s in sets])


def _as_samples(name: str, given: ArrayLike | Samples) -> Samples:
    if isinstance(given, Samples):
        return given
    try:
        return Samples(given)  # type: ignore[arg-type]
    except (ValueError, TypeError) as error:
        raise type(error)(f"{name}: {error}") from None


def _is_set(given: object) -> bool:
    try:
        return isinstance(given, Samples) or np.ndim(given) > 1  # type: ignore[arg-type]
    except ValueError:  # samples of different lengths, which the check of x refuses
        return True


def _describe(x: Array) -> str:
    return f"vectors of {x.shape[1]}" if x.ndim == 2 else f"images of {'x'.join(map(str, x.shape[1:]))} ({x.dtype})"


def _kind(x: Array) -> str:
    return {"O": "objects", "U": "strings", "S": "bytes", "c": "complex numbers", "M": "dates"}.get(x.dtype.kind, str(x.dtype))


def unit_range(x: Array, dtype: type[np.floating[Any]] = np.float32) -> Array:
    """Return samples as floats: uint8, the bytes of images, divided by 255 to [0, 1]; all others as they are."""
    return x / dtype(255) if x.dtype == np.uint8 else x.astype(dtype, copy=False)
