import numpy as np
import pytest

from untwine.metrics import probe_accuracy


def separable(n=300, classes=3, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, classes, n)
    return 6.0 * np.eye(classes, 4)[labels] + rng.normal(size=(n, 4)), labels


def test_separable_classes_are_predicted_under_harmless_changes_of_the_codes():
    codes, labels = separable()
    rng = np.random.default_rng(1)
    rotation = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    order = rng.permutation(len(codes))
    for c, y in (
        (codes, labels),
        (codes[:, ::-1], labels),
        (codes[order], labels[order]),
        (codes * 1e6 + 1e3, labels),
        (codes * 1e-6, labels),
        (codes @ rotation, labels),
        (np.hstack([codes, codes]), labels),
        (np.hstack([codes, np.full((300, 1), 0.1)]), labels),
        (codes, np.array(["a", "b", "c"])[labels]),
    ):
        assert 0.97 < probe_accuracy(c, y).accuracy <= 1.0


def test_the_scale_of_a_column_counts_unless_columns_are_standardised():
    codes, labels = separable()
    traces = np.hstack([1e-3 * codes, np.random.default_rng(2).normal(size=(300, 2))])
    assert probe_accuracy(traces, labels).accuracy < 0.5
    assert probe_accuracy(traces, labels, standardise=True).accuracy > 0.97
    assert probe_accuracy(codes * [1e6, 1e-6, 1.0, 1e3] + 1e3, labels, standardise=True).accuracy > 0.97


def test_the_names_of_classes_do_not_matter():
    codes, labels = separable()
    assert probe_accuracy(codes, labels).folds == probe_accuracy(codes, 10 * labels + 7).folds


def test_random_codes_get_the_chance_level():
    rng = np.random.default_rng(0)
    result = probe_accuracy(rng.normal(size=(1000, 5)), np.arange(1000) % 4)
    assert 0.19 < result.accuracy < 0.31
    assert len(result.folds) == 5
    assert result.accuracy == pytest.approx(np.mean(result.folds))
    assert result.n == 1000


def test_constant_codes_get_the_share_of_the_largest_class():
    labels = np.repeat([0, 1], [60, 40])
    assert probe_accuracy(np.full((100, 3), 0.1), labels).accuracy == pytest.approx(0.6)


def test_it_equals_plain_gradient_descent():
    from sklearn.model_selection import StratifiedKFold

    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 200)
    codes = np.eye(3)[labels] + rng.normal(size=(200, 3))
    values = []
    for train, test in StratifiedKFold(5, shuffle=True, random_state=3).split(codes, labels):
        mean, std = codes[train].mean(0), codes[train].std(0)
        weights, bias = _descent((codes[train] - mean) / std, labels[train])
        values.append(np.mean((((codes[test] - mean) / std) @ weights + bias).argmax(1) == labels[test]))
    assert probe_accuracy(codes, labels, seed=3, standardise=True).folds == pytest.approx(
        values, abs=0.026
    )  # at most one sample of 40 differs


def _descent(x, y, classes=3):
    """Minimise the cross-entropy summed over samples plus half the squared weights, step by step."""
    weights, bias = np.zeros((x.shape[1], classes)), np.zeros(classes)
    for _ in range(3000):
        scores = x @ weights + bias
        p = np.exp(scores - scores.max(1, keepdims=True))
        p = p / p.sum(1, keepdims=True) - np.eye(classes)[y]
        weights -= 0.01 * (x.T @ p + weights)
        bias -= 0.01 * p.sum(0)
    return weights, bias


@pytest.mark.parametrize("seed", range(3))
def test_hard_codes_converge_without_a_warning(seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 5, 200)
    for codes in (
        rng.standard_cauchy((200, 8)) ** 3,
        rng.normal(size=(200, 1)) @ rng.normal(size=(1, 30)),
        rng.normal(size=(200, 150)),
        1e6 * np.eye(5)[labels],
        np.repeat(rng.normal(size=(2, 3)), 100, axis=0),
    ):
        assert 0 <= probe_accuracy(codes, labels).accuracy <= 1


@pytest.mark.parametrize(
    "labels, says",
    [
        (np.zeros(40, dtype=int), "at least 2 classes"),
        (np.repeat([0, 1], [37, 3]), "smallest of 3 samples"),
        (np.repeat([0, -1], 20), "means unknown"),
    ],
)
def test_bad_labels_are_refused(labels, says):
    with pytest.raises(ValueError, match=says):
        probe_accuracy(np.random.default_rng(0).normal(size=(40, 2)), labels)


def test_too_few_samples_for_the_folds_are_refused():
    with pytest.raises(ValueError, match="5 folds of 6 samples"):
        probe_accuracy(np.ones((6, 2)), [0, 1, 0, 1, 0, 1])
