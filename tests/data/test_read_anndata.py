"""AnnData is read with its roles, from .h5ad, zarr and memory alike."""

import json
import shutil
import warnings

import anndata
import h5py
import numpy as np
import pandas as pd
import pytest
from command_line import run
from scipy import sparse

import untwine as un
from untwine.data.readers import anndata_store
from untwine.data.readers.anndata_files import read_anndata
from untwine.data.readers.roles import Roles
from untwine.registry import stored_matrices

RNG = np.random.default_rng(0)
COUNTS = RNG.poisson(0.7, size=(60, 20)) * RNG.integers(1, 9, size=(60, 20))
COUNTS[:, 0] = 1  # no cell is empty
CONDITION = np.array(["control", "treated", "stimulated"])[np.arange(60) % 3]
ROLES = Roles(
    group="condition",
    background=("control",),
    label="type",
    covariates=("batch", "age"),
    source="donor",
    factors=("depth", "cluster"),
)


def cells():
    obs = pd.DataFrame(
        {
            "condition": pd.Categorical(CONDITION, categories=["control", "treated", "stimulated", "unused"]),
            "type": pd.Categorical([None if i % 5 == 0 else f"t{i % 5}" for i in range(60)]),
            "batch": pd.Categorical(np.arange(60) % 2 + 1),
            "age": pd.array(np.arange(60) + 20, dtype="Int64"),
            "donor": pd.array([f"donor {i % 7}" for i in range(60)], dtype="string"),
            "depth": pd.array([None if i == 3 else i // 2 for i in range(60)], dtype="Int64"),
            "cluster": np.arange(60) % 4,
            "passed": pd.array([True, None] * 30, dtype="boolean"),
        },
        index=[f"cell {i}" for i in range(60)],
    )
    var = pd.DataFrame({"highly_variable": np.arange(20) % 3 == 0}, index=[f"gene {i}" for i in range(20)])
    log = np.log1p(COUNTS).astype("float32")
    layers = {"counts": sparse.csr_matrix(COUNTS), "csc": sparse.csc_matrix(COUNTS.astype("uint16")), "dense": COUNTS}
    return anndata.AnnData(
        sparse.csr_matrix(log), obs=obs, var=var, layers=layers, obsm={"X_pca": log[:, :4].astype("float64")}
    )


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    folder, adata = tmp_path_factory.mktemp("cells"), cells()
    with warnings.catch_warnings(), anndata.settings.override(allow_write_nullable_strings=True):
        warnings.simplefilter("ignore")  # anndata warns of the version of the format
        adata.write_h5ad(folder / "cells.h5ad")
        for version in (2, 3):
            with anndata.settings.override(zarr_write_format=version):
                adata.write_zarr(folder / f"cells{version}.zarr")
    return folder


SOURCES = {
    "memory": lambda folder: cells(),
    "h5ad": lambda folder: folder / "cells.h5ad",
    "zarr 2": lambda folder: folder / "cells2.zarr",
    "zarr 3": lambda folder: folder / "cells3.zarr",
    "backed": lambda folder: anndata.read_h5ad(folder / "cells.h5ad", backed="r"),
}


@pytest.fixture(params=SOURCES)
def source(request, stored):
    return SOURCES[request.param](stored)


@pytest.fixture(autouse=True)
def few_at_a_time(monkeypatch):
    """Several chunks also in a small file."""
    monkeypatch.setattr(stored_matrices, "NONZEROS", 90)
    monkeypatch.setattr(stored_matrices, "samples_at_once", lambda features: 7)


def test_every_role_is_read(source):
    samples = read_anndata(source, ROLES)
    assert samples.group_names == ("control", "stimulated", "treated")
    names = np.array(samples.group_names)[samples.groups]
    assert names.tolist() == CONDITION.tolist()
    assert samples.label_names == ("t1", "t2", "t3", "t4")
    assert samples.labels[:7].tolist() == [-1, 0, 1, 2, 3, -1, 0]
    assert samples.covariates.names == ("batch", "age")
    assert samples.covariates.levels == (("1", "2"), ())  # a category of numbers is a category
    assert samples.covariates.values[:3].tolist() == [[0, 20], [1, 21], [0, 22]]
    assert [samples.source_names[i] for i in samples.sources[:3]] == ["donor 0", "donor 1", "donor 2"]
    assert np.isnan(samples.factors[3, 0])
    assert samples.factors[4].tolist() == [2, 0]
    assert samples.ids[:2].tolist() == ["cell 0", "cell 1"]
    assert samples.feature_names[19] == "gene 19"
    assert sparse.issparse(samples.x)
    np.testing.assert_array_equal(samples.dense(), np.log1p(COUNTS).astype("float32"))


@pytest.mark.parametrize("backed", [True, False])
@pytest.mark.parametrize("layer", ["counts", "csc", "dense"])
def test_layers_and_chosen_features_are_read_exactly(source, layer, backed):
    samples = read_anndata(source, layer=layer, var="highly_variable", backed=backed)
    np.testing.assert_array_equal(samples.dense(), COUNTS[:, ::3])
    assert samples.feature_names == tuple(f"gene {i}" for i in range(0, 20, 3))
    assert sparse.issparse(samples.x) == (layer != "dense")
    assert samples.x.dtype == np.float32
    np.testing.assert_array_equal(read_anndata(source, layer=layer, backed=backed).dense(), COUNTS)


def test_a_matrix_of_obsm_is_read_with_names_of_its_own(source):
    samples = read_anndata(source, Roles(group="condition", background=("control", "treated")), obsm="X_pca")
    np.testing.assert_array_equal(samples.x, np.log1p(COUNTS).astype("float32")[:, :4])
    assert samples.feature_names == ("X_pca 0", "X_pca 1", "X_pca 2", "X_pca 3")
    assert samples.group_names == ("background", "stimulated")


def test_other_columns_have_their_roles(source):
    assert read_anndata(source, Roles(label="passed")).label_names == ("True",)
    assert read_anndata(source, Roles(label="cluster")).label_names == ("0", "1", "2", "3")
    assert read_anndata(source, Roles(id="donor")).ids[8] == "donor 1"


def test_every_source_has_one_fingerprint(stored):
    found = {name: read_anndata(open_(stored), ROLES).fingerprint() for name, open_ in SOURCES.items()}
    assert len(set(found.values())) == 1, found


def test_a_view_is_read_as_what_it_shows(stored):
    view = cells()[10:20, ::2]
    np.testing.assert_array_equal(read_anndata(view, layer="counts").dense(), COUNTS[10:20, ::2])
    backed = anndata.read_h5ad(stored / "cells.h5ad", backed="r")[[5, 3], :6]
    samples = read_anndata(backed)
    np.testing.assert_allclose(samples.dense(), np.log1p(COUNTS)[[5, 3], :6], rtol=1e-6)
    assert samples.ids.tolist() == ["cell 5", "cell 3"]


def test_matrices_of_a_file_are_never_read_as_a_whole(stored, monkeypatch):
    most = []
    real = stored_matrices.to_csr
    monkeypatch.setattr(stored_matrices, "to_csr", lambda x: most.append(x.shape[0]) or real(x))
    read_anndata(stored / "cells.h5ad", layer="counts")
    assert max(most[:-1]) <= 10
    assert sum(most[:-1]) == most[-1] == 60


def test_fit_encode_and_evaluate_take_anndata_and_keep_it_sparse():
    adata, dense = cells(), cells()
    dense.X = adata.X.toarray()
    groups = (CONDITION != "control").astype(int)
    method = un.PrincipledVAE.fixed(epochs=2, batch=16, width=8, n_common=3, n_salient=2).fit(adata, groups)
    other = un.PrincipledVAE.fixed(epochs=2, batch=16, width=8, n_common=3, n_salient=2).fit(dense, groups)
    np.testing.assert_array_equal(method.encode(adata).array(), other.encode(dense).array())
    assert method.feature_names == tuple(adata.var_names)
    shuffled = adata[:, ::-1]
    np.testing.assert_array_equal(method.encode(shuffled).array(), method.encode(adata).array())
    score = un.evaluate(method, adata)["reconstruction.x"].value
    assert score == un.evaluate(method, un.Samples(dense))["reconstruction.x"].value
    both = un.Samples.contrast(target=[adata[:10], adata[10:20]], background=adata[20:])
    assert sparse.issparse(both.x)
    assert len(both.background) == 40
    np.testing.assert_array_equal(un.manipulate.remove(method, adata[:3]), un.manipulate.remove(method, dense[:3]))


def test_a_backed_object_is_fitted_and_encoded(stored):
    backed = anndata.read_h5ad(stored / "cells.h5ad", backed="r")
    method = un.PCA(n_latent=2).fit(backed)
    np.testing.assert_array_equal(method.transform(backed), method.transform(np.log1p(COUNTS).astype("float32")))


def test_the_file_is_closed_after_reading(stored):
    read_anndata(stored / "cells.h5ad")
    with h5py.File(stored / "cells.h5ad", "a"):  # refused while it is open for reading
        pass


def test_pickled_arrays_of_zarr_are_refused_before_they_are_read(stored, tmp_path):
    shutil.copytree(stored / "cells2.zarr", tmp_path / "bad.zarr")
    path = tmp_path / "bad.zarr" / "obs" / "donor" / ".zarray"
    path = path if path.exists() else next((tmp_path / "bad.zarr" / "obs").rglob(".zarray"))
    metadata = json.loads(path.read_text())
    metadata["filters"] = [{"id": "pickle", "protocol": 5}]
    path.write_text(json.dumps(metadata))
    with pytest.raises(ValueError, match=r"must hold no pickled arrays; obs.*\.zarray names one; write it without objects"):
        read_anndata(tmp_path / "bad.zarr")
    assert anndata_store._names_pickle({"codecs": [{"name": "numcodecs.pickle"}]})
    assert not anndata_store._names_pickle({"consolidated": {"pickle": {"codecs": [{"name": "bytes"}]}}})


def test_responses_of_simulated_cells_separate_in_the_salient_block(tmp_path):
    rng, n, genes = np.random.default_rng(1), 1200, 80
    treated, kind, response = np.arange(n) % 2 == 1, rng.integers(3, size=n), rng.integers(3, size=n)
    log = np.full((n, genes), -0.7)
    for k in range(3):  # types of cells in both groups, responses in treated cells alone
        log[kind == k, 15 * k : 15 * k + 15] += 2
        log[treated & (response == k), 50 + 10 * k : 60 + 10 * k] += 1.6
    counts = rng.poisson(np.exp(log + 0.2 * rng.normal(size=(n, 1))))
    x = np.log1p(counts / np.maximum(1, counts.sum(1, keepdims=True)) * 100)
    names = pd.Categorical(np.where(treated, [f"response {k}" for k in response], None))
    obs = pd.DataFrame({"condition": np.where(treated, "treated", "control"), "response": names, "kind": kind})
    obs.index = [f"cell {i}" for i in range(n)]
    anndata.AnnData(sparse.csr_matrix(x), obs=obs).write_h5ad(tmp_path / "cells.h5ad")
    roles = Roles(group="condition", background=("control",), label="response", factors=("kind",))
    samples = read_anndata(tmp_path / "cells.h5ad", roles)
    assert sparse.issparse(samples.x)
    vae = un.PrincipledVAE.fixed(n_common=2, n_salient=2, beta_common=4, beta_salient=0.3, epochs=30, width=64)
    for method in (vae, un.ContrastivePCA(n_common=2, n_salient=2)):
        scores = un.evaluate(method.fit(samples[: n * 2 // 3]), samples[n * 2 // 3 :], ["probe"])
        assert scores["probe.salient"].value > 0.9
        assert scores["probe.common"].value < 0.7  # a third is chance


def test_raw_counts_are_recognised_and_said_by_data_show(tmp_path, capsys):
    cells().write_h5ad(tmp_path / "cells.h5ad")
    run("data", "show", tmp_path / "cells.h5ad", "--data-set", "layer=counts")
    said = " ".join(capsys.readouterr().out.split())
    assert f"layer 'counts' holds raw counts, integers up to {COUNTS.max()}: choose likelihood=negative_binomial, or" in said
    adata = cells()
    adata.X = np.log1p(adata.layers["counts"].astype("float32"))
    adata.write_h5ad(tmp_path / "logs.h5ad")
    run("data", "show", tmp_path / "logs.h5ad")
    assert "raw counts" not in capsys.readouterr().out
