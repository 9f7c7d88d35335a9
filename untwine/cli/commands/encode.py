"""`untwine encode`: write latent codes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from untwine.cli.cells import write_cells
from untwine.cli.flags import NO_COLUMNS, ColumnFlags, Columns, DataSettings, Overwrite, Run
from untwine.cli.inputs import read_input
from untwine.cli.outputs import check_new, write_arrays, write_csv, write_parquet
from untwine.cli.own_data import named_data
from untwine.cli.run_data import run_splits

if TYPE_CHECKING:
    from untwine._typing import Array
    from untwine.latents import Latents
    from untwine.method.contract import Method
    from untwine.samples import Samples

ORDER = 40


def command(
    run: Run,
    data: str | None = None,
    *,
    out: Path,
    data_set: DataSettings = (),
    columns: Columns = NO_COLUMNS,
    split: Literal["train", "test", "all"] = "all",
    overwrite: Overwrite = False,
) -> None:
    """Encode data and write the latent codes, sample by sample in the order of the data.

    A .csv or .parquet has a row per sample: its id, group and label, where known, and one column per latent. An .npz has one
    array per block and `ids`, `groups`, `labels`, `group_names` and `label_names`. An .h5ad is a copy of the .h5ad file that
    is encoded, with the codes of each block in obsm, such as X_untwine_salient, and the run in uns["untwine"].

    The id is that of the file (a column `id`, an array `ids`, the names of image files), else the position in the file, counted
    from 0. Images are converted to the size and the channels of the run, and the columns of a table are brought into its order.

    For example:

    - the test split of the run's data: `untwine encode runs/x --split test --out codes.npz`
    - your own data: `untwine encode runs/x cells.csv --out codes.csv`, read like the data of the run
    - single cells, for scanpy: `untwine encode runs/x cells.h5ad --out coded.h5ad`
    - one image: `untwine encode runs/x patient.png --out codes.csv`

    Parameters
    ----------
    data
        A name that `untwine list data` shows, or a path; by default, the data that the run was fitted on.
    out
        The .npz, .csv, .parquet or .h5ad file to write; an .h5ad with --overwrite may be the one that is read.
    split
        The train split, the test split, or all samples: of a path in its own order, of a data set the train split first.
    """
    from untwine.methods import load_method
    from untwine.metrics.encoded import encode

    check_new(out, (".npz", ".csv", ".parquet", ".h5ad"), overwrite)
    method = load_method(run)
    if out.suffix == ".h5ad":
        from untwine.export.anndata_files import code_name

        cells = write_cells(method, data, out, overwrite, columns=columns, split=split, settings=data_set)
        names = ", ".join(f"{code_name(name)} ({width})" for name, width in method.blocks.items())
        print(f"{cells} cells with {names}: {out}")
        return
    sets, note = _samples(method, data, columns, data_set, split)
    z = _join([encode(method, one) for one in sets])
    (_write_npz if out.suffix == ".npz" else _write_table)(out, sets, z, method)
    if note:
        print(f"untwine: note: {note}", file=sys.stderr)
    print(f"{z.n_samples} samples as {', '.join(f'{name} ({codes.shape[1]})' for name, codes in z.items())}: {out}")


def _samples(
    method: Method, data: str | None, columns: ColumnFlags, settings: tuple[str, ...], split: str
) -> tuple[list[Samples], str]:
    """Return the samples, in one set or a set for each split, all with ids, and a note on how images were converted."""
    from dataclasses import replace

    import numpy as np

    from untwine.data import data_sets

    named, options = named_data(data, columns, settings)
    several = "target" in options or (data is None and "target" in method.data_.get("options", {}))
    name = method.data_.get("name") if named is None else named
    if split == "all" and not several and name is not None and name not in data_sets() and Path(name).expanduser().exists():
        if wrong := [option for option in ("test", "seed") if option in options]:
            raise ValueError(
                f"--data-set {wrong[0]} belongs to a split; got it with all samples of {name}; add --split test, or drop it."
            )
        samples, note = read_input(Path(name), method, **options)
        return [samples if samples.ids is not None else replace(samples, ids=np.arange(len(samples)))], note
    splits = run_splits(method, data, columns, settings)
    chosen = {split: getattr(splits, split)} if split != "all" else splits._asdict()
    return [
        one if one.ids is not None else replace(one, ids=np.array([f"{which} {i}" for i in range(len(one))]))
        for which, one in chosen.items()
    ], ""


def _join(latents: list[Latents]) -> Latents:
    import numpy as np

    from untwine.latents import Latents

    return Latents({name: np.concatenate([one[name] for one in latents]) for name in latents[0]})


def _write_npz(out: Path, sets: list[Samples], z: Latents, method: Method) -> None:
    import numpy as np

    arrays: dict[str, Array] = {**z, "ids": np.concatenate([one.ids for one in sets])}
    for column in ("group", "label"):
        numbers = [getattr(one, f"{column}s") for one in sets]
        if all(one is not None for one in numbers):
            names = max((getattr(one, f"{column}_names") for one in sets), key=len)
            arrays |= {f"{column}s": np.concatenate(numbers), f"{column}_names": np.array(names)}
    write_arrays(out, arrays)


def _write_table(out: Path, sets: list[Samples], z: Latents, method: Method) -> None:
    import numpy as np

    columns: dict[str, list[str]] = {"id": [str(one) for samples in sets for one in np.asarray(samples.ids)]}
    for column in ("group", "label"):
        if all(getattr(one, f"{column}s") is not None for one in sets):
            columns[column] = [
                getattr(one, f"{column}_names")[i] if i >= 0 else "" for one in sets for i in getattr(one, f"{column}s")
            ]
    if out.suffix == ".parquet":
        write_parquet(out, {**columns, **dict(zip(method.get_feature_names_out(), z.array().T, strict=True))})
        return
    rows = [[*about, *codes] for *about, codes in zip(*columns.values(), z.array().tolist(), strict=True)]
    write_csv(out, [*columns, *method.get_feature_names_out()], rows)
