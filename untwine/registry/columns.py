"""Checks of the columns of samples: groups, classes, sources, factors, masks, ids, and the names of each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.registry.checks import shortened


def check_integers(name: str, column: ArrayLike, n: int, least: int) -> Array:
    """Return one integer for each of n samples, from `least` up, or refuse the column."""
    column = np.asarray(column)
    if column.shape != (n,):
        raise ValueError(f"{name} must be one value for each of the {n} samples of x; got shape {column.shape}.")
    if column.dtype.kind not in "uifb" or not np.equal(column, np.round(column)).all():
        raise ValueError(f"{name} must be integers; got {kind_of(column)} with other values; number them from {max(least, 0)}.")
    if column.min() < least:
        raise ValueError(f"{name} must be numbers from {least} up; got {column.min()}.")
    if column.max() > 1_000_000:
        raise ValueError(f"{name} must be numbers counted from 0; got {column.max()}; number them 0, 1, 2 and so on.")
    return column.astype(np.int64)


def check_classes(labels: ArrayLike, n: int, names: tuple[str, ...]) -> tuple[Array, tuple[str, ...]]:
    """Return labels as integers, -1 for unknown, and the names of the classes: of strings themselves, else those given."""
    labels = np.asarray(labels)
    if labels.dtype.kind == "O" and all(isinstance(label, str) for label in labels.flat):
        labels = labels.astype(str)
    if labels.dtype.kind not in "US":
        labels = check_integers("labels", labels, n, least=-1)
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


def check_sources(sources: ArrayLike, n: int, names: tuple[str, ...]) -> tuple[Array, tuple[str, ...]]:
    """Return sources as integers, and their names: of strings themselves, else those given; numbers need no names."""
    sources = np.asarray(sources)
    if sources.dtype.kind == "O" and all(isinstance(source, str) for source in sources.flat):
        sources = sources.astype(str)
    if sources.shape != (n,):
        raise ValueError(f"sources must be one value for each of the {n} samples of x; got shape {sources.shape}.")
    if sources.dtype.kind in "US":
        if names:
            raise ValueError("source_names goes with integer sources; the sources are strings; drop source_names.")
        unique, numbers = np.unique(sources.astype(str), return_inverse=True)
        return numbers.astype(np.int64), tuple(map(str, unique))
    if sources.dtype.kind not in "uifb" or not np.equal(sources, np.round(sources)).all():
        raise ValueError(f"sources must be integers or strings; got {kind_of(sources)} with other values; number or name them.")
    if names and not (sources.min() >= 0 and sources.max() < len(names)):
        raise ValueError(
            f"sources must be positions in source_names, from 0 to {len(names) - 1}; got {sources.min()} to {sources.max()}."
        )
    return sources.astype(np.int64), tuple(map(str, names))


def join_sources(columns: Sequence[tuple[Array | None, tuple[str, ...], int]]) -> tuple[Array | None, tuple[str, ...]]:
    """Join the sources of several sets, each given with its names and its number of samples.

    The same name, or the same number where there are no names, is the same source in all sets. Samples of a set without
    sources are a source each.
    """
    known = [sources for sources, _, _ in columns if sources is not None]
    if not known:
        return None, ()
    if not any(names for _, names, _ in columns):
        fresh, numbers_of = max(int(sources.max()) for sources in known) + 1, list[Array]()
        for sources, _, n in columns:
            numbers_of.append(np.arange(fresh, fresh + n) if sources is None else sources)
            fresh += n if sources is None else 0
        return np.concatenate(numbers_of), ()
    texts = []
    for number, (sources, names, n) in enumerate(columns):
        if sources is None:
            texts.append(np.array([f"sample {i} of set {number}" for i in range(n)]))
        else:
            texts.append(np.array(names)[sources] if names else sources.astype(str))
    unique, numbers = np.unique(np.concatenate(texts), return_inverse=True)
    return numbers.astype(np.int64), tuple(map(str, unique))


def check_factor_table(factors: ArrayLike, n: int) -> Array:
    """Return factors (n, k) as float64, NaN for unknown, or refuse them."""
    factors = np.asarray(factors)
    if factors.dtype.kind not in "uifb":
        raise TypeError(f"factors must be numbers; got {kind_of(factors)}.")
    if factors.ndim == 1:
        factors = factors[:, None]
    if factors.ndim != 2 or len(factors) != n or not factors.shape[1]:
        raise ValueError(f"factors must have shape ({n}, k), as x has {n} samples; got {factors.shape}.")
    factors = factors.astype(np.float64)
    if np.isinf(factors).any():
        raise ValueError("factors must be finite numbers (NaN for unknown); got infinities.")
    return factors


def mask_shape(x: Array) -> tuple[int, ...]:
    """Return the shape of the masks of samples x: that of vectors themselves, of images and volumes without the channels."""
    return tuple(x.shape) if x.ndim == 2 else (x.shape[0], *x.shape[2:])


def check_masks(masks: ArrayLike, x: Array) -> Array:
    """Return the masks (n, d) of vectors, (n, H, W) of images, or (n, D, H, W) of volumes, as booleans, or refuse them."""
    masks = np.asarray(masks)
    if masks.shape != mask_shape(x):
        raise ValueError(
            f"masks must have shape (n, H, W) of images x (n, C, H, W), or (n, d) of vectors; got {masks.shape} and x "
            f"{x.shape}."
        )
    if masks.dtype.kind not in "uifb" or not np.isin(masks, (0, 1)).all():
        raise ValueError(
            f"masks must be 0 or 1 at every pixel or feature; got {kind_of(masks)} with other values; compare with > 0."
        )
    return masks.astype(bool)


def check_ids(ids: ArrayLike, n: int) -> Array:
    """Return a text for each of n samples, or refuse the column."""
    ids = np.asarray(ids)
    if ids.shape != (n,):
        raise ValueError(f"ids must be one value for each of the {n} samples of x; got shape {ids.shape}.")
    return ids.astype(str)


def join_ids(columns: Sequence[tuple[str, Array | None, int]]) -> Array | None:
    """Join the ids of several sets, given by name with the number of samples; those without ids are numbered."""
    if all(ids is None for _, ids, _ in columns):
        return None
    return np.concatenate([np.array([f"{name} {i}" for i in range(n)]) if ids is None else ids for name, ids, n in columns])


def check_names(field: str, names: Sequence[str], many: int, default: tuple[str, ...]) -> tuple[str, ...]:
    """Return at least `many` different names, or the default where none are given."""
    if isinstance(names, str):
        raise TypeError(f"{field} must be a sequence of names; got the single string {names!r}; wrap it in a tuple.")
    names = tuple(map(str, names)) or default
    if len(names) < many or len(set(names)) != len(names):
        raise ValueError(f"{field} must be {many} different names; got {shortened(names, 200)}.")
    return names


def kind_of(x: Array) -> str:
    """Describe the type of the elements of an array for an error message."""
    return {"O": "objects", "U": "strings", "S": "bytes", "c": "complex numbers", "M": "dates"}.get(x.dtype.kind, str(x.dtype))
