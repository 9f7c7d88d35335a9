import numpy as np
import pytest

from untwine.metrics import factor_r2, leakage_score, probe_accuracy


def blocks(n=400, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 4
    salient = 4.0 * np.eye(4)[labels] + rng.normal(size=(n, 4))
    return rng.normal(size=(n, 3)), salient, labels


def test_separate_blocks_do_not_leak_and_copies_leak_all():
    common, salient, labels = blocks()
    assert leakage_score(common, salient, labels).leakage < 0.06
    assert leakage_score(salient, salient, labels).leakage == 1.0
    assert leakage_score(np.hstack([common, salient[:, ::-1] * 5]), salient, labels).leakage > 0.95
    names = np.array(["a", "b", "c", "d"])[labels]
    assert leakage_score(salient, salient, names).leakage == 1.0


def test_a_block_that_predicts_half_leaks_half():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 4000)
    known = rng.random(4000) < 0.5  # half of the samples are predicted, of the others half at random
    hint = np.where(known, 2.0 * labels - 1, 0.0)[:, None]
    assert leakage_score(hint, 2.0 * labels[:, None] - 1, labels).leakage == pytest.approx(0.5, abs=0.05)
    truth = rng.normal(size=4000)
    noisy = (truth + rng.normal(size=4000))[:, None]
    result = leakage_score(noisy, truth[:, None], truth)
    assert result.leakage == pytest.approx(0.5, abs=0.05)
    assert result.other == pytest.approx(0.5, abs=0.05)
    assert result.own > 0.99
    assert result.n == 4000
    assert np.mean(result.folds) == pytest.approx(result.leakage, abs=0.02)


def test_factors_go_the_other_way():
    common, salient, _ = blocks()
    assert leakage_score(salient, common, common[:, :2]).leakage < 0.05
    assert leakage_score(common, common, common[:, :2]).leakage == 1.0


@pytest.mark.parametrize("dead", [np.zeros((400, 2)), np.full((400, 2), 0.1), np.random.default_rng(9).normal(size=(400, 2))])
def test_where_the_own_block_is_uninformative(dead):
    common, salient, labels = blocks()
    assert leakage_score(salient, dead, labels).leakage == 1.0
    assert leakage_score(common, dead, labels).leakage == 0.0
    assert leakage_score(dead, salient, labels).leakage < 0.06


def test_leaks_that_a_linear_model_does_not_see_are_found():
    rng = np.random.default_rng(0)
    labels = np.arange(1200) % 2
    own = 3.0 * labels[:, None] + rng.normal(size=(1200, 1)) / 2
    common = rng.normal(size=(1200, 6))
    xor = common.copy()
    xor[:, 1] = np.abs(xor[:, 1]) * np.sign(xor[:, 0]) * (2 * labels - 1)
    tiny = np.column_stack([common, 1e-3 * (labels + 0.1 * rng.normal(size=1200))])
    assert probe_accuracy(xor, labels).accuracy < 0.6
    assert probe_accuracy(tiny, labels).accuracy < 0.6
    assert leakage_score(xor, own, labels).leakage > 0.7
    assert leakage_score(tiny, own, labels).leakage > 0.9
    assert leakage_score(common, own, labels).leakage < 0.06
    truth = np.abs(common[:, :1])  # of which a line through the codes predicts nothing
    assert factor_r2(common, truth).r2 < 0.05
    assert leakage_score(common, truth, truth).leakage > 0.7
    assert leakage_score(own, truth, truth).leakage < 0.05


def test_labels_and_factors_that_do_not_vary_are_refused():
    common, salient, labels = blocks()
    with pytest.raises(ValueError, match="at least 2 classes"):
        leakage_score(common, salient, np.zeros(400, dtype=int))
    with pytest.raises(ValueError, match="400 and 399 samples"):
        leakage_score(common, salient[1:], labels)
    with pytest.raises(ValueError, match="got none among 1"):
        leakage_score(common, salient, np.ones(400))
