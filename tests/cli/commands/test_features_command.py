"""`untwine features`: the table of Python, from the command line."""

import json

import numpy as np
import pytest
from command_line import exit_code, run
from PIL import Image

import untwine as un
from untwine.runs.features import features_path, read_features


@pytest.fixture(scope="module")
def genes(tmp_path_factory):
    """A table with named genes, of which two respond, and a run on it."""
    place, rng = tmp_path_factory.mktemp("genes"), np.random.default_rng(0)
    groups = np.arange(240) % 2
    x = rng.normal(size=(240, 8)).astype(np.float32)
    x[groups == 1, :2] += 3
    names = [f"gene{i}" for i in range(8)]
    np.savez(place / "cells.npz", x=x, groups=groups, feature_names=np.array(names), group_names=np.array(["control", "drug"]))
    options = ("--set", "n_common=2", "--set", "n_salient=1", "--quiet")
    run("fit", "principled_vae", "--data", place / "cells.npz", *options, "--set", "epochs=30", "--out", place / "run")
    run("fit", "contrastive_pca", "--data", place / "cells.npz", *options, "--out", place / "linear")
    return place


def test_the_table_is_that_of_python_and_the_figure_is_drawn(genes, tmp_path, capsys):
    run("features", genes / "run", "--out", tmp_path / "genes.csv", "--plot", tmp_path / "genes.png")
    printed = capsys.readouterr().out
    assert "8 rows, " in printed
    method = un.load_method(genes / "run")
    expected = un.salient_features(method, un.load(genes / "cells.npz").test)
    assert read_features(tmp_path / "genes.csv") == expected
    assert {one.name for one in expected[:2]} == {"gene0", "gene1"}
    assert np.asarray(Image.open(tmp_path / "genes.png")).std() > 10


def test_json_and_other_samples_and_methods(genes, tmp_path, capsys):
    x = np.load(genes / "cells.npz")["x"][:40]
    np.savez(tmp_path / "new.npz", x=x, feature_names=np.array([f"gene{i}" for i in range(8)]))
    run("features", genes / "run", tmp_path / "new.npz", "--split", "all", "--out", tmp_path / "a.csv", "--json")
    printed = json.loads(capsys.readouterr().out)
    assert printed[0]["p"] is None  # no groups
    run("features", genes / "run", "--beside", genes / "linear", "--out", tmp_path / "b.csv")
    methods = [un.load_method(genes / name) for name in ("run", "linear")]
    assert read_features(tmp_path / "b.csv") == un.salient_features(methods, un.load(genes / "cells.npz").test)


def test_evaluate_writes_the_table_for_the_report(genes, capsys):
    assert read_features(features_path(genes / "linear")) is None
    run("evaluate", genes / "linear", "--metrics", "reconstruction", "--quiet", "--seeds", 2)
    assert {one.name for one in read_features(features_path(genes / "linear"))} == {f"gene{i}" for i in range(8)}
    run("report", genes / "linear")
    assert "Salient features</h3>" in (genes / "linear" / "report.html").read_text()


def test_wrong_options_are_refused(genes, tmp_path, capsys):
    assert exit_code("features", genes / "run", "--out", tmp_path / "genes.txt") == 2
    assert "--out must end in .csv" in capsys.readouterr().err
    assert exit_code("features", genes / "run", "--split", "all", "--out", tmp_path / "genes.csv") == 2
    assert "--split all needs a file of samples that the fit has not seen" in capsys.readouterr().err
    assert exit_code("features", genes / "run", "--by", "cell_type", "--out", tmp_path / "genes.csv") == 2
    assert "by must be label, group or a categorical covariate" in capsys.readouterr().err
    assert not (tmp_path / "genes.csv").exists()
