"""Codes go into AnnData in the order of its cells, nothing else of a file changes, and scanpy works on the result."""

import json
import os

import anndata
import h5py
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from small import images, small

import untwine as un
from untwine.export import anndata_files
from untwine.export.anndata_files import write_anndata

GENES = [f"gene{i}" for i in range(8)]


def cells(n=50, seed=0, genes=GENES, kind=sparse.csr_matrix):
    rng = np.random.default_rng(seed)
    x = rng.poisson(2.0, size=(n, len(genes))).astype(np.float32)
    condition = np.where(np.arange(n) % 2, "drug", "control")
    x[np.arange(n) % 2 == 1, 0] += rng.poisson(6.0, size=n // 2)
    obs = pd.DataFrame({"condition": pd.Categorical(condition)}, index=[f"cell{i}" for i in range(n)])
    adata = anndata.AnnData(kind(np.log1p(x)), obs=obs, var=pd.DataFrame(index=list(genes)))
    adata.layers["counts"] = kind(x)
    adata.obsm["X_pca"] = rng.normal(size=(n, 2))
    adata.uns["kept"] = {"a": 1}
    return adata


def dense(matrix):
    return matrix.toarray() if hasattr(matrix, "toarray") else np.asarray(matrix)


def fitted(adata, **changes):
    data = un.Samples(dense(adata.X), groups=(adata.obs.condition == "drug").astype(int), feature_names=list(adata.var_names))
    return small("principled_vae", **changes).fit(data, origin={"name": "cells.h5ad"})


@pytest.fixture(scope="module")
def method():
    return fitted(cells())


@pytest.fixture(autouse=True)
def several_reads(monkeypatch):
    monkeypatch.setattr(anndata_files, "CELLS_AT_ONCE", 16)


@pytest.mark.parametrize("kind", [sparse.csr_matrix, np.asarray])
def test_codes_are_those_of_encode_in_the_order_of_the_cells(method, kind):
    adata = cells(kind=kind)
    order = np.random.default_rng(1).permutation(len(GENES))
    result = un.to_anndata(method, adata[:, order].copy())
    z = method.encode(dense(adata.X))
    np.testing.assert_allclose(result.obsm["X_untwine_salient"], z.salient, atol=1e-5)
    np.testing.assert_allclose(result.obsm["X_untwine_common"], z.common, atol=1e-5)
    assert list(result.obs_names) == list(adata.obs_names)
    assert "X_untwine_salient" not in adata.obsm
    assert result.uns["untwine"]["method"] == "principled_vae"
    assert json.loads(result.uns["untwine"]["params"]) == method.get_params()
    assert un.to_anndata(method, adata, copy=False) is adata
    assert "X_untwine_salient" in adata.obsm


def test_a_file_gets_the_same_and_keeps_all_else(method, tmp_path):
    adata = cells()
    adata.write_h5ad(tmp_path / "cells.h5ad")
    before = (tmp_path / "cells.h5ad").read_bytes()
    assert write_anndata(method, tmp_path / "cells.h5ad", tmp_path / "coded.h5ad", without="salient") == 50
    assert (tmp_path / "cells.h5ad").read_bytes() == before
    got, expected = anndata.read_h5ad(tmp_path / "coded.h5ad"), un.to_anndata(method, adata, without="salient")
    for key in ("X_untwine_salient", "X_untwine_common", "X_pca"):
        np.testing.assert_array_equal(got.obsm[key], expected.obsm[key])
    np.testing.assert_array_equal(got.layers["without_salient"], expected.layers["without_salient"])
    np.testing.assert_array_equal(got.X.toarray(), adata.X.toarray())
    np.testing.assert_array_equal(got.layers["counts"].toarray(), adata.layers["counts"].toarray())
    pd.testing.assert_frame_equal(got.obs, adata.obs)
    assert got.uns["kept"] == {"a": 1}
    assert {**got.uns["untwine"]} == expected.uns["untwine"]


def test_the_run_is_named_by_the_sum_of_its_weights(method, tmp_path):
    method.save(tmp_path / "run")
    card = json.loads((tmp_path / "run" / "method.json").read_text())
    about = un.to_anndata(method, cells()).uns["untwine"]
    assert about["weights_sha256"] == card["weights_sha256"]
    assert about["data_fingerprint"] == card["data"]["fingerprint"]


def test_a_file_is_written_into_only_when_asked_and_then_whole(method, tmp_path, monkeypatch):
    path = tmp_path / "cells.h5ad"
    cells().write_h5ad(path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"out must be a new file; .* exists; choose another, or pass overwrite"):
        write_anndata(method, path, path)
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
        with pytest.raises(OSError, match="No space left"):
            write_anndata(method, path, path, overwrite=True)
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["cells.h5ad"]
    for _ in range(2):  # the second time in place of the first codes
        write_anndata(method, path, path, overwrite=True, without="salient")
    assert anndata.read_h5ad(path).obsm["X_untwine_salient"].shape == (50, 3)


def test_without_a_block_is_what_remove_gives_dense_or_thresholded(method):
    adata = cells()
    expected = un.manipulate.remove(method, dense(adata.X))
    result = un.to_anndata(method, adata, without="salient")
    np.testing.assert_allclose(result.layers["without_salient"], expected, atol=1e-5)
    cut = un.to_anndata(method, adata, without="salient", threshold=0.5).layers["without_salient"]
    assert sparse.issparse(cut)
    np.testing.assert_allclose(cut.toarray(), np.where(np.abs(expected) > 0.5, expected, 0), atol=1e-5)


def test_a_thresholded_layer_in_a_file_is_sparse(method, tmp_path):
    cells().write_h5ad(tmp_path / "a.h5ad")
    write_anndata(method, tmp_path / "a.h5ad", tmp_path / "b.h5ad", without="salient", threshold=0.5)
    expected = un.to_anndata(method, cells(), without="salient", threshold=0.5).layers["without_salient"]
    np.testing.assert_array_equal(
        anndata.read_h5ad(tmp_path / "b.h5ad").layers["without_salient"].toarray(), expected.toarray()
    )


def test_genes_that_the_fit_did_not_have_keep_their_values(method):
    adata = cells(genes=[*GENES[:4], "other", *GENES[4:]])
    with pytest.warns(UserWarning, match="features that the fit does not have, which are left out: other") as caught:
        result = un.to_anndata(method, adata, without="salient")
    assert len(caught) == 1  # not once for every read
    np.testing.assert_array_equal(result.layers["without_salient"][:, 4], dense(adata.X)[:, 4])
    expected = un.manipulate.remove(method, np.delete(dense(adata.X), 4, axis=1))
    np.testing.assert_allclose(np.delete(result.layers["without_salient"], 4, axis=1), expected, atol=1e-5)


def test_a_layer_is_encoded_where_named_or_fitted_on(tmp_path):
    adata = cells()
    counts = adata.layers["counts"].toarray()
    data = un.Samples(counts, groups=(adata.obs.condition == "drug").astype(int), feature_names=GENES)
    method = small("contrastive_pca").fit(data, origin={"name": "cells.h5ad", "options": {"layer": "counts"}})
    adata.write_h5ad(tmp_path / "a.h5ad")
    write_anndata(method, tmp_path / "a.h5ad", tmp_path / "b.h5ad")
    for result in (un.to_anndata(method, adata), anndata.read_h5ad(tmp_path / "b.h5ad")):
        np.testing.assert_allclose(result.obsm["X_untwine_salient"], method.encode(counts).salient, atol=1e-4)
        assert result.uns["untwine"]["layer"] == "counts"
    with pytest.raises(ValueError, match="layer must be"):
        un.to_anndata(method, adata, layer="count")
    with pytest.raises(ValueError, match="must have the layer 'count'; it has none of that name"):
        write_anndata(method, tmp_path / "a.h5ad", tmp_path / "c.h5ad", layer="count")
    assert not (tmp_path / "c.h5ad").exists()


def test_scanpy_finds_neighbours_and_draws_a_umap_of_the_salient_block(method):
    scanpy = pytest.importorskip("scanpy")
    adata = un.to_anndata(method, cells())
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scanpy's own
        scanpy.pp.neighbors(adata, use_rep="X_untwine_salient", n_neighbors=5)
        scanpy.tl.umap(adata)
    assert adata.uns["neighbors"]["params"]["use_rep"] == "X_untwine_salient"
    assert np.isfinite(adata.obsm["X_umap"]).all()


def test_wrong_input_is_refused(method):
    with pytest.raises(TypeError, match="adata must be AnnData; got ndarray"):
        un.to_anndata(method, np.zeros((3, 8)))
    with pytest.raises(ValueError, match=r"adata must have the 8 genes of the fit; it lacks 1: gene7"):
        un.to_anndata(method, cells(genes=GENES[:7]))
    with pytest.raises(ValueError, match="the run must be on vectors to encode AnnData"):
        un.to_anndata(small("contrastive_pca").fit(images()), cells())
    with pytest.raises(ValueError, match=r"block must be"):
        un.to_anndata(method, cells(), without="class")
    with pytest.raises(ValueError, match="threshold must be 0 or more and goes with a block to remove"):
        un.to_anndata(method, cells(), threshold=0.1)
    twice = cells()
    twice.var_names = [*GENES[:7], "gene0"]
    with pytest.raises(ValueError, match=r"some occur twice; call adata\.var_names_make_unique"):
        un.to_anndata(method, twice)


def test_a_file_that_is_no_h5ad_is_refused(method, tmp_path):
    with h5py.File(tmp_path / "a.h5ad", "w") as file:
        file["x"] = np.zeros(3)
    with pytest.raises(ValueError, match="must have X"):
        write_anndata(method, tmp_path / "a.h5ad", tmp_path / "b.h5ad")
    (tmp_path / "text.h5ad").write_text("a,b")
    with pytest.raises(ValueError, match=r"must be an \.h5ad file"):
        write_anndata(method, tmp_path / "text.h5ad", tmp_path / "b.h5ad")
    assert not (tmp_path / "b.h5ad").exists()


def test_covariates_of_the_fit_come_from_obs(tmp_path):
    adata = cells()
    adata.obs["batch"] = pd.Categorical(np.where(np.arange(50) % 3, "one", "two"))
    adata.obs["age"] = np.arange(50) / 10
    known = {"batch": adata.obs["batch"].astype(str).to_numpy(), "age": adata.obs["age"].to_numpy()}
    groups = (adata.obs.condition == "drug").astype(int)
    data = un.Samples(dense(adata.X), groups=groups, feature_names=GENES, covariates=known)
    method = small("principled_vae").fit(data)
    adata.write_h5ad(tmp_path / "a.h5ad")
    write_anndata(method, tmp_path / "a.h5ad", tmp_path / "b.h5ad", without="salient")
    z = method.encode(data)
    for result in (un.to_anndata(method, adata, without="salient"), anndata.read_h5ad(tmp_path / "b.h5ad")):
        np.testing.assert_allclose(result.obsm["X_untwine_salient"], z.salient, atol=1e-5)
        np.testing.assert_allclose(result.layers["without_salient"], method.decode(z.remove("salient")), atol=1e-5)
    del adata.obs["batch"]
    with pytest.raises(ValueError, match=r"adata\.obs must have the covariates of the fit; it lacks 'batch'"):
        un.to_anndata(method, adata)


def test_a_block_for_each_target_has_codes_of_its_own():
    adata = cells()
    groups = np.arange(50) % 3
    data = un.Samples(dense(adata.X), groups=groups, group_names=("control", "a b", "c/d"), feature_names=GENES)
    method = small("principled_vae", salient="per_target").fit(data)
    result = un.to_anndata(method, adata, without="salient")
    z = method.encode(dense(adata.X))
    for block in ("salient_a_b", "salient_c_d"):
        np.testing.assert_allclose(result.obsm[f"X_untwine_{block}"], z[block], atol=1e-5)
    np.testing.assert_allclose(result.layers["without_salient"], method.decode(z.remove("salient")), atol=1e-5)
