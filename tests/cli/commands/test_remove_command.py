"""`untwine remove`, compared with the same call in Python."""

import json

import numpy as np
from command_line import run
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
