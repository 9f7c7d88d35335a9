"""Scores on disk: written whole, read back equal, and older files still read."""

import json
import math

import pytest

from untwine.runs.scores import Score, read_scores, write_scores

SCORES = {
    "probe.salient": Score("probe.salient", 0.9, 0.85, 0.95, 500, 0.25, "higher", 2),
    "w2.common": Score("w2.common", 1.5e-7, 0.0, 1.0, 40, 1.0, "lower"),
}


def test_scores_are_read_back_equal(tmp_path):
    write_scores(tmp_path, SCORES)
    assert read_scores(tmp_path) == SCORES
    assert list(read_scores(tmp_path)) == list(SCORES)


def test_scores_after_an_epoch_have_a_file_of_their_own(tmp_path):
    write_scores(tmp_path, SCORES, 20)
    assert [path.name for path in tmp_path.iterdir()] == ["scores_20.json"]
    assert read_scores(tmp_path, 20) == SCORES
    assert read_scores(tmp_path) is None
    assert read_scores(tmp_path, 10) is None


def test_scores_of_older_files_have_no_invented_fields(tmp_path):
    (tmp_path / "scores.json").write_text(json.dumps({"probe.z": {"value": 0.5}, "novel": {"value": None, "direction": 3}}))
    probe, novel = read_scores(tmp_path).values()
    assert (probe.value, probe.n, probe.direction, probe.version) == (0.5, 0, "info", 1)
    assert all(map(math.isnan, (probe.low, probe.high, probe.seconds, novel.value)))
    assert novel.direction == "info"


@pytest.mark.parametrize("entry", [3, "high", {"value": "high"}, {"value": True}, [0.5]])
def test_a_score_without_a_number_is_refused(tmp_path, entry):
    (tmp_path / "scores.json").write_text(json.dumps({"probe.z": entry}))
    with pytest.raises(
        ValueError, match=r"scores\.json must hold an object with a number as value for 'probe\.z'; got .*again\.$"
    ):
        read_scores(tmp_path)
