"""The commands in real use, on data that fits in a glance."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from safetensors.numpy import load_file

import untwine as un
from untwine.cli.app import main

ROWS = ("--data-set", "n_target=60", "--data-set", "n_background=40", "--data-set", "n_common=2", "--data-set", "n_salient=1")
DATA = ("--data", "toy_contrast", *ROWS)
TINY = ("--set", "epochs=1", "--set", "width=8", "--set", "n_common=3", "--set", "n_salient=2", "--quiet")


def run(*arguments):
    with pytest.raises(SystemExit) as done:
        main([str(argument) for argument in arguments])
    assert done.value.code == 0


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run that was fitted and evaluated."""
    folder = tmp_path_factory.mktemp("cli") / "run"
    run("fit", "principled_vae", *DATA, *TINY, "--out", folder)
    run("evaluate", folder, "--quiet", "--seeds", 2)
    return folder


# list


@pytest.mark.parametrize("what", ["methods", "data", "metrics"])
def test_list_as_json_is_a_list_of_objects_with_names(what, capsys):
    run("list", what, "--json")
    rows = json.loads(capsys.readouterr().out)
    names = [row["name"] for row in rows]
    assert len(set(names)) == len(names) >= 4
    assert all(row["summary"].endswith((".", ";")) or row["summary"] for row in rows)
    run("list", what)
    text = capsys.readouterr().out
    assert all(re.search(rf"^{name}\s", text, re.MULTILINE) for name in names)


def test_a_reader_that_leaves_early_is_no_error():
    command = [sys.executable, "-m", "untwine", "list", "methods"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait() == 141


def test_list_shows_what_one_can_set(capsys):
    run("list", "methods", "--json")
    methods = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert methods["principled_vae"]["needs"] == "groups"
    assert methods["vae"]["options"] == un.VAE().get_params()
    run("list", "data", "--json")
    data = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert data["toy_contrast"]["options"]["n_salient"] == 2


# help


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (
            (),
            [
                "list",
                "fit",
                "evaluate",
                "encode",
                "swap",
                "remove",
                "sample",
                "interpolate",
                "traverse",
                "styles",
                "translate",
                "convert",
                "study",
                "report",
                "demo",
            ],
        ),
        (
            ("fit",),
            ["--set", "--data", "--data-set", "--out", "--resume", "--overwrite", "--device", "torchrun", "untwine list"],
        ),
        (("evaluate",), ["scores.json", "--metrics", "--seeds", "--json"]),
        (("encode",), [".npz", ".csv", "--part", "--overwrite"]),
        (("swap",), ["untwine swap runs/x a.png b.png", "--rows", "--pairs", "--part", "--plain", ".npz", "one B a column"]),
        (("remove",), ["untwine remove runs/x", "background counterpart", "--overwrite", "--json"]),
        (("sample",), ["untwine sample runs/x", "--draw", "prior", "--n ", "one new part a column"]),
        (("interpolate",), ["untwine interpolate runs/x", "--steps", "all"]),
        (("traverse",), ["untwine traverse runs/x", "--steps", "--latents", "middle 98 %"]),
        (("styles",), ["untwine styles shoes.npz", "--clusters", "--features", "--image", ".npz"]),
        (("translate",), ["untwine translate runs/x edge.png --to shoes", "--style", "--n", "--plain"]),
        (("convert",), ["untwine convert vgg16-397923af.pth", "Nothing in the file is run", "UNTWINE_DATA"]),
        (("report",), ["HTML", "no network"]),
        (("list",), ["methods", "data", "metrics", "--json"]),
        (("demo",), ["report.html", "--out", "--setting classes", "poses", "contrast"]),
    ],
)
def test_help_teaches(command, words, capsys):
    run(*command, "--help")
    text = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert [word for word in words if word not in text] == []


def test_version(capsys):
    run("--version")
    assert capsys.readouterr().out.strip() == un.__version__


# fit, evaluate, encode, report


def test_fit_as_json_tells_what_was_made(tmp_path, capsys):
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
    made = json.loads(capsys.readouterr().out)
    assert made["run"] == str(tmp_path / "run")
    assert made["method"] == "vae"
    assert made["params"] == un.VAE(epochs=1, width=8, seed=4).get_params()
    card = json.loads((tmp_path / "run" / "method.json").read_text())
    assert card["data"]["name"] == "toy_contrast"
    assert card["data"]["options"] == {"n_target": 60, "n_background": 40, "n_common": 2, "n_salient": 1}


def test_the_command_makes_the_weights_that_python_makes(folder):
    data = un.load("toy_contrast", n_target=60, n_background=40, n_common=2, n_salient=1)
    method = un.PrincipledVAE(epochs=1, width=8, n_common=3, n_salient=2).fit(data.train)
    assert np.array_equal(un.load_method(folder).transform(data.test.x), method.transform(data.test.x))


def test_evaluate_writes_every_score_and_the_gallery(folder, capsys):
    scores = json.loads((folder / "scores.json").read_text())
    assert {"factors.common", "factors.salient", "factors_salient.salient", "w2.common"} <= set(scores)
    for score in scores.values():
        assert set(score) == {"value", "low", "high", "n", "seconds", "direction", "version"}
        assert score["low"] <= score["value"] <= score["high"] or score["direction"] == "info"
    with np.load(folder / "gallery.npz", allow_pickle=False) as gallery:
        assert {"originals", "reconstructions", "plane_common", "plane_salient"} <= set(gallery.files)
    run("evaluate", folder, "--quiet", "--metrics", "w2", "--seeds", 2, "--json")
    only = json.loads(capsys.readouterr().out)
    assert {name.split(".")[0] for name in only} <= {"w2", "w2_relative"} | set(only)
    assert only["w2.common"]["value"] == pytest.approx(scores["w2.common"]["value"])
    (folder / "scores.json").write_text(json.dumps(scores))


def test_evaluate_shows_a_table(folder, capsys):
    before = (folder / "scores.json").read_bytes()
    run("evaluate", folder, "--quiet", "--metrics", "reconstruction", "w2")
    out = capsys.readouterr().out
    assert "w2.common" in out
    assert "lower is better" in out
    assert f"untwine report {folder}" in out.replace("\n", " ").replace("  ", " ")
    (folder / "scores.json").write_bytes(before)


def test_evaluate_refuses_data_that_has_changed(tmp_path, capsys):
    x = np.random.default_rng(0).normal(size=(40, 5))
    np.savez(tmp_path / "rows.npz", x=x)
    run("fit", "pca", "--data", tmp_path / "rows.npz", "--set", "n_latent=2", "--out", tmp_path / "run", "--quiet")
    np.savez(tmp_path / "rows.npz", x=x + 1)
    with pytest.raises(SystemExit) as done:
        main(["evaluate", str(tmp_path / "run")])
    assert done.value.code == 2
    assert "must be used with the data that it was fitted on" in capsys.readouterr().err
    assert not (tmp_path / "run" / "scores.json").exists()


def test_encode_as_npz_and_csv_hold_the_codes_of_python(folder, tmp_path):
    data = un.load("toy_contrast", n_target=60, n_background=40, n_common=2, n_salient=1)
    method = un.load_method(folder)
    run("encode", folder, "--out", tmp_path / "codes.npz")
    with np.load(tmp_path / "codes.npz", allow_pickle=False) as codes:
        z = method.encode(np.concatenate([data.train.x, data.test.x]))
        assert set(codes.files) == {"common", "salient"}
        assert np.array_equal(codes["salient"], z.salient)
    run("encode", folder, "--out", tmp_path / "codes.csv", "--part", "test")
    lines = (tmp_path / "codes.csv").read_text().splitlines()
    assert lines[0] == "common0,common1,common2,salient0,salient1"
    table = np.loadtxt(tmp_path / "codes.csv", delimiter=",", skiprows=1)
    assert np.array_equal(table.astype("float32"), method.transform(data.test.x))


def test_encode_other_data_and_overwrite(folder, tmp_path):
    x = np.random.default_rng(0).normal(size=(10, 20)).astype("float32")
    np.save(tmp_path / "rows.npy", x)
    (tmp_path / "codes.npz").write_bytes(b"old")
    run("encode", folder, tmp_path / "rows.npy", "--out", tmp_path / "codes.npz", "--overwrite")
    with np.load(tmp_path / "codes.npz", allow_pickle=False) as codes:
        assert codes["common"].shape == (10, 3)


def test_report_is_a_page_about_the_run(folder, tmp_path, capsys):
    run("report", folder, "--out", tmp_path / "page.html")
    assert capsys.readouterr().out.strip() == str(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "principled_vae" in page
    assert "toy_contrast" in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    run("report", folder)
    assert (folder / "report.html").exists()


def test_overwrite_replaces_the_whole_run(tmp_path):
    out = tmp_path / "run"
    run("fit", "pca", *DATA, "--set", "n_latent=2", "--out", out, "--quiet")
    (out / "scores.json").write_text("{}")
    run("fit", "pca", *DATA, "--set", "n_latent=3", "--out", out, "--quiet", "--overwrite")
    assert un.load_method(out).n_latent == 3
    assert not (out / "scores.json").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


# Processes of their own


def process(*arguments, launcher=("-m", "untwine"), **settings):
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    command = [sys.executable, *launcher, *map(str, arguments)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **settings)


def test_ctrl_c_leaves_a_checkpoint_and_resume_finishes_with_the_same_bits(tmp_path):
    long = ("fit", "vae", *DATA, "--set", "epochs=500", "--set", "width=8", "--quiet")
    began = process(*long, "--every", 0.1, "--out", tmp_path / "run")
    while began.poll() is None and not (tmp_path / "run" / "checkpoint.safetensors").exists():
        time.sleep(0.02)
    began.send_signal(signal.SIGINT)
    out, err = began.communicate(timeout=60)
    assert (began.returncode, out) == (130, "")
    assert err == "untwine: stopped; a run with --out goes on with the same command and --resume.\n"
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
    assert json.loads(out)["run"] == str(tmp_path / "two")  # one of them speaks for both
    one, two = (load_file(tmp_path / name / "weights.safetensors") for name in ("one", "two"))
    assert set(one) == set(two)
    for name, value in one.items():
        np.testing.assert_allclose(two[name], value, atol=1e-5, err_msg=name)
    assert sorted(path.name for path in (tmp_path / "two").iterdir()) == ["history.csv", "method.json", "weights.safetensors"]
