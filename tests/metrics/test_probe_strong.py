"""The strong reader: it finds what a linear probe does not, and codes without information score chance."""

import time

import numpy as np
import pytest
import torch

from untwine.metrics import factor_r2, probe_accuracy, strong_factor_r2, strong_probe_accuracy
from untwine.metrics.intervals import fold_interval

pytestmark = pytest.mark.usefixtures("full_readers")


def separable(n=400, classes=4, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % classes
    return 5.0 * np.eye(classes)[labels] + rng.normal(size=(n, classes)), labels


def test_perfect_permuted_rescaled_rotated_and_duplicated_codes():
    codes, labels = separable()
    rotation = np.linalg.qr(np.random.default_rng(1).normal(size=(4, 4)))[0]
    for same in (codes[:, ::-1] * [1e6, 1e-6, 1.0, 1e3] + 1e3, codes @ rotation, np.hstack([codes, codes])):
        assert strong_probe_accuracy(same, labels).accuracy > 0.96
    names = np.array(["a", "b", "c", "d"])[labels]
    assert strong_probe_accuracy(codes, names) == strong_probe_accuracy(codes, labels)


@pytest.mark.parametrize("seed", range(2))
def test_constant_and_random_codes_score_chance(seed):
    rng = np.random.default_rng(seed)
    rare = (np.arange(500) % 5 == 0).astype(int)
    assert strong_probe_accuracy(np.full((500, 3), 0.1), rare).accuracy == pytest.approx(0.8)
    assert strong_probe_accuracy(rng.normal(size=(500, 8)), rare).accuracy == pytest.approx(0.8, abs=0.03)
    result = strong_probe_accuracy(rng.normal(size=(1000, 8)), np.arange(1000) % 4)
    low, high = fold_interval(result.accuracy, result.folds)
    assert low - 0.02 < 0.25 < high + 0.02
    assert strong_factor_r2(rng.normal(size=(500, 8)), rng.normal(size=(500, 2))).r2 < 0.03
    assert strong_factor_r2(np.ones((500, 2)), rng.normal(size=(500, 2))).r2 < 0.01


def test_what_is_not_linear_and_what_is_tiny_is_found():
    rng = np.random.default_rng(0)
    codes = rng.normal(size=(2000, 16))
    xor = (codes[:, 0] * codes[:, 1] > 0).astype(int)
    assert probe_accuracy(codes, xor).accuracy < 0.55
    assert strong_probe_accuracy(codes, xor).accuracy > 0.85
    labels = np.arange(2000) % 10
    tiny = np.hstack([codes, 1e-3 * (3 * np.eye(10)[labels] + rng.normal(size=(2000, 10)))])
    assert probe_accuracy(tiny, labels).accuracy < 0.2
    assert strong_probe_accuracy(tiny, labels).accuracy > 0.8
    factors = np.column_stack([np.abs(codes[:, 0]), codes[:, 1], rng.normal(size=2000)])
    assert factor_r2(codes, factors).per_factor[0] < 0.05
    even, linear, noise = strong_factor_r2(codes, factors).per_factor
    assert even > 0.85
    assert linear > 0.95
    assert noise < 0.03


def test_unknown_and_constant_factors_are_left_out():
    rng = np.random.default_rng(0)
    codes = rng.normal(size=(300, 3))
    factors = np.column_stack([codes[:, 0], np.ones(300), codes[:, 1]])
    factors[::2, 2] = np.nan
    result = strong_factor_r2(codes, factors)
    assert result.n == 300
    assert np.isnan(result.per_factor[1])
    assert min(result.per_factor[0], result.per_factor[2]) > 0.85
    assert len(result.folds) == 5
    with pytest.raises(ValueError, match="strong_factor_r2 needs at least one factor that varies"):
        strong_factor_r2(codes, np.ones((300, 1)))


def test_no_source_is_predicted_from_itself():
    rng = np.random.default_rng(0)
    sources = np.repeat(np.arange(60), 8)
    codes = rng.normal(size=(60, 20))[sources] + 0.01 * rng.normal(size=(480, 20))
    labels, factor = (np.arange(60) % 2)[sources], rng.normal(size=60)[sources]
    assert strong_probe_accuracy(codes, labels).accuracy > 0.9
    assert strong_probe_accuracy(codes, labels, sources=sources).accuracy < 0.65
    assert strong_factor_r2(codes, factor).r2 > 0.7
    assert strong_factor_r2(codes, factor, sources=sources).r2 < 0.1
    five = np.repeat(np.arange(10), 48)  # as few sources as folds can have
    assert 0 <= strong_probe_accuracy(codes, five % 2, sources=five).accuracy <= 1


def test_a_given_split_is_used():
    codes, labels = separable(600)
    wrong = np.where(np.arange(600) < 400, (labels + 1) % 4, labels)
    split = (np.arange(400), np.arange(400, 600))
    assert strong_probe_accuracy(codes, wrong, split=split).accuracy < 0.05
    result = strong_probe_accuracy(codes, labels, split=split)
    assert (result.n, len(result.folds)) == (200, 5)
    assert result.accuracy > 0.95
    with pytest.raises(ValueError, match="split must have at least 2 classes among the train samples; got 1"):
        strong_probe_accuracy(codes, labels, split=(np.arange(0, 400, 4), np.arange(400, 600)))
    with pytest.raises(ValueError, match="at least 2 classes of at least 5 samples"):
        strong_probe_accuracy(codes[:12], labels[:12])


def test_the_same_call_gives_the_same_score_quickly_and_leaves_the_random_state():
    rng = np.random.default_rng(0)
    codes, labels = rng.normal(size=(2000, 16)), np.arange(2000) % 10
    torch.manual_seed(3)
    state, began = torch.random.get_rng_state(), time.process_time()
    first = strong_probe_accuracy(codes, labels)
    assert time.process_time() - began < 5
    assert torch.equal(torch.random.get_rng_state(), state)
    assert strong_probe_accuracy(codes, labels) == first
