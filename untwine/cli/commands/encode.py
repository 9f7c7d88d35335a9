"""`untwine encode`: write latent codes."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from untwine.cli.flags import DataSettings, Overwrite, Run
from untwine.cli.outputs import check_new, write_arrays, write_csv
from untwine.cli.run_data import run_splits

ORDER = 40


def command(
    run: Run,
    data: str | None = None,
    *,
    out: Path,
    data_set: DataSettings = (),
    split: Literal["train", "test", "all"] = "all",
    overwrite: Overwrite = False,
) -> None:
    """Encode data and write the latent codes as .npz (one array per block) or .csv (one column per latent).

    For example:

    - the test split of the run's data: `untwine encode runs/x --split test --out codes.npz`
    - your own data: `untwine encode runs/x cells.csv --out codes.csv`

    Parameters
    ----------
    data
        A name that `untwine list data` shows, or a path; by default, the data that the run was fitted on.
    out
        The .npz or .csv file to write.
    split
        The train split, the test split, or all samples, train first.
    """
    import numpy as np

    from untwine.methods import load_method

    check_new(out, (".npz", ".csv"), overwrite)
    method = load_method(run)
    splits = run_splits(method, data, data_set)
    x = np.concatenate([splits.train.x, splits.test.x]) if split == "all" else getattr(splits, split).x
    z = method.encode(x)
    if out.suffix == ".npz":
        write_arrays(out, dict(z))
    else:
        write_csv(out, method.get_feature_names_out().tolist(), z.array())
    print(f"{z.n_samples} samples as {', '.join(f'{name} ({codes.shape[1]})' for name, codes in z.items())}: {out}")
