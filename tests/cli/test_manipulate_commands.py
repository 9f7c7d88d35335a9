"""The commands swap, remove, sample, interpolate and traverse, held against the functions of Python."""

import json

import numpy as np
import pytest
from PIL import Image

import untwine as un
from untwine import manipulate
from untwine.cli.app import main

SHAPE = (3, 12, 10)


def run(*arguments):
    with pytest.raises(SystemExit) as done:
        main([str(argument) for argument in arguments])
    assert done.value.code == 0


def arrays(path):
    with np.load(path, allow_pickle=False) as found:
        return dict(found)


def pixels(path):
    return np.asarray(Image.open(path))


def save(path, image):
    Image.fromarray(np.moveaxis(image, 0, -1) if len(image) == 3 else image[0]).save(path)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a run on images, one on vectors, and images."""
    place, chance = tmp_path_factory.mktemp("tasks"), np.random.default_rng(0)
    x = chance.integers(0, 120, size=(60, *SHAPE), dtype=np.uint8)
    x[:40, :, 2:6, 2:6] += chance.integers(50, 130, size=(40, 1, 1, 1), dtype=np.uint8)
    np.savez(place / "data.npz", x=x, groups=np.arange(60) < 40, labels=np.where(np.arange(60) < 40, np.arange(60) % 4, -1))
    options = ("--set", "n_common=3", "--set", "n_salient=2", "--quiet")
    run("fit", "contrastive_pca", "--data", place / "data.npz", *options, "--out", place / "images")
    rows = ("--data-set", "n_target=40", "--data-set", "n_background=40")
    run("fit", "contrastive_pca", "--data", "toy_contrast", *rows, *options, "--out", place / "vectors")
    for name, image in zip("abc", x, strict=False):
        save(place / f"{name}.png", image)
    np.save(place / "two.npy", x[:2])
    return place


@pytest.fixture
def inside(place, monkeypatch):
    monkeypatch.chdir(place)
    for path in place.iterdir():
        if path.stem == "out":
            path.unlink()
    return place


def read(*names):
    return np.stack([np.moveaxis(pixels(f"{name}.png"), -1, 0) for name in names])


def targets():
    return un.load("data.npz").test.target


# swap


def test_swap_of_two_images_is_that_of_python(inside, capsys):
    run("swap", "images", "a.png", "b.png", "--out", "out.npz")
    out = arrays("out.npz")
    method = un.load_method("images")
    assert set(out) == {"a", "b", "swapped"}
    np.testing.assert_array_equal(out["a"], read("a"))
    np.testing.assert_array_equal(out["swapped"], manipulate.grid(method, read("a"), read("b")))
    assert capsys.readouterr() == ("1 x 1 swapped, common part by row, salient part by column: out.npz\n", "")


def test_swap_as_a_image_shows_originals_at_the_edges(inside):
    run("swap", "images", "two.npy", "c.png", "--out", "out.png")
    shown = pixels("out.png")[..., :3]
    # In a drawing each pixel of an image is ten dots wide: the original of the column is found whole somewhere.
    flat = np.moveaxis(read("c")[0], 0, -1)
    corner = flat[5, 5]
    assert (shown == corner).all(axis=-1).sum() >= 80
    assert shown.shape[0] > 3 * 120


def test_plain_images_are_what_was_made_in_its_own_pixels(inside):
    run("swap", "images", "two.npy", "c.png", "--plain", "--out", "out.png")
    made = manipulate.grid(un.load_method("images"), np.load("two.npy"), read("c"))
    shown = pixels("out.png")
    assert shown.shape == (24, 10, 3)
    np.testing.assert_array_equal(shown[12:], np.rint(np.moveaxis(made[1, 0], 0, -1) * 255))


def test_swap_of_test_rows_takes_targets_of_different_classes(inside):
    run("swap", "images", "--rows", 4, "--out", "out.npz")
    out = arrays("out.npz")
    assert out["swapped"].shape == (4, 4, *SHAPE)
    test = targets()
    where = [[np.flatnonzero((test.x == one).all(axis=(1, 2, 3))).item() for one in out[name]] for name in "ab"]
    assert sorted(test.labels[where[0]]) == [0, 1, 2, 3]
    assert not set(where[0]) & set(where[1])
    run("swap", "images", "--rows", 4, "--seed", 1, "--out", "out.npz", "--overwrite")
    assert not np.array_equal(arrays("out.npz")["a"], out["a"])


def test_swap_pair_by_pair_and_by_another_part(inside):
    run("swap", "images", "two.npy", "two.npy", "--pairs", "--part", "common", "--out", "out.npy")
    x, method = np.load("two.npy"), un.load_method("images")
    np.testing.assert_array_equal(np.load("out.npy"), manipulate.swap(method, x, x, "common"))
    run("swap", "images", "--pairs", "--rows", 3, "--out", "out.png")
    assert pixels("out.png").shape[1] > pixels("out.png").shape[0]


def test_swap_of_a_file_with_rows_of_other_data(inside):
    run("swap", "images", "a.png", "--data", "data.npz", "--data-set", "seed=1", "--rows", 2, "--out", "out.npz")
    out, other = arrays("out.npz"), un.load("data.npz", seed=1).test.target
    assert out["swapped"].shape[:2] == (1, 2)
    assert all((other.x == one).all(axis=(1, 2, 3)).any() for one in out["b"])


# remove


def test_remove_on_vectors_writes_a_table_that_can_be_read_back(inside):
    run("remove", "vectors", "--rows", 5, "--out", "out.csv")
    back = un.data.read_samples("out.csv").x
    method = un.load_method("vectors")
    assert back.shape == (5, 20)
    np.testing.assert_allclose(method.encode(back).salient, 0, atol=1e-5)
    run("remove", "vectors", "out.csv", "--part", "common", "--out", "out.npz")
    out = arrays("out.npz")
    np.testing.assert_allclose(out["x"], back, atol=1e-6)
    np.testing.assert_allclose(method.encode(out["removed"]).common, 0, atol=1e-5)


def test_remove_as_a_image_and_as_json(inside, capsys):
    run("remove", "images", "a.png", "--out", "out.png", "--json")
    said = json.loads(capsys.readouterr().out)
    assert said == {"task": "remove", "part": "salient", "shape": [1, *SHAPE], "out": "out.png", "notes": []}
    assert pixels("out.png").shape[0] > 3 * 120
    before = (inside / "out.png").read_bytes()
    run("remove", "images", "b.png", "--out", "out.png", "--overwrite", "--plain")
    assert (inside / "out.png").read_bytes() != before
    made = manipulate.remove(un.load_method("images"), read("b"))
    np.testing.assert_array_equal(pixels("out.png"), np.rint(np.moveaxis(made[0], 0, -1) * 255))


# sample


def test_sample_gives_rows_new_parts(inside, capsys):
    run("sample", "images", "a.png", "--n", 3, "--seed", 5, "--out", "out.npz")
    method = un.load_method("images")
    np.testing.assert_array_equal(arrays("out.npz")["sampled"], manipulate.sample(method, read("a"), 3, seed=5))
    assert "1 x 3, common part by row, new salient parts by column from the prior" in capsys.readouterr().out
    run("sample", "images", "a.png", "--n", 3, "--draw", "data", "--out", "out.npy")
    np.testing.assert_array_equal(np.load("out.npy"), manipulate.sample(method, read("a"), 3, from_rows=targets().x))


def test_sample_without_rows_draws_everything(inside):
    run("sample", "images", "--n", 11, "--out", "out.npy")
    drawn = un.load_method("images").sample(11)
    np.testing.assert_array_equal(np.load("out.npy"), drawn)
    run("sample", "images", "--n", 11, "--out", "out.png", "--plain")
    shown = pixels("out.png")
    assert shown.shape == (24, 80, 3)
    np.testing.assert_array_equal(shown[12:, 20:30], np.rint(np.moveaxis(drawn[10], 0, -1) * 255))
    assert (shown[12:, 30:] == 255).all()


def test_sample_of_drawn_rows_shows_each_without_the_part_and_with_several(inside, capsys):
    run("sample", "images", "--drawn", 2, "--n", 4, "--seed", 3, "--out", "out.npy")
    np.testing.assert_array_equal(np.load("out.npy"), manipulate.made(un.load_method("images"), 2, 4, seed=3))
    assert "2 x 5, drawn common part by row, without a salient part and with 4 drawn ones" in capsys.readouterr().out
    run("sample", "images", "--drawn", 2, "--n", 4, "--out", "out.png")
    assert pixels("out.png").shape[1] > pixels("out.png").shape[0]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (("a.png",), "--drawn expected nothing given; got X; leave one out"),
        (("--rows", 2), "--drawn expected nothing given; got --rows"),
        (("--draw", "data"), "--drawn expected nothing given; got --draw data"),
        (("--part", "style"), "block expected common or salient"),
    ],
)
def test_drawn_rows_and_given_ones_exclude_each_other(inside, given, sentence, capsys):
    with pytest.raises(SystemExit) as done:
        main([str(one) for one in ("sample", "images", *given, "--drawn", 2, "--out", "out.npy")])
    assert done.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith(f"untwine: {sentence}")
    assert said.count("\n") == 1


def test_sample_of_test_rows_as_a_image(inside):
    run("sample", "images", "--rows", 2, "--n", 4, "--out", "out.png")
    assert pixels("out.png").shape[1] > 5 * 120
    run("sample", "vectors", "--rows", 2, "--n", 4, "--out", "out.csv")
    assert un.data.read_samples("out.csv").x.shape == (8, 20)


# interpolate


def test_interpolate_moves_one_part_or_all(inside):
    run("interpolate", "images", "a.png", "b.png", "--steps", 3, "--out", "out.npz")
    out, method = arrays("out.npz"), un.load_method("images")
    np.testing.assert_array_equal(out["interpolated"], manipulate.interpolate(method, read("a"), read("b"), steps=3))
    run("interpolate", "images", "a.png", "b.png", "--part", "all", "--steps", 3, "--out", "out.npy")
    np.testing.assert_allclose(np.load("out.npy")[0, -1], method.reconstruct(read("b"))[0], atol=1e-5)


def test_interpolate_as_a_image_has_both_originals_at_its_ends(inside):
    run("interpolate", "images", "a.png", "two.npy", "--steps", 2, "--out", "out.png")
    shown = pixels("out.png")[..., :3]
    for one, side in (
        (read("a")[0], shown[:, : shown.shape[1] // 2]),
        (np.load("two.npy")[1], shown[:, shown.shape[1] // 2 :]),
    ):
        assert (side == one[:, 5, 5]).all(axis=-1).sum() >= 80


# Images of another kind


def test_images_of_another_size_are_brought_to_the_runs_with_a_note(inside, capsys):
    large = np.repeat(np.repeat(read("a")[0], 30, axis=1), 30, axis=2)
    save("large.png", np.pad(large, ((0, 0), (0, 0), (30, 30)), mode="edge"))
    run("remove", "images", "large.png", "--out", "out.npz")
    note = "large.png was brought to 10 x 12 pixels (cut to the middle where the sides differ), as the run expects."
    assert capsys.readouterr().err == f"untwine: note: {note}\n"
    off = np.abs(arrays("out.npz")["x"].astype(int) - read("a").astype(int)).mean()
    assert off < 15  # of noise in 0 to 120, whose pixels differ by 40 from any other


def test_grey_images_go_to_a_run_on_colour_and_colour_to_one_on_grey(inside, capsys):
    grey = read("a")[:, :1]
    save("grey.png", grey[0])
    run("remove", "images", "grey.png", "--out", "out.npz")
    np.testing.assert_array_equal(arrays("out.npz")["x"], np.repeat(grey, 3, axis=1))
    assert capsys.readouterr().err == "untwine: note: grey.png was taken as colour, as the run expects.\n"
    x = np.load("data.npz")["x"][:, :1]
    un.ContrastivePCA(n_common=2, n_salient=1).fit(x, np.arange(60) < 40, out="grey")
    run("remove", "grey", "a.png", "--out", "out.npz", "--overwrite")
    expected = np.asarray(Image.open("a.png").convert("L"))
    np.testing.assert_allclose(arrays("out.npz")["x"][0, 0], expected, atol=1)
    assert "a.png was made grey" in capsys.readouterr().err


def test_a_folder_of_images_gives_its_rows_in_order(inside):
    (inside / "folder").mkdir()
    for name in "cab":
        save(f"folder/{name}.png", read(name)[0])
    run("remove", "images", "folder", "--rows", 2, "--out", "out.npz")
    np.testing.assert_array_equal(arrays("out.npz")["x"], read("a", "b"))


# traverse


def test_traverse_moves_each_latent_through_the_range_of_the_test_targets(inside, capsys):
    run("traverse", "images", "a.png", "--part", "common", "--steps", 3, "--out", "out.npz")
    out, found = arrays("out.npz"), manipulate.traverse(un.load_method("images"), read("a"), targets().x, "common", 3)
    assert set(out) == {"x", "values", "latents", "change", "traversed"}
    np.testing.assert_array_equal(out["traversed"], found.rows)
    np.testing.assert_array_equal(out["latents"], found.latents)
    assert capsys.readouterr().out == "3 latents of common x 3 steps, the one that changes most first: out.npz\n"


def test_traverse_between_given_ends(inside):
    run("traverse", "images", "a.png", "--steps", 3, "--ends", -1.5, 1.5, "--out", "out.npz")
    out, found = arrays("out.npz"), manipulate.traverse(un.load_method("images"), read("a"), steps=3, ends=(-1.5, 1.5))
    np.testing.assert_array_equal(out["traversed"], found.rows)
    assert out["values"][0].tolist() == [-1.5, 0, 1.5]


def test_a_image_of_many_latents_has_those_that_change_most(inside, capsys, monkeypatch):
    monkeypatch.setattr("untwine.cli.traverse.SHOWN", 2)
    run("traverse", "images", "--part", "common", "--steps", 3, "--out", "out.png", "--json")
    said = json.loads(capsys.readouterr().out)
    width = un.load_method("images").blocks["common"]
    assert width > 2
    assert said["shape"][:2] == [2, 3]
    assert said["notes"] == [f"the 2 of {width} latents of common that change most are shown; --latents takes more."]
    run("traverse", "images", "--part", "common", "--steps", 3, "--latents", width, "--out", "all.png", "--json")
    said = json.loads(capsys.readouterr().out)
    assert (said["shape"][0], said["notes"]) == (width, [])


def test_traverse_as_a_image_and_on_vectors(inside, capsys):
    run("traverse", "images", "--latents", 1, "--out", "out.png", "--json")
    said = json.loads(capsys.readouterr().out)
    assert said == {"task": "traverse", "part": "salient", "shape": [1, 8, *SHAPE], "out": "out.png", "notes": []}
    assert pixels("out.png").shape[1] > 8 * 100
    run("traverse", "vectors", "--steps", 4, "--out", "out.csv")
    assert un.data.read_samples("out.csv").x.shape == (8, 20)
