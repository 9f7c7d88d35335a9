"""`untwine evaluate`: scores and gallery in the run folder, and a table."""

import json

import numpy as np
import pytest
from command_line import exit_code, run


def test_evaluate_writes_every_score_and_the_gallery(evaluated, capsys):
    scores = json.loads((evaluated / "scores.json").read_text())
    assert {"factors.common", "factors.salient", "factors_salient.salient", "w2.common"} <= set(scores)
    for score in scores.values():
        assert set(score) == {"value", "low", "high", "n", "seconds", "direction", "version"}
        assert score["low"] <= score["value"] <= score["high"] or score["direction"] == "info"
    with np.load(evaluated / "gallery.npz", allow_pickle=False) as gallery:
        assert {"originals", "reconstructions", "plane_common", "plane_salient"} <= set(gallery.files)
    run("evaluate", evaluated, "--quiet", "--metrics", "w2", "--seeds", 2, "--json")
    only = json.loads(capsys.readouterr().out)
    assert {name.split(".")[0] for name in only} <= {"w2", "w2_relative"} | set(only)
    assert only["w2.common"]["value"] == pytest.approx(scores["w2.common"]["value"])
    (evaluated / "scores.json").write_text(json.dumps(scores))


def test_evaluate_shows_a_table(evaluated, capsys):
    before = (evaluated / "scores.json").read_bytes()
    run("evaluate", evaluated, "--quiet", "--metrics", "reconstruction", "w2")
    out = capsys.readouterr().out
    assert "w2.common" in out
    assert "lower is better" in out
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
