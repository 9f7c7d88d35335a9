"""Reader of single cells: AnnData in an .h5ad or zarr file, or in memory."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from untwine._typing import Array
from untwine.data.readers import notes
from untwine.data.readers.anndata_columns import Columns, feature_mask
from untwine.data.readers.anndata_store import open_store, stored_matrix
from untwine.data.readers.roles import Roles
from untwine.registry.checks import listed, suggestion
from untwine.registry.containers import is_anndata
from untwine.registry.sparse_vectors import is_sparse
from untwine.registry.stored_matrices import read_matrix
from untwine.samples import Samples

EXACT = 2**24  # float32 has every integer up to it


@dataclass(frozen=True)
class _Cells:
    """What a file or an object holds, with matrices that are read when they are asked for."""

    where: str
    obs: Any
    var: Any
    X: Any
    layers: Mapping[str, Any]
    obsm: Mapping[str, Any]


def read_anndata(
    source: Any,
    roles: Roles | None = None,
    *,
    layer: str | None = None,
    obsm: str | None = None,
    var: str | None = None,
    backed: bool = True,
) -> Samples:
    """Read single cells from AnnData: `obs_names` are the ids, `var_names` the names of the features.

    A sparse matrix stays sparse. Raw counts are read as they are, exactly up to 2^24; `fit` says what it takes them as.

    Parameters
    ----------
    source
        An .h5ad file, a zarr folder, or an `AnnData` object (in memory or backed).
    roles
        Which columns of `obs` are the group, the label, covariates, the source, factors and the id. A category may have missing
        values where its role allows it, and categories of numbers are names.
    layer
        Read this layer and not `X`, such as "counts".
    obsm
        Read this matrix of `obsm` and not `X`, such as "X_pca".
    var
        A column of `var` that is true for the features to keep, such as "highly_variable".
    backed
        Read a file some cells at a time and keep the chosen features of each, so that no more than what is kept is in memory;
        else the matrix at once, which takes more memory and may be faster on a network. Either way the samples are in memory
        when they are returned, sparse ones in about 8 bytes for each value that is not 0, and the file is closed.

    Examples
    --------
    >>> import anndata, numpy as np, pandas as pd
    >>> obs = pd.DataFrame({"condition": ["control", "treated", "treated"]}, index=["a", "b", "c"])
    >>> adata = anndata.AnnData(np.eye(3, 4, dtype="float32"), obs=obs)
    >>> read_anndata(adata, Roles(group="condition", background=("control",)))
    Samples(3 vectors of 4: control 1, treated 2)
    """
    roles = Roles() if roles is None else roles
    if sum(option is not None for option in (layer, obsm)) > 1 or (obsm and var):
        raise ValueError(
            f"obsm takes neither layer nor var: its columns are no features of var; got obsm={obsm!r} with "
            f"{f'layer={layer!r}' if layer else f'var={var!r}'}; leave one of them out."
        )
    with _cells(source) as cells:
        table = Columns(cells.obs)
        given: dict[str, Any] = roles.columns(table, f"{cells.where} (obs)")
        given.setdefault("ids", table.index)
        matrix, name = _chosen(cells, layer, obsm)
        where = f"{cells.where}, {name}"
        if tuple(matrix.shape)[:1] != (len(table.index),):
            raise ValueError(f"{where} must have one line for each of the {len(table.index)} cells of obs; got {matrix.shape}.")
        names, keep = _features(cells, matrix, obsm, var)
        x = _read(matrix, keep, backed, where)
    if roles.id is None:
        _warn_of_repeated(table.index, cells.where)
    if layer is not None and "count" in layer.lower():
        _warn_of_no_counts(x, where)
    try:
        samples = Samples(x, feature_names=names, **given)
    except (ValueError, TypeError) as error:
        advice = " (adata.var_names_make_unique() does)" if "feature_names must be different" in str(error) else ""
        raise type(error)(f"{where}: {str(error).removesuffix('.')}{advice}.") from None
    if keep is None and obsm is None:
        _warn_of_empty(samples, where)
    _say_counts(samples, where)
    return samples


@contextmanager
def _cells(source: Any) -> Iterator[_Cells]:
    """Open a file, or take what an AnnData object holds."""
    if is_anndata(source):
        yield _Cells("AnnData", source.obs, source.var, _x_of(source), source.layers, source.obsm)
    elif isinstance(source, str | Path):
        with open_store(Path(source).expanduser()) as store:
            yield _Cells(str(source), store.obs, store.var, store.X, store.layers, store.obsm)
    else:
        raise TypeError(f"source must be an .h5ad file, a zarr folder or AnnData; got {type(source).__name__}; pass a path.")


def _x_of(adata: Any) -> Any:
    """Return X; of a backed object whose file is gone, say so."""
    try:
        return adata.X
    except (OSError, KeyError, ValueError) as error:
        raise ValueError(f"AnnData must have its file {adata.filename} to read X from; got {error}; open it again.") from None


def _chosen(cells: _Cells, layer: str | None, obsm: str | None) -> tuple[Any, str]:
    """Return the matrix that is asked for, and its name."""
    for kind, key, own in (("layer", layer, cells.layers), ("obsm", obsm, cells.obsm)):
        if key is not None and key not in own:
            rest = suggestion(key, list(own)) if len(own) else "it has none; read X."
            raise ValueError(f"{cells.where} must have the {kind} {key!r}; it has none of that name; {rest}")
    if layer is not None:
        return stored_matrix(cells.layers[layer]), f"layer {layer!r}"
    if obsm is not None:
        return stored_matrix(cells.obsm[obsm]), f"obsm {obsm!r}"
    if cells.X is None:
        rest = f"pass layer={next(iter(cells.layers))!r}" if len(cells.layers) else "set adata.X"
        raise ValueError(f"{cells.where} must have values; its X is None; {rest}.")
    return stored_matrix(cells.X), "X"


def _features(cells: _Cells, matrix: Any, obsm: str | None, var: str | None) -> tuple[tuple[str, ...], Array | None]:
    """Return the names of the features that are kept, and their positions; None where all are."""
    if obsm is not None:
        columns = getattr(matrix, "columns", None)
        return tuple(map(str, columns if columns is not None else (f"{obsm} {i}" for i in range(matrix.shape[1])))), None
    table = Columns(cells.var)
    if matrix.shape[1] != len(table.index):
        raise ValueError(
            f"{cells.where} must have as many columns in its matrix as it has features in var, {len(table.index)}; got "
            f"{matrix.shape[1]}; write it again."
        )
    if var is None:
        return tuple(table.index.tolist()), None
    keep = np.flatnonzero(feature_mask(table, var, cells.where))
    return tuple(table.index[keep].tolist()), keep


def _read(matrix: Any, keep: Array | None, backed: bool, where: str) -> Any:
    if hasattr(matrix, "columns"):  # a data frame in obsm
        return np.asarray(matrix)
    try:
        return read_matrix(matrix, keep, at_once=not backed)
    except (OSError, RuntimeError, ValueError, IndexError, EOFError) as error:
        raise ValueError(f"{where} must be readable; got {str(error).splitlines()[0]}; restore the file.") from None


def _warn_of_repeated(ids: Array, where: str) -> None:
    unique, times = np.unique(ids, return_counts=True)
    if many := int((times > 1).sum()):
        warnings.warn(
            f"{where} has {many} obs_names that come more than once, such as {str(unique[times > 1][0])!r}; all cells are "
            "kept, but ids cannot tell these apart; call adata.obs_names_make_unique().",
            stacklevel=3,
        )


def _warn_of_no_counts(x: Any, where: str) -> None:
    """Warn of a layer that is called counts and holds others."""
    values = np.asarray(x.data if is_sparse(x) else x)
    finite = values[np.isfinite(values)] if values.dtype.kind == "f" else values
    wrong = finite[(finite < 0) | (finite != np.rint(finite))]
    if len(wrong):
        kind = "negative" if wrong[0] < 0 else "no integer"
        warnings.warn(
            f"{where} must be counts by its name; {len(wrong)} values are not, such as {wrong[0]:.4g}, which is {kind}; they "
            "are read as they are; choose another layer if you need counts.",
            stacklevel=3,
        )
    if len(finite) and finite.max() > EXACT:
        warnings.warn(
            f"{where} has counts above {EXACT:,}, up to {finite.max():.0f}, which single precision rounds.", stacklevel=3
        )


def _say_counts(samples: Samples, where: str) -> None:
    """Note that the values are raw counts, where they are: of cells, integers that are not 0 and 1 alone are."""
    values: Any = samples.x.data if is_sparse(samples.x) else samples.x
    if values.size and values.min() >= 0 and values.max() > 1 and np.equal(values, np.rint(values)).all():
        notes.say(
            f"{where} holds raw counts, integers up to {values.max():.0f}: choose likelihood=negative_binomial, or normalise "
            "each cell to the same total and take logarithms first"
        )


def _warn_of_empty(samples: Samples, where: str) -> None:
    """Warn of cells in which every feature is 0."""
    x = samples.x
    filled = np.diff(x.indptr) if is_sparse(x) else np.count_nonzero(x, axis=1)  # type: ignore[attr-defined]
    empty = np.flatnonzero(filled == 0)
    if len(empty):
        names = [] if samples.ids is None else samples.ids[empty].tolist()
        warnings.warn(
            f"{where} has {len(empty)} of {len(samples)} cells without any value but 0, which are kept: {listed(names, 100)}; "
            "filter them out if they are empty droplets.",
            stacklevel=3,
        )
