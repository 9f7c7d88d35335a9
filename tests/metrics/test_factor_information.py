import numpy as np
import pytest

from untwine.metrics import best_factors, information_matrix, mig_score

RNG = np.random.default_rng(0)
FACTORS = RNG.integers(0, 10, size=(4_000, 3))


def test_perfect_permuted_and_rescaled_codes_determine_each_factor():
    result = information_matrix(FACTORS[:, [2, 0, 1]] * [1.0, -2.0, 0.5] + 7, FACTORS)
    np.testing.assert_allclose(result[[1, 2, 0], [0, 1, 2]], 1.0)
    assert np.delete(result.ravel(), [2, 3, 7]).max() < 0.03


def test_a_relation_that_is_no_line_counts_too():
    result = information_matrix(np.cos(FACTORS[:, :1] * np.pi / 9.7), FACTORS)
    assert result[0, 0] > 0.8


def test_constant_factors_and_dead_latents_have_zeros():
    codes = np.column_stack([FACTORS[:, 0], np.ones(len(FACTORS)), 1e-3 * FACTORS[:, 1]])
    factors = np.column_stack([FACTORS[:, :2], np.full(len(FACTORS), 4)])
    result = information_matrix(codes, factors)
    assert np.isfinite(result).all()
    assert result[0, 0] == pytest.approx(1)
    assert not result[1:].any()
    assert not result[:, 2].any()
    assert information_matrix(codes, factors, dead=0.0)[2, 1] == pytest.approx(1)


def test_the_matrix_is_that_of_mig_over_the_entropy():
    codes = FACTORS + RNG.normal(size=FACTORS.shape)
    result = mig_score(codes, FACTORS)
    entropy = -sum(p * np.log(p) for p in np.bincount(FACTORS[:, 0]) / len(FACTORS))
    np.testing.assert_allclose(information_matrix(codes, FACTORS)[:, 0], result.matrix[:, 0] / entropy, rtol=1e-12)


def test_the_best_factor_of_each_latent_and_how_much_of_it():
    rng = np.random.default_rng(0)
    factors = np.column_stack([rng.integers(0, 4, 400), rng.integers(0, 90, 400)])
    codes = np.column_stack([rng.normal(size=400), -2.0 * factors[:, 0], np.zeros(400), np.sin(factors[:, 0])])
    best, share = best_factors(codes, factors)
    assert best[[1, 3]].tolist() == [0, 0]
    np.testing.assert_allclose(share, [0, 1, 0, 1], atol=0.05)
    # Uncorrected, noise has more than this on a factor of many values.
    assert information_matrix(codes, factors)[0, 1] > 0.2


def test_permuted_and_rescaled_latents_keep_their_factors():
    rng = np.random.default_rng(1)
    factors = rng.integers(0, 5, (600, 3))
    codes = factors + 0.1 * rng.normal(size=(600, 3))
    order = [2, 0, 1]
    best, share = best_factors(codes[:, order] * [3.0, -1.0, 2.0], factors)
    assert best.tolist() == order
    np.testing.assert_allclose(share, best_factors(codes, factors)[1][order], atol=0.02)
