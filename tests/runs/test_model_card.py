"""The model card of a run says what was fitted, how it is loaded and how well it does, and keeps what somebody else wrote."""

import json
import re

import pytest
from huggingface_hub import ModelCard
from small import small, vectors

import untwine as un
from untwine.methods import METHODS
from untwine.runs.model_card import MARK

OPTIONS = {"n_target": 60, "n_background": 60}


@pytest.fixture
def run(tmp_path):
    data = un.load("toy_contrast", **OPTIONS).train
    small("principled_vae", epochs=1).fit(data, out=tmp_path / "run", origin={"name": "toy_contrast", "options": OPTIONS})
    return tmp_path / "run"


def test_save_writes_what_was_fitted(run):
    card = ModelCard.load(run / "README.md")
    assert card.data.library_name == "untwine"
    assert "principled-vae" in card.data.tags
    saved = json.loads((run / "method.json").read_text())
    assert card.data.untwine["blocks"] == saved["blocks"]
    assert card.data.untwine["shape"] == saved["shape"]
    for text in (
        "# principled_vae on toy_contrast",
        "*Towards Principled Objectives for Contrastive Disentanglement*",
        "`common` (4), `salient` (3)",
        "`n_target=60`",
        saved["data"]["fingerprint"][:16],
        "| epochs | 1 |",
        "MIT licence",
        "None yet: `untwine evaluate",
    ):
        assert text in card.text, text


def test_evaluate_adds_the_scores_in_the_hubs_own_form(run):
    scores = un.evaluate_run(run, metrics=["factors", "reconstruction"])
    card = ModelCard.load(run / "README.md")
    assert {one.metric_name: one.metric_value for one in card.data.eval_results} == {
        name: score.value for name, score in scores.items()
    }
    for name, score in scores.items():
        assert f"| {name} | {score.value:.4g} |" in card.text
    assert "None yet" not in card.text
    assert un.load_method(run).blocks == {"common": 4, "salient": 3}  # the seal is of method.json alone


def test_a_new_fit_in_the_folder_has_no_old_scores(run):
    un.evaluate_run(run, metrics=["reconstruction"])
    un.load_method(run).save(run)
    assert "None yet" in (run / "README.md").read_text()


def test_the_python_on_the_card_runs(run, monkeypatch):
    card = (run / "README.md").read_text()
    code = re.search(r"```python\n(.*?)```", card, re.DOTALL).group(1).replace("path/to/this/folder", str(run))
    names = {"x": un.load("toy_contrast", **OPTIONS).test.x}
    exec(code, names)
    assert names["without"].shape == names["x"].shape


def test_a_readme_of_somebodys_own_stays(run):
    (run / "README.md").write_text("mine\n")
    un.evaluate_run(run, metrics=["reconstruction"])
    un.load_method(run).save(run)
    assert (run / "README.md").read_text() == "mine\n"
    (run / "README.md").write_text(f"---\n{MARK}\n---\n")
    un.load_method(run).save(run)
    assert "# principled_vae on toy_contrast" in (run / "README.md").read_text()


def test_every_method_has_a_citation_on_its_card(tmp_path):
    for name, kind in METHODS.items():
        assert len(kind.citation()) > 20, name
    method = small("vae", epochs=1).fit(vectors(), out=tmp_path)
    assert method.citation() in (tmp_path / "README.md").read_text()
