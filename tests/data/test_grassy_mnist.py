import gzip
import hashlib
import struct

import numpy as np
import pytest
from PIL import Image

from untwine.data import load
from untwine.data.images.blending import blend, blend_threshold, to_bytes, to_unit
from untwine.data.images.photographs import brightness_and_greenness
from untwine.data.location import data_folder
from untwine.data.readers import mnist

SMALL = {"n_per_class": 6, "n_background": 20, "n_test": 16}


def tiny_mnist():
    """Return digits in MNIST's form: each image has its row's number and its class written in its corner."""
    arrays = {}
    for part, rows, mark in (("train", 80, 100), ("test", 20, 200)):
        x = np.zeros((rows, 28, 28), np.uint8)
        y = (np.arange(rows) * 7 % 10).astype(np.uint8)
        x[:, 0, 0], x[:, 0, 1], x[:, 0, 2] = mark, np.arange(rows), y
        arrays |= {f"x_{part}": x, f"y_{part}": y}
    return arrays


def idx(array):
    return b"\0\0\x08" + bytes([array.ndim]) + b"".join(struct.pack(">I", n) for n in array.shape) + array.tobytes()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Make a data folder with a tiny MNIST and ten plain photographs, each of its own colour."""
    arrays = tiny_mnist()
    monkeypatch.setattr(mnist, "DIGESTS", {name: hashlib.sha256(idx(array)).hexdigest() for name, array in arrays.items()})
    (tmp_path / "mnist").mkdir()
    (tmp_path / "grass").mkdir()
    np.savez(tmp_path / "mnist" / "mnist.npz", **arrays)
    for i in range(10):
        Image.new("RGB", (90 + i, 80), (20 * i + 10, 120 + i, 250 - 20 * i)).save(tmp_path / "grass" / f"lawn_{i}.png")
    (tmp_path / "grass" / "notes.txt").write_text("not an image")
    return tmp_path


def to_idx_files(folder, name="{}", packed=False):
    (folder / "mnist" / "mnist.npz").unlink()
    for key, array in tiny_mnist().items():
        file = name.format(mnist.FILES[key]) if "{" in name else mnist.FILES[key].replace("-idx", ".idx")
        content = gzip.compress(idx(array)) if packed else idx(array)
        (folder / "mnist" / (file + ".gz" * packed)).write_bytes(content)


def colours(images):
    """Return the single colour of each plain image."""
    assert (images == images[:, :, 14:15, 14:15]).all()
    return {tuple(map(int, image[:, 14, 14])) for image in images}


def test_digits_and_photographs_of_the_test_part_are_never_in_training(folder):
    train, test = load("grassy_mnist", folder=folder, **SMALL | {"n_background": 100})
    assert (len(colours(train.background.x)), len(colours(test.background.x))) == (8, 2)
    assert not colours(train.background.x) & colours(test.background.x)
    # Far from the marked corner a target is half of its grass.
    behind = {tuple(map(int, image[:, 14, 14])) for image in train.target.x}
    held_out = {tuple(int(to_bytes(np.array(c / 255 / 2))) for c in colour) for colour in colours(test.background.x)}
    assert not behind & held_out
    alone = load("grassy_mnist", folder=folder, rho=0.0, **SMALL)
    assert (alone.train.target.x[:, :, 0, 0] == 100).all()
    assert (alone.test.target.x[:, :, 0, 0] == 200).all()


def test_counts_labels_and_factors(folder):
    train, test = load("grassy_mnist", folder=folder, rho=0.0, **SMALL)
    assert (len(train.target), len(train.background), len(test.target), len(test.background)) == (60, 20, 16, 8)
    np.testing.assert_array_equal(np.bincount(train.target.labels), np.full(10, 6))
    for part in (train, test):
        np.testing.assert_array_equal(part.target.x[:, 1, 0, 2], part.target.labels)
        assert len({int(row) for row in part.target.x[:, 0, 0, 1]}) == len(part.target)
        assert (part.background.labels == -1).all()
        assert part.factor_names == ("brightness", "greenness")
    whole = load("grassy_mnist", folder=folder, rho=1.0, **SMALL)
    np.testing.assert_allclose(brightness_and_greenness(whole.train.target.x), whole.train.target.factors, atol=1e-9)
    np.testing.assert_allclose(brightness_and_greenness(whole.test.x), whole.test.factors, atol=1e-9)


def test_equations_10_and_11_on_the_same_digits_and_patches(folder):
    digit, grass, linear = (load("grassy_mnist", folder=folder, rho=rho, **SMALL).train for rho in (0.0, 1.0, 0.5))
    thresholded = load("grassy_mnist_nonlinear", folder=folder, threshold=0.5, **SMALL).train
    y, t = to_unit(grass.target.x), to_unit(digit.target.x[:, 0])
    np.testing.assert_array_equal(linear.target.x, to_bytes(blend(y, t, 0.5)))
    np.testing.assert_array_equal(thresholded.target.x, to_bytes(blend_threshold(y, t, 0.5, 0.5)))
    assert 0.2 < (thresholded.target.x == 0).mean() < 0.8
    np.testing.assert_array_equal(thresholded.background.x, linear.background.x)
    # As in the paper, targets stand on patches of the background set, and these keep their full strength.
    assert {p.tobytes() for p in grass.target.x} <= {p.tobytes() for p in linear.background.x}


def test_the_seed_decides(folder):
    a, b, other = (load("grassy_mnist", folder=folder, seed=seed, **SMALL) for seed in (0, 0, 1))
    assert [part.fingerprint() for part in a] == [part.fingerprint() for part in b]
    assert len({part.fingerprint() for part in (*a, *other)}) == 4


def test_the_environment_names_the_folder(folder, monkeypatch):
    monkeypatch.setenv("UNTWINE_DATA", str(folder))
    assert (
        load("grassy_mnist", **SMALL).train.fingerprint()
        == load("grassy_mnist", folder=str(folder), **SMALL).train.fingerprint()
    )
    monkeypatch.delenv("UNTWINE_DATA")
    monkeypatch.setenv("HOME", str(folder / "nobody"))
    assert data_folder(None) == folder / "nobody" / ".cache" / "untwine"


@pytest.mark.parametrize(("name", "packed"), [("{}", False), ("{}", True), ("dotted", False), ("dotted", True)])
def test_idx_files_give_the_same_as_npz(folder, name, packed):
    expected = load("grassy_mnist", folder=folder, **SMALL)
    to_idx_files(folder, name, packed)
    got = load("grassy_mnist", folder=folder, **SMALL)
    assert [part.fingerprint() for part in got] == [part.fingerprint() for part in expected]


def test_an_npz_with_wider_labels_is_faithful_too(folder):
    arrays = tiny_mnist()
    np.savez_compressed(
        folder / "mnist" / "mnist.npz", **{k: a.astype(np.int64) if a.ndim == 1 else a for k, a in arrays.items()}
    )
    assert mnist.read_mnist(folder / "mnist")["y_train"].dtype == np.uint8


def test_other_content_is_told_by_both_digests(folder):
    arrays = tiny_mnist()
    arrays["x_test"][3, 3, 3] ^= 1
    np.savez(folder / "mnist" / "mnist.npz", **arrays)
    wrong = hashlib.sha256(idx(arrays["x_test"])).hexdigest()
    with pytest.raises(
        ValueError, match=f"x_test expected content with SHA-256 {mnist.DIGESTS['x_test']}, but .*npz has {wrong}"
    ):
        load("grassy_mnist", folder=folder, **SMALL)


def damage_npz(folder):
    path = folder / "mnist" / "mnist.npz"
    path.write_bytes(path.read_bytes()[:500])


def lose_array(folder):
    arrays = tiny_mnist()
    del arrays["y_test"]
    np.savez(folder / "mnist" / "mnist.npz", **arrays)


def write_objects(folder):
    np.savez(folder / "mnist" / "mnist.npz", **{name: np.array([{}]) for name in mnist.FILES})


def lose_idx(folder):
    to_idx_files(folder)
    (folder / "mnist" / mnist.FILES["y_test"]).unlink()


def lose_grass(folder):
    for path in (folder / "grass").glob("*.png"):
        path.unlink()


def damage_photograph(folder):
    (folder / "grass" / "lawn_3.png").write_bytes(b"nothing")


def small_photograph(folder):
    Image.new("RGB", (63, 80)).save(folder / "grass" / "small.jpg")


@pytest.mark.parametrize(
    ("harm", "sentence"),
    [
        (damage_npz, "mnist.npz must be an npz file of plain arrays, but it cannot be read"),
        (lose_array, "expected the arrays x_train, y_train, x_test, y_test, but lacks y_test"),
        (write_objects, "expected an npz file of plain arrays"),
        (lose_idx, "but t10k-labels-idx1-ubyte is not there; place .*UNTWINE_DATA"),
        (lose_grass, "grass as at least two .jpg or .png files, but it has 0; place .*UNTWINE_DATA"),
        (damage_photograph, "lawn_3.png must be a photograph, but it cannot be read"),
        (small_photograph, "sides of at least 64 pixels, but one has 63"),
    ],
)
def test_missing_or_damaged_files_get_their_sentence(folder, harm, sentence):
    harm(folder)
    with pytest.raises(ValueError, match=sentence) as error:
        load("grassy_mnist", folder=folder, **SMALL)
    assert "\n" not in str(error.value)


def test_an_empty_place_is_told_what_was_expected_where(tmp_path):
    with pytest.raises(ValueError, match=r"expected in .*nowhere.mnist as mnist.npz or as four IDX files"):
        load("grassy_mnist", folder=tmp_path / "nowhere")


def test_more_digits_than_there_are_is_refused(folder):
    with pytest.raises(ValueError, match="n_per_class must be a whole number from 1 to 8; got 9"):
        load("grassy_mnist", folder=folder, **SMALL | {"n_per_class": 9})
    with pytest.raises(ValueError, match="n_test must be a whole number from 1 to 20; got 21"):
        load("grassy_mnist", folder=folder, **SMALL | {"n_test": 21})
