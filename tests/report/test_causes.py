"""The known causes that scores without labels show: each is named, with a command to try, and none where nothing failed."""

from __future__ import annotations

import html
import re
import shlex

import numpy as np
import pytest
from run_folders import CARD, codes, contrast, score

from untwine.cli.settings import parse_settings
from untwine.methods import find_method
from untwine.metrics.counterfactual import share_like_background
from untwine.report.advice import causes, findings
from untwine.report.causes import find_causes
from untwine.report.verdict import verdict
from untwine.runs.reading import read_runs
from untwine.runs.scores import Score

GOOD = {
    "counterfactual_removed.x": 0.95,
    "counterfactual_added.x": 0.9,
    "counterfactual_gap.x": 0.8,
    "targets_like_background.x": 0.1,
    "leakage_group.common": 0.15,
    "background_change.x": 0.05,
    "explained.x": 0.8,
}
NAMES = {
    "group readable": {"leakage_group.common": 0.87},
    "background not quiet": {"background_change.x": 0.8},
    "poor reconstruction": {"explained.x": 0.2, "counterfactual_removed.x": 0.1},
    "mislabelled": {"targets_like_background.x": 0.45, "counterfactual_gap.x": 0.3},
}
PARAMS = {"n_common": 4, "n_salient": 2, "beta_common": 1.0, "beta_salient": 0.2, "lambda_s": 2.5, "lambda_z": 5.0}
PARAMS |= {"likelihood": "gaussian", "scale": 0.32, "epochs": 50, "seed": 0}
FALLING = [("fit", epoch, "vae", "reconstruction", 10.0 - epoch) for epoch in range(8)]
CONVERGED = [("fit", epoch, "vae", "reconstruction", 5 + 5 * 0.01**epoch) for epoch in range(8)]


def run_of(folder, name="demo", history=CONVERGED, tested=None, **changed):
    scores = {key: score(value, "info", 0.0) for key, value in {**GOOD, **changed}.items()}
    card = {**CARD, "params": PARAMS}
    folder.full(name, card=card, scores=scores, history=history, codes=codes(), contrast=tested or contrast())
    return next(run for run in read_runs(folder.root) if run.path.name == name)


def names(improving=False, **changed):
    scores = {key: Score(key, value, value, value, 100, 0.1, "info") for key, value in {**GOOD, **changed}.items()}
    return [cause.name for cause in find_causes(scores, improving)]


@pytest.mark.parametrize("name", NAMES)
def test_each_cause_is_named_and_no_other(name):
    assert names(**NAMES[name]) == [name]


def test_nothing_is_named_where_nothing_failed():
    assert names() == []
    assert names(improving=True) == []  # a good run that could be still better
    assert names(**{"explained.x": 0.3}) == []  # noisy data, and counterparts that pass all the same
    assert list(find_causes({}, improving=True)) == []


def test_a_short_training_is_named_where_something_failed():
    assert names(improving=True, **{"leakage_group.common": 0.9}) == ["under-trained", "group readable"]


@pytest.mark.parametrize("name", [*NAMES, "under-trained"])
def test_the_command_to_try_can_be_run(folder, name):
    changed = NAMES.get(name, NAMES["group readable"])
    run = run_of(folder, history=FALLING if name == "under-trained" else CONVERGED, **changed)
    finding = next(iter(causes(run)))
    (line,) = (html.unescape(re.sub("<.*?>", "", text)) for text in finding.suggestions)
    words = shlex.split(line)
    assert words[0] == "untwine"
    if name == "mislabelled":
        assert words[1:] == ["encode", str(run.path), "--out", "codes.csv"]
        return
    given = parse_settings([words[i + 1] for i, word in enumerate(words) if word == "--set"], "--set")
    find_method(words[2])(**given).check()
    (field,) = [key for key, value in given.items() if value != PARAMS[key]]
    expected = {
        "group readable": ("beta_common", 3.0),
        "background not quiet": ("lambda_s", 7.5),
        "under-trained": ("epochs", 150),
    }
    expected["poor reconstruction"] = ("scale", pytest.approx(0.32 / 3))
    assert (field, given[field]) == expected[name]
    assert words[words.index("--out") + 1].startswith(f"{run.path}-{field}=")


def test_where_nothing_is_salient_no_cause_is_blamed(folder):
    run = run_of(folder, tested=contrast(0.4, 0), **{"leakage_group.common": 0.9})
    assert [one.failure for one in findings(run)] == ["There may be nothing to disentangle."]


def test_the_verdict_judges_without_labels_where_there_are_none(folder):
    assert verdict(run_of(folder)).status == "disentangled"
    assert verdict(run_of(folder, "leaks", **{"leakage_group.common": 0.87})).status == "not"
    partly = verdict(run_of(folder, "partly", **{"leakage_group.common": 0.5}))
    assert partly.status == "partly"
    assert "private 0.50 (the common block does not say which group a sample is of)" in partly.reasons[0]


def test_the_share_of_targets_that_look_like_background_is_that_of_the_mixture():
    rng = np.random.default_rng(0)
    backgrounds, targets = rng.uniform(0, 0.4, 2000), rng.uniform(0.6, 1.0, 2000)
    for share in (0.0, 0.3, 1.0):
        mixed = np.where(rng.random(2000) < share, rng.uniform(0, 0.4, 2000), targets)
        assert share_like_background(mixed, backgrounds) == pytest.approx(share, abs=0.05)
    assert share_like_background([0.9, 0.9], [0.1]) == 0
    with pytest.raises(ValueError, match="both groups"):
        share_like_background([], [0.5])
