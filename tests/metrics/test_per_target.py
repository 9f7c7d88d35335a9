import numpy as np
import pytest
from known_methods import Columns

from untwine import Samples
from untwine.evaluation.scoring import evaluate
from untwine.metrics import per_target_accuracy

RNG = np.random.default_rng(0)
N = 60
GROUPS = np.repeat([0, 1, 2], [N, N, N])
NOISE = RNG.normal(size=(3 * N, 3))
# The first target is far from the background, the second has its distribution.
ONE_APART = NOISE + 8.0 * np.outer(GROUPS == 1, [1, 0, 0])
ROTATION = np.linalg.qr(RNG.normal(size=(3, 3)))[0]


@pytest.mark.parametrize(
    "codes",
    [
        ONE_APART,
        ONE_APART[:, ::-1],
        ONE_APART * [1e-4, 1e3, 1],
        ONE_APART @ ROTATION,
        np.hstack([ONE_APART, ONE_APART]),
    ],
    ids=["as it is", "permuted", "rescaled", "rotated", "duplicated"],
)
def test_a_target_that_is_not_separated_is_found(codes):
    results = per_target_accuracy(codes, GROUPS)
    assert list(results) == [1, 2]
    assert results[1].accuracy > 0.95
    assert results[2].accuracy < 0.65
    assert results[1].n == 2 * N


@pytest.mark.parametrize("codes", [NOISE, np.zeros((3 * N, 2))], ids=["random", "constant"])
def test_chance_is_one_half(codes):
    assert all(0.35 < result.accuracy < 0.65 for result in per_target_accuracy(codes, GROUPS).values())


def test_as_many_samples_of_both_count_and_small_targets_are_left_out():
    groups = np.concatenate([np.zeros(100, int), np.ones(20, int), np.full(9, 2), np.full(51, 3)])
    assert {target: result.n for target, result in per_target_accuracy(NOISE, groups).items()} == {1: 40, 3: 102}


def test_sources_are_never_cut_through():
    """The codes are those of the source: they say nothing of the group of others."""
    sources = np.repeat(np.arange(3 * N // 6), 6)
    codes = np.repeat(RNG.normal(size=(3 * N // 6, 2)), 6, axis=0)
    assert per_target_accuracy(codes, GROUPS)[1].accuracy > 0.8
    assert per_target_accuracy(codes, GROUPS, sources=sources)[1].accuracy < 0.75
    assert per_target_accuracy(codes, GROUPS, sources=np.repeat(np.arange(9), 20)) == {}


def test_wrong_groups_are_refused():
    with pytest.raises(ValueError, match="groups must be one integer for each of the 180 samples; got int64 of shape"):
        per_target_accuracy(NOISE, GROUPS[:5])


def test_each_of_several_targets_gets_its_score_and_one_target_none():
    x = np.c_[NOISE[:, :2], ONE_APART[:, 0]]
    names = ("background", "drug A", "heat")
    scores = evaluate(Columns(), Samples(x, groups=GROUPS, group_names=names), ["per_target"])
    assert set(scores) == {f"per_target_{name}.{block}" for name in ("drug_A", "heat") for block in ("common", "salient")}
    assert scores["per_target_drug_A.salient"].value > 0.95
    assert scores["per_target_drug_A.salient"].direction == "higher"
    assert scores["per_target_heat.salient"].value < 0.65
    assert scores["per_target_drug_A.common"].value < 0.65
    assert scores["per_target_drug_A.common"].direction == "lower"
    with pytest.raises(
        ValueError, match=r"the metric 'per_target' needs at least 2 targets, .*; got fewer; pass Samples.contrast"
    ):
        evaluate(Columns(), Samples(x, groups=GROUPS > 0), ["per_target"])
