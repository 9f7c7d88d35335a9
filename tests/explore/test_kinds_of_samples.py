"""Sparse counts with covariates, a salient block for each target, and volumes are explored like other samples."""

import anndata
import numpy as np
import pandas as pd
import pytest
from explored import Page, unpack
from scipy import sparse

import untwine as un
from untwine.evaluation.run import checked_run_data
from untwine.registry.observations import middle_slices

RECIPES = {
    "sample": {"sample": 3},
    "swap": {"a": 5, "b": 1},
    "grid": {"rows": "0,4", "columns": "6,7"},
    "between": {"corners": "0,5,3,7", "right": 0.25, "down": 0.5},
    "draw": {"sample": 4, "n": 3, "source": "data"},
}


def explored(folder):
    page = Page(folder)
    status = page.open(0)
    assert status["state"] == "ready", status
    method = un.load_method(folder)
    return page, status, method, checked_run_data(method, folder).test


def check_recipes(page, method):
    """Compare every recipe with what its lines of Python make."""
    for recipe, fields in RECIPES.items():
        arrays = page.decoded(0, recipe, **fields)
        names = {}
        exec(compile(page.get(f"/api/runs/0/{recipe}", **fields, **{"as": "python"}).text, recipe, "exec"), names)
        assert page.get(f"/api/runs/0/{recipe}", **fields).status_code == 200
        for name, expected in arrays.items():
            value = names.get(name, expected)
            value = value.dense().reshape(expected.shape) if isinstance(value, un.Samples) else value
            np.testing.assert_allclose(np.asarray(value, float), expected, rtol=1e-4, atol=2e-5, err_msg=f"{recipe} {name}")


@pytest.fixture(scope="module")
def cells(tmp_path_factory):
    folder, n = tmp_path_factory.mktemp("cells"), 120
    counts = sparse.csr_matrix(np.random.default_rng(0).poisson(0.6, size=(n, 30)).astype(np.float32))
    obs = pd.DataFrame(
        {"condition": np.where(np.arange(n) % 2, "drug", "control"), "batch": np.where(np.arange(n) % 3, "b1", "b2")},
        index=[f"cell {i}" for i in range(n)],
    )
    anndata.AnnData(counts, obs=obs, var=pd.DataFrame(index=[f"gene {i}" for i in range(30)])).write_h5ad(folder / "cells.h5ad")
    options = {"group": "condition", "background": "control", "covariates": ("batch",)}
    data = un.load(str(folder / "cells.h5ad"), **options)
    method = un.PrincipledVAE(n_common=3, n_salient=2, epochs=1, width=8, likelihood="negative_binomial")
    method.fit(data.train, out=folder / "run", origin=un.data.origin(str(folder / "cells.h5ad"), options))
    return folder / "run"


def test_sparse_counts_keep_their_covariates_and_library_sizes(cells):
    page, status, method, test = explored(cells)
    assert sparse.issparse(page.explorer.ready(0).opened.samples.x)
    assert [(one["name"], one["kind"], one["levels"]) for one in status["columns"]][1:] == [
        ("batch", "covariate", ["b1", "b2"])
    ]
    assert status["features"][:2] == ["gene 0", "gene 1"]
    np.testing.assert_allclose(status["feature_std"], test.dense().std(axis=0), rtol=1e-5)
    # Decoded with the sample's own batch and library size: the counts of what is reconstructed have its total.
    reconstruction = page.decoded(0, "sample", sample=3)["reconstruction"]
    np.testing.assert_allclose(reconstruction, method.decode(method.encode(test[[3]]))[0], rtol=1e-4)
    other = method.decode(method.encode(test[[3]]), library_size=1000.0)[0]
    assert not np.allclose(reconstruction, other, rtol=0.1)
    np.testing.assert_array_equal(page.decoded(0, "sample", sample=3)["original"], test.dense([3])[0])
    check_recipes(page, method)


def test_each_target_may_have_a_salient_block_of_its_own(tmp_path):
    options = {"n_target": 60, "n_background": 60, "n_targets": 2}
    data = un.load("toy_treatments", **options)
    method = un.PrincipledVAE(n_common=3, n_salient=2, epochs=1, width=8, salient="per_target")
    method.fit(data.train, out=tmp_path, origin={"name": "toy_treatments", "options": options})
    page, status, method, test = explored(tmp_path)
    own = [block for block in method.blocks if block.startswith("salient_")]
    assert len(own) == 2
    assert list(status["blocks"]) == ["common", *own]
    assert status["choices"] == ["common", *own, "salient"]
    assert status["changed_block"] == "salient"
    counterpart = page.decoded(0, "sample", sample=3)["counterpart"]
    np.testing.assert_allclose(counterpart, un.manipulate.remove(method, test[[3]], "salient")[0], atol=1e-5)
    swapped = page.decoded(0, "swap", a=5, b=1, block=own[1])["a_with_b"]
    np.testing.assert_allclose(swapped, un.manipulate.swap(method, test[[5]], test[[1]], own[1])[0], atol=1e-5)
    effects = page.get("/api/runs/0/effects", sample=3, block="salient").json()
    assert len(effects["code"]) == 4
    assert page.get("/api/runs/0/change", sample=3, edits="salient:3:1.0").status_code == 200
    check_recipes(page, method)


def test_of_class_and_content_the_class_changes(tmp_path):
    x = np.random.default_rng(0).integers(0, 200, size=(48, 1, 8, 8), dtype=np.uint8)
    x[np.arange(48) % 4 == 1, :, :4] += 50
    np.savez(tmp_path / "classes.npz", allow_pickle=False, x=x, labels=np.arange(48) % 4)
    origin = un.data.origin(tmp_path / "classes.npz", {})
    un.MixingAE(epochs=1).fit(un.load(tmp_path / "classes.npz").train, out=tmp_path / "run", origin=origin)
    page, status, method, test = explored(tmp_path / "run")
    assert (list(status["blocks"]), status["changed_block"]) == (["class", "content"], "class")
    assert [one["name"] for one in status["columns"]] == ["label"]
    swapped = page.decoded(0, "swap", a=5, b=1)["a_with_b"]
    np.testing.assert_allclose(swapped, un.manipulate.swap(method, test[[5]], test[[1]], "class")[0], atol=1e-5)
    check_recipes(page, method)


def test_volumes_are_shown_by_their_middle_slices_and_leave_whole(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 200, size=(60, 1, 8, 10, 12), dtype=np.uint8)
    np.savez(tmp_path / "scans.npz", allow_pickle=False, x=x, groups=np.arange(60) % 2)
    origin = un.data.origin(tmp_path / "scans.npz", {})
    run = tmp_path / "run"
    method = un.ContrastivePCA(n_common=3, n_salient=2).fit(un.load(tmp_path / "scans.npz").train, out=run, origin=origin)
    page, status, method, test = explored(run)
    assert status["image"]
    assert status["note"] == "Volumes are shown by their middle slices."
    shown = unpack(page.get("/api/runs/0/swap", a=5, b=1).content)
    np.testing.assert_array_equal(shown["a"], middle_slices(test.x[5]))
    assert shown["a_with_b"].shape == (1, 10, 12)
    assert page.decoded(0, "swap", a=5, b=1)["a_with_b"].shape == (1, 8, 10, 12)
    assert page.get("/api/runs/0/grid", rows="1,2", columns="3", **{"as": "png"}).headers["content-type"] == "image/png"
    assert page.get("/api/runs/0/effects", sample=1).status_code == 200
    check_recipes(page, method)
