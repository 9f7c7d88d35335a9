"""Methods, metrics and data sets of somebody's own: by an installed package, or registered in a script."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from command_line import exit_code
from one_process import run_commands

import untwine as un
from untwine.data.catalogue import DATA_SETS
from untwine.evaluation.registry import METRICS
from untwine.methods import METHODS

PLUGIN = Path(__file__).parent / "plugin"
STUDY = """
title = "A plug-in's table"
seeds = [0]
metrics = ["mean_norm", "reconstruction"]

[[data]]
name = "two_blobs"

[[row]]
label = "whitening"
method = "whitening"

[[column]]
title = "norm"
scores = ["mean_norm.z"]
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Install the package into a folder of its own, as pip would; return the folder."""
    folder = tmp_path_factory.mktemp("installed")
    source = shutil.copytree(PLUGIN, folder / "source")
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check", "--quiet"]
    command = [sys.executable, "-m", "pip", "install", *options, "--target", str(folder / "site"), str(source)]
    subprocess.run(command, check=True, capture_output=True)
    return folder / "site"


CATALOGUES = """
import json
from untwine.data.catalogue import DATA_SETS
from untwine.evaluation.registry import METRICS
from untwine.methods import METHODS

print(json.dumps({"METHODS": [*METHODS], "METRICS": [*METRICS], "DATA_SETS": [*DATA_SETS]}))
"""


def names(site):
    """Return the names in each catalogue of a new process that finds the package."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run([sys.executable, "-c", CATALOGUES], env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_an_installed_package_is_listed_fitted_scored_reported_and_studied(installed, tmp_path):
    there, here = names(installed), {"METHODS": METHODS, "METRICS": METRICS, "DATA_SETS": DATA_SETS}
    for what, name in (("METHODS", "whitening"), ("METRICS", "mean_norm"), ("DATA_SETS", "two_blobs")):
        assert set(there[what]) - set(here[what]) == {name}
    (tmp_path / "own.toml").write_text(STUDY)
    ended = run_commands(
        tmp_path,
        ["list", "methods"],
        ["fit", "whitening", "--data", "two_blobs", "--set", "factor=2.0", "--out", "run", "--quiet"],
        ["evaluate", "run", "--metrics", "mean_norm", "reconstruction", "--quiet"],
        ["report", "run"],
        ["study", "run", "own.toml", "--quiet"],
        ["study", "table", "own.toml"],
        path=[installed],
    )
    assert [one.code for one in ended] == [0] * 6, ended
    assert "whitening" in ended[0].out
    scores = json.loads((tmp_path / "run" / "scores.json").read_text())
    assert scores["mean_norm.z"]["value"] == pytest.approx(2 * np.sqrt(3), rel=0.2)
    assert scores["reconstruction.x"]["value"] < 1e-6
    page = (tmp_path / "run" / "report.html").read_text()
    assert "How long are the codes of this block on average?" in page
    assert "1 of 1" in ended[-1].out


def test_where_the_package_is_not_a_run_says_whose_method_it_is(installed, tmp_path, capsys):
    [done] = run_commands(tmp_path, ["fit", "whitening", "--data", "two_blobs", "--out", "run", "--quiet"], path=[installed])
    assert done.code == 0
    assert exit_code("evaluate", tmp_path / "run") == 2
    error = capsys.readouterr().err
    assert "'whitening'" in error
    assert error.count("\n") == 1


@pytest.fixture(autouse=True)
def restored_catalogues(monkeypatch):
    """Forget what a test registers: the tests after it, in the same process, count the entries."""
    for catalogue in ("methods.METHODS", "evaluation.registry.METRICS", "data.catalogue.DATA_SETS"):
        monkeypatch.setattr(f"untwine.{catalogue}._registered", {})


def test_a_script_registers_a_method_a_metric_and_a_data_set(monkeypatch, tmp_path):
    for catalogue in (METHODS, METRICS, DATA_SETS):
        monkeypatch.setattr(catalogue, "_registered", {})  # what is registered here ends with the test
    monkeypatch.syspath_prepend(str(PLUGIN))
    example = __import__("untwine_example")
    for thing in (example.Whitening, example.MEAN_NORM, example.two_blobs):
        un.register(thing)
    data = un.load("two_blobs", n=30)
    method = example.Whitening(factor=3.0).fit(data.train, out=tmp_path / "run")
    again = un.load_method(tmp_path / "run")
    np.testing.assert_array_equal(again.transform(data.test.x), method.transform(data.test.x))
    assert set(un.evaluate(again, data.test, ["mean_norm"])) == {"mean_norm.z"}


@pytest.mark.parametrize("annotation", [un.data.Splits, "Splits", "data.Splits", "un.data.Splits"])
def test_the_annotation_of_a_data_set_may_be_a_class_or_text(annotation):
    def nothing_there():
        raise AssertionError("only registered")

    nothing_there.__annotations__["return"] = annotation
    assert un.register(nothing_there) is nothing_there
    assert "nothing_there" in un.data.data_sets()


@pytest.mark.parametrize("thing", [3, "vae", lambda: None, object])
def test_what_is_none_of_the_three_is_refused(thing):
    with pytest.raises(TypeError, match="register needs a Method subclass, a Metric or a function that returns Splits"):
        un.register(thing)
