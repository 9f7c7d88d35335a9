"""Sparse samples stay sparse, and give what their dense array gives."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from small import NAMES, small

import untwine as un
from untwine import Samples
from untwine.evaluation.diagnostics import diagnose
from untwine.evaluation.gallery import gallery
from untwine.linear.covariances import group_covariances
from untwine.methods import METHODS
from untwine.metrics import scored_samples
from untwine.registry import sparse_vectors
from untwine.registry.sparse_vectors import mean_and_std, to_csr

RNG = np.random.default_rng(0)


def values(n=88, d=7, density=0.3, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2)) @ rng.normal(size=(2, d))
    return np.where(rng.random((n, d)) < density, x + 2, 0).astype("float32")


X = values()
GROUPS, LABELS = (np.arange(88) < 48).astype(int), np.arange(88) % 4
DENSE = Samples(X, groups=GROUPS, labels=LABELS, factors=np.c_[X[:, 0], LABELS], feature_names=list("abcdefg"))
SPARSE = replace(DENSE, x=sparse.csr_matrix(X))
VECTORS = [name for name in NAMES if not getattr(METHODS[name], "images_only", False)]


@pytest.fixture(autouse=True)
def few_at_a_time(monkeypatch):
    """Several chunks also in small data."""
    monkeypatch.setattr(sparse_vectors, "ELEMENTS", 70)


def weights(method):
    return {name: tensor.numpy().copy() for name, tensor in method.nets_.state_dict().items()}


@pytest.mark.parametrize("d", [2, 7, 300])
def test_means_and_standard_deviations_have_the_bits_of_the_dense_array(d):
    x = values(200, d, 0.2)
    for mine, dense in zip(mean_and_std(to_csr(sparse.coo_array(x))), mean_and_std(x), strict=True):
        np.testing.assert_array_equal(mine, dense)


@pytest.mark.parametrize("name", VECTORS)
def test_a_fit_on_sparse_samples_has_the_bits_of_one_on_dense_samples(name):
    on_sparse, on_dense = small(name).fit(SPARSE), small(name).fit(DENSE)
    trained = hasattr(on_sparse, "epochs")
    for key, tensor in weights(on_dense).items():
        if trained:
            np.testing.assert_array_equal(weights(on_sparse)[key], tensor, err_msg=key)
        else:  # sums of products are in another order
            np.testing.assert_allclose(weights(on_sparse)[key], tensor, atol=1e-5, rtol=1e-4, err_msg=key)
    for x in (SPARSE.x, SPARSE, sparse.csc_matrix(X), sparse.coo_array(X)):
        np.testing.assert_array_equal(on_dense.transform(x), on_dense.transform(X))
    np.testing.assert_array_equal(on_dense.reconstruct(SPARSE), on_dense.reconstruct(X))
    assert on_dense.score(SPARSE) == pytest.approx(on_dense.score(DENSE), rel=1e-5)


@pytest.mark.parametrize("name", ["principled_vae", "vae", "lord"])
def test_resuming_on_sparse_samples_is_bit_exact(name, tmp_path):
    def stop(method, epoch):
        if epoch == 1:
            raise ZeroDivisionError

    whole = small(name, epochs=3).fit(SPARSE)
    with pytest.raises(ZeroDivisionError):
        small(name, epochs=3).fit(SPARSE, out=tmp_path / "run", every=0, watch=stop)
    resumed = small(name, epochs=3).fit(SPARSE, out=tmp_path / "run", resume=True)
    for key, tensor in weights(whole).items():
        np.testing.assert_array_equal(weights(resumed)[key], tensor, err_msg=key)


def test_samples_keep_one_canonical_form_and_leave_the_given_matrix_alone():
    rows, columns, data = [2, 0, 0, 0, 1], [1, 6, 2, 2, 0], np.array([3, 1, 2, 2, 0], dtype=np.uint16)
    given = sparse.csr_matrix((data, (rows, columns)), shape=(3, 7))
    given.data[given.data == 3] = 0  # a stored zero
    before = given.copy()
    samples = Samples(given)
    assert isinstance(samples.x, sparse.csr_array)
    assert (samples.x.dtype, samples.x.nnz, samples.x.has_canonical_format) == (np.float32, 2, True)
    np.testing.assert_array_equal(samples.dense(), before.toarray())
    assert (given.nnz, given.dtype) == (before.nnz, np.uint16)
    assert repr(samples) == "Samples(3 sparse vectors of 7)"
    unsorted = sparse.csr_array((np.array([2.0, 1.0]), np.array([4, 1]), np.array([0, 2])), shape=(1, 7))
    np.testing.assert_array_equal(Samples(unsorted).dense(), unsorted.toarray())
    assert unsorted.indices.tolist() == [4, 1]


def test_the_fingerprint_is_that_of_the_content_whatever_the_format():
    wide = sparse.csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    kinds = [sparse.csr_matrix(X), sparse.csc_matrix(X), sparse.coo_array(X), sparse.csr_array(X.astype("float64")), wide]
    assert len({Samples(x, groups=GROUPS).fingerprint() for x in kinds}) == 1
    other = X.copy()
    other[0, 0] += 1
    moved = sparse.csr_array(X)
    moved.indices[moved.indptr[0] : moved.indptr[1]] = np.arange(moved.indptr[1])  # the same values at other features
    assert (moved.toarray() != X).any()
    different = [Samples(sparse.csr_array(other)), Samples(sparse.csr_array(X[:, ::-1])), Samples(moved), Samples(X)]
    assert len({one.fingerprint() for one in [*different, Samples(wide)]}) == 5


def test_choosing_and_joining_keeps_samples_sparse():
    some = SPARSE[[5, 3, 70]]
    assert sparse.issparse(some.x)
    np.testing.assert_array_equal(some.dense(), X[[5, 3, 70]])
    np.testing.assert_array_equal(SPARSE.dense([70, 0]), X[[70, 0]])
    background = Samples(X[48:, ::-1], feature_names=list("gfedcba"))  # a dense one, with its features in another order
    both = Samples.contrast(target=[SPARSE[:20], SPARSE[20:48]], background=background)
    assert sparse.issparse(both.x)
    np.testing.assert_array_equal(both.dense(), np.concatenate([X[48:, ::-1], X[:48, ::-1]]))
    assert both.feature_names == tuple("gfedcba")
    np.testing.assert_array_equal(Samples.contrast(target=sparse.csr_array(X), background=X).dense(), np.r_[X, X])


@pytest.mark.parametrize(
    ("x", "error", "sentence"),
    [
        (sparse.csr_array([[1.0, np.nan], [np.inf, np.nan], [0, 2]]), ValueError, "must be finite; 2 of 3 samples hold NaN"),
        (sparse.csr_array([[1e300, 0]]), ValueError, "must be finite; 1 of 1 samples"),
        (sparse.csr_array([[1e31, 0]]), ValueError, "single precision can square; got 1e.31"),
        (sparse.csr_array([[1j, 0]]), TypeError, "must be numbers; got an array of complex numbers"),
        (sparse.csr_array((0, 3)), ValueError, r"0 sample\(s\)"),
        (sparse.csr_array((3, 0)), ValueError, r"0 feature\(s\)"),
        (sparse.coo_array([1.0, 0.0]), ValueError, r"must be vectors \(n, d\).*got an array of shape \(2,\)"),
    ],
)
def test_wrong_sparse_values_are_refused(x, error, sentence):
    with pytest.raises(error, match=sentence):
        Samples(x)


def test_positions_out_of_bounds_are_refused_and_never_read():
    broken = sparse.csr_matrix(X)
    broken.indices = broken.indices.copy()
    broken.indices[3] = 10**6
    with pytest.raises(ValueError, match="ind"):
        Samples(broken)


def test_the_contrast_test_and_the_covariances_are_those_of_the_dense_array():
    assert un.contrast_test(SPARSE).p_value == un.contrast_test(DENSE).p_value
    np.testing.assert_allclose(un.contrast_test(SPARSE).contrasts, un.contrast_test(DENSE).contrasts, rtol=1e-9)
    for d in (7, 1200):  # fewer features than samples, and more
        dense = Samples(values(88, d, 0.1), groups=GROUPS)
        a, b = group_covariances(replace(dense, x=sparse.csr_array(dense.x))), group_covariances(dense)
        np.testing.assert_allclose(a.origin, b.origin, rtol=1e-12)
        np.testing.assert_allclose(a.axes @ a.A @ a.axes.T, b.axes @ b.A @ b.axes.T, atol=1e-9)
        np.testing.assert_allclose(a.axes @ a.B @ a.axes.T, b.axes @ b.B @ b.axes.T, atol=1e-9)
        assert (a.target_variance, a.background_variance) == pytest.approx((b.target_variance, b.background_variance))
        mine, theirs = (un.contrast_test(one, permutations=19) for one in (replace(dense, x=sparse.csr_array(dense.x)), dense))
        np.testing.assert_allclose(mine.contrasts, theirs.contrasts, rtol=1e-6)


def test_pca_of_many_features_takes_the_leading_directions_alone():
    x = values(60, 2500, 0.1)
    codes = un.PCA(n_latent=3).fit(sparse.csr_array(x)).transform(x)
    left, sizes, _ = np.linalg.svd(x.astype(float) - x.mean(0, dtype=float), full_matrices=False)
    np.testing.assert_allclose(np.abs(codes), np.abs(left[:, :3] * sizes[:3]), atol=1e-4)


def test_every_metric_that_applies_scores_sparse_samples_as_dense_ones():
    method = small("principled_vae", epochs=5).fit(DENSE)
    on_sparse, on_dense = un.evaluate(method, SPARSE), un.evaluate(method, DENSE)
    assert on_sparse.keys() == on_dense.keys()
    assert "reconstruction.x" in on_sparse
    for name, score in on_dense.items():
        assert on_sparse[name].value == pytest.approx(score.value, rel=1e-6), name
    every = [name for name in un.evaluation.registry.METRICS if name not in ("realism", "transfer_lpips")]
    assert un.evaluate(method, SPARSE, every, skip_inapplicable=True)["swap_accuracy.x"].value == (
        un.evaluate(method, DENSE, ["swap"])["swap_accuracy.x"].value
    )


def test_a_run_on_sparse_samples_has_its_gallery_its_diagnostics_and_its_page(tmp_path):
    small("principled_vae").fit(SPARSE, out=tmp_path / "run")
    others = replace(SPARSE, x=SPARSE.x * np.float32(0.9))  # scores on the samples of the fit are warned about
    splits = un.data.Splits(SPARSE, others)
    assert un.evaluate_run(tmp_path / "run", data=splits)["reconstruction.x"].value > 0
    un.report(tmp_path / "run", tmp_path / "page.html")
    assert "reconstruction" in (tmp_path / "page.html").read_text()
    method = un.load_method(tmp_path / "run")
    mine, dense = gallery(method, SPARSE), gallery(method, DENSE)
    np.testing.assert_array_equal(mine.targets.originals, dense.targets.originals)
    diagnose(tmp_path / "run", method, SPARSE, SPARSE)


def test_a_grid_search_takes_a_sparse_matrix():
    folds = StratifiedKFold(2, shuffle=True, random_state=0)
    best = [
        GridSearchCV(small("contrastive_pca"), {"n_salient": [1, 3]}, cv=folds, error_score="raise").fit(x, GROUPS)
        for x in (sparse.csr_matrix(X), X)
    ]
    np.testing.assert_allclose(*(one.cv_results_["mean_test_score"] for one in best), rtol=1e-4)


def test_sparse_counts_are_warned_of_as_dense_ones_are():
    counts = RNG.poisson(RNG.gamma(0.2, 20, size=(40, 6)))
    messages = []
    for x in (counts, sparse.csr_matrix(counts)):
        with pytest.warns(UserWarning, match="raw counts") as caught:
            small("pca").fit(x)
        messages.append(str(caught[0].message))
    assert messages[0] == messages[1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        small("pca").fit(sparse.csr_matrix(np.log1p(counts)))


def test_networks_of_metrics_are_trained_on_no_more_dense_samples_than_fit_in_memory(monkeypatch):
    method = small("principled_vae").fit(SPARSE)
    made = []
    monkeypatch.setattr(Samples, "dense", lambda self, index: made.append(len(index)) or self.x[index].toarray())
    monkeypatch.setattr(scored_samples, "MAX_DENSE", 30 * 7)
    un.evaluate(method, SPARSE, ["swap", "counterfactual"])
    assert made
    assert max(made) == 30  # of the 44 of a half
    assert scored_samples.affordable(SPARSE, np.arange(88)).shape == (30,)
    assert scored_samples.affordable(DENSE, np.arange(88)).shape == (88,)


def test_sparse_counts_with_covariates_fit_as_their_dense_array():
    rng = np.random.default_rng(0)
    x = rng.poisson(rng.gamma(1.0, 1.0, (120, 1)) * np.ones((1, 12))).astype(np.float32)
    known = {"groups": np.arange(120) % 2, "covariates": {"batch": np.array(["a", "b"])[rng.integers(0, 2, 120)]}}
    options = {"likelihood": "negative_binomial", "epochs": 2, "n_common": 2, "n_salient": 2, "batch": 16, "width": 8}
    dense, sparse_one = Samples(x, **known), Samples(sparse.csr_array(x), **known)
    a, b = (un.PrincipledVAE(**options).fit(one) for one in (dense, sparse_one))
    np.testing.assert_array_equal(a.encode(dense).array(), b.encode(sparse_one).array())
    np.testing.assert_array_equal(a.decode(a.encode(dense)), b.decode(b.encode(sparse_one)))
    np.testing.assert_allclose(a.score(dense), b.score(sparse_one), rtol=1e-5)
    with pytest.raises(ValueError, match=r"counts needs x of non-negative integers; .* of 1440 values are not"):
        un.PrincipledVAE(**options).fit(Samples(sparse.csr_array(x / 2), **known))
