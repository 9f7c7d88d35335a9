"""Methods, metrics and data sets of somebody's own: by an installed package, or registered in a script."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

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


def python(folder, *words, site=None, code=0):
    """Run Python in a folder, with the package or without."""
    paths = [str(site)] if site else []
    done = subprocess.run(
        [sys.executable, *map(str, words)],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([*paths, os.environ.get("PYTHONPATH", "")])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    return done.stdout if code == 0 else done.stderr


def run(folder, *words, site=None, code=0):
    """Run a command of untwine likewise."""
    return python(folder, "-m", "untwine", *words, site=site, code=code)


def names(folder, site):
    """Return the names in each catalogue of a new process, with the package or without."""
    code = (
        "import json; from untwine.methods import METHODS; from untwine.evaluation.registry import METRICS; "
        "from untwine.data.catalogue import DATA_SETS; "
        "print(json.dumps({'METHODS': [*METHODS], 'METRICS': [*METRICS], 'DATA_SETS': [*DATA_SETS]}))"
    )
    return json.loads(python(folder, "-c", code, site=site))


def test_an_installed_package_is_listed_fitted_scored_reported_and_studied(installed, tmp_path):
    here, there = (names(tmp_path, site) for site in (None, installed))
    for what, name in (("METHODS", "whitening"), ("METRICS", "mean_norm"), ("DATA_SETS", "two_blobs")):
        assert set(there[what]) - set(here[what]) == {name}
    assert "whitening" in run(tmp_path, "list", "methods", site=installed)
    run(tmp_path, "fit", "whitening", "--data", "two_blobs", "--set", "factor=2.0", "--out", "run", "--quiet", site=installed)
    run(tmp_path, "evaluate", "run", "--metrics", "mean_norm", "reconstruction", "--quiet", site=installed)
    scores = json.loads((tmp_path / "run" / "scores.json").read_text())
    assert scores["mean_norm.z"]["value"] == pytest.approx(2 * np.sqrt(3), rel=0.2)
    assert scores["reconstruction.x"]["value"] < 1e-6
    run(tmp_path, "report", "run", site=installed)
    page = (tmp_path / "run" / "report.html").read_text()
    assert "How long are the codes of this block on average?" in page
    (tmp_path / "own.toml").write_text(STUDY)
    run(tmp_path, "study", "run", "own.toml", "--quiet", site=installed)
    assert "1 of 1" in run(tmp_path, "study", "table", "own.toml", site=installed)

    # Where the package is not, the run says whose method it is.
    error = run(tmp_path, "evaluate", "run", code=2)
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
