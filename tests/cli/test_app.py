"""The app: help, version, completion, unknown options, and readers that leave."""

import subprocess
import sys

import pytest
from command_line import run

import untwine as un


def test_a_reader_that_leaves_early_is_no_error():
    command = [sys.executable, "-m", "untwine", "list", "methods"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait() == 141


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
