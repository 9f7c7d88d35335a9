"""`untwine evaluate`: scores and gallery in the run folder, and a table."""

import json
import re

import numpy as np
import pytest
from command_line import exit_code, run


def test_evaluate_writes_every_score_and_the_gallery(evaluated, capsys):
    scores = json.loads((evaluated / "scores.json").read_text())
    assert {"factors.common", "factors.salient", "factors_salient.salient", "w2.common"} <= set(scores)
    for score in scores.values():
        assert set(score) == {"value", "low", "high", "n", "seconds", "direction", "version", "samples"}
        assert score["low"] <= score["value"] <= score["high"] or score["direction"] == "info"
    with np.load(evaluated / "gallery.npz", allow_pickle=False) as gallery:
        assert {"originals", "reconstructions", "plane_common", "plane_salient"} <= set(gallery.files)
    run("evaluate", evaluated, "--quiet", "--metrics", "w2", "--seeds", 2, "--json")
    only = json.loads(capsys.readouterr().out)
    assert {name.split(".")[0] for name in only} <= {"w2", "w2_relative"} | set(only)
    assert only["w2.common"]["value"] == pytest.approx(scores["w2.common"]["value"])
    assert set(json.loads((evaluated / "scores.json").read_text())) == set(scores)  # those of the other metrics stay
    (evaluated / "scores.json").write_text(json.dumps(scores))


def test_evaluate_shows_a_table(evaluated, capsys):
    before = (evaluated / "scores.json").read_bytes()
    run("evaluate", evaluated, "--quiet", "--metrics", "reconstruction", "w2")
    out = capsys.readouterr().out
    assert "w2.common" in out
    assert "lower is better" in out
    assert re.search(r"^contrast test: targets 1 salient dimension \(p = 0\.005\)$", out, re.MULTILINE)
    assert f"untwine report {evaluated}" in out.replace("\n", " ").replace("  ", " ")
    (evaluated / "scores.json").write_bytes(before)


def test_evaluate_refuses_data_that_has_changed(tmp_path, capsys):
    x = np.random.default_rng(0).normal(size=(40, 5))
    np.savez(tmp_path / "rows.npz", x=x)
    run("fit", "pca", "--data", tmp_path / "rows.npz", "--set", "n_latent=2", "--out", tmp_path / "run", "--quiet")
    np.savez(tmp_path / "rows.npz", x=x + 1)
    assert exit_code("evaluate", tmp_path / "run") == 2
    assert "must be used with the data that it was fitted on" in capsys.readouterr().err
    assert not (tmp_path / "run" / "scores.json").exists()


def test_options_of_metrics_are_set_by_metric_set_or_behind_the_name(evaluated, capsys):
    before = (evaluated / "scores.json").read_bytes()
    words = ("--metrics", "w2", "w2(batch=8)", "--metric-set", "w2.of=samples", "--seeds", 2, "--json")
    run("evaluate", evaluated, "--quiet", *words)
    scores = json.loads(capsys.readouterr().out)
    names = [
        f"{score}({options}).common" for options in ("of=samples", "of=samples,batch=8") for score in ("w2", "w2_relative")
    ]
    assert list(scores) == names
    stored = json.loads((evaluated / "scores.json").read_text())
    assert stored["w2(of=samples,batch=8).common"]["options"] == {"of": "samples", "batch": 8}
    run("evaluate", evaluated, "--quiet", "--metrics", "w2", "--metric-set", "w2.of=means", "--seeds", 2, "--json")
    plain = json.loads(capsys.readouterr().out)
    assert list(plain) == ["w2.common", "w2_relative.common"]
    assert plain["w2.common"]["value"] == json.loads(before)["w2.common"]["value"]
    assert "options" not in plain["w2.common"]
    run("report", evaluated)  # shows scores with options
    (evaluated / "report.html").unlink()
    (evaluated / "scores.json").write_bytes(before)
    capsys.readouterr()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--metrics", "w2", "--metric-set", "w2.off=samples"), "must be known ones; got 'off'; did you mean 'of'?"),
        (
            ("--metrics", "w2", "--metric-set", "w2.of=sample"),
            "'means' or 'samples'; got 'sample'; did you mean 'samples'?",
        ),
        (("--metrics", "w2", "--metric-set", "w2.batch=0"), "batch must be an integer >= 1 or None; got 0"),
        (("--metrics", "z_diff(pairs=x)"), "the metric 'z_diff': pairs must be an integer >= 1; got 'x'"),
        (("--metrics", "z_diff(pairs=3"), "close the bracket"),
        (("--metrics", "w2", "--metric-set", "of=samples"), "--metric-set must be metric.option=value; got 'of'"),
        (("--metrics", "w2", "--metric-set", "w2.of"), "--metric-set must be name=value; got 'w2.of'"),
        (("--metrics", "w2", "--metric-set", "sap.correlated=0.5"), "an option of one of --metrics; got 'sap' and w2; name it"),
        (("--metric-set", "w2.of=samples"), "an option of one of --metrics; got 'w2' and no --metrics"),
        (("--learn-from", "tests"), "folds"),
    ],
)
def test_wrong_options_of_metrics_are_refused_before_the_run_is_read(words, sentence, tmp_path, capsys):
    assert exit_code("evaluate", tmp_path / "no run", *words) != 0
    assert sentence in " ".join(capsys.readouterr().err.split())


def test_classifiers_learn_from_the_training_split_on_request(tmp_path, capsys):
    """The class is a column in the training split and noise in the test split, so that only folds can tell them apart."""
    rng, n = np.random.default_rng(0), 120
    labels, split = np.arange(n) % 2, np.repeat(["train", "test"], [80, 40])
    x = np.c_[5.0 * labels * np.where(split == "train", 1, -1), rng.normal(size=(n, 2))]
    np.savez(tmp_path / "data.npz", x=x, labels=labels, split=split)
    run("fit", "pca", "--data", tmp_path / "data.npz", "--set", "n_latent=3", "--out", tmp_path / "run", "--quiet")
    capsys.readouterr()
    values = {}
    for words in ((), ("--learn-from", "folds"), ("--learn-from", "train")):
        run("evaluate", tmp_path / "run", "--quiet", "--metrics", "probe", "--json", *words)
        score = json.loads(capsys.readouterr().out)["probe.z"]
        values[words] = (score["value"], score["n"])
    assert values[()] == values["--learn-from", "folds"] == (1.0, 40)
    assert values["--learn-from", "train"] == (0.5, 40)  # learned from the other sign, all are one class
    import untwine as un

    assert un.evaluate_run(tmp_path / "run", metrics=["probe"], learn_from="train")["probe.z"].value == 0.5
    with pytest.raises(ValueError, match="learn_from must be 'folds' or 'train'; got 'test'"):
        un.evaluate_run(tmp_path / "run", learn_from="test")
    with pytest.raises(ValueError, match="takes the training split of the data; got train too; leave one of them out"):
        un.evaluate_run(tmp_path / "run", learn_from="train", train=un.load(tmp_path / "data.npz").train)
