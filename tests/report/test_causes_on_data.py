"""The causes on data that are made to have each of them: fit, scores and diagnostics for real, and the command to try."""

from __future__ import annotations

import html
import re
import shlex

import pytest
from caused import CAUSES, KINDS, findings_of, separates

from untwine.cli.app import app

SEEDS, SEPARATING = (0, 1), range(10)  # of the full count; other seeds were looked at while settings and thresholds were chosen


def check_commands(found):
    """Every suggestion that is a command is accepted by the command line; returns how many there are."""
    lines = [html.unescape(re.sub("<.*?>", "", text)) for one in found for text in one.suggestions if "<pre" in text]
    for line in lines:
        words = shlex.split(line.replace("\\\n", " "))
        assert words[0] == "untwine"
        app.parse_args(words[1:], print_error=False, exit_on_error=False)
    return len(lines)


def is_named(found, failure):
    """Whether a cause is named, with a command to try."""
    return any(one.failure == failure and check_commands([one]) for one in found)


@pytest.mark.parametrize("failure", CAUSES, ids=lambda failure: CAUSES[failure].__name__)
def test_the_cause_of_data_made_with_it_is_named_with_a_command(failure, tmp_path):
    found = findings_of(CAUSES[failure]("vectors", 101), tmp_path / "run")
    assert is_named(found, failure), [one.failure for one in found]
    check_commands(found)


def test_no_cause_is_named_where_data_separate(tmp_path):
    assert findings_of(separates("vectors", 101), tmp_path / "run") == []


@pytest.mark.soak
def test_the_full_count(tmp_path, capsys):
    """20 data sets that separate and 24 with a cause; `pytest -m soak -s tests/report/test_causes_on_data.py` prints both."""
    missed, alarms = [], []
    for failure, make in CAUSES.items():
        for kind, seed in ((kind, seed) for kind in KINDS for seed in SEEDS):
            found = findings_of(make(kind, seed), tmp_path / f"{make.__name__}-{kind}-{seed}")
            if not is_named(found, failure):
                missed.append((make.__name__, kind, seed, [one.failure for one in found]))
    for kind, seed in ((kind, seed) for kind in KINDS for seed in SEPARATING):
        if found := findings_of(separates(kind, seed), tmp_path / f"separates-{kind}-{seed}"):
            alarms.append((kind, seed, [one.failure for one in found]))
    made, separate = len(CAUSES) * len(KINDS) * len(SEEDS), len(KINDS) * len(SEPARATING)
    with capsys.disabled():
        print(f"\nnamed rightly in {made - len(missed)} of {made}; false alarms in {len(alarms)} of {separate}")
        for line in (*missed, *alarms):
            print(line)
    assert len(missed) <= 2
    assert len(alarms) <= 2
