"""Metrics never test on a source that they were fitted on, and score as before where no source has several samples."""

import numpy as np
import pytest

from untwine import evaluate
from untwine.latents import Latents
from untwine.linear.contrast import contrast_test
from untwine.metrics import (
    attribute_accuracy,
    dci_scores,
    explicitness_score,
    factor_r2,
    landmark_error,
    leakage_score,
    mlp_probe_accuracy,
    per_class_accuracy,
    probe_accuracy,
    regression_error,
)
from untwine.metrics.encoded import Encoded
from untwine.metrics.held_out import random_folds, random_subsets, stratified_folds
from untwine.metrics.intervals import random_halves
from untwine.samples import Samples


def fingerprints(n_sources=60, each=10, seed=0):
    """Codes that identify the source of a sample and nothing else, with a class and factors drawn for each source."""
    rng = np.random.default_rng(seed)
    sources = np.repeat(np.arange(n_sources), each)
    codes = rng.normal(size=(n_sources, 40))[sources] + 0.01 * rng.normal(size=(len(sources), 40))
    labels, factors = np.arange(n_sources) % 2, rng.normal(size=(n_sources, 2))
    return codes, rng.permutation(labels)[sources], factors[sources], sources


def test_codes_that_only_identify_the_source_predict_nothing():
    codes, labels, factors, sources = fingerprints()
    assert probe_accuracy(codes, labels).accuracy > 0.95
    assert probe_accuracy(codes, labels, sources=sources).accuracy < 0.65
    assert probe_accuracy(codes, labels, sources=sources.astype(str)).accuracy < 0.65
    assert per_class_accuracy(codes, labels, sources=sources).mean < 0.65
    assert mlp_probe_accuracy(codes, labels).accuracy > 0.95
    assert mlp_probe_accuracy(codes, labels, sources=sources).accuracy < 0.75
    assert factor_r2(codes, factors).r2 > 0.5
    assert factor_r2(codes, factors, sources=sources).r2 < 0.1
    with_sources, without = (regression_error(codes, factors, sources=s) for s in (sources, None))
    assert without.error < 0.8 * without.constant
    assert with_sources.error > 0.9 * with_sources.constant
    assert attribute_accuracy(codes, labels, sources=sources).accuracy < attribute_accuracy(codes, labels).accuracy - 0.1
    points = np.stack([factors, factors[::-1]], axis=1)[:, :1]
    assert landmark_error(codes, points, sources=sources).error > 1.2 * landmark_error(codes, points).error
    codes, labels = codes[:, :6], labels[:, None]
    table = np.column_stack([labels, labels[::-1]])
    for score, field in ((dci_scores, "informativeness"), (explicitness_score, "explicitness")):
        assert getattr(score(codes, table, sources=sources), field) < getattr(score(codes, table), field) - 0.05


def test_no_source_is_in_two_folds_subsets_or_halves():
    _, labels, _, sources = fingerprints(31, 7)
    for pairs in (random_folds(len(labels), 5, 0, sources), stratified_folds(labels, 5, 0, sources)):
        assert all(not set(sources[train]) & set(sources[test]) for train, test in pairs)
        assert sorted(np.concatenate([test for _, test in pairs])) == list(range(len(labels)))
    for _, test in stratified_folds(labels, 5, 0, sources):
        assert labels[test].mean() == pytest.approx(labels.mean(), abs=0.1)
    subsets = random_subsets(np.arange(50, 100), 5, 0, sources[50:100])
    assert sorted(np.concatenate(subsets)) == list(range(50, 100))
    assert sum(len(set(sources[subset])) for subset in subsets) == len(set(sources[50:100]))
    for half in random_halves(labels, 4, sources=sources):
        assert not set(sources[half]) & set(np.delete(sources, half))
        assert len(half) == pytest.approx(len(labels) / 2, abs=14)
        assert set(labels[half]) == {0, 1}
    one = next(random_halves(np.zeros(10, int), 1, sources=np.zeros(10, int)))
    assert len(one) == 5  # of one source, which no half can keep whole


def test_sources_of_one_sample_each_change_no_score():
    codes, labels, factors, _ = fingerprints(40, 3)
    own = np.random.default_rng(0).permutation(len(codes))
    for score, truth in (
        (probe_accuracy, labels),
        (per_class_accuracy, labels),
        (factor_r2, factors),
        (regression_error, factors),
    ):
        assert score(codes, truth) == score(codes, truth, sources=own)
    assert mlp_probe_accuracy(codes, labels) == mlp_probe_accuracy(codes, labels, sources=own)
    halves = [list(random_halves(labels, 3, 1, sources)) for sources in (None, own)]
    np.testing.assert_equal(*halves)


def test_too_few_sources_are_refused():
    codes, labels, factors, sources = fingerprints(8, 10)
    with pytest.raises(
        ValueError, match="at least 2 classes of at least 5 sources, one for every fold; got 2 classes, the small"
    ):
        probe_accuracy(codes, labels, sources=sources)
    with pytest.raises(ValueError, match="at least 9 sources, one for every fold; got 8"):
        factor_r2(codes, factors, folds=9, sources=sources)


class Fixed:
    """A fitted method whose two blocks are the columns of x."""

    def encode(self, x):
        return Latents({"common": x[:, ::2], "salient": x[:, 1::2]})

    def decode(self, latents):
        return np.stack([latents["common"], latents["salient"]], axis=2).reshape(len(latents["common"]), -1)


def test_evaluate_holds_whole_sources_out():
    codes, labels, factors, sources = fingerprints()
    samples = Samples(codes, labels=labels, factors=factors, sources=sources, groups=np.arange(len(codes)) % 3 > 0)
    metrics = ["probe", "per_class", "factors", "regression", "agreement", "groups", "w2", "leakage", "unsupervised"]
    with_sources = evaluate(Fixed(), samples, metrics, seeds=2)
    without = evaluate(Fixed(), Samples(codes, labels=labels, factors=factors, groups=samples.groups), metrics, seeds=2)
    assert set(with_sources) == set(without)
    assert with_sources["probe.salient"].value < without["probe.salient"].value - 0.2
    assert with_sources["factors.common"].value < without["factors.common"].value - 0.2
    # Scores that hold nothing out are the same; their intervals are over halves of the sources.
    for name in ("ari.common", "group_silhouette.common", "w2.common", "total_correlation.common"):
        assert with_sources[name].value == without[name].value
        assert with_sources[name].high != without[name].high


def test_a_metric_whose_folds_the_sources_cannot_fill_does_not_apply():
    codes, labels, factors, sources = fingerprints(4, 10)
    samples = Samples(codes, labels=labels, factors=factors, sources=sources)
    with pytest.raises(ValueError, match=r"'probe' needs at least 2 classes of 5 .* of 5 sources where samples have sources"):
        evaluate(Fixed(), samples, ["probe"])
    with pytest.raises(ValueError, match="'factors' needs target samples of at least 5 sources, one for every fold"):
        evaluate(Fixed(), samples, ["factors"])
    scores = evaluate(Fixed(), samples, seeds=2)
    assert "ari.salient" in scores
    assert not any(name.startswith(("probe", "factors", "leakage")) for name in scores)
    # Other samples to train on need no folds.
    other = Samples(codes, labels=labels, factors=factors, sources=sources + 100)
    assert evaluate(Fixed(), samples, ["probe"], train=other)["probe.salient"].n == len(samples)
    with pytest.raises(ValueError, match="train must share no source with the scored samples; got 4 in both, such as '0'"):
        evaluate(Fixed(), samples, ["probe"], train=samples)


def test_classes_with_too_few_sources_are_left_out_of_folds_alone():
    codes, labels, _, sources = fingerprints(30, 4)
    labels = np.where(sources < 3, 2, labels)
    data = Encoded(Fixed(), Samples(codes, labels=labels, sources=sources), Fixed().encode(codes), 2)
    assert set(labels[data.labelled_indices()]) == {0, 1, 2}
    assert set(data.folded_labels()[1]) == {0, 1}


def test_leakage_holds_whole_sources_out():
    codes, labels, _, sources = fingerprints()
    own = np.column_stack([labels, labels]) + 0.1 * np.random.default_rng(0).normal(size=(len(labels), 2))
    assert leakage_score(codes, own, labels).leakage > 0.9
    assert leakage_score(codes, own, labels, sources=sources).leakage < 0.3


def test_permutations_of_the_contrast_test_draw_whole_sources():
    # A direction for each patient, which target and background do not share: not a contrast beyond that of other patients.
    rejected = {"with": 0, "without": 0}
    for seed in range(8):
        rng = np.random.default_rng(seed)
        sources = np.repeat(np.arange(16), 25)
        x = rng.normal(size=(16, 4))[sources] * rng.normal(size=(400, 1)) * 3 + rng.normal(size=(400, 4))
        groups = (sources % 2).astype(int)
        for name, column in (("with", sources), ("without", None)):
            result = contrast_test(Samples(x, groups=groups, sources=column), permutations=59, seed=seed)
            rejected[name] += result.p_value <= 0.05
    assert rejected["without"] >= 4
    assert rejected["with"] <= 2


def test_what_is_fitted_does_not_depend_on_sources(monkeypatch):
    from untwine.methods.shared import inferred

    tested = []
    monkeypatch.setattr(inferred, "contrast_test", lambda samples: tested.append(samples) or contrast_test(samples))
    x, groups = np.random.default_rng(0).normal(size=(60, 4)), np.repeat([0, 1], 30)
    x[groups == 1, 0] *= 6
    assert inferred.salient_width("auto", Samples(x, groups=groups, sources=np.arange(60) // 2)) == {"n_salient": 1}
    assert tested[0].sources is None


def test_the_penalty_of_a_regression_does_not_recognise_sources():
    rng = np.random.default_rng(1)
    sources = np.repeat(np.arange(120), 4)
    own = rng.normal(size=(120, 80))
    codes = own[sources] + 0.01 * rng.normal(size=(480, 80))
    y = (own[:, :5].sum(1) + 2 * rng.normal(size=120))[sources]
    assert factor_r2(codes, y, sources=sources).r2 > 0.2  # 0 with a penalty chosen by leave-one-out, which suits known sources
    assert factor_r2(codes, y).r2 > 0.7  # folds that cut through sources


def test_factors_are_learnt_from_train_samples_where_given():
    rng = np.random.default_rng(1)
    codes = rng.normal(size=(300, 3))
    y = np.column_stack([codes[:, 0], rng.normal(size=300), np.where(np.arange(300) < 200, codes[:, 1], np.nan)])
    result = factor_r2(codes, y, split=(np.arange(200), np.arange(200, 300)))
    assert result.per_factor[0] > 0.99
    assert result.per_factor[1] < 0.1
    assert np.isnan(result.per_factor[2])  # never known for test samples
    assert (result.n, len(result.folds)) == (100, 5)
    assert result.r2 == pytest.approx(np.nanmean(result.per_factor))
    with pytest.raises(ValueError, match="varies over train and test samples"):
        factor_r2(codes, np.ones(300), split=(np.arange(200), np.arange(200, 300)))
