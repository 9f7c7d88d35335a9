"""The app: help, version, completion, unknown options, and readers that leave."""

import json
import os
import shlex
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest
from command_line import exit_code, run
from cyclopts.completion.detect import ShellDetectionError

import untwine as un
from untwine.cli import commands
from untwine.cli.app import app


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
        (("encode",), [".npz", ".csv", "--split", "--overwrite"]),
        (
            ("swap",),
            ["untwine swap runs/x a.png b.png", "--samples", "--pairs", "--block", "--plain", "one column per B", "--beside"],
        ),
        (("remove",), ["untwine remove runs/x", "background counterpart", "--overwrite", "--json"]),
        (("sample",), ["untwine sample runs/x", "--draw", "prior", "--n ", "one column per draw", "--reference", "--beside"]),
        (("interpolate",), ["untwine interpolate runs/x", "--steps", "all"]),
        (("traverse",), ["untwine traverse runs/x", "--steps", "--latents", "middle 98 %", "--choose", "--factors"]),
        (("styles",), ["untwine styles shoes.npz", "--clusters", "--features", "--image", ".npz"]),
        (("translate",), ["untwine translate runs/x edge.png --to shoes", "--style", "--n", "--plain"]),
        (("convert",), ["untwine convert vgg16-397923af.pth", "No code in the file is run", "UNTWINE_DATA"]),
        (("report",), ["HTML", "no network", "untwine report runs/x"]),
        (("list",), ["methods", "data", "metrics", "--json", "untwine list methods principled_vae"]),
        (("study",), ["list", "run", "table"]),
        (("study", "table"), ["--spread", "std", "range", "--epoch", "--markdown"]),
        (("--install-completion",), ["bash", "zsh", "fish", "--shell"]),
        (("demo",), ["report.html", "--out", "--setting classes", "poses", "contrast"]),
    ],
)
def test_help_teaches(command, words, capsys):
    run(*command, "--help")
    text = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert [word for word in words if word not in text] == []


def test_a_warning_is_its_sentence_alone(tmp_path, capsys, monkeypatch):
    def show(message, category, filename, lineno, file=None, line=None):  # as Python does where nothing records them
        sys.stderr.write(warnings.formatwarning(message, category, filename, lineno, line))

    usual = warnings.formatwarning
    (tmp_path / "cells.csv").write_text("a,b\n" + "".join(f"{i},{i * i}\n" for i in range(9)))
    (tmp_path / "more.csv").write_text("a,b,c\n1,2,3\n")
    run("fit", "pca", "--data", tmp_path / "cells.csv", "--set", "n_latent=1", "--quiet", "--out", tmp_path / "run")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        monkeypatch.setattr(warnings, "showwarning", show)
        run("encode", tmp_path / "run", tmp_path / "more.csv", "--out", tmp_path / "codes.csv")
    assert warnings.formatwarning is usual
    lines = [one for one in capsys.readouterr().err.splitlines() if "features that the fit" in one]
    assert lines == ["untwine: warning: x has features that the fit does not have, which are left out: c."]


def test_version(capsys):
    run("--version")
    assert capsys.readouterr().out.strip() == un.__version__


def test_every_module_of_commands_is_a_command():
    modules = sorted(path.stem for path in Path(commands.__file__).parent.glob("*.py") if path.stem != "__init__")
    assert sorted(name for name in app if not name.startswith("-")) == modules


EVERY_HELP = """
import contextlib, io, json, sys
from untwine.cli.app import app, main

chains = [[], *([name] for name in app if not name.startswith("-")), ["study", "run"], ["study", "table"]]
for chain in chains:
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.suppress(SystemExit):
        main([*chain, "--help"])
    assert "Usage: untwine" in out.getvalue()
print(json.dumps([len(chains), sorted({name.split(".")[0] for name in sys.modules})]))
"""


def test_help_of_every_command_imports_nothing_heavy():
    done = subprocess.run([sys.executable, "-c", EVERY_HELP], capture_output=True, text=True, check=True)
    chains, modules = json.loads(done.stdout)
    assert chains >= 18
    assert {"torch", "numpy", "scipy", "sklearn", "matplotlib"} & set(modules) == set()


@pytest.mark.timed
@pytest.mark.parametrize("command", [(), ("fit",), ("study", "run")])
def test_help_answers_in_a_second(command):
    def seconds():
        start = time.perf_counter()
        subprocess.run([sys.executable, "-m", "untwine", *command, "--help"], stdout=subprocess.DEVNULL, check=True)
        return time.perf_counter() - start

    assert min(seconds() for _ in range(3)) < 1


# Completion


@pytest.mark.parametrize(
    ("shell", "script", "startup"),
    [
        ("bash", ".local/share/bash-completion/completions/untwine", ".bashrc"),
        ("zsh", ".zsh/completions/_cyclopts_untwine", ".zshrc"),
        ("fish", ".config/fish/completions/untwine.fish", None),
    ],
)
def test_completion_is_installed_in_the_home_folder(shell, script, startup, tmp_path, monkeypatch, capsys):
    for name in ("ZSH", "ZSH_CUSTOM", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    for _ in range(2):  # a second time changes nothing
        run("--install-completion", "--shell", shell)
        out = capsys.readouterr().out
        assert f"completion for {shell} written: {tmp_path / script}" in out
        assert (f"~/{startup} loads it" in out) == (startup is not None)
        written = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
        assert written == {script} | ({startup} if startup else set())
        if startup:
            loads = script if shell == "bash" else ".zsh/completions"
            assert len([line for line in (tmp_path / startup).read_text().splitlines() if loads in line]) == 1
    text = (tmp_path / script).read_text()
    for word in ("fit", "evaluate", "traverse", "block", "split", "generated"):
        assert word in text


def test_bash_completes_commands_and_flags(tmp_path):
    script = tmp_path / "completion.bash"
    app.install_completion(shell="bash", output=script, add_to_startup=False)
    complete = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
function=$(complete -p untwine | sed 's/.*-F \\([^ ]*\\).*/\\1/')
"$function" untwine "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
echo "${COMPREPLY[@]}"
"""

    environment = {"PATH": os.environ["PATH"]}

    def completions(*words):
        done = subprocess.run(
            ["bash", "-c", complete, "bash", script, *words],
            capture_output=True,
            text=True,
            check=True,
            env=environment,
        )
        return done.stdout.split()

    assert completions("untwine", "eva") == ["evaluate"]
    assert completions("untwine", "swap", "--bl") == ["--block"]


def test_an_unknown_shell_is_refused(monkeypatch, capsys):
    def fail():
        raise ShellDetectionError

    monkeypatch.setattr("cyclopts.completion.detect.detect_shell", fail)
    assert exit_code("--install-completion") == 2
    assert capsys.readouterr().err == (
        "untwine: the current shell must be bash, zsh or fish; it was not recognised; pass --shell.\n"
    )


# Unknown options


@pytest.mark.parametrize(
    ("command", "suggestion"),
    [
        ("fit vae --epochs 3", "`untwine fit` has no option --epochs; did you mean `--set epochs=3`?"),
        ("fit vae --epochs=3 --out x", "`untwine fit` has no option --epochs; did you mean `--set epochs=3`?"),
        ("fit vae --out x --epochs", "`untwine fit` has no option --epochs; did you mean `--set epochs=...`?"),
        ("fit vae --epoch 3 --out x", "`untwine fit` has no option --epoch; did you mean `--set epochs=3`?"),
        ("fit --n-salient auto --out x", "`untwine fit` has no option --n-salient; did you mean `--set n_salient=auto`?"),
        ("fit vae --lr 1e-3 --out 'my run'", "`untwine fit` has no option --lr; did you mean `--set lr=1e-3`?"),
        (
            "fit vae --data toy_contrast --n-target 30 --out x",
            "`untwine fit` has no option --n-target; did you mean `--data-set n_target=30`?",
        ),
        ("fit vae --sede 3 --out x", "`untwine fit` has no option --sede; did you mean --seed?"),
        ("evaluate x --seed 3", "`untwine evaluate` has no option --seed; did you mean --seeds?"),
        (
            "evaluate x --metrics z_diff --pairs 256",
            "`untwine evaluate` has no option --pairs; did you mean `--metric-set z_diff.pairs=256`?",
        ),
        ("swap x --blok common --out x.png", "`untwine swap` has no option --blok; did you mean --block?"),
        ("study table x.toml --spred std", "`untwine study table` has no option --spred; did you mean --spread?"),
        ("fit vae --colour red --out x", "`untwine fit` has no option --colour; see `untwine fit --help`."),
        ("--colour", "`untwine` has no option --colour; see `untwine --help`."),
    ],
)
def test_an_unknown_option_gets_the_nearest(command, suggestion, capsys):
    assert exit_code(*shlex.split(command)) == 2
    assert capsys.readouterr().err == f"untwine: {suggestion}\n"
