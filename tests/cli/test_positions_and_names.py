"""Codes belong to the samples that they are put beside: by position in the file, and by the names of its columns."""

import csv

import numpy as np
import pytest
from command_line import exit_code, run

import untwine as un

NAMES = [f"g{i}" for i in range(6)]


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A run on a table whose groups alternate, and the folder and values of that table."""
    place, rng = tmp_path_factory.mktemp("tables"), np.random.default_rng(0)
    x = rng.normal(size=(40, 6)).astype("float32").round(4)
    x[1::2, 0] *= 5
    write(place / "own.csv", NAMES, x, [("background", "target")[i % 2] for i in range(40)])
    settings = ("--set", "n_common=2", "--set", "n_salient=1", "--quiet")
    run("fit", "contrastive_pca", "--data", place / "own.csv", *settings, "--out", place / "run")
    return place, x


def write(path, names, x, groups):
    with path.open("w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow([*names, "group"])
        lines.writerows([*map(repr, row.tolist()), group] for row, group in zip(x, groups, strict=True))


def encode(place, file, out):
    run("encode", place / "run", file, "--out", out)
    with np.load(out, allow_pickle=False) as codes:
        return codes["common"]


def test_codes_are_in_the_order_of_the_file(fitted, tmp_path):
    place, x = fitted
    expected = un.load_method(place / "run").encode(x).common
    np.testing.assert_allclose(encode(place, place / "own.csv", tmp_path / "own.npz"), expected, atol=1e-5)
    groups = np.arange(40) % 2
    np.savez(tmp_path / "other.npz", x=x[::-1], groups=groups)
    np.testing.assert_allclose(encode(place, tmp_path / "other.npz", tmp_path / "o.npz"), expected[::-1], atol=1e-5)


def test_columns_in_another_order_give_the_same_codes(fitted, tmp_path):
    place, x = fitted
    expected = un.load_method(place / "run").encode(x).common
    write(tmp_path / "mixed.csv", NAMES[::-1], x[:, ::-1], [("background", "target")[i % 2] for i in range(40)])
    codes = encode(place, tmp_path / "mixed.csv", tmp_path / "codes.npz")
    # As sets of samples: here the order of the columns is asked for, not that of the samples.
    np.testing.assert_allclose(np.sort(codes, axis=0), np.sort(expected, axis=0), atol=1e-5)


def test_missing_columns_are_named(fitted, tmp_path, capsys):
    place, x = fitted
    write(tmp_path / "few.csv", NAMES[:4], x[:, :4], [("background", "target")[i % 2] for i in range(40)])
    assert exit_code("encode", place / "run", tmp_path / "few.csv", "--out", tmp_path / "codes.npz") == 2
    assert "it lacks 2: g4, g5" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["remove", "traverse"])
def test_what_is_written_has_the_names_of_the_columns(fitted, tmp_path, command):
    place, x = fitted
    np.save(tmp_path / "x.npy", x)
    run(command, place / "run", tmp_path / "x.npy", "--out", tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(newline="") as file:
        assert set(NAMES) <= set(next(csv.reader(file)))


def test_every_one_of_several_targets_gets_a_score():
    rng = np.random.default_rng(0)
    x, groups = rng.normal(size=(120, 6)), np.arange(120) % 3
    x[groups == 1, 0] += 4
    samples = un.Samples(x, groups=groups, group_names=("control", "drug", "heat"))
    scores = un.evaluate(un.ContrastivePCA(n_common=2, n_salient=1).fit(samples), samples)
    for target in ("drug", "heat"):
        assert any(target in name for name in scores), sorted(scores)
