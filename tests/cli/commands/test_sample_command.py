"""`untwine sample`, compared with the same call in Python."""

import numpy as np
import pytest
from command_line import exit_code, run
from images_on_disk import arrays, pixels, read, targets

import untwine as un
from untwine import manipulate
from untwine.cli.app import main


def test_sample_draws_new_codes_for_samples(inside, capsys):
    run("sample", "images", "a.png", "--n", 3, "--seed", 5, "--out", "out.npz")
    method = un.load_method("images")
    np.testing.assert_array_equal(arrays("out.npz")["sampled"], manipulate.sample(method, read("a"), 3, seed=5))
    assert "1 x 3, common block by row, new salient codes by column from the prior" in capsys.readouterr().out
    run("sample", "images", "a.png", "--n", 3, "--draw", "data", "--out", "out.npy")
    np.testing.assert_array_equal(np.load("out.npy"), manipulate.sample(method, read("a"), 3, from_samples=targets().x))


def test_sample_without_samples_draws_every_block(inside):
    run("sample", "images", "--n", 11, "--out", "out.npy")
    drawn = un.load_method("images").sample(11)
    np.testing.assert_array_equal(np.load("out.npy"), drawn)
    run("sample", "images", "--n", 11, "--out", "out.png", "--plain")
    shown = pixels("out.png")
    assert shown.shape == (24, 80, 3)
    np.testing.assert_array_equal(shown[12:, 20:30], np.rint(np.moveaxis(drawn[10], 0, -1) * 255))
    assert (shown[12:, 30:] == 255).all()


def test_generated_samples_are_decoded_without_the_block_and_with_several(inside, capsys):
    run("sample", "images", "--generated", 2, "--n", 4, "--seed", 3, "--out", "out.npy")
    np.testing.assert_array_equal(np.load("out.npy"), manipulate.sample_grid(un.load_method("images"), 2, 4, seed=3))
    assert "2 x 5, generated common block by row, without a salient block and with 4 generated ones" in capsys.readouterr().out
    run("sample", "images", "--generated", 2, "--n", 4, "--out", "out.png")
    assert pixels("out.png").shape[1] > pixels("out.png").shape[0]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (("a.png",), "--generated takes no other samples; got X too; leave one out"),
        (("--samples", 2), "--generated takes no other samples; got --samples too"),
        (("--reference",), "--generated takes no other samples; got --reference too"),
        (("--beside", "others"), "--generated takes no other samples; got --beside too"),
        (("--draw", "data"), "--generated takes no other samples; got --draw data too"),
        (("--block", "style"), "block must be 'common' or 'salient'; got 'style'"),
    ],
)
def test_generated_and_given_samples_exclude_each_other(inside, given, sentence, capsys):
    with pytest.raises(SystemExit) as done:
        main([str(one) for one in ("sample", "images", *given, "--generated", 2, "--out", "out.npy")])
    assert done.value.code == 2
    printed = capsys.readouterr().err
    assert printed.startswith(f"untwine: {sentence}")
    assert printed.count("\n") == 1


def test_sample_of_test_samples_as_an_image(inside):
    run("sample", "images", "--samples", 2, "--n", 4, "--out", "out.png")
    assert pixels("out.png").shape[1] > 5 * 120
    run("sample", "vectors", "--samples", 2, "--n", 4, "--out", "out.csv")
    assert un.data.read_samples("out.csv").x.shape == (8, 20)


def test_two_methods_with_the_reference_first(inside, capsys):
    run("sample", "images", "--samples", 2, "--n", 3, "--reference", "--beside", "others", "--out", "out.npz")
    out, columns = arrays("out.npz"), []
    for name in ("images", "others"):
        method = un.load_method(name)
        columns += [manipulate.remove(method, out["x"])[:, None], manipulate.sample(method, out["x"], 3)]
    np.testing.assert_array_equal(out["sampled"], np.concatenate(columns, axis=1))
    printed = capsys.readouterr().out
    assert printed.startswith(
        "2 x 8, common block by row, contrastive_pca, generalised_contrastive_pca in turn: the reference and"
    )
    run("sample", "images", "--reference", "--out", "out.png")
    alone = pixels("out.png").shape
    run("sample", "images", "--reference", "--beside", "others", "--overwrite", "--out", "out.png")
    assert pixels("out.png").shape[0] == alone[0]
    assert pixels("out.png").shape[1] > 1.7 * alone[1]


@pytest.mark.parametrize(
    ("beside", "sentence"),
    [
        ("vectors", "--beside must have samples of the shape of images, (3, 12, 10); those of vectors have (20,)"),
        ("images", "--beside must be other runs, in folders of different names; got images, images"),
    ],
)
def test_a_run_that_does_not_match_is_refused(inside, beside, sentence, capsys):
    assert exit_code("sample", "images", "a.png", "--beside", beside, "--out", "out.npz") == 2
    printed = capsys.readouterr().err
    assert printed.startswith(f"untwine: {sentence}")
    assert printed.count("\n") == 1
    assert not (inside / "out.npz").exists()
