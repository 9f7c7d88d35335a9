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
    long = ("fit", "vae", *DATA, "--set", "epochs=500", "--set", "width=8", "--quiet")
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
    assert sorted(path.name for path in (tmp_path / "two").iterdir()) == ["history.csv", "method.json", "weights.safetensors"]


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


def test_hints_can_be_pasted(tmp_path, capsys):
    out = tmp_path / "my run"
    run("fit", "pca", *DATA, "--set", "n_latent=2", "--out", out, "--quiet")
    hint = re.search(r"\(next: (.*)\)\n$", capsys.readouterr().out).group(1)
    assert shlex.split(hint) == ["untwine", "evaluate", str(out)]
    run(*shlex.split(hint)[1:], "--quiet", "--seeds", 2)
    hint = re.search(r"\(next: (.*)\)\n$", capsys.readouterr().out).group(1)
    assert shlex.split(hint) == ["untwine", "report", str(out)]
