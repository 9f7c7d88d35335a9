"""`untwine demo`: what it prints about the scores; the fits themselves take minutes."""

from dataclasses import dataclass

import pytest
from command_line import run

import untwine as un
from untwine.cli.commands import demo
from untwine.methods import PrincipledVAE


@dataclass
class Value:
    value: float


def test_the_contrast_table_has_each_block_beside_pca(capsys):
    metrics = ("probe", "clustering", "factors")
    ours = {f"{metric}.{block}": Value(i / 10) for i, metric in enumerate(metrics) for block in ("salient", "common")}
    demo._print_contrast(ours, {f"{metric}.z": Value(0.5) for metric in metrics})
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split() == ["predicted", "from", "salient", "common", "PCA"]
    assert lines[2].split()[-3:] == ["0.00", "0.00", "0.50"]
    assert lines[4].split()[-3:] == ["0.20", "0.20", "0.50"]


def test_the_class_table_has_the_chance_level(capsys):
    names = [f"{what}_{kind}" for what in ("class", "content") for kind in ("read.class", "read.content", "chance.x")]
    scores = {name: Value(i / 10) for i, name in enumerate(names)}
    demo._print_classes(scores | {"transfer.x": Value(0.01), "transfer_unmoved.x": Value(0.02)})
    out = capsys.readouterr().out
    lines = out.splitlines()
    assert lines[2].split()[-3:] == ["0.00", "0.10", "0.20"]
    assert lines[3].split()[-3:] == ["0.30", "0.40", "0.50"]
    assert "0.010; of the unchanged image: 0.020" in out


@pytest.mark.parametrize("setting", ["contrast", "classes"])
def test_the_data_of_each_setting_is_in_the_catalogue(setting):
    name, options = demo.DATA[setting]
    assert name in un.data.data_sets()
    assert set(options) <= set(un.data.data_sets()[name].__kwdefaults__)


def test_a_small_demo_writes_run_baseline_and_page(tmp_path, monkeypatch, capsys):
    small = {"n_target": 60, "n_background": 60, "n_test": 100, "size": 8}
    monkeypatch.setitem(demo.DATA, "contrast", ("grassy_digits", small))
    usual = PrincipledVAE.fixed
    monkeypatch.setattr(PrincipledVAE, "fixed", lambda seed: usual(seed=seed, epochs=1, width=8))
    run("demo", "--out", tmp_path / "demo", "--quiet")
    out = capsys.readouterr().out
    assert "Digits on grass, test split" in out
    assert f"The page with the images: {tmp_path / 'demo' / 'report.html'}" in out
    for folder in (tmp_path / "demo", tmp_path / "demo" / "pca"):
        assert un.load_method(folder).data_["options"] == small
    assert "principled_vae" in (tmp_path / "demo" / "report.html").read_text()
