import sys

import numpy as np
import pytest

from untwine.metrics import attribute_accuracy
from untwine.metrics.attributes import hinge_bias


def separated(n=500, share=0.3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < share
    codes = rng.normal(size=(n, 4))
    codes[:, 1] += np.where(y, 6.0, -6.0)
    return codes, y


def test_a_separating_direction_gets_one_under_harmless_changes_of_the_codes():
    codes, y = separated()
    rotation = np.linalg.qr(np.random.default_rng(1).normal(size=(4, 4)))[0]
    for c in (codes, codes[:, ::-1], -codes, 1e4 * codes + 50, 1e-4 * codes, codes @ rotation, np.hstack([codes, codes])):
        for truth in (y, y.astype(int), y.astype(float)):
            assert attribute_accuracy(c, truth).accuracy > 0.99
    assert attribute_accuracy(np.hstack([codes, np.full((500, 2), 0.1)]), y).accuracy > 0.99


def test_uninformative_codes_predict_the_majority_class():
    _, y = separated()
    for codes in (np.full((500, 3), 0.1), np.zeros((500, 2))):
        result = attribute_accuracy(codes, y)
        assert result.accuracy == pytest.approx(result.majority[0])
        assert result.accuracy == pytest.approx(1 - y.mean(), abs=0.01)
    noise = attribute_accuracy(np.random.default_rng(5).normal(size=(500, 3)), y)
    assert noise.accuracy == pytest.approx(noise.majority[0], abs=0.08)


@pytest.mark.parametrize("seed", range(8))
def test_the_bias_makes_the_hinge_loss_least(seed):
    rng = np.random.default_rng(seed)
    truth = np.concatenate([[True, False], rng.random(40) < 0.4])
    scores = rng.normal(size=42) + truth

    def loss(b):
        return np.maximum(0, 1 - np.where(truth, 1, -1) * (scores[None] + np.asarray(b)[:, None])).sum(axis=1)

    result = hinge_bias(scores, truth)
    assert loss([result])[0] <= loss(np.linspace(-6, 6, 4001)).min() + 1e-9


def least_hinge(scores, truth):
    """Return the bias of least hinge loss: the loss at every kink, and the middle of the kinks where it is least.

    The loss is piecewise linear, and where two neighbouring kinks are equally low it is flat between them.
    """
    signs = np.where(truth, 1.0, -1.0)
    kinks = signs - scores
    losses = np.array([sum(max(0.0, 1 - sign * (s + b)) for sign, s in zip(signs, scores, strict=True)) for b in kinks])
    lowest = kinks[losses <= losses.min() + 1e-9]
    return (lowest.min() + lowest.max()) / 2


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("share", [0.05, 0.5, 0.9])
def test_the_bias_is_the_middle_of_the_least_losses(share, seed):
    rng = np.random.default_rng(seed)
    truth = np.concatenate([[True, False], rng.random(58) < share])
    scores = rng.normal(size=60) + truth
    assert hinge_bias(scores, truth) == pytest.approx(least_hinge(scores, truth), abs=1e-10)
    coarse = np.round(2 * scores) / 2  # many kinks in one place, and long flats
    assert hinge_bias(coarse, truth) == least_hinge(coarse, truth)
    even = np.arange(60) % 2 == 0  # uninformative: flat from -1 to 1 where both are as frequent
    assert hinge_bias(np.zeros(60), even) == least_hinge(np.zeros(60), even) == 0.0


def by_hand(codes, y, train, test, standardise):
    """Return the bias, and which test samples are predicted correctly."""
    w = np.mean([z for z, one in zip(codes[train], y[train], strict=True) if one], axis=0)
    w -= np.mean([z for z, one in zip(codes[train], y[train], strict=True) if not one], axis=0)
    s = np.array([np.dot(w, z) for z in codes])
    if standardise:
        s = (s - np.mean(s[train])) / np.std(s[train])
    bias = least_hinge(s[train], y[train])
    return bias, (s[test] + bias > 0) == y[test]


@pytest.mark.parametrize("folded", [False, True])
@pytest.mark.parametrize("standardise", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_it_equals_the_paper_s_definition_step_by_step(seed, standardise, folded, monkeypatch):
    rng = np.random.default_rng(seed)
    truth = rng.random((240, 4)) < [0.5, 0.3, 0.08, 0.85]
    codes = rng.normal(size=(240, 5)) * [1.0, 0.3, 2.0, 0.7, 1.0] + 0.4
    codes[:, :4] += 2 * truth  # encoded, but not separated
    pairs, options = [(np.arange(140), np.arange(140, 240))], {}
    if folded:
        subsets = np.array_split(np.random.default_rng(seed).permutation(240), 3)
        pairs = [(np.setdiff1d(np.arange(240), subset), subset) for subset in subsets]
    else:
        options["split"] = pairs[0]
    biases = []

    def recorded(scores, y):
        biases.append(hinge_bias(scores, y))
        return biases[-1]

    monkeypatch.setattr(sys.modules["untwine.metrics.attributes"], "hinge_bias", recorded)
    result = attribute_accuracy(codes, truth, folds=3, seed=seed, standardise=standardise, **options)
    expected = [[by_hand(codes, y, *pair, standardise) for y in truth.T] for pair in pairs]
    assert biases == pytest.approx([bias for fold in expected for bias, _ in fold], abs=1e-9)
    correct = [np.stack([hits for _, hits in fold]) for fold in expected]
    every = np.hstack(correct)
    assert result.per_attribute == pytest.approx(every.mean(axis=1), abs=1e-12)
    assert result.accuracy == pytest.approx(every.mean(), abs=1e-12)
    majority = [np.stack([y[test] == (2 * y[train].sum() > len(train)) for y in truth.T]) for train, test in pairs]
    assert result.majority == pytest.approx(np.hstack(majority).mean(axis=1), abs=1e-12)
    assert result.n == every.shape[1]
    if folded:
        assert result.folds == pytest.approx([subset.mean() for subset in correct], abs=1e-12)
    else:  # three subsets of 34, 33 and 33 samples
        assert np.dot(result.folds, [0.34, 0.33, 0.33]) == pytest.approx(result.accuracy, abs=1e-12)
    assert 0.6 < result.per_attribute[0] < 0.95, "uninformative or perfect codes do not test the bias"


def test_units_matter_only_as_the_paper_has_it():
    codes, y = separated(share=0.3)
    assert attribute_accuracy(1e-3 * codes, y).accuracy > 0.99
    assert attribute_accuracy(1e-3 * codes, y, standardise=False).accuracy == pytest.approx(1 - y.mean(), abs=0.02)


def test_several_attributes_have_their_own_directions():
    codes, y = separated()
    other = np.random.default_rng(3).random(500) < 0.5
    result = attribute_accuracy(codes, np.column_stack([y, other]))
    assert result.per_attribute[0] > 0.99
    assert result.per_attribute[1] < 0.62
    assert result.accuracy == pytest.approx(np.mean(result.per_attribute))


def test_attributes_that_are_not_binary_are_refused():
    codes, y = separated(60)
    for bad in (np.ones(60), np.arange(60), np.where(y, 1.0, -1.0)):
        with pytest.raises(ValueError, match="both 0 and 1"):
            attribute_accuracy(codes, bad)
    with pytest.raises(ValueError, match=r"\(60, k\)"):
        attribute_accuracy(codes, y[1:])
    rare = np.zeros(60)
    rare[7] = 1
    assert attribute_accuracy(codes, rare).accuracy > 0.9  # folds without a positive cannot learn it
