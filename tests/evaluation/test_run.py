"""`evaluate_run` does in Python what `untwine evaluate` does."""

import json

import numpy as np
import pytest
from small import small

import untwine as un
from untwine.cli.app import main
from untwine.evaluation.run import run_data
from untwine.metrics import Measurement
from untwine.runs.gallery import read_gallery
from untwine.runs.reading import read_runs
from untwine.runs.scores import read_scores

OPTIONS = {"n_target": 90, "n_background": 80}
ORIGIN = {"name": "toy_contrast", "options": OPTIONS}


@pytest.fixture
def run(tmp_path):
    small("principled_vae", epochs=1).fit(un.load("toy_contrast", **OPTIONS).train, out=tmp_path / "run", origin=ORIGIN)
    return tmp_path / "run"


def test_all_that_a_page_needs_is_written(run):
    scores = un.evaluate_run(run)
    written = {"codes.json", "contrast.json", "gallery.npz", "scores.json"}
    assert {path.name for path in run.iterdir()} == written | {
        "README.md",
        "history.csv",
        "method.json",
        "weights.safetensors",
    }
    assert read_scores(run) == scores
    assert {"factors.common", "reconstruction.x"} <= set(scores)
    (one,) = read_runs(run)
    assert one.contrast.target == int((run_data(un.load_method(run)).train.groups == 1).sum())
    assert set(one.gallery.planes.points) == {"common", "salient"}


def test_the_scores_are_those_of_evaluate_on_the_test_split(run):
    scores = un.evaluate_run(run, metrics=["factors"], seeds=3)
    method = un.load_method(run)
    expected = un.evaluate(method, un.load("toy_contrast", **OPTIONS).test, ["factors"], 3)
    assert list(scores) == list(expected)
    assert [score.value for score in scores.values()] == [score.value for score in expected.values()]


def test_the_command_line_writes_the_same(run, capsys):
    scores = un.evaluate_run(run, metrics=["factors", "reconstruction"], seeds=2)
    before = read_gallery(run)
    with pytest.raises(SystemExit) as end:
        main(["evaluate", str(run), "--metrics", "factors", "reconstruction", "--seeds", "2", "--quiet", "--json"])
    assert end.value.code == 0
    printed = json.loads(capsys.readouterr().out)
    assert {name: one["value"] for name, one in printed.items()} == {name: one.value for name, one in scores.items()}
    assert np.array_equal(read_gallery(run).planes.points["salient"], before.planes.points["salient"])


def test_other_data_may_be_named(run):
    other = {"n_target": 40, "n_background": 70, "seed": 3}
    scores = un.evaluate_run(run, data="toy_contrast", data_options=other, metrics=["factors"])
    assert scores["factors.common"].n == int((un.load("toy_contrast", **other).test.groups == 1).sum())


def test_data_that_has_changed_since_the_fit_is_refused(run, monkeypatch):
    other = un.load("toy_contrast", n_target=50, n_background=40)
    monkeypatch.setattr("untwine.evaluation.run.load_again", lambda stored, **options: other)
    before = sorted(run.iterdir())
    with pytest.raises(
        ValueError, match="must be used with the data that it was fitted on; 'toy_contrast' has changed since; restore"
    ):
        un.evaluate_run(run)
    assert sorted(run.iterdir()) == before


def test_an_unknown_metric_is_refused_before_any_data_is_read(run, monkeypatch):
    monkeypatch.setattr("untwine.evaluation.run.load_again", lambda stored, **options: pytest.fail("the data was read"))
    with pytest.raises(ValueError, match=r"^metric must be a name from the catalogue; got 'factor'; did you mean 'factors'"):
        un.evaluate_run(run, metrics=["factor"])


def test_numbers_of_numpy_from_somebodys_own_metric_are_written(run):
    def half(data):
        yield Measurement("half.z", np.float32(0.5), (np.float64(0.25), np.int64(1)), data.is_target.sum())

    scores = un.evaluate_run(run, metrics=[half])
    assert read_scores(run) == scores
    assert (scores["half.z"].value, scores["half.z"].low, scores["half.z"].high) == (0.5, 0.25, 1.0)


def test_a_run_that_was_fitted_on_arrays_needs_data(tmp_path):
    small("pca").fit(un.load("toy_contrast", **OPTIONS).train, out=tmp_path / "run")
    with pytest.raises(ValueError, match=r"must name the data that it was fitted on; .* pass --data"):
        un.evaluate_run(tmp_path / "run")
    assert un.evaluate_run(tmp_path / "run", data="toy_contrast", data_options=OPTIONS, metrics=["reconstruction"])


def test_a_method_and_data_in_memory_are_scored_as_the_folder_is(run, monkeypatch):
    scores, before = un.evaluate_run(run, metrics=["factors"]), read_gallery(run)
    method, data = un.load_method(run), un.load("toy_contrast", **OPTIONS)
    monkeypatch.setattr("untwine.evaluation.run.load_again", lambda stored, **options: pytest.fail("the data was read"))
    monkeypatch.setattr("untwine.evaluation.run.load_method", lambda folder: pytest.fail("the method was read"))
    again = un.evaluate_run(run, method=method, data=data, metrics=["factors"])
    assert {name: one.value for name, one in again.items()} == {name: one.value for name, one in scores.items()}
    assert np.array_equal(read_gallery(run).planes.points["salient"], before.planes.points["salient"])


@pytest.mark.parametrize("changes", [{"gallery": False}, {"epoch": 1}])
def test_scores_alone_are_written_on_request_and_in_the_middle_of_training(run, changes):
    scores = un.evaluate_run(run, metrics=["factors"], **changes)
    assert read_scores(run, changes.get("epoch")) == scores
    assert read_gallery(run) is None
    assert not {"contrast.json", "codes.json"} & {path.name for path in run.iterdir()}


def test_options_of_data_in_memory_are_refused(run):
    with pytest.raises(ValueError, match=r"^data_options must be empty for data in memory; got {'seed': 1}; leave them out\.$"):
        un.evaluate_run(run, data=un.load("toy_contrast", **OPTIONS), data_options={"seed": 1})


def test_scores_of_other_metrics_stay_and_those_measured_anew_replace_themselves(run):
    first = un.evaluate_run(run, metrics=["factors", "reconstruction"], seeds=2)
    again = un.evaluate_run(run, metrics=["reconstruction"], seeds=3)
    kept = read_scores(run)
    assert list(kept) == list(first)
    assert kept["factors.common"] == first["factors.common"]
    assert kept["reconstruction.x"] == again["reconstruction.x"]
    added = un.evaluate_run(run, metrics=["w2"], seeds=2)
    assert read_scores(run) == {**kept, **added}
    assert un.evaluate_run(run, metrics=["w2"], seeds=2, keep=False).keys() == read_scores(run).keys()


def test_scores_of_other_samples_are_not_mixed(run):
    first = un.evaluate_run(run, metrics=["factors", "reconstruction"])
    other = un.load("toy_contrast", n_target=40, n_background=70, seed=3)
    names = ", ".join(name for name in first if name != "reconstruction.x")
    with pytest.warns(UserWarning, match=f"scores of other samples, which are dropped: {names}; evaluate them again"):
        scores = un.evaluate_run(run, data=other, metrics=["reconstruction"], gallery=False)
    assert read_scores(run) == scores
    assert scores["reconstruction.x"].samples == other.test.fingerprint()[:16] != first["reconstruction.x"].samples
    with pytest.warns(UserWarning, match=r"other samples, which are dropped: reconstruction\.x"):
        un.evaluate_run(run, metrics=["factors"], gallery=False)


@pytest.mark.parametrize("own", [True, False])
def test_scores_from_before_samples_were_recorded_are_those_of_the_run_s_own_data(run, own):
    un.evaluate_run(run, metrics=["reconstruction"], gallery=False)
    path = run / "scores.json"
    stored = json.loads(path.read_text())
    path.write_text(json.dumps({name: {k: v for k, v in one.items() if k != "samples"} for name, one in stored.items()}))
    if own:
        un.evaluate_run(run, metrics=["factors"], gallery=False)
    else:
        with pytest.warns(UserWarning, match="had scores of other samples"):
            un.evaluate_run(run, data=un.load("toy_contrast", n_target=40, n_background=70), metrics=["factors"], gallery=False)
    assert ("reconstruction.x" in read_scores(run)) == own


def test_a_score_says_which_training_samples_its_classifiers_saw(run):
    scores = un.evaluate_run(run, metrics=["factors"], learn_from="train", gallery=False)
    assert {one.train for one in scores.values()} == {un.load("toy_contrast", **OPTIONS).train.fingerprint()[:16]}
    assert read_scores(run) == scores
