"""`untwine remove`, compared with the same call in Python."""

import json
from dataclasses import replace

import numpy as np
from command_line import exit_code, run
from images_on_disk import arrays, pixels, read

import untwine as un
from untwine import manipulate

SHAPE = (3, 12, 10)


def test_remove_on_vectors_writes_a_table_that_can_be_read_back(inside):
    run("remove", "vectors", "--samples", 5, "--out", "out.csv")
    back = un.data.read_samples("out.csv").x
    method = un.load_method("vectors")
    assert back.shape == (5, 20)
    np.testing.assert_allclose(method.encode(back).salient, 0, atol=1e-5)
    run("remove", "vectors", "out.csv", "--block", "common", "--out", "out.npz")
    out = arrays("out.npz")
    np.testing.assert_allclose(out["x"], back, atol=1e-6)
    np.testing.assert_allclose(method.encode(out["removed"]).common, 0, atol=1e-5)


def test_remove_as_an_image_and_as_json(inside, capsys):
    run("remove", "images", "a.png", "--out", "out.png", "--json")
    printed = json.loads(capsys.readouterr().out)
    assert printed == {"task": "remove", "block": "salient", "shape": [1, *SHAPE], "out": "out.png", "notes": []}
    assert pixels("out.png").shape[0] > 3 * 120
    before = (inside / "out.png").read_bytes()
    run("remove", "images", "b.png", "--out", "out.png", "--overwrite", "--plain")
    assert (inside / "out.png").read_bytes() != before
    generated = manipulate.remove(un.load_method("images"), read("b"))
    np.testing.assert_array_equal(pixels("out.png"), np.rint(np.moveaxis(generated[0], 0, -1) * 255))


def test_maps_are_counterpart_minus_image_with_the_masks_of_the_samples_shown(inside, monkeypatch):
    run("remove", "images", "--maps", "--samples", 3, "--out", "out.npz")
    out = arrays("out.npz")
    np.testing.assert_allclose(out["maps"], (out["removed"] - out["x"] / 255).mean(axis=1), atol=1e-6)
    assert "masks" not in out
    from untwine.cli.commands import remove

    def with_masks(*arguments):
        test = original(*arguments)
        return replace(test, masks=test.x[:, 0] > 100)

    original = remove.test_samples
    monkeypatch.setattr(remove, "test_samples", with_masks)
    run("remove", "images", "--maps", "--samples", 3, "--out", "masked.npz")
    np.testing.assert_array_equal(arrays("masked.npz")["masks"], out["x"][:, 0] > 100)
    run("remove", "images", "--maps", "--samples", 3, "--out", "maps.png")
    run("remove", "images", "--samples", 3, "--out", "rows.png")
    assert pixels("maps.png").shape[0] > 1.5 * pixels("rows.png").shape[0]  # five rows, not three


def test_maps_of_vectors_are_refused(inside, capsys):
    assert exit_code("remove", "vectors", "--maps", "--out", "refused.npz") != 0
    assert "--maps must be used with a run on images; vectors has vectors; leave it out." in capsys.readouterr().err
