import gzip
import hashlib
import struct

import numpy as np
import pytest
from PIL import Image

from untwine.data import load
from untwine.data.images.blending import blend, blend_threshold, to_bytes
from untwine.data.images.photographs import brightness_and_greenness
from untwine.data.location import data_folder
from untwine.data.readers import mnist
from untwine.samples import unit_range

SMALL = {"n_per_class": 6, "n_background": 20, "n_test": 16}


def tiny_mnist():
    """Return digits in MNIST's form: each image encodes its index and its class in its corner."""
    arrays = {}
    for split, n, mark in (("train", 80, 100), ("test", 20, 200)):
        x = np.zeros((n, 28, 28), np.uint8)
        y = (np.arange(n) * 7 % 10).astype(np.uint8)
        x[:, 0, 0], x[:, 0, 1], x[:, 0, 2] = mark, np.arange(n), y
        arrays |= {f"x_{split}": x, f"y_{split}": y}
    return arrays


def idx(array):
    return b"\0\0\x08" + bytes([array.ndim]) + b"".join(struct.pack(">I", n) for n in array.shape) + array.tobytes()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Write a data folder with a tiny MNIST and ten photographs of one colour each."""
    arrays = tiny_mnist()
    monkeypatch.setattr(mnist, "DIGESTS", {name: hashlib.sha256(idx(array)).hexdigest() for name, array in arrays.items()})
    (tmp_path / "mnist").mkdir()
    (tmp_path / "grass").mkdir()
    np.savez(tmp_path / "mnist" / "mnist.npz", **arrays)
    for i in range(10):
        Image.new("RGB", (90 + i, 80), (20 * i + 10, 120 + i, 250 - 20 * i)).save(tmp_path / "grass" / f"lawn_{i}.png")
    (tmp_path / "grass" / "notes.txt").write_text("not an image")
    return tmp_path


def to_idx_files(folder, name="{}", gzipped=False):
    (folder / "mnist" / "mnist.npz").unlink()
    for key, array in tiny_mnist().items():
        file = name.format(mnist.FILES[key]) if "{" in name else mnist.FILES[key].replace("-idx", ".idx")
        content = gzip.compress(idx(array)) if gzipped else idx(array)
        (folder / "mnist" / (file + ".gz" * gzipped)).write_bytes(content)


def colours(images):
    """Return the colours of images of one colour each."""
    assert (images == images[:, :, 14:15, 14:15]).all()
    return {tuple(map(int, image[:, 14, 14])) for image in images}


def test_splits_share_no_digit_and_no_photograph(folder):
    train, test = load("grassy_mnist", folder=folder, **SMALL | {"n_background": 100})
    assert (len(colours(train.background.x)), len(colours(test.background.x))) == (8, 2)
    assert not colours(train.background.x) & colours(test.background.x)
    # Away from the corner a target is half of its grass.
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
    for split in (train, test):
        np.testing.assert_array_equal(split.target.x[:, 1, 0, 2], split.target.labels)
        assert len({int(index) for index in split.target.x[:, 0, 0, 1]}) == len(split.target)
        assert (split.background.labels == -1).all()
        assert split.factor_names == ("brightness", "greenness")
    whole = load("grassy_mnist", folder=folder, rho=1.0, **SMALL)
    np.testing.assert_allclose(brightness_and_greenness(whole.train.target.x), whole.train.target.factors, atol=1e-9)
    np.testing.assert_allclose(brightness_and_greenness(whole.test.x), whole.test.factors, atol=1e-9)


def test_equations_10_and_11_on_the_same_digits_and_patches(folder):
    digit, grass, linear = (load("grassy_mnist", folder=folder, rho=rho, **SMALL).train for rho in (0.0, 1.0, 0.5))
    thresholded = load("grassy_mnist_nonlinear", folder=folder, threshold=0.5, **SMALL).train
    y, t = unit_range(grass.target.x), unit_range(digit.target.x[:, 0])
    np.testing.assert_array_equal(linear.target.x, to_bytes(blend(y, t, 0.5)))
    np.testing.assert_array_equal(thresholded.target.x, to_bytes(blend_threshold(y, t, 0.5, 0.5)))
    assert 0.2 < (thresholded.target.x == 0).mean() < 0.8
    np.testing.assert_array_equal(thresholded.background.x, linear.background.x)
    # As in the paper, targets use patches of the background group, which are unchanged there.
    assert {p.tobytes() for p in grass.target.x} <= {p.tobytes() for p in linear.background.x}


def test_the_seed_determines_the_splits(folder):
    a, b, other = (load("grassy_mnist", folder=folder, seed=seed, **SMALL) for seed in (0, 0, 1))
    assert [split.fingerprint() for split in a] == [split.fingerprint() for split in b]
    assert len({split.fingerprint() for split in (*a, *other)}) == 4


def test_the_environment_variable_sets_the_folder(folder, monkeypatch):
    monkeypatch.setenv("UNTWINE_DATA", str(folder))
    assert (
        load("grassy_mnist", **SMALL).train.fingerprint()
        == load("grassy_mnist", folder=str(folder), **SMALL).train.fingerprint()
    )
    monkeypatch.delenv("UNTWINE_DATA")
    monkeypatch.setenv("HOME", str(folder / "nobody"))
    assert data_folder(None) == folder / "nobody" / ".cache" / "untwine"


@pytest.mark.parametrize(("name", "gzipped"), [("{}", False), ("{}", True), ("dotted", False), ("dotted", True)])
def test_idx_files_give_the_same_splits_as_npz(folder, name, gzipped):
    expected = load("grassy_mnist", folder=folder, **SMALL)
    to_idx_files(folder, name, gzipped)
    got = load("grassy_mnist", folder=folder, **SMALL)
    assert [split.fingerprint() for split in got] == [split.fingerprint() for split in expected]


def test_an_npz_with_wider_labels_is_accepted(folder):
    arrays = tiny_mnist()
    np.savez_compressed(
        folder / "mnist" / "mnist.npz", **{k: a.astype(np.int64) if a.ndim == 1 else a for k, a in arrays.items()}
    )
    assert mnist.read_mnist(folder / "mnist")["y_train"].dtype == np.uint8


def test_a_wrong_checksum_is_refused_with_both_digests(folder):
    arrays = tiny_mnist()
    arrays["x_test"][3, 3, 3] ^= 1
    np.savez(folder / "mnist" / "mnist.npz", **arrays)
    wrong = hashlib.sha256(idx(arrays["x_test"])).hexdigest()
    with pytest.raises(ValueError, match=f"x_test must have SHA-256 {mnist.DIGESTS['x_test']}; got {wrong} from .*npz"):
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
    ("damage", "sentence"),
    [
        (damage_npz, "mnist.npz must hold complete arrays; it is damaged"),
        (lose_array, "must hold the arrays x_train, y_train, x_test, y_test; it lacks y_test"),
        (write_objects, "must hold plain arrays; got Python objects"),
        (
            lose_idx,
            "IDX files with t10k-labels-idx1-ubyte among them; not found; run `untwine data get .*UNTWINE_DATA",
        ),
        (lose_grass, "grass as at least two .jpg or .png files; got 0; place .*UNTWINE_DATA"),
        (damage_photograph, "lawn_3.png must be an image; it cannot be read"),
        (small_photograph, "sides of at least 64 pixels; got one of 63"),
    ],
)
def test_missing_or_damaged_files_are_refused(folder, damage, sentence):
    damage(folder)
    with pytest.raises(ValueError, match=sentence) as error:
        load("grassy_mnist", folder=folder, **SMALL)
    assert "\n" not in str(error.value)


def test_an_empty_folder_is_refused_with_the_files_to_place(tmp_path):
    with pytest.raises(ValueError, match=r"MNIST must be in .*nowhere.mnist as mnist.npz or as four IDX files"):
        load("grassy_mnist", folder=tmp_path / "nowhere")


def test_more_digits_than_available_are_refused(folder):
    with pytest.raises(ValueError, match="n_per_class must be an integer from 1 to 8; got 9"):
        load("grassy_mnist", folder=folder, **SMALL | {"n_per_class": 9})
    with pytest.raises(ValueError, match="n_test must be an integer from 1 to 20; got 21"):
        load("grassy_mnist", folder=folder, **SMALL | {"n_test": 21})


def test_the_source_of_an_image_is_its_patch_of_grass(folder):
    train, test = load("grassy_mnist", folder=folder, rho=1.0, **SMALL)
    for image, source in zip(train.target.x, train.target.sources, strict=True):  # with rho = 1 a target is its grass
        np.testing.assert_array_equal(image, train.background.x[train.background.sources == source][0])
    assert len(set(test.sources)) == len(test)
    assert not set(train.sources) & set(test.sources)
