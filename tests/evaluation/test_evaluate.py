import json
import math

import numpy as np
import pytest
from known_methods import Columns, Halves, Swapped, Whole, images, vectors

from untwine.evaluation.scoring import evaluate
from untwine.runs.scores import Score, write_scores
from untwine.samples import Samples


@pytest.fixture(scope="module")
def scores():
    return evaluate(Halves(), images())


def test_every_block_is_scored_by_every_metric(scores):
    both = (
        "probe",
        "probe_strong",
        "clustering",
        "clustering_random",
        "silhouette",
        "ari",
        "nmi",
        "factors",
        "leakage",
        "group_silhouette",
    )
    assert set(scores) == {f"{metric}.{block}" for metric in both for block in ("common", "salient")} | {
        "leakage_group.common",
        "w2.common",
        "w2_relative.common",
        "reconstruction.x",
        "explained.x",
        "counterfactual_removed.x",
        "counterfactual_added.x",
        "counterfactual_gap.x",
        "targets_like_background.x",
        "minimality.x",
        "background_change.x",
    }


@pytest.mark.parametrize(
    "name, low, high, n, direction",
    [
        ("probe.salient", 0.99, 1.0, 200, "higher"),
        ("probe.common", 0.10, 0.40, 200, "lower"),
        ("probe_strong.salient", 0.99, 1.0, 200, "higher"),
        ("probe_strong.common", 0.10, 0.40, 200, "lower"),
        ("clustering.salient", 0.99, 1.0, 200, "higher"),
        ("clustering.common", 0.25, 0.45, 200, "lower"),
        ("clustering_random.salient", 0.25, 0.40, 200, "info"),
        ("silhouette.salient", 0.7, 1.0, 200, "higher"),
        ("silhouette.common", -0.2, 0.1, 200, "lower"),
        ("ari.salient", 0.99, 1.0, 200, "higher"),
        ("ari.common", -0.05, 0.05, 200, "lower"),
        ("nmi.salient", 0.99, 1.0, 200, "higher"),
        ("nmi.common", 0.0, 0.1, 200, "lower"),
        ("leakage.common", 0.0, 0.15, 200, "lower"),
        ("leakage.salient", 0.0, 0.08, 200, "lower"),
        ("leakage_group.common", 0.0, 0.2, 240, "lower"),
        ("group_silhouette.common", -0.05, 0.05, 240, "lower"),
        ("group_silhouette.salient", 0.4, 0.8, 240, "higher"),
        ("factors.common", 0.99, 1.0, 200, "higher"),
        ("factors.salient", 0.0, 0.08, 200, "lower"),
        ("w2.common", 0.0, 0.1, 120, "lower"),
        ("w2_relative.common", 0.0, 0.08, 120, "lower"),
        ("reconstruction.x", 0.0, 1e-6, 320, "lower"),
    ],
)
def test_a_perfect_method_gets_its_scores(scores, name, low, high, n, direction):
    score = scores[name]
    assert low <= score.value <= high
    assert score.low <= score.value <= score.high
    assert math.isfinite(score.low)
    assert math.isfinite(score.high)
    assert (score.name, score.n, score.direction) == (name, n, direction)
    assert score.seconds >= 0


def test_a_method_with_swapped_blocks_scores_badly():
    scores = evaluate(Swapped(), images(), metrics=["probe", "factors", "w2"])
    assert scores["probe.common"].value > 0.99
    assert scores["probe.salient"].value < 0.45
    assert scores["factors.salient"].value > 0.99
    assert scores["w2_relative.common"].value > 0.5
    leaks = evaluate(Swapped(), images(), metrics=["leakage", "groups", "agreement"])
    assert leaks["leakage.common"].value == leaks["leakage.salient"].value == leaks["leakage_group.common"].value == 1.0
    assert leaks["group_silhouette.common"].value > 0.4 > 0.05 > leaks["group_silhouette.salient"].value
    assert leaks["ari.common"].value > 0.99
    assert set(scores) == {
        *("probe.common", "probe.salient", "factors.common", "factors.salient"),
        *("w2.common", "w2_relative.common"),
    }


def test_the_samples_are_encoded_once():
    method = Halves()
    evaluate(method, images(60, 40), metrics=["probe", "w2", "reconstruction"])
    assert method.encoded == 1


def test_the_same_call_gives_the_same_scores(scores):
    again = evaluate(Halves(), images())
    assert {n: (s.value, s.low, s.high) for n, s in again.items()} == {n: (s.value, s.low, s.high) for n, s in scores.items()}


def test_salient_factors_are_scored_apart():
    scores = evaluate(Columns(), vectors())
    assert scores["factors.common"].value > 0.99
    assert scores["factors.salient"].value < 0.1
    assert scores["factors_salient.salient"].value > 0.99
    assert scores["factors_salient.common"].value < 0.1
    directions = {name: score.direction for name, score in scores.items() if name.startswith("factors")}
    assert directions == {
        "factors.common": "higher",
        "factors.salient": "lower",
        "factors_salient.common": "lower",
        "factors_salient.salient": "higher",
    }
    assert not any(name.startswith(("probe", "clustering")) for name in scores)


def test_a_method_of_one_block_without_groups():
    rng = np.random.default_rng(0)
    labels = np.arange(60) % 3
    samples = Samples(np.eye(3)[labels] * 9 + rng.normal(size=(60, 3)), labels=labels)
    scores = evaluate(Whole(), samples)
    labelled = ("probe", "probe_strong", "clustering", "clustering_random", "silhouette", "ari", "nmi")
    assert set(scores) == {f"{metric}.z" for metric in labelled} | {"reconstruction.x", "explained.x"}
    assert scores["probe.z"].direction == scores["silhouette.z"].direction == "higher"
    assert scores["probe.z"].value > 0.95
    assert scores["reconstruction.x"].value == 0.0


def test_only_targets_with_known_labels_of_usual_classes_count():
    data = images(80, 40)
    labels = data.labels.copy()
    labels[:10] = -1
    labels[10:13] = 4  # a class too small for five folds
    labels[80:] = 0  # background that looks labelled
    changed = Samples(data.x, groups=data.groups, labels=labels)
    scores = evaluate(Halves(), changed, metrics=["probe"])
    assert scores["probe.salient"].n == 67
    assert scores["probe.salient"].value > 0.95


@pytest.mark.parametrize(
    "method, samples, metric, says",
    [
        (Whole(), Samples(np.eye(30)), "probe", "labels"),
        (Whole(), Samples(np.eye(30)), "clustering", "labels"),
        (Whole(), Samples(np.eye(30)), "factors", "factors"),
        (Whole(), vectors(), "w2", "'common'; got the blocks z; evaluate a contrastive method"),
        (Columns(), Samples(np.ones((30, 3))), "w2", "Samples.contrast"),
        (
            Columns(),
            vectors(),
            "accuracy",
            (
                "probe, probe_strong, clustering, agreement, factors, leakage, leakage_covariates, groups, per_target, w2, "
                "reading, transfer, reconstruction"
            ),
        ),
        (Whole(), Samples(np.eye(30)), "agreement", "labels"),
        (Whole(), Samples(np.eye(30)), "per_class", "labels"),
        (Whole(), Samples(np.eye(30)), "regression", "factors"),
        (Whole(), Samples(np.eye(30)), "sap", "a factor that varies over the target samples and that a block should encode"),
        (Whole(), Samples(np.eye(30), factors=np.arange(30.0)), "dci", "two factors"),
        (Columns(), vectors(), "attributes", "a binary factor"),
        (Columns(), vectors(), "per_attribute", "a binary factor"),
        (Columns(), Samples(np.ones((30, 3))), "groups", "Samples.contrast"),
        (Whole(), vectors(), "leakage", "two blocks, such as common and salient; got the blocks z"),
        (Columns(), Samples(np.ones((30, 3))), "leakage", "labels, factors or groups"),
        (Whole(), vectors(), "swap", "two blocks"),
        (Columns(), vectors(), "swap", "labels"),
        (Columns(), vectors(), "translation", "the blocks 'class' and 'content'; got the blocks common, salient"),
    ],
)
def test_an_inapplicable_metric_is_refused(method, samples, metric, says):
    with pytest.raises(ValueError, match=says) as caught:
        evaluate(method, samples, metrics=[metric])
    assert f"{metric!r}" in str(caught.value)
    assert str(caught.value).count(". ") == 0


def test_bad_arguments_are_refused():
    with pytest.raises(TypeError, match="wrap it in a list"):
        evaluate(Columns(), vectors(), metrics="probe")
    with pytest.raises(ValueError, match="seeds must be an integer of at least 2; got 1"):
        evaluate(Columns(), vectors(), seeds=1)


def test_progress_goes_to_the_error_stream_only(capsys):
    evaluate(Columns(), vectors(), metrics=["w2"], progress=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert "scoring" in err


def test_scores_are_written_whole_and_read_back(tmp_path, scores):
    write_scores(tmp_path, scores)
    read = json.loads((tmp_path / "scores.json").read_text())
    assert list(read) == list(scores)
    assert set(read["w2.common"]) == {"value", "low", "high", "n", "seconds", "direction", "version"}
    assert read["probe.salient"]["value"] == scores["probe.salient"].value
    assert Score("probe.salient", **read["probe.salient"]) == scores["probe.salient"]
    bad = {"x.y": Score("x.y", math.nan, 0, 1, 1, 0.0, "info")}
    with pytest.raises(ValueError):
        write_scores(tmp_path, bad)
    assert json.loads((tmp_path / "scores.json").read_text()) == read
    assert [path.name for path in tmp_path.iterdir()] == ["scores.json"]
