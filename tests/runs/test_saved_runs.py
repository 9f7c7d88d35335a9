"""Run folders of earlier versions load, encode to the same codes, evaluate and report; there is one folder for each version."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import untwine as un
from untwine.evaluation.run import run_data
from untwine.report import markup
from untwine.report.page import report
from untwine.runs.compatibility import to_former
from untwine.runs.gallery import read_gallery
from untwine.runs.reading import read_runs
from untwine.runs.scores import read_scores

SAVED = Path(__file__).parent / "saved"
RUNS = [
    pytest.param(path.parent, id=f"{path.parent.parent.name}-{path.parent.name}")
    for path in sorted(SAVED.glob("*/*/method.json"))
]
BLOCKS = {"principled_vae": ("common", "salient"), "lord": ("class", "content")}


def test_the_runs_are_there():
    assert {param.id for param in RUNS} >= {"v1-lord", "v1-principled_vae"}


@pytest.mark.parametrize("run", RUNS)
def test_a_saved_run_encodes_to_the_same_codes(run):
    method = un.load_method(run)
    data = run_data(method)
    assert data.train.fingerprint() == method.data_["fingerprint"]
    latents = method.encode(data.test)
    with np.load(f"{run}.npz", allow_pickle=False) as codes:
        assert set(codes.files) == set(latents) == set(BLOCKS[run.name])
        for block in codes.files:
            # They are bit-equal on the machine that wrote them; another BLAS may round otherwise.
            np.testing.assert_allclose(latents[block], codes[block], rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("run", RUNS)
def test_a_saved_run_is_saved_again_with_the_same_weights(run, tmp_path):
    method = un.load_method(run)
    method.save(tmp_path / "again")
    old, new = (json.loads((folder / "method.json").read_text()) for folder in (run, tmp_path / "again"))
    assert old["weights_sha256"] == new["weights_sha256"]
    for key in ("format_version", "method", "shape", "blocks", "found", "own_networks"):
        assert old[key] == new[key], key
    assert to_former(old["method"], new["params"]) == old["params"]  # fields added since have the value that changes nothing
    assert (run / "history.csv").read_bytes() == (tmp_path / "again" / "history.csv").read_bytes()


@pytest.mark.parametrize("run", RUNS)
def test_a_finished_run_is_taken_and_not_trained_again(run, tmp_path):
    folder = shutil.copytree(run, tmp_path / "run")
    method = un.load_method(folder)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    again = type(method)(**method.get_params())
    again.fit(run_data(method).train, out=folder, resume=True)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert again.history_ == method.history_


@pytest.mark.parametrize("run", RUNS)
def test_a_saved_run_evaluates_to_the_same_scores(run, tmp_path):
    folder = shutil.copytree(run, tmp_path / "run")
    names = ["reconstruction", "probe"] if run.name == "principled_vae" else ["reconstruction", "transfer"]
    before, scores = read_scores(run), un.evaluate_run(folder, metrics=names)
    assert scores
    assert read_scores(folder) == {**before, **scores}
    for name, score in scores.items():
        assert (score.n, score.direction, score.version) == (before[name].n, before[name].direction, before[name].version)
        np.testing.assert_allclose([score.value, score.low], [before[name].value, before[name].low], rtol=1e-5)
    old, new = read_gallery(run), read_gallery(folder)
    assert np.array_equal(old.targets.originals, new.targets.originals)
    assert set(old.planes.points) == set(new.planes.points) == set(BLOCKS[run.name])
    assert np.abs(old.targets.reconstructions.astype(int) - new.targets.reconstructions).max() <= 1


@pytest.mark.parametrize("run", RUNS)
def test_the_page_of_a_saved_run_shows_its_gallery_and_its_scores(run, tmp_path, monkeypatch):
    monkeypatch.setattr(markup, "DOTS", 30)
    text = report(run, tmp_path / "page.html").read_text()
    sections = ["Scores", "Reconstructions", "Latent traversals", "t-SNE of the codes", "Training curves"]
    sections += {
        "principled_vae": ["Is there salient variation?", "Decoding single blocks", "Swaps", "Samples from the prior"],
        "lord": ["Class and content swaps", "Nearest neighbours per block", "Probe accuracy per block"],
    }[run.name]
    for title in sections:
        assert f"<h3>{title}</h3>" in text
    assert "There are no images" not in text
    (one,) = read_runs(run)
    assert one.gallery.targets is not None
    assert set(one.gallery.traversals) == set(one.gallery.planes.points) == set(BLOCKS[run.name])
