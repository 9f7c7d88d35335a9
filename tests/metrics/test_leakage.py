import numpy as np
import pytest

from untwine.metrics import leakage


def parts(n=400, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 4
    salient = 4.0 * np.eye(4)[labels] + rng.normal(size=(n, 4))
    return rng.normal(size=(n, 3)), salient, labels


def test_clean_parts_leak_nothing_and_copies_leak_all():
    common, salient, labels = parts()
    assert leakage(common, salient, labels).leakage < 0.06
    assert leakage(salient, salient, labels).leakage == 1.0
    assert leakage(np.hstack([common, salient[:, ::-1] * 5]), salient, labels).leakage > 0.95
    names = np.array(["a", "b", "c", "d"])[labels]
    assert leakage(salient, salient, names).leakage == 1.0


def test_a_part_that_knows_half_leaks_half():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 4000)
    known = rng.random(4000) < 0.5  # half of the rows can be told, of the others half are guessed
    hint = np.where(known, 2.0 * labels - 1, 0.0)[:, None]
    assert leakage(hint, 2.0 * labels[:, None] - 1, labels).leakage == pytest.approx(0.5, abs=0.05)
    truth = rng.normal(size=4000)
    noisy = (truth + rng.normal(size=4000))[:, None]
    found = leakage(noisy, truth[:, None], truth)
    assert found.leakage == pytest.approx(0.5, abs=0.05)
    assert found.other == pytest.approx(0.5, abs=0.05)
    assert found.own > 0.99
    assert found.n == 4000
    assert np.mean(found.folds) == pytest.approx(found.leakage, abs=0.02)


def test_factors_go_the_other_way():
    common, salient, _ = parts()
    assert leakage(salient, common, common[:, :2]).leakage < 0.05
    assert leakage(common, common, common[:, :2]).leakage == 1.0


@pytest.mark.parametrize("dead", [np.zeros((400, 2)), np.full((400, 2), 0.1), np.random.default_rng(9).normal(size=(400, 2))])
def test_where_the_own_part_is_empty(dead):
    common, salient, labels = parts()
    assert leakage(salient, dead, labels).leakage == 1.0
    assert leakage(common, dead, labels).leakage == 0.0
    assert leakage(dead, salient, labels).leakage < 0.06


def test_what_has_no_truth_is_refused():
    common, salient, labels = parts()
    with pytest.raises(ValueError, match="at least 2 classes"):
        leakage(common, salient, np.zeros(400, dtype=int))
    with pytest.raises(ValueError, match="400 and 399 rows"):
        leakage(common, salient[1:], labels)
    with pytest.raises(ValueError, match="none of the 1"):
        leakage(common, salient, np.ones(400))
