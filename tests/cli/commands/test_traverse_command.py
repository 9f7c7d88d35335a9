"""`untwine traverse`, compared with the same call in Python."""

import json

import numpy as np
from command_line import run
from images_on_disk import arrays, pixels, read, targets

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
