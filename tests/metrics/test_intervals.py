import numpy as np
import pytest
from scipy import stats

from untwine.metrics.intervals import fold_interval, halves_interval, proportion_interval, random_halves


def test_folds_give_students_interval():
    values = [0.8, 0.9, 0.85, 0.7, 0.95]
    low, high = stats.t.interval(0.95, 4, loc=np.mean(values), scale=stats.sem(values))
    assert fold_interval(float(np.mean(values)), values) == pytest.approx((low, high))


def test_intervals_stay_in_the_range_and_around_the_value():
    assert fold_interval(0.98, [0.9, 1.0, 1.0, 1.0, 1.0], (0, 1))[1] == 1.0
    assert fold_interval(0.0, [0.0, 0.0, 0.01], (0, 1))[0] == 0.0
    assert fold_interval(0.5, [0.5] * 5, (0, 1)) == (0.5, 0.5)


def test_halves_take_half_of_every_class_without_repeats():
    classes = np.repeat([0, 1, 2], [10, 5, 100])
    first, second = random_halves(classes, 2, seed=0)
    assert np.bincount(classes[first]).tolist() == [5, 3, 50]
    assert len(np.unique(first)) == len(first)
    assert not np.array_equal(first, second)


def test_intervals_over_halves_have_their_coverage():
    rng = np.random.default_rng(0)
    hits = 0
    for trial in range(300):
        x = rng.exponential(size=80)
        means = [float(x[half].mean()) for half in random_halves(np.zeros(80, dtype=int), 5, seed=trial)]
        low, high = halves_interval(float(x.mean()), means)
        hits += low <= 1.0 <= high
    assert 0.90 < hits / 300 < 0.99


def test_shares_have_wilsons_interval():
    assert proportion_interval(np.arange(100) < 20) == pytest.approx((0.1334, 0.2888), abs=1e-4)
    assert proportion_interval(np.zeros(100)) == pytest.approx((0, 0.0370), abs=1e-4)
    weighted = proportion_interval(np.arange(100) < 20, np.where(np.arange(100) % 2, 1.0, 0.0))
    assert weighted == pytest.approx(proportion_interval(np.arange(50) < 10))


def test_samples_that_are_correct_together_count_less():
    clusters = np.repeat(np.arange(10), 30)
    together, apart = clusters < 5, np.arange(300) % 2 == 0
    low, high = proportion_interval(together, clusters=clusters)
    assert low < 0.3 < 0.7 < high
    assert proportion_interval(apart, clusters=clusters) == proportion_interval(apart)
