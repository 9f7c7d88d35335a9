import itertools

import numpy as np
import pytest

from untwine.metrics.thresholds import balanced_accuracies


def by_trial(z, y):
    """Try every set of thresholds and every assignment of classes to the intervals."""
    classes = range(y.max() + 1)
    values = np.unique(z)
    best = 0.0
    for many in classes:
        for cuts in itertools.combinations((values[1:] + values[:-1]) / 2, many):
            interval = np.searchsorted(np.array(cuts), z)
            for names in itertools.product(classes, repeat=many + 1):
                predicted = np.array(names)[interval]
                best = max(best, np.mean([(predicted[y == c] == c).mean() for c in classes]))
    return best


@pytest.mark.parametrize("seed", range(24))
def test_no_thresholds_do_better(seed):
    rng = np.random.default_rng(seed)
    classes = 2 + seed % 2
    y = np.concatenate([np.arange(classes), rng.integers(0, classes, 7)])
    z = rng.integers(0, 6, len(y)).astype(float) if seed % 3 else rng.normal(size=len(y))  # ties, and none
    assert balanced_accuracies(z[:, None], y[:, None])[0, 0] == pytest.approx(by_trial(z, y), abs=1e-12)


def test_a_latent_that_sorts_the_classes_gets_one_and_a_constant_one_the_chance_level():
    y = np.repeat([2, 0, 1], [50, 20, 5])
    z = np.column_stack([np.arange(75.0), np.full(75, 0.1), -np.arange(75.0)])
    assert balanced_accuracies(z, y[:, None])[:, 0] == pytest.approx([1.0, 1 / 3, 1.0], abs=1e-12)


def test_rare_classes_count_as_much_as_frequent_ones():
    y = np.repeat([0, 1], [990, 10])
    z = np.where(y == 1, 1.0, 0.0)
    z[:99] = 1.0  # a tenth of the frequent class looks like the rare one
    assert balanced_accuracies(z[:, None], y[:, None])[0, 0] == pytest.approx(0.95)


def test_two_intervals_of_one_class_need_two_thresholds():
    z = np.linspace(-1, 1, 200)
    inner = (np.abs(z) < 0.5).astype(int)
    assert balanced_accuracies(z[:, None], inner[:, None])[0, 0] == pytest.approx(0.75, abs=0.01)  # one threshold
    three = np.where(inner == 1, np.where(z < 0, 1, 2), 0)
    assert balanced_accuracies(z[:, None], three[:, None])[0, 0] == pytest.approx(5 / 6, abs=0.01)
