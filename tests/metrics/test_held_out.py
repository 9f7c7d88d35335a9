import numpy as np
import pytest

from untwine.metrics import per_class_accuracy, probe_accuracy, regression_error
from untwine.metrics.held_out import check_split, random_folds, random_subsets

TRAIN, TEST = np.arange(200), np.arange(200, 300)


def separable(n=300, classes=3, apart=6.0, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.concatenate([np.arange(classes), rng.integers(0, classes, n - classes)])
    return apart * np.eye(classes, 4)[labels] + rng.normal(size=(n, 4)), labels


def test_folds_hold_every_sample_out_once():
    folds = random_folds(23, 5, seed=1)
    assert sorted(np.concatenate([test for _, test in folds])) == list(range(23))
    assert all(not set(train) & set(test) and len(train) + len(test) == 23 for train, test in folds)
    assert {len(test) for _, test in folds} == {4, 5}
    assert sorted(np.concatenate(random_subsets(TEST, 5, 0))) == list(TEST)
    assert [len(subset) for subset in random_subsets(np.arange(3), 5, 0)] == [1, 1, 1]


def test_a_split_takes_indices_or_masks():
    mask = np.arange(300) < 200
    assert np.array_equal(check_split((mask, ~mask), 300)[0], TRAIN)
    assert np.array_equal(check_split((TRAIN, range(200, 300)), 300)[1], TEST)


@pytest.mark.parametrize(
    "split, says",
    [
        ((TRAIN, np.arange(199, 300)), "of which 1 are in both"),
        ((TRAIN, TEST[:0]), "200 and 0, of which"),
        ((TRAIN, [300]), "boolean mask of the 300 samples"),
        ((TRAIN,), "split must be .train, test., each indices or a boolean mask"),
        ((TRAIN, TEST, TEST), "split must be .train, test., each indices or a boolean mask"),
    ],
)
def test_a_split_that_overlaps_is_refused(split, says):
    with pytest.raises(ValueError, match=says):
        check_split(split, 300)


def test_probe_on_a_split_is_scikit_learn_on_held_out_samples():
    from sklearn.linear_model import LogisticRegression

    codes, labels = separable(apart=1.5)
    fit = codes[TRAIN]
    scale = np.sqrt(fit.var(0).mean())
    model = LogisticRegression().fit((fit - fit.mean(0)) / scale, labels[TRAIN])
    expected = model.score((codes[TEST] - fit.mean(0)) / scale, labels[TEST])
    result = probe_accuracy(codes, labels, split=(TRAIN, TEST))
    assert result.accuracy == pytest.approx(expected, abs=0.011)  # at most one sample of 100 differs
    assert 0.6 < result.accuracy < 0.95
    assert result.n == 100
    assert np.mean(result.folds) == pytest.approx(result.accuracy)


def test_test_samples_do_not_reach_the_classifier():
    codes, labels = separable()
    assert probe_accuracy(codes, labels, split=(TRAIN, TEST)).accuracy > 0.95
    codes[TEST] = np.random.default_rng(1).permutation(codes[TEST])
    assert probe_accuracy(codes, labels, split=(TRAIN, TEST)).accuracy < 0.5
    labels[TEST] = 0
    assert per_class_accuracy(codes, labels, split=(TRAIN, TEST)).n == {0: 100}


def test_a_split_without_two_classes_to_train_on_is_refused():
    codes, labels = separable()
    labels[TRAIN] = 1
    with pytest.raises(ValueError, match="at least 2 classes among the train samples"):
        probe_accuracy(codes, labels, split=(TRAIN, TEST))
    with pytest.raises(ValueError, match="5 folds of 6 samples"):
        probe_accuracy(*separable(), split=(TRAIN, TEST[:6]))


def test_per_class_counts_each_class_by_itself():
    from sklearn.metrics import recall_score
    from sklearn.model_selection import StratifiedKFold

    codes, labels = separable(apart=2.0)
    result = per_class_accuracy(codes, np.array(["cat", "dog", "eel"])[labels])
    assert list(result.accuracy) == ["cat", "dog", "eel"]
    assert result.n == dict(zip(["cat", "dog", "eel"], np.bincount(labels).tolist(), strict=True))
    assert result.mean == pytest.approx(np.mean(list(result.accuracy.values())))
    from untwine.metrics.held_out import classify

    predictions = classify(codes, labels, 5)
    expected = recall_score(labels[predictions.indices], predictions.predicted, average=None)
    assert list(result.accuracy.values()) == pytest.approx(expected)
    splits = list(StratifiedKFold(5, shuffle=True, random_state=0).split(codes, labels))
    assert [set(subset) for subset in predictions.subsets] == [set(test) for _, test in splits]
    shares = [sum(result.accuracy[c] * result.n[c] for c in result.n) / 300, probe_accuracy(codes, labels).accuracy]
    assert shares[0] == pytest.approx(shares[1], abs=1e-9)  # folds of equal size


def test_per_class_at_its_extremes():
    codes, labels = separable(apart=30.0)
    assert set(per_class_accuracy(codes, labels).accuracy.values()) == {1.0}
    uneven = np.repeat([0, 1, 2], [150, 90, 60])
    constant = per_class_accuracy(np.full((300, 2), 0.1), uneven)
    assert constant.accuracy == {0: 1.0, 1: 0.0, 2: 0.0}
    assert constant.mean == pytest.approx(1 / 3)
    shuffled = per_class_accuracy(np.random.default_rng(0).permutation(codes), labels)
    assert 0.2 < shuffled.mean < 0.46
    with pytest.raises(ValueError, match="at least 2 classes"):
        per_class_accuracy(codes, np.zeros(300, dtype=int))


def test_regression_on_a_split_is_fitted_on_the_train_samples_only():
    rng = np.random.default_rng(0)
    codes = rng.normal(size=(300, 3))
    truth = codes @ rng.normal(size=(3, 2)) + 0.1 * rng.normal(size=(300, 2))
    truth[TEST] += 5.0
    result = regression_error(codes, truth, split=(TRAIN, TEST))
    assert result.error == pytest.approx(5.0, abs=0.1)
    assert result.constant > 4.0
    assert result.n == 100
    assert np.mean(result.folds) == pytest.approx(result.error)
    truth[TRAIN[1:], 0] = np.nan
    with pytest.raises(ValueError, match="known for 1 and 100"):
        regression_error(codes, truth, split=(TRAIN, TEST))
