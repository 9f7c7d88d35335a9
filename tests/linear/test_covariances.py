"""Covariances of large data by a randomised method: the directions, alphas and subspaces of the exact ones."""

import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from sklearn import cluster

import untwine as un
from untwine import Samples
from untwine.linear import covariances, randomised
from untwine.linear.covariances import _from_covariances, group_covariances
from untwine.linear.randomised import leading_eigenvectors, orthonormalise
from untwine.linear.spectral import spectral_clusters
from untwine.methods.contrastive_pca import ALPHAS, affinity, solutions
from untwine.methods.shared.linear_subspaces import leading


def decaying(n, d, seed=0, target=0.5):
    """Samples whose variances decay as those of images do; the target varies more along a few directions."""
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.normal(size=(d, min(n, d))))[0]
    std = np.arange(1, axes.shape[1] + 1) ** -0.8
    z = rng.normal(size=(n, len(std))) * std
    k = int(target * n)
    z[:k, 3:5] *= 3
    return Samples(np.float32(z @ axes.T + rng.normal(size=d)), groups=np.int64(np.arange(n) < k))


def as_images(data):
    x = data.x.reshape(len(data), 1, 16, -1)
    return Samples(np.uint8(np.clip(128 + 30 * (x - x.mean(0)), 0, 255)), groups=data.groups)


def as_sparse(data):
    return Samples(sparse.csr_array(np.where(data.x > 0.5, data.x, 0)), groups=data.groups)


@pytest.fixture
def small(monkeypatch):
    """The limits of large data, scaled down: 40 directions of data with more than 100 samples and features."""
    monkeypatch.setattr(covariances, "MAX_EXACT", 100)
    monkeypatch.setattr(covariances, "MAX_DIRECTIONS", 40)


def exact(data, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(covariances, "MAX_EXACT", 10**9)
        return group_covariances(data)


KINDS = {
    "more samples": lambda: decaying(600, 320),
    "more features": lambda: decaying(320, 608),
    "images": lambda: as_images(decaying(320, 608)),
    "sparse, more samples": lambda: as_sparse(decaying(600, 320)),
    "sparse, more features": lambda: as_sparse(decaying(320, 608)),
}


@pytest.mark.parametrize("explicit", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_the_randomised_subspaces_are_the_exact_ones_for_every_alpha(kind, explicit, small, monkeypatch):
    data = KINDS[kind]()
    if not explicit:
        monkeypatch.setattr(randomised, "EXPLICIT", 0)
        monkeypatch.setattr(covariances, "ELEMENTS", 10_000)  # many blocks
    result, truth = group_covariances(data), exact(data, monkeypatch)
    np.testing.assert_allclose(result.axes.T @ result.axes, np.eye(40), atol=1e-12)
    np.testing.assert_allclose(result.origin, truth.origin, atol=1e-12)
    assert result.target_variance == pytest.approx(truth.target_variance, rel=1e-5)
    assert result.background_variance == pytest.approx(truth.background_variance, rel=1e-5)
    for k in (1, 2, 5):
        for alpha, V, W in zip(ALPHAS, solutions(result, k), solutions(truth, k), strict=True):
            cosines = np.linalg.svd((truth.axes @ W).T @ (result.axes @ V), compute_uv=False)
            # At large weights, directions count that hardly vary, which the leading ones of the randomised method approximate.
            assert cosines.min() > (0.9999 if alpha < 5 else 0.99), (k, alpha, cosines)


@pytest.mark.parametrize("kind", KINDS)
def test_large_data_get_the_alpha_and_the_codes_of_the_exact_solution(kind, small, monkeypatch):
    data = KINDS[kind]()
    result = un.ContrastivePCA(n_salient=2).fit(data)
    with monkeypatch.context() as patch:
        patch.setattr(covariances, "MAX_EXACT", 10**9)
        truth = un.ContrastivePCA(n_salient=2).fit(data)
    assert result.alpha_ == truth.alpha_
    for block in ("salient", "common"):
        a, b = (method.encode(data)[block] for method in (result, truth))
        np.testing.assert_allclose(a, b, atol=2e-3 * np.abs(b).max())


def test_the_randomised_directions_are_those_of_their_seed(small):
    data = decaying(320, 400)
    one, again, other = (group_covariances(data, seed) for seed in (0, 0, 1))
    assert np.array_equal(one.axes, again.axes)
    assert np.array_equal(one.A, again.A)
    assert not np.array_equal(one.axes, other.axes)


def test_data_of_low_rank_have_as_many_randomised_directions(small):
    rng = np.random.default_rng(0)
    x = np.float32(rng.normal(size=(300, 7)) @ rng.normal(size=(7, 400)))
    for one in (x, np.ascontiguousarray(x.T[:, :250])):
        result = group_covariances(Samples(one, groups=np.int64(np.arange(len(one)) < 150)))
        assert result.axes.shape == (one.shape[1], 7)
        assert np.trace(result.A) == pytest.approx(result.target_variance, rel=1e-4)


@pytest.mark.soak
def test_the_leading_500_of_2600_directions_are_exact_to_four_digits():
    """At the sizes from which the randomised method is used, with its own numbers."""
    data = decaying(3000, 2600)
    result = group_covariances(data)
    truth = _from_covariances(data.target.x, data.background.x)
    for k in (2, 8, 64):
        for alpha in ALPHAS[::8]:
            V, W = (one.axes @ leading(one.A - alpha * one.B, k)[1] for one in (result, truth))
            assert np.linalg.svd(W.T @ V, compute_uv=False).min() > 0.9999, (k, alpha)


def test_leading_eigenvectors_of_blocks():
    rng = np.random.default_rng(0)
    U = rng.normal(size=(500, 300)).astype(np.float32) * np.float32(0.97) ** np.arange(300, dtype=np.float32)
    V = orthonormalise(leading_eigenvectors(lambda: iter(np.array_split(U, 7)), 300, 20, seed=3))
    S = np.float64(U).T @ U
    truth = np.linalg.eigvalsh(S)[::-1]
    # The method's guarantee: each direction has the variance of its eigenvector but for a part of the first left out.
    np.testing.assert_allclose(np.diagonal(V.T @ S @ V), truth[:20], atol=1e-4 * truth[20])


@pytest.mark.parametrize("order", ["sides together", "mixed"])
def test_wherever_the_samples_of_each_side_stand_the_answer_is_the_same(order):
    data = decaying(120, 30)
    rows = np.random.default_rng(0).permutation(120) if order == "mixed" else np.r_[60:120, 0:60]
    one, other = (group_covariances(samples) for samples in (data, data[rows]))
    for name in ("A", "B"):
        a, b = (both.axes @ getattr(both, name) @ both.axes.T for both in (one, other))
        np.testing.assert_allclose(a, b, atol=1e-12)


@pytest.mark.parametrize(("n", "d"), [(40_000, 100), (100, 40_000), (8_000, 2_600)])
def test_less_memory_is_taken_than_the_samples_have(n, d, monkeypatch):
    monkeypatch.setattr(covariances, "ELEMENTS", 2**17)
    monkeypatch.setattr(covariances, "MAX_DIRECTIONS", 5)
    x = np.random.default_rng(0).standard_normal((n, d), dtype=np.float32)
    data = Samples(x, groups=np.int64(np.arange(n) < n // 2))
    tracemalloc.start()
    group_covariances(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < x.nbytes, peak / x.nbytes


def random_affinity(seed):
    rng = np.random.default_rng(seed)
    d, k = int(rng.integers(4, 40)), int(rng.integers(1, 4))
    A, B = (np.cov((rng.normal(size=(100, d)) * np.geomspace(1, 0.1, d) @ rng.normal(size=(d, d))).T) for _ in range(2))
    return np.clip(affinity(A, [leading(A - alpha * B, k)[1] for alpha in ALPHAS]), 1e-12, None)


@pytest.mark.parametrize("seed", range(12))
def test_spectral_clusters_are_those_of_scikit_learn(seed):
    W = random_affinity(seed)
    for random_state in (0, 7):
        truth = cluster.SpectralClustering(4, affinity="precomputed", random_state=random_state).fit(W).labels_
        result = spectral_clusters(W, 4, random_state)
        pairs = set(zip(truth.tolist(), result.tolist(), strict=True))
        assert len(pairs) == len(set(result.tolist())) == 4


def test_spectral_clusters_take_every_seed_and_equal_objects():
    assert len(set(spectral_clusters(np.ones((6, 6)), 4, 2**62).tolist())) <= 4
    far = np.kron(np.eye(3), np.ones((4, 4))).clip(1e-12)
    labels = spectral_clusters(far, 3, 0).reshape(3, 4)
    assert (labels == labels[:, :1]).all()
    assert len(set(labels[:, 0].tolist())) == 3


FIRST = """
import sys
import numpy as np
import untwine as un
x = np.random.default_rng(0).normal(size=(60, 7))
un.ContrastivePCA().fit(un.Samples.contrast(target=x[:40], background=x[40:])).transform(x)
print(*sorted({"sklearn", "scipy.stats", "scipy.sparse", "scipy.optimize", "pandas", "matplotlib"} & set(sys.modules)))
"""


def test_a_first_fit_imports_nothing_that_takes_seconds():
    done = subprocess.run([sys.executable, "-c", FIRST], check=True, stdout=subprocess.PIPE, text=True)
    assert not done.stdout.split(), done.stdout
