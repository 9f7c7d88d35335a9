"""Splits keep the samples of one source together, and change nothing where no source has several samples."""

import numpy as np
import pytest

from untwine.data import Splits, load, read_samples, validation_split
from untwine.data.sources import assign_sources, linked_sources, repeated_sources, source_folds
from untwine.data.splits import hold_out, hold_out_at_random, hold_out_classes
from untwine.samples import Samples


def patients(n_patients=20, each=7, shared=True, seed=0):
    """Samples whose first feature is their number; patients have samples of both groups, or of one."""
    rng = np.random.default_rng(seed)
    sources = np.repeat(np.arange(n_patients), rng.integers(1, each + 1, n_patients))
    groups = rng.integers(0, 2, len(sources)) if shared else sources % 2
    x = np.column_stack([np.arange(len(sources)), rng.normal(size=len(sources))])
    return Samples(x, groups=groups, labels=groups, sources=sources)


def assert_disjoint(splits, samples):
    assert not set(splits.train.sources) & set(splits.test.sources)
    assert sorted([*splits.train.x[:, 0], *splits.test.x[:, 0]]) == samples.x[:, 0].tolist()


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_hold_out_keeps_sources_whole_and_the_shares_of_groups(shared, seed):
    samples = patients(60, shared=shared, seed=seed)
    splits = hold_out(samples, 0.25, seed)
    assert_disjoint(splits, samples)
    for split in splits:
        assert set(split.groups) == {0, 1}
    for group in (0, 1):
        held_out = (splits.test.groups == group).sum() / (samples.groups == group).sum()
        assert held_out == pytest.approx(0.25, abs=0.08)
    assert_disjoint(validation_split(Splits(samples, samples), seed=seed), samples)
    at_random = hold_out_at_random(samples, 40, np.random.default_rng(seed))
    assert_disjoint(at_random, samples)
    assert abs(len(at_random.test) - 40) <= 7


def test_every_group_is_in_both_splits_though_its_sources_are_few():
    samples = Samples(np.zeros((12, 1)), groups=[0] * 10 + [1] * 2, sources=[0] * 5 + [1] * 5 + [2, 3])
    for seed in range(10):
        splits = hold_out(samples, 0.1, seed)
        assert [set(split.groups) for split in splits] == [{0, 1}, {0, 1}]
    with pytest.raises(ValueError, match="group 1 has 1, which cannot be divided; add samples of other sources"):
        hold_out(Samples(np.zeros((12, 1)), groups=[0] * 10 + [1] * 2, sources=[0] * 5 + [1] * 5 + [2, 2]))
    with pytest.raises(ValueError, match="group 0 has 1, which cannot be divided"):
        hold_out(Samples(np.zeros((4, 1)), sources=[5, 5, 5, 5]))


def test_classes_that_share_a_source_are_held_out_together():
    labels = np.repeat(np.arange(6), 4)
    sources = np.arange(24)
    sources[[0, 4]] = 100  # classes 0 and 1
    samples = Samples(np.arange(24.0)[:, None], labels=labels, sources=sources)
    for seed in range(10):
        splits = hold_out_classes(samples, 0.4, seed)
        assert_disjoint(splits, samples)
        assert (0 in splits.test.labels) == (1 in splits.test.labels)
        assert not set(splits.train.labels) & set(splits.test.labels)
    with pytest.raises(ValueError, match="classes to hold out must not share sources"):
        hold_out_classes(Samples(np.zeros((4, 1)), labels=[0, 0, 1, 1], sources=[0, 1, 0, 1]))


def test_sources_of_one_sample_each_change_no_split():
    samples = patients()
    alone = Samples(samples.x, groups=samples.groups, labels=samples.labels)
    single = Samples(samples.x, groups=samples.groups, labels=samples.labels, sources=np.arange(len(samples))[::-1])
    for split in (
        lambda one: hold_out(one, 0.3, 1),
        lambda one: hold_out_classes(one, 0.3, 1),
        lambda one: hold_out_at_random(one, 9, np.random.default_rng(1)),
    ):
        for a, b in zip(split(alone), split(single), strict=True):
            np.testing.assert_array_equal(a.x, b.x)


def test_folds_are_whole_sources_of_equal_strata_and_none_is_empty():
    rng = np.random.default_rng(0)
    sources, strata = np.repeat(np.arange(200), 5), np.repeat(rng.integers(0, 3, 200), 5)
    folds = source_folds(sources, strata, 5, 0)
    assert sorted(np.concatenate(folds)) == list(range(1000))
    for fold in folds:
        assert len(fold) == pytest.approx(200, abs=10)
        assert np.bincount(strata[fold]) == pytest.approx(np.bincount(strata) / 5, abs=5)
    for a in range(5):
        assert all(not set(sources[folds[a]]) & set(sources[folds[b]]) for b in range(a))
    # As many sources as folds, each of a class of its own and of another size.
    sources = np.repeat(np.arange(5), [1, 1, 1, 50, 90])
    assert sorted(len(fold) for fold in source_folds(sources, sources, 5, 0)) == [1, 1, 1, 50, 90]
    with pytest.raises(ValueError, match="at least 6 sources, one for every fold; got 5; lower folds or add sources"):
        source_folds(sources, sources, 6, 0)


def test_shares_are_met_as_far_as_sources_allow():
    sources = np.repeat(np.arange(100), 3)
    subset = assign_sources(sources, np.zeros(300, int), (0.7, 0.2, 0.1), np.random.default_rng(0))
    assert np.bincount(subset) == pytest.approx([210, 60, 30], abs=3)


def test_repeated_and_linked_sources():
    assert repeated_sources(None, 3) is None
    assert repeated_sources(["b", "a", "c"], 3) is None
    np.testing.assert_array_equal(repeated_sources(np.array([7, -2, 7]), 3), [1, 0, 1])
    with pytest.raises(ValueError, match=r"sources must be integers or strings of shape \(3,\)"):
        repeated_sources(np.zeros(2, int), 3)
    photographs, digits = np.array([0, 0, 1, 2, 3]), np.array([5, 6, 6, 7, -1])
    linked = linked_sources(photographs, digits)
    assert len({*linked[:3]}) == 1
    assert len({*linked}) == 3


def test_data_sets_say_what_a_sample_was_made_from():
    style = load("digit_style", digits="embedded", size=8)
    assert not set(style.train.sources) & set(style.test.sources)
    assert len(set(style.train.target.sources)) * 2 == len(style.train.target)
    assert set(style.test.background.sources) < set(style.test.target.sources)
    # Digit and style apart, all samples of a source are of one digit.
    for source in style.train.target.sources[:20]:
        own = style.train.factors[style.train.sources == source, :10]
        assert (own == own[0]).all()
    grassy = load("grassy_digits", n_target=1500, n_background=20, n_test=700, size=8)
    assert len(set(grassy.test.target.sources)) < 700
    assert len(set(grassy.test.background.sources)) == len(grassy.test.background)
    assert not set(grassy.train.target.sources) & set(grassy.test.target.sources)
    selection = validation_split(grassy)
    assert not set(selection.train.sources) & set(selection.test.sources)
    for name in ("posed_digits", "toy_contrast"):
        assert load(name).test.sources is None


def test_readers_take_sources(tmp_path):
    np.savez(tmp_path / "a.npz", x=np.zeros((3, 2)), sources=np.array(["p2", "p1", "p2"]))
    samples = read_samples(tmp_path / "a.npz")
    assert samples.sources.tolist() == [1, 0, 1]
    assert samples.source_names == ("p1", "p2")
    (tmp_path / "a.csv").write_text("a,group,source\n1,0,anna\n2,1,anna\n3,1,bert\n")
    samples = read_samples(tmp_path / "a.csv")
    assert (samples.sources.tolist(), samples.source_names, samples.x.shape) == ([0, 0, 1], ("anna", "bert"), (3, 1))
    (tmp_path / "b.csv").write_text("a,sources\n1,17\n2,3\n")
    assert read_samples(tmp_path / "b.csv").sources.tolist() == [17, 3]
    (tmp_path / "c.csv").write_text("a,source\n1,anna\n2,\n")
    with pytest.raises(ValueError, match=r"must have a source in every row .* got an empty cell; fill it in"):
        read_samples(tmp_path / "c.csv")
