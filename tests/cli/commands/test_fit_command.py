"""`untwine fit`: the run that Python would write, refusals before data is read, interruption and processes."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from command_line import DATA, TINY, exit_code, run
from safetensors.numpy import load_file

import untwine as un
from untwine.method.presets import DataSetting, Preset


def process(*arguments, launcher=("-m", "untwine"), **settings):
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    command = [sys.executable, *launcher, *map(str, arguments)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **settings)


def test_fit_as_json_names_run_method_and_options(tmp_path, capsys):
    run(
        "fit",
        "vae",
        *DATA,
        "--set",
        "epochs=1",
        "--set",
        "width=8",
        "--seed",
        4,
        "--out",
        tmp_path / "run",
        "--quiet",
        "--json",
    )
    printed = json.loads(capsys.readouterr().out)
    assert printed["run"] == str(tmp_path / "run")
    assert printed["method"] == "vae"
    assert printed["params"] == un.VAE(epochs=1, width=8, seed=4).get_params()
    card = json.loads((tmp_path / "run" / "method.json").read_text())
    assert card["data"]["name"] == "toy_contrast"
    assert card["data"]["options"] == {"n_target": 60, "n_background": 40, "n_common": 2, "n_salient": 1}


def test_fit_gives_the_weights_that_python_gives(evaluated):
    data = un.load("toy_contrast", n_target=60, n_background=40, n_common=2, n_salient=1)
    method = un.PrincipledVAE(epochs=1, width=8, n_common=3, n_salient=2).fit(data.train)
    assert np.array_equal(un.load_method(evaluated).transform(data.test.x), method.transform(data.test.x))


def test_overwrite_replaces_the_whole_run(tmp_path):
    out = tmp_path / "run"
    run("fit", "pca", *DATA, "--set", "n_latent=2", "--out", out, "--quiet")
    (out / "scores.json").write_text("{}")
    run("fit", "pca", *DATA, "--set", "n_latent=3", "--out", out, "--quiet", "--overwrite")
    assert un.load_method(out).n_latent == 3
    assert not (out / "scores.json").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_ctrl_c_leaves_a_checkpoint_and_resuming_is_bit_exact(tmp_path):
    long = ("fit", "vae", *DATA, "--set", "epochs=250", "--set", "width=8", "--quiet")
    began = process(*long, "--every", 0.1, "--out", tmp_path / "run")
    while began.poll() is None and not (tmp_path / "run" / "checkpoint.safetensors").exists():
        time.sleep(0.02)
    began.send_signal(signal.SIGINT)
    out, err = began.communicate(timeout=60)
    assert (began.returncode, out) == (130, "")
    assert err == "untwine: stopped; an interrupted fit continues with the same command and --resume.\n"
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["checkpoint.safetensors"]
    run(*long, "--out", tmp_path / "run", "--resume")
    run(*long, "--out", tmp_path / "whole")
    for name in ("weights.safetensors", "history.csv"):
        assert (tmp_path / "run" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_two_processes_by_torchrun_write_the_weights_of_one(tmp_path):
    launcher = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m", "untwine")
    both = process("fit", "contrastive_vae", *DATA, *TINY, "--out", tmp_path / "two", "--json", launcher=launcher)
    run("fit", "contrastive_vae", *DATA, *TINY, "--out", tmp_path / "one")
    out, err = both.communicate(timeout=300)
    assert both.returncode == 0, err
    assert json.loads(out)["run"] == str(tmp_path / "two")  # only one process prints
    one, two = (load_file(tmp_path / name / "weights.safetensors") for name in ("one", "two"))
    assert set(one) == set(two)
    for name, value in one.items():
        np.testing.assert_allclose(two[name], value, atol=1e-5, err_msg=name)
    assert sorted(path.name for path in (tmp_path / "two").iterdir()) == [
        "README.md",
        "history.csv",
        "method.json",
        "weights.safetensors",
    ]


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        ("epoch=3", "the method 'vae' has no option 'epoch'; did you mean 'epochs'"),
        ("epochs=0", "VAE: epochs must be"),
        ("lr=fast", "VAE: lr "),
    ],
)
@pytest.mark.parametrize("data", ["nowhere", "celeba", "toy_contrast"])
def test_options_are_refused_before_data_is_read(option, sentence, data, tmp_path, monkeypatch, capsys):
    def load(*arguments, **options):
        pytest.fail("data was read")

    monkeypatch.setattr("untwine.data.load", load)
    assert exit_code("fit", "vae", "--data", data, "--set", option, "--out", tmp_path / "run") == 2
    assert capsys.readouterr().err.startswith(f"untwine: {sentence}")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("method", ["principled_vae", "contrastive_pca"])
def test_a_read_only_place_is_refused_before_data_is_read(method, tmp_path, monkeypatch, capsys):
    place = tmp_path / "shared"
    place.mkdir()
    access = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: "shared" not in str(path) and access(path, mode))  # root may write
    monkeypatch.setattr("untwine.data.load", lambda *_, **__: pytest.fail("data was read"))
    for out in (place, place / "runs" / "x"):
        assert exit_code("fit", method, *DATA, "--out", out) == 2
        err = capsys.readouterr().err
        assert (
            err == f"untwine: --out must be a folder that can be written; {place} cannot (permission denied); choose another.\n"
        )
    assert list(place.iterdir()) == []


def test_hints_can_be_pasted(tmp_path, capsys):
    out = tmp_path / "my run"
    run("fit", "pca", *DATA, "--set", "n_latent=2", "--out", out, "--quiet")
    hint = re.search(r"\(next: (.*)\)\n$", capsys.readouterr().out).group(1)
    assert shlex.split(hint) == ["untwine", "evaluate", str(out)]
    run(*shlex.split(hint)[1:], "--quiet", "--seeds", 2)
    hint = re.search(r"\(next: (.*)\)\n$", capsys.readouterr().out).group(1)
    assert shlex.split(hint) == ["untwine", "report", str(out)]


@pytest.fixture
def preset(monkeypatch):
    """Presets of VAE for toy_contrast, whose vectors need no files."""
    options = {"n_target": 40, "n_background": 24, "n_features": 6, "n_common": 1, "n_salient": 1}
    n_train = len(un.load("toy_contrast", **options).train)
    paper = Preset({"epochs": 1, "width": 4, "n_latent": 2, "batch": 16}, DataSetting(options, (6,), n_train))
    monkeypatch.setattr(un.VAE, "papers", {"toy_contrast": paper})
    monkeypatch.setattr(un.VAE, "public_code", {"toy_contrast": paper.changed({"n_salient": 2}, n_latent=3)})
    return paper


def test_a_preset_loads_the_data_with_its_options(preset, tmp_path):
    for source, wanted in (("paper", un.VAE.papers), ("authors", un.VAE.public_code)):
        run("fit", "vae", "--data", "toy_contrast", "--preset", source, "--out", tmp_path / source, "--quiet")
        card = json.loads((tmp_path / source / "method.json").read_text())
        assert card["data"]["options"] == dict(wanted["toy_contrast"].data.options)
        assert card["params"]["n_latent"] == wanted["toy_contrast"].fields["n_latent"]
        assert card["shape"] == [6]
    assert card["data"]["rows"] == preset.data.n_train


def test_options_of_the_data_win_over_the_presets_and_one_warning_names_them(preset, tmp_path):
    command = ("fit", "vae", "--data", "toy_contrast", "--preset", "paper", "--quiet")
    given = ("--data-set", "n_target=30", "--data-set", "n_features=5", "--data-set", "n_common=1", "--data-set", "seed=3")
    with pytest.warns(UserWarning, match="^--data-set gives other data than --preset paper of vae") as caught:
        run(*command, *given, "--out", tmp_path / "run")
    (warning,) = caught  # fit does not say it again
    assert "n_target=30 (the preset's: 40), n_features=5 (the preset's: 6); its scores" in str(warning.message)
    options = json.loads((tmp_path / "run" / "method.json").read_text())["data"]["options"]
    assert options == {**preset.data.options, "n_target": 30, "n_features": 5, "seed": 3}
    run(*command, "--data-set", "seed=3", "--data-set", "n_target=40", "--out", tmp_path / "same")  # no warning
