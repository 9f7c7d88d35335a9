"""`untwine swap`, compared with the same call in Python."""

import numpy as np
from command_line import exit_code, run
from images_on_disk import arrays, pixels, read, targets

import untwine as un
from untwine import manipulate

SHAPE = (3, 12, 10)


def test_swap_of_two_images_is_that_of_python(inside, capsys):
    run("swap", "images", "a.png", "b.png", "--out", "out.npz")
    out = arrays("out.npz")
    method = un.load_method("images")
    assert set(out) == {"a", "b", "swapped"}
    np.testing.assert_array_equal(out["a"], read("a"))
    np.testing.assert_array_equal(out["swapped"], manipulate.swap_grid(method, read("a"), read("b")))
    assert capsys.readouterr() == ("1 x 1 swapped, common block by row, salient block by column: out.npz\n", "")


def test_swap_as_an_image_shows_originals_at_the_edges(inside):
    run("swap", "images", "two.npy", "c.png", "--out", "out.png")
    shown = pixels("out.png")[..., :3]
    # In a drawing each pixel of an image is ten dots wide: the original of the column is found whole somewhere.
    flat = np.moveaxis(read("c")[0], 0, -1)
    corner = flat[5, 5]
    assert (shown == corner).all(axis=-1).sum() >= 80
    assert shown.shape[0] > 3 * 120


def test_plain_images_are_the_generated_pixels(inside):
    run("swap", "images", "two.npy", "c.png", "--plain", "--out", "out.png")
    generated = manipulate.swap_grid(un.load_method("images"), np.load("two.npy"), read("c"))
    shown = pixels("out.png")
    assert shown.shape == (24, 10, 3)
    np.testing.assert_array_equal(shown[12:], np.rint(np.moveaxis(generated[1, 0], 0, -1) * 255))


def test_swap_of_test_samples_takes_targets_of_different_classes(inside):
    run("swap", "images", "--samples", 4, "--out", "out.npz")
    out = arrays("out.npz")
    assert out["swapped"].shape == (4, 4, *SHAPE)
    test = targets()
    where = [[np.flatnonzero((test.x == one).all(axis=(1, 2, 3))).item() for one in out[name]] for name in "ab"]
    assert sorted(test.labels[where[0]]) == [0, 1, 2, 3]
    assert not set(where[0]) & set(where[1])
    run("swap", "images", "--samples", 4, "--seed", 1, "--out", "out.npz", "--overwrite")
    assert not np.array_equal(arrays("out.npz")["a"], out["a"])


def test_swap_pair_by_pair_and_by_another_block(inside):
    run("swap", "images", "two.npy", "two.npy", "--pairs", "--block", "common", "--out", "out.npy")
    x, method = np.load("two.npy"), un.load_method("images")
    np.testing.assert_array_equal(np.load("out.npy"), manipulate.swap(method, x, x, "common"))
    run("swap", "images", "--pairs", "--samples", 3, "--out", "out.png")
    assert pixels("out.png").shape[1] > pixels("out.png").shape[0]


def test_swap_of_a_file_with_samples_of_other_data(inside):
    run("swap", "images", "a.png", "--data", "data.npz", "--data-set", "seed=1", "--samples", 2, "--out", "out.npz")
    out, other = arrays("out.npz"), un.load("data.npz", seed=1).test.target
    assert out["swapped"].shape[:2] == (1, 2)
    assert all((other.x == one).all(axis=(1, 2, 3)).any() for one in out["b"])


def test_two_methods_on_the_same_pairs(inside, capsys):
    run("swap", "images", "--pairs", "--samples", 3, "--beside", "others", "--out", "out.npz")
    out = arrays("out.npz")
    expected = [manipulate.swap(un.load_method(name), out["a"], out["b"]) for name in ("images", "others")]
    np.testing.assert_array_equal(out["swapped"], expected)
    assert "contrastive_pca, generalised_contrastive_pca one below the other" in capsys.readouterr().out
    run("swap", "images", "--pairs", "--samples", 3, "--out", "out.png")
    alone = pixels("out.png").shape[0]
    run("swap", "images", "--pairs", "--samples", 3, "--beside", "others", "--overwrite", "--out", "out.png")
    assert pixels("out.png").shape[0] > alone + 100
    assert exit_code("swap", "images", "--beside", "others", "--out", "new.npz") == 2
    assert "--beside compares runs pair by pair; got it without --pairs; add --pairs." in capsys.readouterr().err
