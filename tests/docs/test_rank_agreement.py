"""The agreement of the ranking without labels with labelled scores is what the command prints, and means what it says."""

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOL = runpy.run_path(str(ROOT / "tools" / "rank_agreement.py"))
Cell = TOOL["Cell"]


def test_the_table_of_the_results_is_what_the_command_prints():
    printed = TOOL["lines"]([ROOT / "studies" / "results" / "ranking.csv"])
    text = (ROOT / "docs" / "results.md").read_text()
    assert all(line in text for line in printed)
    pooled = printed[-1].split("|")[3].strip()
    assert pooled in (ROOT / "docs" / "decisions" / "0027-ranking-without-labels.md").read_text()


def test_a_labelled_score_is_what_is_in_its_block_less_what_is_in_the_other():
    scores = {"probe.salient": 0.9, "probe.common": 0.3, "factors.common": 0.8, "factors.salient": -0.5}
    assert TOOL["labelled"](scores) == pytest.approx(((0.6 + 0.8) / 2, 0.6))
    assert TOOL["labelled"]({"factors.common": 0.8, "factors.salient": 0.1}) is None


def test_the_correlation_is_of_ranks_within_each_data_set():
    same = [Cell("a", str(i), i / 10, i, -i) for i in range(5)] + [Cell("b", str(i), 5 + i, i / 100, -i) for i in range(5)]
    assert TOOL["pooled"](same) == pytest.approx(1)  # though b is higher by one score and lower by the other
    assert TOOL["pooled"](same, "salient") == pytest.approx(-1)
    low, high = TOOL["interval"]([*same, Cell("a", "odd", 0.0, 9.0, 0.0)])
    assert low < TOOL["pooled"]([*same, Cell("a", "odd", 0.0, 9.0, 0.0)]) <= high
    assert TOOL["chosen"]([Cell("a", "x", 0.9, 0.2, 0.0), Cell("a", "y", 0.1, 0.7, 0.0)]) == ("x", 0.2, 0.7)
