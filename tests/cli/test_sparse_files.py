"""Commands take a sparse .h5ad from end to end."""

import anndata
import numpy as np
import pandas as pd
from command_line import run
from scipy import sparse

ROLES = ["--group-column", "condition", "--background", "control"]


def test_a_sparse_file_is_shown_fitted_encoded_scored_and_changed(tmp_path, capsys):
    rng = np.random.default_rng(0)
    x = np.where(rng.random((60, 9)) < 0.3, rng.random((60, 9)) + 1, 0)
    x[:, 0] = 1  # no cell is empty
    obs = pd.DataFrame({"condition": np.where(np.arange(60) % 2, "treated", "control")}, index=[f"c{i}" for i in range(60)])
    anndata.AnnData(sparse.csr_matrix(x.astype("float32")), obs=obs).write_h5ad(tmp_path / "cells.h5ad")
    cells, folder = str(tmp_path / "cells.h5ad"), str(tmp_path / "run")
    small = ["--set", "epochs=2", "--set", "width=8", "--set", "n_common=2", "--set", "n_salient=2"]
    for command in (
        ["data", "show", cells, *ROLES, "--out", str(tmp_path / "show.png")],
        ["fit", "principled_vae", "--data", cells, *ROLES, *small, "--out", folder],
        ["encode", folder, cells, "--out", str(tmp_path / "codes.csv")],
        ["evaluate", folder],
        ["report", folder],
        ["remove", folder, cells, "--out", str(tmp_path / "removed.csv")],
        ["remove", folder, "--out", str(tmp_path / "tested.csv")],
        ["swap", folder, cells, cells, "--samples", "4", "--out", str(tmp_path / "swapped.npz")],
    ):
        run(*command)
    capsys.readouterr()
    assert (tmp_path / "show.png").stat().st_size > 1000
    assert len((tmp_path / "codes.csv").read_text().splitlines()) == 61
    assert len((tmp_path / "removed.csv").read_text().splitlines()) == 61
    with np.load(tmp_path / "swapped.npz", allow_pickle=False) as written:
        assert written["swapped"].shape == (4, 4, 9)
