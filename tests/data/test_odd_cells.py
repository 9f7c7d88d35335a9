"""Odd AnnData: each kind is either read as it is, or gets a sentence that names the file and what is wrong in it."""

import json
import re
import shutil
import warnings

import anndata
import h5py
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import untwine as un
from untwine.data.readers.anndata_files import read_anndata
from untwine.data.readers.roles import Roles

COUNTS = np.random.default_rng(0).poisson(0.6, size=(30, 8)) + np.eye(30, 8, dtype=int)
COUNTS[:, 0] += 1  # no cell is empty
ROLES = Roles(group="condition", background=("control",))


def cells(x=None, **changes):
    obs = pd.DataFrame({"condition": pd.Categorical(np.where(np.arange(30) % 2, "treated", "control"))})
    obs.index = [f"cell {i}" for i in range(30)]
    var = pd.DataFrame({"chosen": np.arange(8) < 3, "mean": np.arange(8) / 2, "none": np.zeros(8, bool)})
    var.index = [f"gene {i}" for i in range(8)]
    x = sparse.csr_matrix(COUNTS.astype("float32")) if x is None else x
    return anndata.AnnData(x, **{"obs": obs, "var": var, "layers": {"counts": sparse.csr_matrix(COUNTS)}} | changes)


def layer(values):
    return cells(layers={"counts": values})


def renamed(**names):
    adata = cells()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # anndata warns too
        for axis, these in names.items():
            setattr(adata, axis, these)
    return adata


def with_nan(value, where=((3, 1), (4, 2))):
    x = COUNTS.astype("float64")
    for at in where:
        x[at] = value
    return sparse.csr_matrix(x)


def no_x():
    adata = cells()
    return anndata.AnnData(None, obs=adata.obs, var=adata.var, layers=dict(adata.layers))


def one_group():
    adata = cells()
    adata.obs["condition"] = pd.Categorical(["treated"] * 30, categories=["control", "treated"])
    return adata


REPEATED = ["gene 0", "gene 1", "gene 1", *(f"gene {i}" for i in range(3, 8))]
REFUSED = {
    "wrong layer": (
        cells,
        {"layer": "cuonts"},
        r"must have the layer 'cuonts'; it has none of that name; did you mean .?counts",
    ),
    "no layers": (
        lambda: cells(layers={}),
        {"layer": "counts"},
        r"the layer 'counts'; it has none of that name; it has none; read X",
    ),
    "wrong obsm": (cells, {"obsm": "X_pca"}, r"must have the obsm 'X_pca'; it has none of that name"),
    "obsm and layer": (cells, {"obsm": "X_pca", "layer": "counts"}, r"obsm takes neither layer nor var.*leave one of them out"),
    "missing obs column": (cells, {"roles": Roles(label="type")}, r"\(obs\) must have the column 'type'; it has none of that"),
    "duplicate var_names": (
        lambda: renamed(var_names=REPEATED),
        {},
        r"X: feature_names must be different; got gene 1 more than once; .* \(adata.var_names_make_unique\(\) does\)\.",
    ),
    "no X": (no_x, {}, r"must have values; its X is None; pass layer='counts'\."),
    "NaN": (lambda: cells(with_nan(np.nan)), {}, r"X: x must be finite; 2 of 30 samples hold NaN or infinity"),
    "infinity": (lambda: cells(with_nan(np.inf)), {}, r"X: x must be finite; 2 of 30 samples hold NaN or infinity"),
    "NaN in a layer": (lambda: layer(with_nan(np.nan)), {"layer": "counts"}, r"layer 'counts': x must be finite; 2 of 30"),
    "wrong var column": (cells, {"var": "choosen"}, r"must have the column 'choosen' in var; .* did you mean .?chosen"),
    "var column of numbers": (
        cells,
        {"var": "mean"},
        r"true or false for every feature in the column 'mean' of var; got others",
    ),
    "var column without features": (
        cells,
        {"var": "none"},
        r"must have a feature to keep; the column 'none' of var is false for all 8",
    ),
    "a group with no cells": (
        one_group,
        {"roles": ROLES},
        r"must have the background 'control' in the column 'condition'; got 'treated'",
    ),
    "an unknown background": (
        cells,
        {"roles": Roles(group="condition", background=("ctrl",))},
        r"must have the background 'ctrl' in the column 'condition'; got 'control', 'treated'",
    ),
}


def refusal(source, options):
    options = dict(options)
    with pytest.raises(ValueError) as caught:
        read_anndata(source, options.pop("roles", None), **options)
    message = str(caught.value)
    assert len(message) < 400
    assert "\n" not in message
    return message


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_wrong_is_named_in_memory_and_in_a_file(name, tmp_path):
    make, options, sentence = REFUSED[name]
    in_memory = refusal(make(), options)
    make().write_h5ad(tmp_path / "odd.h5ad")
    in_file = refusal(tmp_path / "odd.h5ad", options)
    for message, source in ((in_memory, "AnnData"), (in_file, str(tmp_path / "odd.h5ad"))):
        assert re.search(sentence, message), message
        assert source in message or name == "obsm and layer"


WARNED = {
    "duplicate obs_names": (
        lambda: renamed(obs_names=["same"] * 3 + [f"cell {i}" for i in range(27)]),
        {},
        "has 1 obs_names that",
    ),
    "negative counts": (lambda: layer(sparse.csr_matrix(COUNTS - 1)), {"layer": "counts"}, "such as -1, which is negative"),
    "fractions as counts": (lambda: layer(COUNTS / 2), {"layer": "counts"}, "such as 1.5, which is no integer"),
    "counts beyond float32": (lambda: layer(COUNTS * 2**25), {"layer": "counts"}, "has counts above 16,777,216"),
    "empty cells": (
        lambda: cells(sparse.csr_matrix(COUNTS * (np.arange(30) > 1)[:, None])),
        {},
        "X has 2 of 30 cells without any value but 0, which are kept: cell 0, cell 1; filter them out",
    ),
}


@pytest.mark.parametrize("name", WARNED)
def test_what_is_odd_is_said_and_read_as_it_is(name, tmp_path):
    make, options, sentence = WARNED[name]
    adata = make()
    with pytest.warns(UserWarning, match=sentence):
        samples = read_anndata(adata, **options)
    matrix = adata.layers[options["layer"]] if "layer" in options else adata.X
    dense = matrix.toarray() if sparse.issparse(matrix) else matrix
    np.testing.assert_array_equal(samples.dense(), dense.astype("float32"))
    assert len(samples) == 30


@pytest.mark.parametrize("dtype", ["int64", "uint16", "bool", "float64", "int8"])
@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_matrix, sparse.csr_array, np.asarray])
def test_every_type_and_format_is_read_exactly(kind, dtype, tmp_path):
    x = COUNTS.astype(dtype)
    adata = cells(kind(x))
    adata.write_h5ad(tmp_path / "cells.h5ad")
    backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    for source in (adata, tmp_path / "cells.h5ad", backed):
        samples = read_anndata(source)
        np.testing.assert_array_equal(samples.dense(), x.astype("float32"))
        assert samples.x.dtype == np.float32


def test_a_coo_matrix_is_taken_wherever_anndata_is_not_asked():
    np.testing.assert_array_equal(un.Samples(sparse.coo_matrix(COUNTS)).dense(), COUNTS)


def test_constant_and_unexpressed_genes_are_fitted():
    x = COUNTS.astype("float32")
    x[:, 2], x[:, 3] = 0, 5
    samples = read_anndata(cells(sparse.csr_matrix(x)), ROLES)
    for method in (un.PrincipledVAE.fixed(epochs=2, width=8, n_common=2, n_salient=2), un.ContrastivePCA()):
        assert np.isfinite(method.fit(samples).transform(samples)).all()
    assert method.fit(samples).reconstruct(samples)[:, 3] == pytest.approx(5)


def test_empty_and_missing_categories():
    adata = cells()
    adata.obs["condition"] = pd.Categorical(adata.obs["condition"], categories=["control", "treated", "third"])
    assert read_anndata(adata, ROLES).group_names == ("control", "treated")
    adata.obs["type"] = pd.Categorical([None, "a", "b"] * 10)
    assert read_anndata(adata, Roles(label="type")).labels[:3].tolist() == [-1, 0, 1]
    with pytest.raises(ValueError, match=r"AnnData \(obs\) must have a value in every row of the column 'type'; 10 of 30 are"):
        read_anndata(adata, Roles(covariates=("type",)))


def damaged(path):
    cells().write_h5ad(path)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def without_obs(path):
    cells().write_h5ad(path)
    with h5py.File(path, "a") as file:
        del file["obs"]


def other_indices(path):
    cells().write_h5ad(path)
    with h5py.File(path, "a") as file:
        file["X/indices"][5] = 10**6


def too_few_cells(path):
    cells().write_h5ad(path)
    with h5py.File(path, "a") as file:
        del file["X"]
        file["X"] = np.zeros((7, 8))


def old_tables(path):
    cells().write_h5ad(path)
    with h5py.File(path, "a") as file:
        del file["obs"]
        file["obs"] = np.zeros(30, dtype=[("index", "S8"), ("batch", "i4")])


def other_features(path):
    cells().write_h5ad(path)
    with h5py.File(path, "a") as file:
        del file["X"]
        file["X"] = np.zeros((30, 3))


FILES = {
    "not there": (lambda path: None, "does not exist|is not there"),
    "corrupt": (damaged, r"must be an \.h5ad file; it is damaged"),
    "not an h5ad": (lambda path: path.write_text("gene,cell\n1,2\n"), r"must be an \.h5ad file; it is no HDF5 file"),
    "empty": (lambda path: path.write_bytes(b""), r"must be an \.h5ad file; it is no HDF5 file"),
    "without obs": (without_obs, "must hold AnnData; it has no 'obs' but X, layers"),
    "another HDF5": (lambda path: h5py.File(path, "w").close(), "must hold AnnData; it has no 'obs' but nothing"),
    "indices out of bounds": (other_indices, "X must be readable; got .*ind"),
    "too few cells": (too_few_cells, r"X must have one line for each of the 30 cells of obs; got \(7, 8\)"),
    "other features": (other_features, r"as many columns in its matrix as it has features in var, 8; got 3"),
    "tables of old versions": (old_tables, "must have a (readable 'obs'|table as 'obs')"),
    "folder": (lambda path: path.mkdir(), "must be a zarr folder that holds AnnData"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_wrong_file_is_named(name, tmp_path):
    make, sentence = FILES[name]
    path = tmp_path / "odd.h5ad"
    make(path)
    with pytest.raises(ValueError, match=sentence) as caught:
        read_anndata(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_damaged_metadata_of_zarr_is_named(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cells().write_zarr(tmp_path / "cells.zarr")
    shutil.copytree(tmp_path / "cells.zarr", tmp_path / "odd.zarr")
    (tmp_path / "odd.zarr" / "X" / "data" / ".zarray").write_text("{")
    with pytest.raises(ValueError, match=r"must have readable metadata; X/data/\.zarray is damaged; restore it"):
        read_anndata(tmp_path / "odd.zarr")
    assert json.loads((tmp_path / "cells.zarr" / ".zgroup").read_text())["zarr_format"] == 2
    assert len(read_anndata(tmp_path / "cells.zarr")) == 30


def test_a_backed_object_whose_file_is_closed_is_opened_again_and_one_whose_file_is_gone_says_so(tmp_path):
    cells().write_h5ad(tmp_path / "cells.h5ad")
    backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    backed.file.close()
    np.testing.assert_array_equal(read_anndata(backed).dense(), COUNTS)
    backed.file.close()
    (tmp_path / "cells.h5ad").unlink()
    with pytest.raises(ValueError, match=r"must have its file .*cells\.h5ad to read X from; got .*; open it again"):
        read_anndata(backed)


def test_what_is_neither_a_path_nor_anndata_is_refused():
    with pytest.raises(TypeError, match=r"must be an \.h5ad file, a zarr folder or AnnData; got DataFrame; pass a path"):
        read_anndata(pd.DataFrame({"a": [1.0]}))
