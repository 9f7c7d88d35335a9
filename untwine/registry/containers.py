"""Containers of numbers that are no arrays, such as data frames and AnnData: their values and the names that they hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from untwine._typing import Array
from untwine.registry.sparse_vectors import is_sparse
from untwine.registry.stored_matrices import read_matrix


def is_anndata(x: object) -> bool:
    """Whether x is an AnnData object, by the package of its class: anndata itself is never imported."""
    return any(kind.__module__.partition(".")[0] == "anndata" and kind.__name__ == "AnnData" for kind in type(x).__mro__)


def values_of(x: Any) -> Any:
    """Return what np.asarray can convert at once, or x itself; of AnnData the matrix X, which stays sparse if it is.

    numpy would read other objects with a length and items one element after the other, which takes hours: they are refused.
    """
    if is_anndata(x):
        if x.X is None:
            raise ValueError("x must have values; got AnnData without X; set adata.X, for instance to a layer.")
        return read_matrix(x.X)
    if (
        is_sparse(x)
        or isinstance(x, np.ndarray | Sequence | Mapping)
        or not (hasattr(x, "__len__") and hasattr(x, "__getitem__"))
    ):
        return x
    if any(hasattr(x, name) for name in ("__array__", "__array_interface__", "__array_struct__")):
        return x
    try:
        memoryview(x)
    except TypeError:
        raise TypeError(
            f"x must be an array, a data frame or AnnData; got {type(x).__name__}, which is none; pass its values as an array."
        ) from None
    return x


def feature_names_of(x: Any) -> tuple[str, ...]:
    """Return the names of the columns of a data frame whose columns are strings, or of AnnData; empty for all else."""
    if is_anndata(x):
        return tuple(map(str, x.var_names))
    columns = getattr(x, "columns", None)
    if columns is None or not hasattr(x, "__array__"):
        return ()
    names = list(columns)
    return tuple(names) if names and all(isinstance(name, str) for name in names) else ()


def ids_of(x: Any) -> Array | None:
    """Return the names of the observations of AnnData; None for all else."""
    return np.array(list(map(str, x.obs_names))) if is_anndata(x) else None
