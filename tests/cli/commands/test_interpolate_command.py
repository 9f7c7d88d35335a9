"""`untwine interpolate`, compared with the same call in Python."""

import numpy as np
from command_line import exit_code, run
from images_on_disk import arrays, pixels, read

import untwine as un
from untwine import manipulate


def test_interpolate_moves_one_block_or_all(inside):
    run("interpolate", "images", "a.png", "b.png", "--steps", 3, "--out", "out.npz")
    out, method = arrays("out.npz"), un.load_method("images")
    np.testing.assert_array_equal(out["interpolated"], manipulate.interpolate(method, read("a"), read("b"), steps=3))
    run("interpolate", "images", "a.png", "b.png", "--block", "all", "--steps", 3, "--out", "out.npy")
    np.testing.assert_allclose(np.load("out.npy")[0, -1], method.reconstruct(read("b"))[0], atol=1e-5)


def test_interpolate_as_an_image_has_both_originals_at_its_ends(inside):
    run("interpolate", "images", "a.png", "two.npy", "--steps", 2, "--out", "out.png")
    shown = pixels("out.png")[..., :3]
    for one, side in (
        (read("a")[0], shown[:, : shown.shape[1] // 2]),
        (np.load("two.npy")[1], shown[:, shown.shape[1] // 2 :]),
    ):
        assert (side == one[:, 5, 5]).all(axis=-1).sum() >= 80


def test_interpolate_between_four(inside, capsys):
    run("interpolate", "images", "--four", "--steps", 3, "--out", "four.npz")
    out, method = arrays("four.npz"), un.load_method("images")
    assert len(out["corners"]) == 4
    np.testing.assert_array_equal(out["interpolated"], manipulate.interpolate_four(method, out["corners"], steps=3))
    run("interpolate", "images", "--four", "--steps", 3, "--out", "four.png")
    assert pixels("four.png").shape[0] > 3 * 100
    assert exit_code("interpolate", "images", "two.npy", "--four", "--out", "none.npz") != 0
    assert "corners must be four samples; got 2" in capsys.readouterr().err
    assert exit_code("interpolate", "images", "a.png", "b.png", "--four", "--out", "none.npz") != 0
    assert "--four takes the four corners from A" in capsys.readouterr().err
