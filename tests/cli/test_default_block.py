"""Commands with --block change by default the block that the run's method is for."""

import json

import numpy as np
import pytest
from command_line import exit_code, run

import untwine as un
from untwine import manipulate


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two runs on vectors of six classes: one with the blocks class and content, one with a single block."""
    folder, rng = tmp_path_factory.mktemp("classes"), np.random.default_rng(0)
    np.savez(folder / "data.npz", x=rng.normal(size=(60, 4)).astype(np.float32), labels=np.arange(60) % 6)
    options = ("--data", folder / "data.npz", "--set", "epochs=1", "--set", "width=8", "--quiet")
    run("fit", "mlvae", *options, "--out", folder / "classes")
    run("fit", "vae", *options, "--out", folder / "single")
    return folder


@pytest.mark.parametrize("command", ["swap", "remove", "sample", "interpolate", "traverse"])
def test_the_default_of_a_class_supervised_run_is_its_class_block(runs, command, tmp_path, capsys):
    samples = () if command == "traverse" else ("--samples", 3)
    for out, block in (("default.npz", ()), ("class.npz", ("--block", "class"))):
        run(command, runs / "classes", *samples, *block, "--out", tmp_path / out, "--json")
        assert json.loads(capsys.readouterr().out)["block"] == "class"
    with np.load(tmp_path / "default.npz") as default, np.load(tmp_path / "class.npz") as given:
        assert set(default) == set(given)
        for name in default:
            np.testing.assert_array_equal(default[name], given[name])


def test_the_default_of_a_single_block_is_that_one_where_one_is_enough(runs, tmp_path, capsys):
    for command in ("interpolate", "traverse"):
        run(command, runs / "single", "--out", tmp_path / f"{command}.npz", "--json")
        assert json.loads(capsys.readouterr().out)["block"] == "z"
    assert exit_code("swap", runs / "single", "--out", tmp_path / "swap.npz") == 2
    assert "must have several blocks" in capsys.readouterr().err


def test_python_has_the_same_default(runs):
    method, x = un.load_method(runs / "classes"), np.load(runs / "data.npz")["x"][:4]
    for change in (manipulate.swap, manipulate.swap_grid):
        np.testing.assert_array_equal(change(method, x, x[::-1]), change(method, x, x[::-1], "class"))
    np.testing.assert_array_equal(manipulate.remove(method, x), manipulate.remove(method, x, "class"))
    np.testing.assert_array_equal(manipulate.sample(method, x, 2), manipulate.sample(method, x, 2, "class"))
    np.testing.assert_array_equal(manipulate.sample_grid(method, 2, 2), manipulate.sample_grid(method, 2, 2, "class"))
