import numpy as np
import pytest

from untwine.metrics import factor_r2


def linear(n=300, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(n, 2)) * [1.0, 100.0] + [5.0, -3.0]
    return truth @ rng.normal(size=(2, 4)) * [1.0, 10.0, 0.1, 3.0], truth


def test_linear_factors_are_predicted_under_harmless_changes_of_the_codes():
    codes, truth = linear()
    rng = np.random.default_rng(1)
    order = rng.permutation(len(codes))
    rotation = np.linalg.qr(rng.normal(size=(2, 2)))[0]
    for c, y in (
        (truth, truth),
        (truth[:, ::-1], truth),
        (truth @ rotation, truth),
        (1e6 * truth - 1e7, truth),
        (truth[order], truth[order]),
        (np.hstack([truth, truth, np.full((300, 1), 0.1)]), truth),
        (codes, truth[:, 1]),
    ):
        result = factor_r2(c, y)
        assert 0.99 < result.r2 <= 1.0
        assert min(result.folds) > 0.98


@pytest.mark.parametrize("codes", [np.full((300, 3), 0.1), np.random.default_rng(5).normal(size=(300, 3))])
def test_uninformative_codes_get_zero(codes):
    result = factor_r2(codes, linear()[1])
    assert 0 <= result.r2 < 0.02
    assert min(result.per_factor) >= 0


def test_noise_leaves_the_share_of_variance_that_it_must():
    rng = np.random.default_rng(0)
    signal = rng.normal(size=(4000, 1))
    result = factor_r2(signal, signal + rng.normal(size=(4000, 1)))
    assert 0.46 < result.r2 < 0.54
    assert np.mean(result.folds) == pytest.approx(result.r2, abs=1e-9)


def test_one_factor_predicted_and_one_not_is_a_half():
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(500, 2))
    result = factor_r2(truth[:, :1], truth)
    assert result.per_factor[0] > 0.99
    assert result.per_factor[1] < 0.02
    assert 0.49 < result.r2 < 0.52


def test_it_equals_scikit_learn_where_the_penalty_vanishes():
    from sklearn.linear_model import LinearRegression
    from sklearn.metrics import r2_score
    from sklearn.model_selection import KFold, cross_val_predict

    rng = np.random.default_rng(0)
    codes = rng.normal(size=(2000, 3))
    truth = codes @ [1.0, -2.0, 0.5] + rng.normal(size=2000)
    predicted = cross_val_predict(LinearRegression(), codes, truth, cv=KFold(5, shuffle=True, random_state=0))
    assert factor_r2(codes, truth).r2 == pytest.approx(r2_score(truth, predicted), abs=2e-3)


def test_samples_with_an_unknown_factor_are_left_out_for_that_factor_only():
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(200, 2))
    codes = truth.copy()
    truth[:50, 0] = np.nan
    codes[:50, 0] = 1e3  # would ruin the fit if these samples were used
    result = factor_r2(codes[:, :1], truth[:, :1])
    assert result.r2 > 0.99
    assert result.n == 150
    both = factor_r2(np.hstack([truth[:, 1:], codes[:, :1] * 0]), truth)
    assert both.n == 200
    assert both.per_factor[1] > 0.99


def test_constant_and_barely_known_factors_are_left_out():
    rng = np.random.default_rng(0)
    y = rng.normal(size=100)
    rare = np.where(np.arange(100) < 9, y, np.nan)
    result = factor_r2(y[:, None], np.column_stack([np.full(100, 0.1), y, rare]))
    assert np.isnan(result.per_factor[0])
    assert np.isnan(result.per_factor[2])
    assert result.r2 == result.per_factor[1] > 0.99


def test_nothing_to_score_is_refused():
    with pytest.raises(ValueError, match="got none among 2"):
        factor_r2(np.ones((50, 2)), np.ones((50, 2)))
    with pytest.raises(TypeError, match="is taken for classes"):
        factor_r2(np.ones((50, 2)), np.arange(50))
    with pytest.raises(ValueError, match=r"\(50, k\)"):
        factor_r2(np.ones((50, 2)), np.ones((40, 2)))
    with pytest.raises(ValueError, match="5 folds of 6 samples"):
        factor_r2(np.ones((6, 2)), np.ones((6, 2)))
