from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest
from run_folders import ABOUT, ONE_BLOCK, gallery, score

from untwine.report import page
from untwine.report.verdict import chance, verdict
from untwine.runs.reading import Run


def run(scores, about=ABOUT, drawn=None):
    return Run("demo", Path("runs/demo"), about, scores, gallery=gallery() if drawn is None else drawn)


@pytest.mark.parametrize(
    "salient, common, status, words",
    [
        (0.91, 0.13, "apart", "the class can be read from the salient part and hardly from the common part"),
        (0.91, 0.45, "partly", "the common part still leaks it"),
        (0.35, 0.12, "partly", "but not much"),
        (0.40, 0.60, "not", "the salient part tells no more about the class than the common part does"),
        (
            0.11,
            0.10,
            "not",
            "may tell more about the class than the common part does, but these rows do not show it",
        ),
    ],
)
def test_the_probe_decides_what_is_said(salient, common, status, words):
    judged = verdict(run({"probe.salient": score(salient), "probe.common": score(common, "lower")}))
    assert judged.status == status
    assert words in judged.reasons[0]
    assert f"label probe {salient:.2f}, common part: {common:.2f} (chance 0.10)" in judged.reasons[0]


def test_overlapping_intervals_are_no_difference():
    apart = {"probe.salient": score(0.9, width=0.1), "probe.common": score(0.75, "lower", width=0.1)}
    assert verdict(run(apart)).status == "not"


def test_the_worse_of_probe_and_factors_counts():
    good = {"probe.salient": score(0.9), "probe.common": score(0.1, "lower")}
    leaky = {"factors.common": score(0.3), "factors.salient": score(0.8, "lower")}
    judged = verdict(run({**good, **leaky}))
    assert judged.status == "not"
    assert len(judged.reasons) == 2
    assert verdict(run(leaky)).status == "not"
    assert verdict(run(good)).status == "apart"


def test_an_empty_salient_part_is_not_called_apart():
    collapsed = {"probe.salient": score(0.1), "probe.common": score(0.9, "lower")}
    collapsed |= {"factors.common": score(0.9), "factors.salient": score(0.0, "lower")}
    assert verdict(run(collapsed)).status == "not"


def test_salient_factors_count_too():
    truth = {"factors_salient.salient": score(0.95), "factors_salient.common": score(0.02, "lower")}
    judged = verdict(run(truth))
    assert judged.status == "apart"
    assert "the salient factors can be read from the salient part" in judged.reasons[0]


def test_without_labels_nothing_is_claimed():
    judged = verdict(run({"reconstruction.x": score(0.01, "lower"), "w2.common": score(0.1, "lower")}))
    assert judged.status == "unknown"
    assert "No labels and no true factors" in judged.reasons[0]


def test_without_scores_the_command_is_named():
    assert "untwine evaluate runs/demo" in verdict(run(None)).reasons[0]


def test_one_block_is_not_called_apart():
    judged = verdict(run({"probe.z": score(0.99), "factors.z": score(0.9)}, about=ONE_BLOCK))
    assert judged.status == "one"


def test_scores_without_direction_are_not_judged():
    judged = verdict(run({"probe.salient": score(0.9, "info"), "probe.common": score(0.1, "info")}))
    assert judged.status == "unknown"


def test_chance_is_the_share_of_the_largest_class_among_targets():
    labels = np.r_[np.zeros(30, int), np.ones(10, int), np.ones(60, int)]
    drawn = {"plane_labels": labels, "plane_groups": np.r_[np.ones(40, int), np.zeros(60, int)]}
    assert chance(run({}, drawn=drawn), "probe") == 0.75
    assert chance(run({}, drawn={"plane_labels": np.full(3, -1)}), "probe") is None
    assert chance(run({}), "factors") == 0


def test_high_accuracy_at_high_chance_is_not_apart():
    drawn = {"plane_labels": np.r_[np.zeros(90, int), np.ones(10, int)], "plane_groups": np.ones(100, int)}
    judged = verdict(run({"probe.salient": score(0.93, width=0.005), "probe.common": score(0.9, "lower", 0.005)}, drawn=drawn))
    assert judged.status == "partly"


def test_the_report_reads_files_and_knows_no_method():
    for file in Path(page.__file__).parent.glob("*.py"):
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
