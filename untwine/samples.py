"""What was observed: images or vectors, with what is known about each sample."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.registry.columns import (
    check_classes,
    check_factor_table,
    check_ids,
    check_integers,
    check_masks,
    check_names,
    check_sources,
    join_ids,
    join_sources,
    kind_of,
)
from untwine.registry.containers import feature_names_of, ids_of, values_of
from untwine.registry.features import check_feature_names, in_order

SIDES = range(8, 129)
BACKGROUND = 0


@dataclass(frozen=True, eq=False)
class Samples:
    """Observations, and optional columns that say what is known of each sample.

    Parameters
    ----------
    x
        Vectors (n, d), or images (n, C, H, W) as uint8, as floats in [0, 1], or as uint16, which is divided by 65535; with
        sides from 8 to 128. Kept as uint8 or float32.
    groups
        One integer a sample: 0 is the background, 1 and above are targets. What contrastive methods need.
    labels
        One class a sample, as integers or strings. What class-supervised methods need; contrastive ones never see it.
        -1 means unknown.
    factors
        The true factors (n, k), for evaluation only. NaN means unknown.
    masks
        For images, the pixels (n, H, W) where something salient is, such as a tumour; for evaluation only.
    sources
        What each sample was made from or belongs to, as integers or strings: patient, donor, original digit. Splits, folds and
        random halves never cut through one. The same value means the same source, in target and background too. Nothing is
        fitted to it.
    group_names, label_names, factor_names, source_names
        A name for each group, class, factor and source; groups, classes and factors are numbered where not given.
    feature_names
        A name for each feature of vectors; by default those of a data frame or AnnData. A method keeps the names of its fit,
        and brings the features of other samples into that order.
    ids
        A name for each sample, such as its file; for what is written about single samples. Nothing is fitted to it.

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
    sources: Array | None = None
    source_names: tuple[str, ...] = ()
    feature_names: tuple[str, ...] = ()
    ids: Array | None = None

    def __post_init__(self) -> None:
        put = object.__setattr__
        feature_names, ids = self.feature_names or feature_names_of(self.x), ids_of(self.x) if self.ids is None else self.ids
        put(self, "x", observations(self.x))
        put(self, "feature_names", check_feature_names(feature_names, self.x))
        put(self, "ids", None if ids is None else check_ids(ids, len(self.x)))
        if self.groups is not None:
            groups = check_integers("groups", self.groups, len(self.x), least=0)
            put(self, "groups", groups)
            many = int(groups.max()) + 1
            default = ("background", "target") if many <= 2 else ("background", *(f"target {i}" for i in range(1, many)))
            put(self, "group_names", check_names("group_names", self.group_names, many, default))
        if self.labels is not None:
            labels, names = check_classes(self.labels, len(self.x), self.label_names)
            put(self, "labels", labels)
            many = int(labels.max()) + 1
            put(self, "label_names", check_names("label_names", names, many, tuple(map(str, range(many)))))
        if self.factors is not None:
            factors = check_factor_table(self.factors, len(self.x))
            put(self, "factors", factors)
            many = factors.shape[1]
            put(
                self,
                "factor_names",
                check_names("factor_names", self.factor_names, many, tuple(f"factor {i}" for i in range(many))),
            )
        if self.masks is not None:
            put(self, "masks", check_masks(self.masks, self.x))
        if self.sources is not None:
            sources, names = check_sources(self.sources, len(self.x), self.source_names)
            put(self, "sources", sources)
            put(self, "source_names", names)

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
            are pooled in training, and stay apart for scoring. The same source in several of them, by name or number, is one
            source; samples without sources are one each, where others have some.
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
        sets = _align([_as_samples(name, one) for name, one in given.items()])
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
        sources, source_names = join_sources([(one.sources, one.source_names, len(one)) for one in sets])
        return cls(
            x=np.concatenate([one.x for one in sets]),
            groups=np.concatenate([np.full(len(one), group) for group, one in enumerate(sets)]),
            labels=_join_labels(sets, label_names) if label_names else None,
            factors=_join_factors(sets, len(factor_names)) if factor_names else None,
            group_names=tuple(given),
            label_names=label_names,
            factor_names=factor_names,
            masks=_join_masks(given, sets),
            sources=sources,
            source_names=source_names,
            feature_names=next((one.feature_names for one in sets if one.feature_names), ()),
            ids=join_ids([(name, one.ids, len(one)) for name, one in zip(given, sets, strict=True)]),
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
            sources=None if self.sources is None else self.sources[chosen],
            ids=None if self.ids is None else self.ids[chosen],
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
        text += "" if self.sources is None else f"; {len(np.unique(self.sources))} sources"
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
        """Return a SHA-256 of x, groups, labels and factors: the same data, the same fingerprint.

        Nothing is ever fitted to masks, sources or ids, and runs from before there were any stay valid.
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
        x = np.asarray(values_of(x))
    except ValueError as error:
        raise ValueError("x must be one rectangular array; its samples differ in length; bring them to one length.") from error
    if x.dtype == bool:
        x = x.astype(np.float32)
    if x.dtype.kind not in "uif":
        raise TypeError(f"x must be numbers; got an array of {kind_of(x)}; convert it to float or, for images, uint8.")
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
    if x.dtype == np.uint16 and high > 255:
        return np.ascontiguousarray(x / np.float32(65535), dtype=np.float32)
    if low < 0 or high > 1:
        advice = (
            "use x.astype('uint8')"
            if low >= 0 and high <= 255 and (x == np.rint(x)).all()
            else "rescale them to [0, 1] as floats, (x - low) / (high - low), with the same low and high for all your data"
        )
        raise ValueError(
            f"x must be images as uint8 or uint16, or as floats in [0, 1]; got {x.dtype} from {low:.4g} to {high:.4g}; "
            f"{advice}."
        )
    return np.ascontiguousarray(x, dtype=np.float32)


def _align(sets: Sequence[Samples]) -> list[Samples]:
    """Return the sets with the features in the order of the first that names them."""
    wanted = next((one.feature_names for one in sets if one.feature_names), ())
    return [
        replace(one, x=in_order(one.x, one.feature_names, wanted, "the background"), feature_names=wanted)
        if one.feature_names and one.feature_names != wanted
        else one
        for one in sets
    ]


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


def unit_range(x: Array, dtype: type[np.floating[Any]] = np.float32) -> Array:
    """Return samples as floats: uint8, the bytes of images, divided by 255 to [0, 1]; all others as they are."""
    return x / dtype(255) if x.dtype == np.uint8 else x.astype(dtype, copy=False)
