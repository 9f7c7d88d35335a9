"""AnnData files that commands write."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from untwine.cli.flags import NO_COLUMNS, ColumnFlags
from untwine.cli.own_data import named_data

if TYPE_CHECKING:
    from untwine.method.contract import Method


def write_cells(
    method: Method,
    data: str | Path | None,
    out: Path,
    overwrite: bool,
    *,
    columns: ColumnFlags = NO_COLUMNS,
    without: str | None = None,
    threshold: float | None = None,
    split: str = "all",
    settings: Sequence[str] = (),
) -> int:
    """Write a copy of an .h5ad file with the codes of all its cells; by default of the file that the run was fitted on."""
    from untwine.export.anndata_files import write_anndata

    named, options = named_data(None if data is None else str(data), columns, settings)
    name = method.data_.get("name") if named is None else named
    if name is None or Path(name).suffix != ".h5ad":
        raise ValueError(f"an .h5ad can only be written from an .h5ad; got the data {str(name)!r}; name one, or write a .csv.")
    layer = options.pop("layer", None)
    if split != "all" or options:
        given = f"--split {split}" if split != "all" else f"--data-set {next(iter(options))}"
        raise ValueError(f"an .h5ad is written with all its cells; got {given}; leave it out.")
    return write_anndata(
        method, Path(name).expanduser(), out, layer=layer, without=without, threshold=threshold, overwrite=overwrite
    )
