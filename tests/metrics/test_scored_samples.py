import numpy as np

from untwine.metrics.scored_samples import class_balanced_order, labelled_indices, target_mask, varying_factors


def test_without_groups_every_sample_is_a_target():
    assert target_mask(None, 3).tolist() == [True, True, True]
    assert target_mask(np.array([0, 2, 1]), 3).tolist() == [False, True, True]


def test_unknown_labels_small_classes_and_background_are_left_out():
    labels = np.array([0, 0, 0, 1, 1, -1, 0, 2, 2, 2])
    target = np.array([1, 1, 1, 1, 1, 1, 0, 1, 1, 1], dtype=bool)
    assert labelled_indices(labels, target, 3).tolist() == [0, 1, 2, 7, 8, 9]
    assert labelled_indices(None, target, 3).tolist() == []
    assert labelled_indices(np.full(10, -1), target, 1).tolist() == []


def test_salient_factors_are_recognised_by_their_names():
    factors = np.arange(20.0).reshape(5, 4)
    factors[:, 2] = 1.0
    factors[1:, 3] = np.nan
    names = ("common 0", "salient 0", "flat", "rare")
    target = np.array([1, 1, 1, 1, 0], dtype=bool)
    assert varying_factors(factors, names, target, 2, salient=False).tolist() == [0]
    assert varying_factors(factors, names, target, 2, salient=True).tolist() == [1]
    assert varying_factors(None, (), target, 2, salient=True).tolist() == []


def test_shown_samples_cycle_through_the_classes():
    labels = np.array([0] * 50 + [1] * 3 + [2] * 3 + [-1] * 4)
    order = class_balanced_order(labels, np.arange(60), np.random.default_rng(0))
    assert labels[order[:9]].tolist() == [0, 1, 2] * 3
    assert labels[order[-4:]].tolist() == [-1] * 4
    assert sorted(order) == list(range(60))
    assert not np.array_equal(order, class_balanced_order(labels, np.arange(60), np.random.default_rng(1)))
