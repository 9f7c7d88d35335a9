"""Codes, and samples without a block, in AnnData: what scanpy and its relatives work on.

`obsm["X_untwine_<block>"]` has the codes of every block, `uns["untwine"]` says which run they are of, and
`layers["without_<block>"]` has the expression without a block. Everything else stays as it is.
"""

from __future__ import annotations

import json
import os
import shutil
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from untwine._typing import Array
from untwine.latents import Latents
from untwine.method.blocks import changed_block
from untwine.method.contract import Method
from untwine.registry.checks import check_choice, listed, suggestion
from untwine.registry.containers import is_anndata
from untwine.registry.covariates import Covariates
from untwine.registry.extras import optional
from untwine.registry.features import in_order
from untwine.runs import files
from untwine.samples import Samples

CELLS_AT_ONCE = 1024
ABOUT, WITHOUT = "untwine", "without_"
Read = Callable[[int, int], Any]  # from the first cell and the one after the last to their matrix, dense or sparse


def to_anndata(
    method: Method,
    adata: Any,
    *,
    layer: str | None = None,
    without: str | None = None,
    threshold: float | None = None,
    copy: bool = True,
) -> Any:
    """Return AnnData with the codes of its cells and, if asked for, with their expression without a block.

    Parameters
    ----------
    method
        A fitted method; genes are found by their names.
    adata
        AnnData with the genes of the fit; others are left out of what is encoded.
    layer
        The layer that is encoded; by default the one that the run was fitted on, or X.
    without
        A block, such as "salient": `layers["without_salient"]` becomes what the method decodes without it. The layer is dense,
        also where X is sparse: what is decoded is hardly ever 0. Genes that the fit did not have keep their values.
    threshold
        Write that layer as a sparse matrix, in which absolute values up to this one are 0.
    copy
        Return a copy; False writes into `adata` itself and returns it.

    Returns
    -------
    adata
        With `obsm["X_untwine_<block>"]` for every block and `uns["untwine"]`.
    """
    if not is_anndata(adata):
        raise TypeError(f"adata must be AnnData; got {type(adata).__name__}; read a file with anndata.read_h5ad.")
    layer = _layer(method, layer)
    if layer is not None:
        check_choice("layer", layer, dict.fromkeys(adata.layers))
    matrix, names = adata.X if layer is None else adata.layers[layer], list(map(str, adata.var_names))
    if matrix is None:
        raise ValueError("adata must have values; got AnnData without X; set adata.X, or name a layer.")
    block = _check(method, names, without, threshold)
    result = adata.copy() if copy else adata
    encoded = _encode(method, lambda start, stop: matrix[start:stop], names, adata.n_obs, _covariates(method, adata.obs))
    decoded: list[Any] = []
    codes: dict[str, list[Array]] = {name: [] for name in method.blocks}
    for x, z in encoded:
        for name, own in codes.items():
            own.append(z[name])
        if block:
            decoded.append(_sparse(_without(method, x, z, names, block), threshold))
    for name, own in codes.items():
        result.obsm[code_name(name)] = np.concatenate(own)
    result.uns[ABOUT] = about(method, layer)
    if block:
        result.layers[f"{WITHOUT}{block}"] = _stack(decoded)
    return result


def write_anndata(
    method: Method,
    path: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    layer: str | None = None,
    without: str | None = None,
    threshold: float | None = None,
    overwrite: bool = False,
) -> int:
    """Copy an .h5ad file and add what `to_anndata` adds, a block of cells at a time; return the number of cells.

    Parameters
    ----------
    path
        The file to read.
    out
        The file to write; with `overwrite` it may be the same. It is there whole or not at all.
    method, layer, without, threshold
        As for `to_anndata`.
    overwrite
        Replace an existing file.
    """
    h5py, io = optional("h5py", "writing an .h5ad file"), optional("anndata.io", "writing an .h5ad file")
    path, out = Path(path).expanduser(), Path(out).expanduser()
    if out.exists() and not overwrite:
        raise ValueError(f"out must be a new file; {out} exists; choose another, or pass overwrite.")
    if not path.is_file() or not h5py.is_hdf5(path):
        reason = "it is something else" if path.exists() else "it does not exist"
        raise ValueError(f"{path} must be an .h5ad file; {reason}; write one with adata.write_h5ad.")
    layer = _layer(method, layer)
    with files.atomic_path(out) as aside:
        shutil.copyfile(path, aside)
        with h5py.File(aside, "r+") as file:
            matrix = _stored_matrix(file, layer, path, io)
            names = list(map(str, io.read_elem(file["var"]).index))
            block = _check(method, names, without, threshold)
            n = int(matrix.shape[0])
            known = _covariates(method, io.read_elem(file["obs"]) if method.columns.names else {})
            encoded = _encode(method, lambda start, stop: matrix[start:stop], names, n, known)
            _write(file, io, method, encoded, (n, names), block, threshold)
            _put(file, io, "uns", ABOUT, about(method, layer))
    return n


def code_name(block: str) -> str:
    """Return the name in obsm of the codes of a block."""
    return f"X_untwine_{block}"


def about(method: Method, layer: str | None = None) -> dict[str, Any]:
    """Return what is written of the run: only text, numbers and tables of them; options that are no number are JSON."""
    from untwine import __version__

    data = dict(method.data_)
    return {
        "method": method.name,
        "blocks": dict(method.blocks),
        "params": json.dumps(method.get_params()),
        "layer": layer or "X",
        "data": str(data.get("name") or ""),
        "data_fingerprint": str(data.get("fingerprint", "")),
        "weights_sha256": files.tensors_sha256(method.nets_.state_dict()),
        "version": __version__,
    }


def _layer(method: Method, layer: str | None) -> str | None:
    return layer if layer is not None else (method.data_.get("options") or {}).get("layer")


def _check(method: Method, names: list[str], without: str | None, threshold: float | None) -> str | None:
    """Refuse a method of images, genes that are missing and options that do not fit; return the block to remove."""
    if len(method.shape_) != 1:
        raise ValueError(f"the run must be on vectors to encode AnnData; {method.name} was fitted on images.")
    if len(set(names)) != len(names):
        raise ValueError("adata must have different names of genes; some occur twice; call adata.var_names_make_unique().")
    if not method.feature_names and len(names) != method.shape_[0]:
        raise ValueError(
            f"adata must have the {method.shape_[0]} features of the fit, which had no names; got {len(names)}; fit on data "
            "with names of features."
        )
    if missing := [name for name in method.feature_names if name not in set(names)]:
        raise ValueError(
            f"adata must have the {len(method.feature_names)} genes of the fit; it lacks {len(missing)}: {listed(missing)}; "
            "add or rename them."
        )
    if threshold is not None and (without is None or threshold < 0):
        raise ValueError(f"threshold must be 0 or more and goes with a block to remove; got {threshold!r}; drop it.")
    return None if without is None else changed_block(method, without)


def _covariates(method: Method, obs: Any) -> dict[str, Array]:
    """Return the covariates of the fit from the columns of obs of the same names."""
    known = {}
    for name, levels in zip(method.columns.names, method.columns.levels, strict=True):
        if name not in obs:
            raise ValueError(f"adata.obs must have the covariates of the fit; it lacks {name!r}; {suggestion(name, list(obs))}")
        known[name] = np.asarray(obs[name].astype(str)) if levels else np.asarray(obs[name], dtype=np.float64)
    return known


def _encode(
    method: Method, read: Read, names: list[str], n: int, covariates: Mapping[str, Array]
) -> Iterator[tuple[Array, Latents]]:
    """Yield cells (k, genes of the file) and their codes, some at a time; genes of no use are warned about once."""
    for start in range(0, n, CELLS_AT_ONCE):
        some = read(start, min(start + CELLS_AT_ONCE, n))
        x = np.asarray(some.toarray() if hasattr(some, "toarray") else some, dtype=np.float32).reshape(-1, len(names))
        with warnings.catch_warnings():
            if start:
                warnings.simplefilter("ignore")
            arranged = in_order(x, names, method.feature_names)
        known = {name: values[start : start + len(x)] for name, values in covariates.items()}
        yield x, method.encode(Samples(arranged, covariates=Covariates.of(known, len(x))) if known else arranged)


def _without(method: Method, x: Array, z: Latents, names: list[str], block: str) -> Array:
    """Return cells as decoded without a block; genes that the fit did not have keep their values."""
    decoded = method.decode(z.remove(block))
    if not method.feature_names:
        return decoded
    places = {name: i for i, name in enumerate(names)}
    x = x.copy()
    x[:, [places[name] for name in method.feature_names]] = decoded
    return x


def _sparse(x: Array, threshold: float | None) -> Any:
    if threshold is None:
        return x
    from scipy import sparse

    return sparse.csr_matrix(np.where(np.abs(x) > threshold, x, np.float32(0)))


def _stack(matrices: list[Any]) -> Any:
    if isinstance(matrices[0], np.ndarray):
        return np.concatenate(matrices)
    from scipy import sparse

    return sparse.vstack(matrices, format="csr")


def _stored_matrix(file: Any, layer: str | None, path: Path, io: Any) -> Any:
    """Return X or a layer of an open file as something that slices read from."""
    if layer is None:
        if "X" not in file:
            raise ValueError(f"{path} must have X; it has none; name a layer.")
        stored = file["X"]
    else:
        layers = list(file["layers"]) if "layers" in file else []
        if layer not in layers:
            raise ValueError(f"{path} must have the layer {layer!r}; it has none of that name; {suggestion(layer, layers)}")
        stored = file["layers"][layer]
    return io.sparse_dataset(stored) if hasattr(stored, "keys") else stored


def _write(
    file: Any,
    io: Any,
    method: Method,
    encoded: Iterator[tuple[Array, Latents]],
    size: tuple[int, list[str]],
    block: str | None,
    threshold: float | None,
) -> None:
    """Write codes, and samples without a block: a dense layer goes to the file as it is decoded."""
    (n, names), codes, start = size, {name: list[Array]() for name in method.blocks}, 0
    dense, decoded = None, list[Any]()
    for x, z in encoded:
        for name, own in codes.items():
            own.append(z[name])
        if block:
            removed = _sparse(_without(method, x, z, names, block), threshold)
            if threshold is not None:
                decoded.append(removed)
            else:
                dense = _new_layer(file, io, block, (n, len(names))) if dense is None else dense
                dense[start : start + len(x)] = removed
        start += len(x)
    for name, own in codes.items():
        _put(file, io, "obsm", code_name(name), np.concatenate(own))
    if decoded:
        _put(file, io, "layers", f"{WITHOUT}{block}", _stack(decoded))


def _new_layer(file: Any, io: Any, block: str, shape: tuple[int, int]) -> Any:
    """Return an empty dense layer of an open file, in the form that anndata gives arrays."""
    _put(file, io, "layers", f"{WITHOUT}{block}", np.zeros((0, shape[1]), np.float32))
    attributes = dict(file["layers"][f"{WITHOUT}{block}"].attrs)
    del file["layers"][f"{WITHOUT}{block}"]
    dense = file["layers"].create_dataset(f"{WITHOUT}{block}", shape=shape, dtype="float32")
    dense.attrs.update(attributes)
    return dense


def _put(file: Any, io: Any, group: str, name: str, value: Any) -> None:
    """Write an entry of a group of an open file, in place of an earlier one."""
    if group not in file:
        io.write_elem(file, group, {})
    if name in file[group]:
        del file[group][name]
    io.write_elem(file[group], name, value)
