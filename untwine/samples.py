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
    mask_shape,
)
from untwine.registry.containers import feature_names_of, ids_of, is_anndata
from untwine.registry.covariates import Covariates
from untwine.registry.features import check_feature_names, in_order
from untwine.registry.observations import observations
from untwine.registry.sparse_vectors import is_sparse, stack, to_dense

BACKGROUND = 0
DIGESTED = 1_000_000  # numbers of a sparse x that are converted at a time


@dataclass(frozen=True, eq=False)
class Samples:
    """Observations, and optional columns that say what is known of each sample.

    Parameters
    ----------
    x
        Vectors (n, d), or images (n, C, H, W) as uint8, as floats in [0, 1], or as uint16, which is divided by 65535; with
        sides from 8 to 128. Or volumes (n, C, D, H, W) like images, with sides from 8 to 64. Kept as uint8 or float32. Vectors
        may be a sparse matrix, which stays one: a CSR array of scipy, of which the samples of a batch are made dense.
    groups
        One integer a sample: 0 is the background, 1 and above are targets. What contrastive methods need.
    labels
        One class a sample, as integers or strings. What class-supervised methods need; contrastive ones never see it.
        -1 means unknown.
    factors
        The true factors (n, k), for evaluation only. NaN means unknown.
    masks
        For images, the pixels (n, H, W), for volumes, the voxels (n, D, H, W), and for vectors, the features (n, d), where
        something salient is, such as a tumour, or a gene that responds; for evaluation only.
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
    covariates
        Known nuisances such as batch, site or age, which the blocks should not hold: `Covariates`, or a mapping from name to a
        column of strings (categories) or numbers.
    images
        For vectors that are features of images, the images (n, C, H, W). Nothing is fitted to them: figures show them.
    extractor
        What made `x` from `images`, where `untwine.networks.pretrained.frozen_features` did. The fingerprint is then that of
        the images and of the extractor.

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
    covariates: Covariates | None = None
    images: Array | None = None
    extractor: str = ""

    def __post_init__(self) -> None:
        put = object.__setattr__
        feature_names, ids = self.feature_names or feature_names_of(self.x), ids_of(self.x) if self.ids is None else self.ids
        put(self, "x", observations(self.x))
        n = self.x.shape[0]
        put(self, "feature_names", check_feature_names(feature_names, self.x))
        put(self, "ids", None if ids is None else check_ids(ids, n))
        if self.groups is not None:
            groups = check_integers("groups", self.groups, n, least=0)
            put(self, "groups", groups)
            many = int(groups.max()) + 1
            default = ("background", "target") if many <= 2 else ("background", *(f"target {i}" for i in range(1, many)))
            put(self, "group_names", check_names("group_names", self.group_names, many, default))
        if self.labels is not None:
            labels, names = check_classes(self.labels, n, self.label_names)
            put(self, "labels", labels)
            many = int(labels.max()) + 1
            put(self, "label_names", check_names("label_names", names, many, tuple(map(str, range(many)))))
        if self.factors is not None:
            factors = check_factor_table(self.factors, n)
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
            sources, names = check_sources(self.sources, n, self.source_names)
            put(self, "sources", sources)
            put(self, "source_names", names)
        if self.covariates is not None:
            put(self, "covariates", Covariates.of(self.covariates, n))
        if self.images is not None:
            put(self, "images", _check_images(self.images, self.x))

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
            x=stack([one.x for one in sets]),
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
            covariates=Covariates.join({name: one.covariates for name, one in zip(given, sets, strict=True)}),
            images=_join_images(sets),
            extractor=sets[0].extractor if len({one.extractor for one in sets}) == 1 else "",
        )

    def __len__(self) -> int:
        return int(self.x.shape[0])

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
            covariates=None if self.covariates is None else self.covariates[chosen],
            images=None if self.images is None else self.images[chosen],
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
        text += "" if self.images is None else f"; features of images of {'x'.join(map(str, self.images.shape[1:]))}"
        text += "" if self.covariates is None else f"; covariates {', '.join(self.covariates.names)}"
        return f"Samples({text})"

    def dense(self, index: Any = slice(None)) -> Array:
        """Return x of the chosen samples (a slice, a mask or indices) as an array, also where x is sparse."""
        return to_dense(self.x[index])

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one sample: (d,), (C, H, W) or (C, D, H, W)."""
        return tuple(self.x.shape[1:])

    @property
    def is_image(self) -> bool:
        """Whether the samples are images."""
        return self.x.ndim == 4

    @property
    def is_volume(self) -> bool:
        """Whether the samples are volumes."""
        return self.x.ndim == 5

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
        """Return a SHA-256 of x, groups, labels, factors and covariates: the same data, the same fingerprint.

        A sparse x has another one than the dense array of its values, and the same whatever format it was given in. Nothing is
        ever fitted to masks, sources or ids, and runs from before there were any stay valid.
        """
        digest = hashlib.sha256()
        for name in ("x", "groups", "labels", "factors"):
            # Features differ in their last bits between machines, the images that they are of do not.
            column = self.images if name == "x" and self.extractor else getattr(self, name)
            if is_sparse(column):
                _digest_sparse(column, digest)
            elif column is not None:
                digest.update(f"{name} {column.dtype} {column.shape}".encode())
                digest.update(np.ascontiguousarray(column).data)
        digest.update(self.extractor.encode())
        if self.covariates is not None:
            digest.update(f"covariates {self.covariates.names} {self.covariates.levels}".encode())
            digest.update(np.ascontiguousarray(self.covariates.values).data)
        return digest.hexdigest()


def _digest_sparse(x: Any, digest: Any) -> None:
    """Add the canonical content of a CSR array: numbers of positions have 64 bits, whatever they are kept in."""
    digest.update(f"x csr {x.dtype} {x.shape}".encode())
    for column, dtype in ((x.indptr, np.int64), (x.indices, np.int64), (x.data, np.float32)):
        for start in range(0, len(column), DIGESTED):
            digest.update(np.ascontiguousarray(column[start : start + DIGESTED], dtype=dtype).data)


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
    return np.concatenate([np.zeros(mask_shape(s.x), bool) if s.masks is None else s.masks for s in sets])


def _as_samples(name: str, given: ArrayLike | Samples) -> Samples:
    if isinstance(given, Samples):
        return given
    try:
        return Samples(given)  # type: ignore[arg-type]
    except (ValueError, TypeError) as error:
        raise type(error)(f"{name}: {error}") from None


def _check_images(images: Array, x: Array) -> Array:
    if x.ndim != 2 or np.ndim(images) != 4 or len(images) != len(x):
        raise ValueError(
            f"images must be the images (n, C, H, W) whose features x (n, d) has; got {np.shape(images)} with x {x.shape}; "
            "pass one image for each vector."
        )
    return observations(images)


def _join_images(sets: Sequence[Samples]) -> Array | None:
    """Join images where all samples have some of one shape; nothing is fitted to them."""
    images = [one.images for one in sets]
    shapes = {None if one is None else (one.shape[1:], one.dtype) for one in images}
    return None if None in shapes or len(shapes) > 1 else np.concatenate([one for one in images if one is not None])


def _is_set(given: object) -> bool:
    if isinstance(given, Samples) or is_sparse(given) or is_anndata(given):
        return True
    try:
        return np.ndim(given) > 1  # type: ignore[arg-type]
    except ValueError:  # samples of different lengths, which the check of x refuses
        return True


def _describe(x: Array) -> str:
    kind = {2: "vectors", 4: "images", 5: "volumes"}[x.ndim]
    kind = "sparse vectors" if is_sparse(x) else kind
    return f"{kind} of {'x'.join(map(str, x.shape[1:]))}" + (f" ({x.dtype})" if x.ndim > 2 else "")


def unit_range(x: Array, dtype: type[np.floating[Any]] = np.float32) -> Array:
    """Return samples as floats: uint8, the bytes of images, divided by 255 to [0, 1]; all others as they are."""
    return x / dtype(255) if x.dtype == np.uint8 else x.astype(dtype, copy=False)
