import numpy as np
import pytest

from untwine.metrics import regression_error


def linear(n=400, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.uniform(-1, 1, size=(n, 2)) + np.array([5.0, -3.0])
    return truth @ rng.normal(size=(2, 4)), truth


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
        (1e-6 * truth, truth),
        (truth[order], truth[order]),
        (np.hstack([truth, truth, np.full((400, 1), 0.1)]), truth),
        (codes, truth[:, 1]),
    ):
        result = regression_error(c, y)
        assert result.error < 1e-6
        assert result.constant == pytest.approx(0.5, abs=0.05)  # of a uniform factor from -1 to 1


def test_it_is_scikit_learn_s_least_squares():
    from sklearn.linear_model import LinearRegression
    from sklearn.metrics import mean_absolute_error

    from untwine.metrics.held_out import random_folds

    rng = np.random.default_rng(0)
    codes = rng.normal(size=(500, 3))
    truth = codes @ rng.normal(size=(3, 2)) + rng.normal(size=(500, 2))
    predicted, medians = np.empty((500, 2)), np.empty((500, 2))
    for train, test in random_folds(500, 5, seed=7):
        predicted[test] = LinearRegression().fit(codes[train], truth[train]).predict(codes[test])
        medians[test] = np.median(truth[train], axis=0)
    result = regression_error(codes, truth, seed=7)
    assert result.per_factor == pytest.approx(mean_absolute_error(truth, predicted, multioutput="raw_values"), abs=1e-10)
    assert result.constant_per_factor == pytest.approx(mean_absolute_error(truth, medians, multioutput="raw_values"), abs=1e-10)
    assert result.error == pytest.approx(np.mean(result.per_factor))
    assert np.mean(result.folds) == pytest.approx(result.error)
    assert np.mean(result.constant_folds) == pytest.approx(result.constant)
    assert np.mean(result.per_factor_folds, axis=1) == pytest.approx(result.per_factor)


@pytest.mark.parametrize("codes", [np.full((400, 3), 0.1), np.random.default_rng(5).normal(size=(400, 3))])
def test_uninformative_codes_are_no_better_than_the_constant_predictor(codes):
    result = regression_error(codes, linear()[1])
    assert result.error == pytest.approx(result.constant, rel=0.02)


def test_noise_leaves_the_error_that_it_must():
    rng = np.random.default_rng(0)
    signal = rng.normal(size=(5000, 1))
    result = regression_error(signal, signal + rng.normal(size=(5000, 1)))
    assert result.error == pytest.approx(np.sqrt(2 / np.pi), abs=0.03)
    assert result.constant == pytest.approx(np.sqrt(2) * np.sqrt(2 / np.pi), abs=0.03)


def test_the_constant_is_the_median_and_so_beats_the_mean():
    skewed = np.random.default_rng(0).exponential(size=(2000, 1))
    result = regression_error(np.ones((2000, 1)), skewed)
    assert result.constant == pytest.approx(np.log(2), abs=0.03)  # mean |x - median| of an exponential
    assert result.error == pytest.approx(2 / np.e, abs=0.03)  # about its mean


def test_samples_with_unknown_factors_and_constant_factors():
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(200, 2))
    codes = truth.copy()
    truth[:50, 0] = np.nan
    codes[:50, 0] = 1e3  # would ruin the fit if these samples were used
    assert regression_error(codes[:, :1], truth[:, :1]).error < 1e-9
    assert regression_error(codes[:, :1], truth[:, :1]).n == 150
    result = regression_error(truth[:, 1:], np.column_stack([np.full(200, 0.1), truth[:, 1]]))
    assert result.per_factor[0] == result.constant_per_factor[0] == 0.0
    assert result.error < 1e-9
    assert result.constant > 0.5
    assert np.isfinite([*result.folds, *np.ravel(result.per_factor_folds), *np.ravel(result.constant_per_factor_folds)]).all()


def test_nothing_to_score_is_refused():
    with pytest.raises(ValueError, match="got none among 2"):
        regression_error(np.ones((50, 2)), np.ones((50, 2)))
    with pytest.raises(ValueError, match="got none among 1"):
        regression_error(np.ones((50, 2)), np.full(50, np.nan))
    with pytest.raises(TypeError, match="is taken for classes"):
        regression_error(np.ones((50, 2)), np.arange(50))
    with pytest.raises(ValueError, match="5 folds of 6 samples"):
        regression_error(np.ones((6, 2)), np.arange(6.0))
