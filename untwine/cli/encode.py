"""The command `untwine encode`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from untwine.cli.arguments import run_splits
from untwine.cli.rows import check_new, write_table

Settings = Annotated[tuple[str, ...], Parameter(consume_multiple=False)]


def encode(
    run: Path,
    data: str | None = None,
    *,
    out: Path,
    data_set: Settings = (),
    part: Literal["train", "test", "all"] = "all",
    overwrite: bool = False,
) -> None:
    """Write the codes of data as .npz (an array for each block) or .csv (a column for each dimension).

    Parameters
    ----------
    run
        A run folder.
    data
        A name or a path; the data that the run was fitted on where not given.
    out
        The .npz or .csv file to write.
    data_set
        An option of the data as name=value; may be repeated.
    part
        Which rows: the training part, the test part or all, training first.
    overwrite
        Replace a file that is already there.
    """
    import numpy as np

    from untwine.methods import load_method
    from untwine.runs.files import write_arrays

    check_new(out, (".npz", ".csv"), overwrite)
    method = load_method(run)
    splits = run_splits(method, data, data_set)
    x = np.concatenate([splits.train.x, splits.test.x]) if part == "all" else getattr(splits, part).x
    z = method.encode(x)
    if out.suffix == ".npz":
        write_arrays(out, dict(z))
    else:
        write_table(out, method.get_feature_names_out().tolist(), z.array())
    print(f"{z.n_samples} rows as {', '.join(f'{name} ({codes.shape[1]})' for name, codes in z.items())}: {out}")
