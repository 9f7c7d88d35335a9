"""The linear contrastive methods: published values, truth that is known, and data with nothing in it."""

import time
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from small import images, vectors

import untwine as un
from untwine import Samples
from untwine.linear.covariances import GroupCovariances, _from_covariances, _from_gram, group_covariances
from untwine.methods import contrastive_pca
from untwine.methods.contrastive_pca import ALPHAS, affinity, representatives
from untwine.methods.generalised_contrastive_pca import contrasts
from untwine.methods.probabilistic_contrastive_pca import maximum_likelihood
from untwine.methods.shared.linear_subspaces import leading
from untwine.metrics import canonical_correlation

GOLDEN = Path(__file__).parents[1] / "golden"
METHODS = (un.ContrastivePCA, un.GeneralisedContrastivePCA, un.ProbabilisticContrastivePCA)


@cache
def golden(name):
    with np.load(GOLDEN / f"{name}.npz", allow_pickle=False) as file:
        return dict(file)


@cache
def sides(kind="raw"):
    """Target and background of the published values; `std` with each column of each set at variance 1."""
    both = (golden("cpca")[name] for name in ("target", "background"))
    return tuple((x - x.mean(0)) / (x.std(0) if kind == "std" else 1) for x in both)


def covariances(kind="raw"):
    return [np.cov(x.T) for x in sides(kind)]


def aligned(result, truth):
    """The found columns with the signs of the true ones: the sign of an eigenvector is free."""
    return result * np.sign((result * truth).sum(0))


@pytest.mark.parametrize("kind", ["raw", "std"])
@pytest.mark.parametrize("alpha", ["0.5", "1", "2", "10"])
def test_contrastive_pca_equals_its_authors(kind, alpha):
    truth, (A, B) = golden("cpca"), covariances(kind)
    for name, result in (("fg", A), ("bg", B)):
        np.testing.assert_allclose(result, truth[f"{kind}_{name}_cov"], atol=1e-10)
    values, vectors = leading(A - float(alpha) * B, 12)
    np.testing.assert_allclose(values, truth[f"{kind}_alpha{alpha}_eigenvalues"], atol=1e-10)
    components = truth[f"{kind}_alpha{alpha}_components4"]
    np.testing.assert_allclose(aligned(vectors[:, :4], components), components, atol=1e-8)
    for name, rows in zip(("projection4", "bg_projection4"), sides(kind), strict=True):
        projection = truth[f"{kind}_alpha{alpha}_{name}"]
        np.testing.assert_allclose(aligned(rows @ vectors[:, :4], projection), projection, atol=1e-8)


@pytest.mark.parametrize("kind", ["raw", "std"])
@pytest.mark.parametrize("alpha", ["0.5", "1", "2", "10"])
def test_the_codes_of_contrastive_pca_are_the_published_projections(kind, alpha):
    target, background = sides(kind)
    data = Samples.contrast(target=target, background=background)
    method = un.ContrastivePCA(n_salient=4, alpha=float(alpha), precision="float64").fit(data)
    for name, rows in (("projection4", target), ("bg_projection4", background)):
        codes = method.encode(rows).salient
        projection = golden("cpca")[f"{kind}_alpha{alpha}_{name}"]
        np.testing.assert_allclose(
            aligned(codes, projection), projection, atol=1e-5
        )  # for samples are kept in single precision


@pytest.mark.parametrize("kind", ["raw", "std"])
def test_automatic_alphas_equal_their_authors(kind):
    truth, (A, B) = golden("cpca"), covariances(kind)
    np.testing.assert_allclose(ALPHAS, truth["all_alphas"], rtol=1e-12)
    result = affinity(A, [leading(A - alpha * B, 2)[1] for alpha in ALPHAS])
    np.testing.assert_allclose(result, truth[f"{kind}_affinity"], atol=1e-8)
    np.testing.assert_allclose([ALPHAS[i] for i in representatives(result, seed=0)], truth[f"{kind}_auto_alphas"], rtol=1e-12)


@pytest.mark.parametrize("alphas", [None, (3.0, 0.0, 0.5)])
def test_a_sweep_returns_the_fit_of_each_alpha(alphas, monkeypatch, tmp_path):
    data, calls = un.load("toy_contrast", n_target=300, n_background=200).train, []
    monkeypatch.setattr(contrastive_pca, "group_covariances", lambda *given: calls.append(1) or group_covariances(*given))
    method = un.ContrastivePCA(n_salient=2, precision="float64")
    swept = method.sweep(data, alphas=alphas)
    assert len(calls) == 1
    assert not hasattr(method, "nets_")
    if alphas is None:
        assert len(swept) == 4
        assert swept[0].alpha == 0.0
        assert un.ContrastivePCA(n_salient=2, precision="float64").fit(data).alpha_ in [one.alpha_ for one in swept]
    else:
        assert [one.alpha for one in swept] == list(alphas)
    for one in swept:
        alone = un.ContrastivePCA(n_salient=2, precision="float64", alpha=one.alpha).fit(data)
        for name, value in alone.nets_.state_dict().items():
            assert torch.equal(one.nets_.state_dict()[name], value), name
        assert np.array_equal(one.transform(data.x), alone.transform(data.x))
    swept[-1].save(tmp_path / "run")
    assert un.load_method(tmp_path / "run").alpha_ == swept[-1].alpha_


def test_a_sweep_needs_alphas_that_a_fit_would_take():
    with pytest.raises(ValueError, match="alphas must have at least one number; got none; leave it out for"):
        un.ContrastivePCA().sweep(vectors(), alphas=[])
    with pytest.raises(ValueError, match=r"alpha must be .* got -1"):
        un.ContrastivePCA().sweep(vectors(), alphas=[1.0, -1.0])


def test_version_1_of_generalised_contrastive_pca_is_contrastive_pca_with_alpha_1():
    truth, (A, B) = golden("gcpca"), covariances()
    x, y = truth["normalised_target"], truth["normalised_background"]
    for kind, covariance in (("centred", A - B), ("normalised", np.cov(x.T) - np.cov(y.T))):
        values, vectors = leading(covariance, 12)
        loadings = truth[f"v1_{kind}_loadings"]
        np.testing.assert_allclose(aligned(vectors, loadings), loadings, atol=1e-8)
        np.testing.assert_allclose(values, truth[f"v1_{kind}_objective_values"], atol=1e-8)
    target, background = sides()
    method = un.ContrastivePCA(n_salient=4, alpha=1.0, precision="float64")
    result = method.fit(Samples.contrast(target=target, background=background)).components_.T
    loadings = truth["v1_centred_loadings"][:, :4]
    np.testing.assert_allclose(aligned(result, loadings), loadings, atol=1e-6)  # for samples are kept in single precision


@pytest.mark.parametrize("version", [2, 3, 4])
def test_generalised_contrastive_pca_equals_its_authors_whatever_the_version(version):
    truth = golden("gcpca")
    values, W = contrasts(*covariances())
    loadings = truth[f"v{version}_centred_loadings"]
    np.testing.assert_allclose(aligned(W, loadings), loadings, atol=1e-8)
    ratio = (1 + values) / (1 - values)  # of the variances, which is version 2's value
    theirs = {2: ratio, 3: ratio - 1, 4: values}[version]
    np.testing.assert_allclose(theirs, truth[f"v{version}_centred_eigenvalues_scipy"], rtol=1e-8)


@pytest.mark.parametrize("version", [2, 3, 4])
def test_generalised_contrastive_pca_equals_its_authors_on_normalised_data(version):
    truth = golden("gcpca")
    x, y = truth["normalised_target"], truth["normalised_background"]
    W = contrasts(x.T @ x, y.T @ y)[1]  # scaled to one norm there, and not divided by the number of samples
    loadings = truth[f"v{version}_normalised_loadings"]
    np.testing.assert_allclose(aligned(W, loadings), loadings, atol=1e-8)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("gamma", ["0", "0.1", "0.2", "0.3"])
def test_probabilistic_contrastive_pca_equals_its_authors(k, gamma):
    truth, (A, B), (x, y) = golden("pcpca"), covariances(), sides()
    both = GroupCovariances(np.zeros(12), np.eye(12), A, B, len(x), len(y), np.trace(A), np.trace(B))
    W, sigma2 = maximum_likelihood(both, float(gamma), k)
    np.testing.assert_allclose(W @ W.T, truth[f"k{k}_gamma{gamma}_WWt"], atol=1e-8)
    assert sigma2 == pytest.approx(float(truth[f"k{k}_gamma{gamma}_sigma2"]), rel=1e-10)
    logs = {name: log_likelihood(rows, W, sigma2) for name, rows in (("target", x), ("background", y))}
    for name, result in logs.items():
        assert result == pytest.approx(float(truth[f"k{k}_gamma{gamma}_loglik_{name}"]), rel=1e-10)
    objective = logs["target"] - float(gamma) * logs["background"]
    assert objective == pytest.approx(float(truth[f"k{k}_gamma{gamma}_objective"]), rel=1e-10)
    if k == 2:
        maps = un.ProbabilisticContrastivePCA(gamma=float(gamma)).salient_subspace(both).maps
        for name, rows in (("target", x), ("background", y)):
            codes = truth[f"k2_gamma{gamma}_z_{name}"]
            np.testing.assert_allclose(aligned(rows @ maps, codes), codes, atol=1e-8)


def log_likelihood(rows, W, sigma2):
    """Summed over samples: that of N(0, W W' + sigma^2 I)."""
    covariance = W @ W.T + sigma2 * np.eye(rows.shape[1])
    logdet = np.linalg.slogdet(2 * np.pi * covariance)[1]
    return -0.5 * (len(rows) * logdet + (rows * np.linalg.solve(covariance, rows.T).T).sum())


@pytest.mark.parametrize(
    ("method", "components"),
    [
        (un.ContrastivePCA(alpha=2.0), lambda: golden("cpca")["raw_alpha2_components4"][:, :2]),
        (un.GeneralisedContrastivePCA(), lambda: golden("gcpca")["v4_centred_loadings"][:, :2]),
    ],
)
def test_the_fitted_method_has_the_published_components(method, components):
    data = Samples.contrast(target=golden("cpca")["target"], background=golden("cpca")["background"])
    result = method.set_params(precision="float64").fit(data).components_.T
    np.testing.assert_allclose(
        aligned(result, components()), components(), atol=1e-6
    )  # for samples are kept in single precision


def test_the_fitted_probabilistic_method_has_the_published_covariance():
    data = Samples.contrast(target=golden("cpca")["target"], background=golden("cpca")["background"])
    method = un.ProbabilisticContrastivePCA(gamma=0.2, precision="float64").fit(data)
    np.testing.assert_allclose(method.components_.T @ method.components_, golden("pcpca")["k2_gamma0.2_WWt"], atol=1e-5)
    assert method.sigma2_ == pytest.approx(float(golden("pcpca")["k2_gamma0.2_sigma2"]), rel=1e-6)
    assert method.gamma_ == pytest.approx(0.2)


@pytest.mark.parametrize("kind", METHODS)
def test_defaults_recover_the_salient_factors(kind):
    """The figures are those on the method's page."""
    result = []
    for seed in range(5):
        data = un.load("toy_contrast", seed=seed)
        salient = np.array([name.startswith("salient") for name in data.test.factor_names])
        truth, method = data.test.target.factors, kind(seed=seed).fit(data.train)
        z = method.encode(data.test.target.x)
        result.append([canonical_correlation(z[b], truth[:, c]) for b in ("salient", "common") for c in (salient, ~salient)])
    result = np.array(result)
    print(kind.name, "salient: s, z; common: s, z", result.mean(0).round(3), "least", result.min(0).round(3))
    assert (result[:, 0] >= 0.94).all(), result
    assert (result[:, 1] <= 0.15).all(), result
    assert (result[:, 2] <= 0.15).all(), result
    assert (result[:, 3] >= 0.99).all(), result


def test_pca_of_the_target_does_not_recover_them():
    data = un.load("toy_contrast", seed=0)
    truth = data.test.target.factors[:, -2:]
    assert canonical_correlation(un.ContrastivePCA(alpha=0.0).fit(data.train).encode(data.test.target.x).salient, truth) < 0.2


@pytest.mark.parametrize("kind", METHODS)
def test_decode_after_encode_is_the_orthogonal_projection(kind):
    data = un.load("toy_contrast", n_target=300, n_background=200).train
    method = kind(precision="float64").fit(data)
    planes = method.nets_["planes"]
    span = np.linalg.qr(np.concatenate([planes.components.numpy(), planes.common.numpy()]).T)[0]
    centred = data.x - data.background.x.mean(0)
    np.testing.assert_allclose(method.reconstruct(data.x), centred @ span @ span.T + data.background.x.mean(0), atol=1e-4)
    assert np.abs(planes.components.numpy() @ planes.common.numpy().T).max() < 1e-9
    np.testing.assert_allclose(method.inverse_transform(method.transform(data.x)), method.reconstruct(data.x), atol=1e-6)
    with pytest.raises(ValueError, match=r"codes must have the shape \(n, 7\); got \(3, 5\); pass what transform returns"):
        method.inverse_transform(np.zeros((3, 5)))


@pytest.mark.parametrize("kind", METHODS)
def test_samples_vary_as_the_data(kind):
    data = un.load("toy_contrast", n_target=3000, n_background=3000).train
    drawn = kind().fit(data).sample(3000)
    noise = 0.3**2 * (20 - 7)  # what lies outside both subspaces
    assert drawn.var(0).sum() == pytest.approx(data.target.x.var(0).sum() - noise, rel=0.1)


@pytest.mark.parametrize("kind", METHODS)
def test_what_the_chosen_weight_was_is_kept(kind, tmp_path):
    kind().fit(vectors(), out=tmp_path / "run")
    again = un.load_method(tmp_path / "run")
    names = {"contrastive_pca": ("alpha_",), "probabilistic_contrastive_pca": ("gamma_", "sigma2_")}.get(kind.name, ())
    for name in names:
        assert getattr(again, name) == getattr(kind().fit(vectors()), name)
    assert again.components_.shape == (2, 6)
    assert not hasattr(kind(), "components_")


def test_a_gamma_without_solution_is_refused():
    with pytest.raises(ValueError, match=r"gamma must be below 1\.2 here, and low enough .*; got 1\.3; lower it"):
        un.ProbabilisticContrastivePCA(gamma=1.3).fit(vectors())
    assert un.ProbabilisticContrastivePCA().fit(vectors(target=60, background=2)).gamma_ < 30


def test_networks_of_your_own_are_refused():
    with pytest.raises(ValueError, match=r"ContrastivePCA takes no networks of your own; got encoder; it has a closed form\."):
        un.ContrastivePCA().fit(vectors(), networks={"encoder": torch.nn.Linear(6, 2)})


def constant(data, columns):
    x = data.x.copy()
    x[:, columns] = 7
    return Samples(x, groups=data.groups)


BARE = {
    "constant columns": lambda: constant(vectors(), slice(0, 3)),
    "constant everywhere": lambda: constant(vectors(), slice(0, 6)),
    "repeated columns": lambda: Samples(vectors().x[:, [0, 1, 2] * 4], groups=vectors().groups),
    "a background of two": lambda: vectors(target=60, background=2),
    "two of each": lambda: vectors(target=2, background=2),
    "a constant background": lambda: Samples.contrast(target=vectors().target.x, background=np.full((5, 6), 2.0)),
    "a constant target": lambda: Samples.contrast(target=np.full((5, 6), 2.0), background=vectors().background.x),
    "one column": lambda: Samples(vectors().x[:, :1], groups=vectors().groups),
    "more columns than rows": lambda: images(target=10, background=8),
}


@pytest.mark.parametrize("kind", METHODS)
@pytest.mark.parametrize("bare", BARE)
def test_data_with_little_in_it_gives_finite_codes(kind, bare):
    data = BARE[bare]()
    method = kind().fit(data)
    assert np.isfinite(method.transform(data.x)).all()
    assert np.isfinite(method.sample(4)).all()
    # A projection never takes a sample farther from the background's mean, which is what images are cut from.
    mean = data.background.x.mean(0) / (255 if data.is_image else 1)
    x = data.x / 255 if data.is_image else data.x
    assert np.square(method.reconstruct(data.x) - mean).sum() <= np.square(x - mean).sum() * (1 + 1e-4) + 1e-6
    again = kind().fit(data)
    assert np.array_equal(again.transform(data.x), method.transform(data.x))


def test_where_only_the_target_varies_the_largest_variance_comes_first():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(500, 6)) * [1, 1, 1, 2, 3, 4]
    y = rng.normal(size=(400, 6)) * [1, 1, 1, 0, 0, 0]
    result = un.GeneralisedContrastivePCA().fit(Samples.contrast(target=x, background=y)).components_
    assert abs(result[0, 5]) > 0.95
    assert abs(result[1, 4]) > 0.95


def test_few_wide_samples_give_what_the_covariance_of_all_columns_gives():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 255, size=(30, 3, 8, 8), dtype=np.uint8)
    x[:, 0] = 9  # columns that never vary
    rows, columns = (way(x[:18], x[18:]) for way in (_from_gram, _from_covariances))
    np.testing.assert_allclose(rows.axes.T @ rows.axes, np.eye(28), atol=1e-12)
    for name in ("A", "B"):
        one, other = (both.axes @ getattr(both, name) @ both.axes.T for both in (rows, columns))
        np.testing.assert_allclose(one, other, atol=1e-12)
    for name in ("origin", "n", "m", "target_variance", "background_variance"):
        np.testing.assert_allclose(getattr(rows, name), getattr(columns, name), rtol=1e-12)


def test_images_of_two_thousand_columns_take_seconds():
    rng = np.random.default_rng(0)
    salient = np.zeros((28, 28))
    salient[8:20, 8:20] = 1
    shared = rng.normal(size=(4, 3, 28, 28))
    strength = rng.normal(size=600)
    x = rng.normal(size=(1200, 4)) @ shared.reshape(4, -1) * 0.03 + 0.03 * rng.normal(size=(1200, 3 * 28 * 28))
    x = np.clip(0.5 + x.reshape(-1, 3, 28, 28), 0, 1)
    x[:600] = np.clip(x[:600] + 0.08 * strength[:, None, None, None] * salient, 0, 1)
    data = Samples.contrast(target=np.uint8(255 * x[:600]), background=np.uint8(255 * x[600:]))
    for kind in METHODS:
        start = time.process_time()
        z = kind(n_salient=1).fit(data).encode(data.target.x)
        assert time.process_time() - start < 30
        assert canonical_correlation(z.salient, strength[:, None]) > 0.9, kind
