"""Samples from tables with typed columns: Parquet and Feather files, and data frames."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from untwine._typing import Array
from untwine.data.readers import notes
from untwine.data.readers.contents import check_unpacked
from untwine.data.readers.roles import Roles
from untwine.data.readers.table_columns import Impute, TableRules, samples_of_columns
from untwine.registry.extras import optional
from untwine.samples import Samples

INDEX = "__index_level_0__"  # the name that pandas gives an index in Parquet


def read_columnar(
    path: Path,
    roles: Roles,
    *,
    features: str | Sequence[str] = (),
    drop: str | Sequence[str] = (),
    impute: Impute | None = None,
    categories: str | Sequence[str] = (),
) -> Samples:
    """Read a Parquet or Feather file, or a folder of Parquet files; the options are those of `read_table`.

    Dates are text, true and false are 1 and 0. An index of names, as pandas writes it, becomes the ids.
    """
    rules = TableRules.of(features, drop, impute, categories)
    return _samples(path, _open(path), roles, rules)


def read_frame(
    frame: Any,
    roles: Roles,
    *,
    features: str | Sequence[str] = (),
    drop: str | Sequence[str] = (),
    impute: Impute | None = None,
    categories: str | Sequence[str] = (),
) -> Samples:
    """Read a data frame of pandas or polars, a table of Arrow, or a data set of Hugging Face.

    The options are those of `read_table`. An index of names of a pandas frame becomes the ids.
    """
    rules = TableRules.of(features, drop, impute, categories)
    where = f"the {type(frame).__name__}"
    if hasattr(frame, "to_arrow"):  # of polars
        return _samples(where, frame.to_arrow(), roles, rules)
    if hasattr(frame, "column_names") and hasattr(frame, "with_format"):  # of Hugging Face
        _check_no_images(where, frame, rules.drop)
        return _samples(where, frame.with_format("arrow")[:], roles, rules)
    if hasattr(frame, "column_names") and hasattr(frame, "schema"):  # of Arrow
        return _samples(where, frame, roles, rules)
    return _pandas_samples(where, frame, roles, rules)


def is_frame(given: object) -> bool:
    """Whether something is a table with named columns that `read_frame` takes."""
    return hasattr(given, "column_names") or (hasattr(given, "columns") and hasattr(given, "__array__"))


def _open(path: Path) -> Any:
    """Return the Arrow table of a file."""
    arrow = optional("pyarrow", f"reading {path.name}")
    try:
        if path.name.lower().endswith(".feather"):
            return optional("pyarrow.feather", f"reading {path.name}").read_table(path)
        parquet = optional("pyarrow.parquet", f"reading {path.name}")
        if path.is_file():
            metadata = parquet.read_metadata(path)
            check_unpacked(path, 8 * metadata.num_rows * metadata.num_columns, "take fewer rows or columns")
        return parquet.read_table(path)
    except (arrow.ArrowException, OSError) as error:
        text = " ".join(str(error).split())
        raise ValueError(f"{path} must be a complete table; it cannot be read ({text:.200}); write it again.") from None


def _check_no_images(where: str, frame: Any, drop: Sequence[str]) -> None:
    """Refuse a data set of Hugging Face with a column of images, whose encoded files would be read as text."""
    kinds = getattr(frame, "features", None) or {}
    images = [name for name, kind in kinds.items() if type(kind).__name__ == "Image" and name not in drop]
    if images:
        raise ValueError(
            f"{where} must have columns of numbers or text; {images[0]!r} holds images; read them by "
            f"read_torch(dataset, y='groups' or 'labels', keys=({images[0]!r}, <name of the column of y>)) of untwine.data, or "
            f"leave them out with drop={images[0]!r}."
        )


def _samples(where: object, table: Any, roles: Roles, rules: TableRules) -> Samples:
    """Return the samples of an Arrow table."""
    names = table.column_names
    if repeated := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise ValueError(f"{where} must have a different name for every column; got {repeated[0]!r} more than once; rename it.")
    if not table.num_rows:
        raise ValueError(f"{where} must have at least one row; it has none; add rows.")
    columns = {name: _of_arrow(table.column(name)) for name in names if name not in rules.drop or name in roles.names}
    columns |= {name: np.zeros(table.num_rows, dtype=object) for name in names if name not in columns}
    return _with_index(where, columns, columns.pop(INDEX, None) if INDEX not in roles.names else None, roles, rules)


def _of_arrow(column: Any) -> Array:
    """Return a column of Arrow as numbers, as text in which "" is missing, or as objects where it is neither."""
    types = optional("pyarrow.types", "reading a table")
    kind = column.type
    if types.is_dictionary(kind):
        kind = kind.value_type
        column = column.cast(kind)
    if types.is_floating(kind) or types.is_integer(kind):
        return np.asarray(column.to_numpy())
    if types.is_boolean(kind) or types.is_decimal(kind):
        return np.array([np.nan if one is None else float(one) for one in column.to_pylist()])
    values = column.to_pylist()
    if types.is_string(kind) or types.is_large_string(kind) or types.is_temporal(kind) or types.is_null(kind):
        return np.array(["" if one is None else str(one).strip() for one in values])
    return _objects(values)


def _pandas_samples(where: str, frame: Any, roles: Roles, rules: TableRules) -> Samples:
    names = list(frame.columns)
    if other := [name for name in names if not isinstance(name, str)]:
        raise ValueError(f"{where} must have strings as names of columns; got {other[0]!r}; use frame.columns.astype(str).")
    if repeated := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise ValueError(f"{where} must have a different name for every column; got {repeated[0]!r} more than once; rename it.")
    if not len(frame):
        raise ValueError(f"{where} must have at least one row; it has none; add rows.")
    columns = {name: _of_pandas(frame[name]) for name in names}
    index = np.asarray(frame.index)
    return _with_index(where, columns, index if index.dtype.kind in "OUT" else None, roles, rules)


def _of_pandas(series: Any) -> Array:
    """Return a series as numbers, as text, or as objects, as `_of_arrow` does."""
    kind = getattr(series.dtype, "kind", "O")
    if kind in "uifb" and not hasattr(series, "cat"):
        return np.asarray(series.to_numpy(dtype=np.float64, na_value=np.nan) if series.isna().any() else series.to_numpy())
    values = series.astype(object).tolist()
    missing = series.isna().tolist()
    if all(
        one or isinstance(value, (str, bool)) or hasattr(value, "isoformat") for one, value in zip(missing, values, strict=True)
    ):
        return np.array(["" if one else str(value).strip() for one, value in zip(missing, values, strict=True)])
    if all(one or (isinstance(value, (int, float))) for one, value in zip(missing, values, strict=True)):
        return np.array([np.nan if one else float(value) for one, value in zip(missing, values, strict=True)])
    return _objects(values)


def _objects(values: list[Any]) -> Array:
    """Return an array of objects, which numpy would make of lists itself in another shape."""
    objects = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        objects[i] = value
    return objects


def _with_index(where: object, columns: dict[str, Array], index: Array | None, roles: Roles, rules: TableRules) -> Samples:
    """Return the samples, with an index of names as ids where no column is the id."""
    samples = samples_of_columns(where, columns, roles, rules)
    if index is None or samples.ids is not None:
        return samples
    from dataclasses import replace

    notes.say(f"{where}: the index is the id of each sample.")
    return replace(samples, ids=index.astype(str))
