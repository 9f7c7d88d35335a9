import numpy as np
import pytest

from untwine.metrics import canonical_correlation


@pytest.fixture
def truth():
    return np.random.default_rng(0).normal(size=(500, 3))


def test_every_invertible_map_of_the_truth_is_full_recovery(truth):
    rng = np.random.default_rng(1)
    for codes in (
        truth,
        truth[:, ::-1],
        truth @ rng.normal(size=(3, 3)) + 7,
        truth * [1e6, 1e-6, 1.0],
        np.hstack([truth, truth]),
        np.hstack([truth, rng.normal(size=(500, 5)), np.full((500, 1), 0.1)]),
        truth.astype(np.float32) * 1e-20,
    ):
        assert canonical_correlation(codes, truth) == pytest.approx(1.0, abs=1e-6)


def test_missing_dimensions_count_as_zero(truth):
    assert canonical_correlation(truth[:, :1], truth) == pytest.approx(1 / 3, abs=1e-3)
    assert canonical_correlation(np.hstack([truth[:, :1]] * 3), truth) == pytest.approx(1 / 3, abs=1e-3)
    assert canonical_correlation(np.full((500, 3), 0.1), truth) == 0.0
    assert canonical_correlation(truth, np.hstack([truth[:, :1], np.full((500, 1), 0.1)])) == pytest.approx(0.5, abs=1e-6)


def test_independent_codes_score_little(truth):
    codes = np.random.default_rng(9).normal(size=(500, 3))
    assert 0.0 < canonical_correlation(codes, truth) < 0.12


def test_equals_scikit_learn_and_pearson():
    from sklearn.cross_decomposition import CCA

    rng = np.random.default_rng(0)
    factors = rng.normal(size=(400, 2))
    codes = np.hstack([factors @ rng.normal(size=(2, 2)) + rng.normal(size=(400, 2)), rng.normal(size=(400, 1))])
    a, b = CCA(n_components=2, max_iter=20_000, tol=1e-12).fit_transform(codes, factors)
    expected = np.mean([np.corrcoef(a[:, i], b[:, i])[0, 1] for i in range(2)])
    assert canonical_correlation(codes, factors) == pytest.approx(expected, abs=1e-6)
    alone = abs(np.corrcoef(codes[:, 0], factors[:, 0])[0, 1])
    assert canonical_correlation(codes[:, :1], factors[:, 0]) == pytest.approx(alone)


def test_too_few_samples_or_unknown_factors_are_refused(truth):
    with pytest.raises(ValueError, match="more samples"):
        canonical_correlation(truth[:6], truth[:6])
    with pytest.raises(ValueError, match="NaN"):
        canonical_correlation(truth, np.where(truth > 2, np.nan, truth))
