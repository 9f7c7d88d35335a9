"""AnnData in an .h5ad file or a zarr folder, opened without reading its matrices."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from untwine.registry.extras import optional

ZARR_METADATA = ("zarr.json", ".zarray", ".zgroup", ".zmetadata")


@dataclass(frozen=True)
class Store:
    """The tables and the matrices of a file; the matrices are still there."""

    obs: Any
    var: Any
    X: Any
    layers: Mapping[str, Any]
    obsm: Mapping[str, Any]


@contextmanager
def open_store(path: Path) -> Iterator[Store]:
    """Open a file, and close it at the end."""
    if not path.exists():
        raise ValueError(
            f"source must be an existing .h5ad file or zarr folder; got {path}, which is not there; correct the path."
        )
    if path.is_dir():
        yield _store(_open_zarr(path), path)
        return
    h5py = optional("h5py", "reading an .h5ad file")
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        reason = "it is no HDF5 file" if not h5py.is_hdf5(path) else f"it is damaged ({str(error).splitlines()[0]})"
        raise ValueError(
            f"{path} must be an .h5ad file; {reason}; restore it, or write it with adata.write_h5ad(path)."
        ) from None
    with file:
        yield _store(file, path)


def stored_matrix(matrix: Any) -> Any:
    """Return a matrix in a file as an object that reads its lines when they are asked for; others as they are."""
    encoding = str(getattr(matrix, "attrs", {}).get("encoding-type", "")) if _is_group(matrix) else ""
    if encoding in ("csr_matrix", "csc_matrix"):
        return optional("anndata.io", "reading single cells").sparse_dataset(matrix)
    if _is_group(matrix):
        return optional("anndata.io", "reading single cells").read_elem(matrix)
    return matrix


def _is_group(matrix: Any) -> bool:
    """Whether this is a group of h5py or zarr, which holds arrays by name."""
    return hasattr(matrix, "attrs") and hasattr(matrix, "keys") and not hasattr(matrix, "shape") and hasattr(matrix, "name")


def _store(group: Any, path: Path) -> Store:
    io = optional("anndata.io", "reading single cells")
    if missing := [name for name in ("obs", "var") if name not in group]:
        raise ValueError(
            f"{path} must hold AnnData; it has no {missing[0]!r} but {', '.join(sorted(group)) or 'nothing'}; write it with "
            "adata.write_h5ad(path) or adata.write_zarr(path)."
        )
    tables: dict[str, Any] = {}
    for name in ("obs", "var"):
        try:
            table = io.read_elem(group[name])
        except Exception as error:  # the library raises its own kinds, wrapped in others
            raise ValueError(
                f"{path} must have a readable {name!r}; got {str(error).splitlines()[0]}; restore the file."
            ) from None
        if not hasattr(table, "columns"):
            raise ValueError(
                f"{path} must have a table as {name!r}, as anndata 0.7 and newer write it; write it again with one."
            )
        tables[name] = table
    layers, obsm = (group.get(name, {}) for name in ("layers", "obsm"))
    X = group["X"] if "X" in group and not _is_null(group["X"]) else None
    return Store(tables["obs"], tables["var"], X, layers, obsm)


def _is_null(element: Any) -> bool:
    """Whether this is how newer versions of anndata write None."""
    return bool(str(element.attrs.get("encoding-type", "")) == "null")


def _open_zarr(path: Path) -> Any:
    zarr = optional("zarr", "reading a zarr folder")
    _refuse_pickles(path)
    try:
        return zarr.open_group(str(path), mode="r")
    except Exception as error:  # the library raises its own kinds
        raise ValueError(
            f"{path} must be a zarr folder that holds AnnData; got {str(error).splitlines()[0] if str(error) else 'no group'}; "
            "write it with adata.write_zarr(path)."
        ) from None


def _refuse_pickles(path: Path) -> None:
    """Refuse a folder with an array whose codec would unpickle it, which could run whatever it holds."""
    for file in (one for name in ZARR_METADATA for one in path.rglob(name)):
        try:
            content = json.loads(file.read_text(encoding="utf-8"))
        except (ValueError, OSError):
            raise ValueError(f"{path} must have readable metadata; {file.relative_to(path)} is damaged; restore it.") from None
        if _names_pickle(content):
            raise ValueError(
                f"{path} must hold no pickled arrays; {file.relative_to(path)} names one; write it without objects."
            )


def _names_pickle(content: Any) -> bool:
    if isinstance(content, dict):
        codec = [content.get(key) for key in ("id", "name")]
        if any(isinstance(one, str) and one.lower().split(".")[-1] == "pickle" for one in codec):
            return True
        return any(map(_names_pickle, content.values()))
    return isinstance(content, list) and any(map(_names_pickle, content))
