import numpy as np
import pytest

from untwine.metrics import attributes
from untwine.metrics.attributes import hinge_bias


def told(n=500, share=0.3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < share
    codes = rng.normal(size=(n, 4))
    codes[:, 1] += np.where(y, 6.0, -6.0)
    return codes, y


def test_a_clean_direction_gets_all_whatever_is_done_to_the_codes():
    codes, y = told()
    rotation = np.linalg.qr(np.random.default_rng(1).normal(size=(4, 4)))[0]
    for c in (codes, codes[:, ::-1], -codes, 1e4 * codes + 50, 1e-4 * codes, codes @ rotation, np.hstack([codes, codes])):
        for truth in (y, y.astype(int), y.astype(float)):
            assert attributes(c, truth).accuracy > 0.99
    assert attributes(np.hstack([codes, np.full((500, 2), 0.1)]), y).accuracy > 0.99


def test_codes_that_tell_nothing_guess_the_more_frequent():
    _, y = told()
    for codes in (np.full((500, 3), 0.1), np.zeros((500, 2))):
        found = attributes(codes, y)
        assert found.accuracy == pytest.approx(found.majority[0])
        assert found.accuracy == pytest.approx(1 - y.mean(), abs=0.01)
    noise = attributes(np.random.default_rng(5).normal(size=(500, 3)), y)
    assert noise.accuracy == pytest.approx(noise.majority[0], abs=0.08)


@pytest.mark.parametrize("seed", range(8))
def test_the_bias_makes_the_hinge_loss_least(seed):
    rng = np.random.default_rng(seed)
    truth = np.concatenate([[True, False], rng.random(40) < 0.4])
    scores = rng.normal(size=42) + truth

    def loss(b):
        return np.maximum(0, 1 - np.where(truth, 1, -1) * (scores[None] + np.asarray(b)[:, None])).sum(axis=1)

    found = hinge_bias(scores, truth)
    assert loss([found])[0] <= loss(np.linspace(-6, 6, 4001)).min() + 1e-9


def test_the_paper_s_definition_step_by_step():
    codes, y = told(share=0.5)
    codes *= 0.3
    train, test = np.arange(300), np.arange(300, 500)
    w = codes[train][y[train]].mean(0) - codes[train][~y[train]].mean(0)
    s = codes @ w
    grid = np.linspace(s.min() - 2, s.max() + 2, 20_001) * -1
    losses = [np.maximum(0, 1 - np.where(y[train], 1, -1) * (s[train] + b)).sum() for b in grid]
    expected = ((s[test] + grid[int(np.argmin(losses))] > 0) == y[test]).mean()
    found = attributes(codes, y, split=(train, test), standardise=False)
    assert found.accuracy == pytest.approx(expected, abs=0.006)
    assert found.n == 200
    assert np.mean(found.folds) == pytest.approx(found.accuracy)


def test_units_matter_only_as_the_paper_has_it():
    codes, y = told(share=0.3)
    assert attributes(1e-3 * codes, y).accuracy > 0.99
    assert attributes(1e-3 * codes, y, standardise=False).accuracy == pytest.approx(1 - y.mean(), abs=0.02)


def test_several_attributes_have_their_own_directions():
    codes, y = told()
    other = np.random.default_rng(3).random(500) < 0.5
    found = attributes(codes, np.column_stack([y, other]))
    assert found.per_attribute[0] > 0.99
    assert found.per_attribute[1] < 0.62
    assert found.accuracy == pytest.approx(np.mean(found.per_attribute))


def test_what_is_no_attribute_is_refused():
    codes, y = told(60)
    for bad in (np.ones(60), np.arange(60), np.where(y, 1.0, -1.0)):
        with pytest.raises(ValueError, match="both 0 and 1"):
            attributes(codes, bad)
    with pytest.raises(ValueError, match=r"\(60, k\)"):
        attributes(codes, y[1:])
    rare = np.zeros(60)
    rare[7] = 1
    assert attributes(codes, rare).accuracy > 0.9  # folds without a single one cannot learn it
