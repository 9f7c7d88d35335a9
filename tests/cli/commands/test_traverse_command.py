"""`untwine traverse`, compared with the same call in Python."""

import json

import numpy as np
import pytest
from command_line import exit_code, run
from images_on_disk import arrays, pixels, read, save, targets

import untwine as un
from untwine import manipulate

SHAPE = (3, 12, 10)


def test_traverse_moves_each_latent_through_the_range_of_the_test_targets(inside, capsys):
    run("traverse", "images", "a.png", "--block", "common", "--steps", 3, "--out", "out.npz")
    out, expected = arrays("out.npz"), manipulate.traverse(un.load_method("images"), read("a"), targets().x, "common", 3)
    assert set(out) == {"x", "values", "latents", "change", "traversed"}
    np.testing.assert_array_equal(out["traversed"], expected.samples)
    np.testing.assert_array_equal(out["latents"], expected.latents)
    assert capsys.readouterr().out == "3 common latents x 3 steps, the one that changes most first: out.npz\n"


def test_traverse_between_given_ends(inside):
    run("traverse", "images", "a.png", "--steps", 3, "--ends", -1.5, 1.5, "--out", "out.npz")
    out, expected = arrays("out.npz"), manipulate.traverse(un.load_method("images"), read("a"), steps=3, ends=(-1.5, 1.5))
    np.testing.assert_array_equal(out["traversed"], expected.samples)
    assert out["values"][0].tolist() == [-1.5, 0, 1.5]


def test_an_image_of_many_latents_has_those_that_change_most(inside, capsys, monkeypatch):
    monkeypatch.setattr("untwine.cli.commands.traverse.MAX_SHOWN", 2)
    run("traverse", "images", "--block", "common", "--steps", 3, "--out", "out.png", "--json")
    printed = json.loads(capsys.readouterr().out)
    width = un.load_method("images").blocks["common"]
    assert width > 2
    assert printed["shape"][:2] == [2, 3]
    assert printed["notes"] == [f"the 2 of {width} common latents that change most are shown; --latents shows more."]
    run("traverse", "images", "--block", "common", "--steps", 3, "--latents", width, "--out", "all.png", "--json")
    printed = json.loads(capsys.readouterr().out)
    assert (printed["shape"][0], printed["notes"]) == (width, [])


def test_traverse_as_an_image_and_on_vectors(inside, capsys):
    run("traverse", "images", "--latents", 1, "--out", "out.png", "--json")
    printed = json.loads(capsys.readouterr().out)
    assert printed == {"task": "traverse", "block": "salient", "shape": [1, 8, *SHAPE], "out": "out.png", "notes": []}
    assert pixels("out.png").shape[1] > 8 * 100
    run("traverse", "vectors", "--steps", 4, "--out", "out.csv")
    assert un.data.read_samples("out.csv").x.shape == (8, 20)


def make_chairs(root, models=10):
    """Write a stand-in for 3D Chairs: the width of the seat encodes the model, the place of the leg the azimuth."""
    for model in range(models):
        renders = root / f"{model:02d}chair" / "renders"
        renders.mkdir(parents=True)
        for number in range(12):
            azimuth, elevation = 11 * (number // 2), 20 + 10 * (number % 2)
            image = np.full((64, 64, 3), 255, np.uint8)
            image[20:26, 4 : 20 + 4 * model] = 90
            image[40 : 44 + elevation // 5, azimuth // 2 + 4 : azimuth // 2 + 12] = 60
            save(renders / f"image_{number:03d}_p{elevation:03d}_t{azimuth:03d}_r096.png", np.moveaxis(image, -1, 0))


@pytest.mark.filterwarnings("ignore:.* models of 3D Chairs, not the 809 of the papers")
def test_chosen_latents_of_chairs_are_named_after_what_they_encode(tmp_path, monkeypatch, capsys):
    make_chairs(tmp_path / "chairs3d")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("UNTWINE_DATA", str(tmp_path))
    run("fit", "pca", "--data", "chairs3d", "--data-set", "size=16", "--set", "n_latent=6", "--quiet", "--out", "chairs")
    test = un.load("chairs3d", size=16, folder=tmp_path).test
    best, share = un.metrics.best_factors(un.load_method("chairs").encode(test.x).z, test.factors)
    latent = int(np.argmax(np.where(best == 1, share, 0)))  # 1 is the azimuth
    capsys.readouterr()
    chosen = ("--choose", latent, 5, "--ends", -2, 2, "--steps", 5, "--factors")
    run("traverse", "chairs", *chosen, "--out", "chairs.npz")
    out, printed = arrays("chairs.npz"), capsys.readouterr().out
    assert out["latents"].tolist() == [latent, 5]
    assert out["traversed"].shape == (2, 5, 1, 16, 16)
    assert out["meanings"][0] == f"azimuth {share[latent]:.2f}"
    assert share[latent] > 0.2
    assert f"2 z latents x 5 steps, in the order given (z {latent}: azimuth {share[latent]:.2f}, z 5" in printed
    expected = manipulate.traverse(un.load_method("chairs"), out["x"], steps=5, ends=(-2, 2), latents=[latent, 5])
    np.testing.assert_array_equal(out["traversed"], expected.samples)
    run("traverse", "chairs", *chosen, "--out", "chairs.png")
    assert pixels("chairs.png").shape[1] > 5 * 100


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (("--choose", 1, 9), "--choose must be different numbers from 0 to 1; got [1, 9]"),
        (("--choose", 1, "--latents", 1), "--choose and --latents both say which latents to keep; got both"),
        (("--factors",), "--factors needs the ground-truth factors of the test split; got data without any"),
    ],
)
def test_latents_that_are_not_there_and_data_without_factors_are_refused(inside, flags, sentence, capsys):
    assert exit_code("traverse", "images", *flags, "--out", "out.npz") == 2
    printed = capsys.readouterr().err
    assert printed.startswith(f"untwine: {sentence}")
    assert printed.count("\n") == 1
