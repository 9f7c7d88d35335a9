"""The rank without labels: its terms, its extremes, and what it cannot judge."""

import pytest

from untwine.evaluation.ranking import apart, combine, label_free
from untwine.runs.scores import Score

GOOD = {
    "counterfactual_removed.x": 1.0,
    "counterfactual_added.x": 0.8,
    "counterfactual_gap.x": 0.9,
    "leakage_group.common": 0.1,
    "background_change.x": 0.05,
    "explained.x": 0.9,
}
CLASSES = {"class_read.class": 0.9, "class_read.content": 0.2, "class_chance.x": 0.1, "explained.x": 0.8}


def test_the_terms_are_those_of_the_docstring():
    ranked = label_free(GOOD)
    assert ranked.terms == pytest.approx({"valid": 0.9, "private": 0.9, "quiet": 0.95, "explained": 0.9})
    assert ranked.value == pytest.approx(0.9 * (0.9 + 0.9 + 0.95) / 3)
    assert apart(ranked.terms) == pytest.approx((0.9 + 0.9 + 0.95) / 3)


def test_scores_may_be_objects_and_other_scores_do_not_matter():
    objects = {name: Score(name, value, value, value, 10, 0.1, "info") for name, value in GOOD.items()}
    assert label_free({**objects, "probe.salient": objects["explained.x"]}) == label_free(GOOD)


@pytest.mark.parametrize(
    "failing",
    [
        {"counterfactual_removed.x": 0.0, "counterfactual_added.x": 0.0},  # an empty salient block
        {"leakage_group.common": 1.0},  # all is in the common block
        {"background_change.x": 3.0},  # all is in the salient block
        {"explained.x": -0.5},
    ],
    ids=["not valid", "not private", "not quiet", "nothing explained"],
)
def test_one_failure_counts_more_than_some_loss_in_all(failing):
    failed, mediocre = label_free({**GOOD, **failing}), label_free({**GOOD, "background_change.x": 0.15, "explained.x": 0.8})
    assert failed.value < mediocre.value < label_free(GOOD).value
    assert all(0 <= term <= 1 for term in failed.terms.values())


def test_the_range_is_from_0_to_1():
    assert combine({"a": 1.0, "b": 1.0, "explained": 1.0}) == 1
    assert combine({"a": 1.0, "b": 1.0, "explained": 0.0}) == 0
    assert combine({"a": 0.0, "b": 0.0, "explained": 1.0}) == 0


def test_what_cannot_be_judged_has_no_value():
    assert label_free({}) is None
    assert label_free({**GOOD, "counterfactual_gap.x": 0.01}) is None  # targets look like background: validity says nothing
    assert label_free({name: value for name, value in GOOD.items() if name != "leakage_group.common"}) is None
    assert label_free({**GOOD, "explained.x": float("nan")}) is None


def test_class_supervised_runs_are_ranked_by_the_classes_that_they_were_given():
    ranked = label_free(CLASSES)
    assert ranked.terms == pytest.approx({"class": 8 / 9, "content": 8 / 9, "explained": 0.8})
    assert ranked.value == pytest.approx(0.8 * 8 / 9)
    assert label_free({**CLASSES, "class_read.content": 0.9}).value < ranked.value
    assert label_free({**CLASSES, "class_read.class": 0.1}).value < ranked.value
