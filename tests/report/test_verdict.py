"""The verdict on a run: what its scores allow to be claimed, and no more."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest
from run_folders import CARD, ONE_BLOCK
from run_folders import score as stored_score

from untwine.report import page
from untwine.report.verdict import chance_level, verdict
from untwine.runs.gallery import Gallery, Planes
from untwine.runs.reading import Run
from untwine.runs.scores import Score

LABELS, GROUPS = np.r_[np.arange(40) % 10, np.full(20, -1)], np.r_[np.ones(40, int), np.zeros(20, int)]


def run(scores, card=CARD, labels=LABELS, groups=GROUPS):
    planes = Planes({}, labels, groups)
    return Run("demo", Path("runs/demo"), card, scores, gallery=Gallery(planes=planes))


def score(value, direction="higher", width=0.02):
    return Score("probe.salient", **stored_score(value, direction, width))


@pytest.mark.parametrize(
    "salient, common, status, words",
    [
        (0.91, 0.13, "disentangled", "the salient block encodes the class, and the common block hardly does"),
        (0.91, 0.45, "partly", "the common block still leaks"),
        (0.35, 0.12, "partly", "but not well"),
        (0.40, 0.60, "not", "the salient block encodes the class no better than the common block"),
        (
            0.11,
            0.10,
            "not",
            "may encode the class better than the common block, but their intervals overlap",
        ),
    ],
)
def test_the_probe_decides_the_verdict(salient, common, status, words):
    judged = verdict(run({"probe.salient": score(salient), "probe.common": score(common, "lower")}))
    assert judged.status == status
    assert words in judged.reasons[0]
    assert f"linear-probe accuracy {salient:.2f}, common block: {common:.2f} (chance level 0.10)" in judged.reasons[0]


def test_overlapping_intervals_are_no_difference():
    overlapping = {"probe.salient": score(0.9, width=0.1), "probe.common": score(0.75, "lower", width=0.1)}
    assert verdict(run(overlapping)).status == "not"


def test_the_worse_of_probe_and_factors_counts():
    good = {"probe.salient": score(0.9), "probe.common": score(0.1, "lower")}
    leaky = {"factors.common": score(0.3), "factors.salient": score(0.8, "lower")}
    judged = verdict(run({**good, **leaky}))
    assert judged.status == "not"
    assert len(judged.reasons) == 2
    assert verdict(run(leaky)).status == "not"
    assert verdict(run(good)).status == "disentangled"


def test_an_empty_salient_block_is_not_called_disentangled():
    collapsed = {"probe.salient": score(0.1), "probe.common": score(0.9, "lower")}
    collapsed |= {"factors.common": score(0.9), "factors.salient": score(0.0, "lower")}
    assert verdict(run(collapsed)).status == "not"


def test_salient_factors_count_too():
    truth = {"factors_salient.salient": score(0.95), "factors_salient.common": score(0.02, "lower")}
    judged = verdict(run(truth))
    assert judged.status == "disentangled"
    assert "the salient block encodes the salient factors" in judged.reasons[0]


def test_without_labels_nothing_is_claimed():
    judged = verdict(run({"reconstruction.x": score(0.01, "lower"), "w2.common": score(0.1, "lower")}))
    assert judged.status == "unknown"
    assert "No labels and no ground-truth factors" in judged.reasons[0]


def test_labels_that_another_metric_scored_are_not_denied():
    judged = verdict(run({"probe_strong.salient": score(0.9), "per_class_a.common": score(0.1, "lower")}))
    assert judged.status == "unknown"
    assert "Neither probe nor factors was scored" in judged.reasons[0]
    assert "No labels" not in judged.reasons[0]
    assert "No labels" in verdict(run({"leakage_group.common": score(0.1, "lower")})).reasons[0]


def test_without_scores_the_command_is_named():
    assert "untwine evaluate runs/demo" in verdict(run(None)).reasons[0]


def test_one_block_is_not_called_disentangled():
    judged = verdict(run({"probe.z": score(0.99), "factors.z": score(0.9)}, card=ONE_BLOCK))
    assert judged.status == "single"


def test_scores_without_direction_are_not_judged():
    judged = verdict(run({"probe.salient": score(0.9, "info"), "probe.common": score(0.1, "info")}))
    assert judged.status == "unknown"


def test_chance_is_the_share_of_the_largest_class_among_targets():
    labels = np.r_[np.zeros(30, int), np.ones(10, int), np.ones(60, int)]
    groups = np.r_[np.ones(40, int), np.zeros(60, int)]
    assert chance_level(run({}, labels=labels, groups=groups), "probe") == 0.75
    assert chance_level(run({}, labels=np.full(3, -1), groups=None), "probe") is None
    assert chance_level(run({}), "factors") == 0


def test_high_accuracy_at_a_high_chance_level_is_not_disentangled():
    labels, groups = np.r_[np.zeros(90, int), np.ones(10, int)], np.ones(100, int)
    scores = {"probe.salient": score(0.93, width=0.005), "probe.common": score(0.9, "lower", 0.005)}
    judged = verdict(run(scores, labels=labels, groups=groups))
    assert judged.status == "partly"


def test_the_report_reads_files_and_knows_no_method():
    for file in Path(page.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for name in names:
                assert not name.startswith(
                    ("torch", "untwine.method.contract", "untwine.training.loop", "untwine.evaluation.scoring")
                ), (
                    file.name,
                    name,
                )
