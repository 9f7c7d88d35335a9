"""The metric of features that respond: perfect, constant, reversed and random changes, and masks of vectors."""

import dataclasses

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, precision_recall_curve

import untwine as un
from untwine.metrics.changed_features import changed_features

RNG = np.random.default_rng(0)
RESPONDS = np.arange(40) % 4 == 0


def score(change, responds=RESPONDS, std=None):
    """Return the average precision for samples that are decoded with such a change of each feature, up or down."""
    signs = RNG.choice([-1, 1], (50, 1))
    x = RNG.normal(size=(50, len(change)))
    return changed_features(x, x - signs * change, np.ones(len(change)) if std is None else std, responds)


def test_perfect_reversed_constant_and_random_changes():
    assert score(RESPONDS + 0.1).precision == pytest.approx(1)
    assert score(RESPONDS * 1.0).precision == pytest.approx(1)
    assert score(1.1 - RESPONDS).precision < 0.25
    assert score(np.zeros(40)).precision == pytest.approx(0.25)
    drawn = [score(RNG.random(40)).precision for _ in range(200)]
    assert np.mean(drawn) == pytest.approx(0.3, abs=0.03)  # a little above the share, as with few features it must be
    assert score(RESPONDS + 0.1).random == 0.25


def test_it_is_the_area_under_precision_over_recall_and_counts_standard_deviations():
    change = RNG.random(40)
    std = RNG.uniform(0.5, 2, 40)
    expected = average_precision_score(RESPONDS, change / std)
    assert score(change, std=std).precision == pytest.approx(expected)
    precision, recall, _ = precision_recall_curve(RESPONDS, change / std)
    assert expected == pytest.approx(-np.sum(np.diff(recall) * precision[:-1]))
    assert score(change, std=np.where(RESPONDS, std, 0)).precision == pytest.approx(1)  # what never varies has no change


def test_wrong_shapes_and_nothing_that_responds_are_refused():
    x = np.zeros((4, 3))
    with pytest.raises(ValueError, match=r"needs vectors \(n, d\), twice, .* got \(4, 3\), \(4, 3\), \(3,\) and \(2,\)"):
        changed_features(x, x, np.ones(3), [True, False])
    with pytest.raises(ValueError, match="some features must respond and some not; got 3 of 3"):
        changed_features(x, x, np.ones(3), np.ones(3))


@pytest.fixture(scope="module")
def planted():
    """Targets vary in the first four of twelve features alone; all samples vary in the last eight."""
    common, salient = (
        RNG.normal(size=(800, 2)) @ RNG.normal(size=(2, 8)),
        2 * RNG.normal(size=(400, 2)) @ RNG.normal(size=(2, 4)),
    )
    x = np.concatenate([np.concatenate([np.zeros((400, 4)), salient]), common], axis=1) + 0.3 * RNG.normal(size=(800, 12))
    groups, masks = np.repeat([0, 1], 400), np.zeros((800, 12), bool)
    masks[400:, :4] = True
    return un.Samples(x, groups=groups, masks=masks, feature_names=tuple("abcdefghijkl"))


def test_the_features_of_the_salient_block_are_found_in_whatever_order(planted):
    method = un.ContrastivePCA(n_common=2, n_salient=2).fit(dataclasses.replace(planted, masks=None))
    value = un.evaluate(method, planted, ["changed_features"])["changed_features.x"]
    assert value.value == pytest.approx(1)
    assert value.n == 400
    names = np.array(planted.feature_names)
    order = RNG.permutation(12)
    other = un.Samples(
        planted.x[:, order], groups=planted.groups, masks=planted.masks[:, order], feature_names=tuple(names[order])
    )
    assert un.evaluate(method, other, ["changed_features"])["changed_features.x"].value == pytest.approx(1)
    wrong = dataclasses.replace(planted, masks=planted.masks[:, ::-1])
    assert un.evaluate(method, wrong, ["changed_features"])["changed_features.x"].value < 0.6


def test_it_is_refused_without_masks_of_vectors_and_maps_without_images(planted):
    method = un.ContrastivePCA(n_common=2, n_salient=2).fit(planted)
    with pytest.raises(ValueError, match="needs vectors with masks"):
        un.evaluate(method, dataclasses.replace(planted, masks=None), ["changed_features"])
    with pytest.raises(ValueError, match="needs images with masks"):
        un.evaluate(method, planted, ["salient_map"])
