"""CIFAR-10 in its three formats, and digits over its objects, on small files in these formats."""

import hashlib
import json

import numpy as np
import pytest
from PIL import Image

from untwine.data import load
from untwine.data.readers import cifar10, mnist
from untwine.data.sampling import sample_balanced

SMALL = {"n_target": 20, "n_background": 12, "n_test": 10}


def tiny():
    """Return objects of one colour each, which encodes split and index, and digits of one stroke, whose length is the class."""
    cifar, digits = {}, {}
    for split, n, mark, height in (("train", 50, 10, 14), ("test", 15, 200, 9)):
        x = np.zeros((n, 3, 32, 32), np.uint8)
        x[:, 0], x[:, 1], x[:, 2] = mark, np.arange(n)[:, None, None], (3 * np.arange(n))[:, None, None]
        cifar |= {f"x_{split}": x, f"y_{split}": (np.arange(n) % 10).astype(np.uint8)}
        y, d = (np.arange(40) * 7 % 10).astype(np.uint8), np.zeros((40, 28, 28), np.uint8)
        d[:, height] = 255 * (np.arange(28) <= 2 * y[:, None])
        digits |= {f"x_{split}": d, f"y_{split}": y}
    return cifar, digits


def as_npz(folder, arrays, channels_last=False):
    stored = {k: np.moveaxis(v, 1, -1) if channels_last and v.ndim == 4 else v for k, v in arrays.items()}
    np.savez(folder / "cifar10.npz", **stored)


def as_bin(folder, arrays):
    for split, names in (("train", cifar10.TRAIN), ("test", ("test_batch",))):
        records = np.hstack([arrays[f"y_{split}"][:, None], arrays[f"x_{split}"].reshape(len(arrays[f"y_{split}"]), -1)])
        for name, block in zip(names, np.array_split(records, len(names)), strict=True):
            (folder / f"{name}.bin").write_bytes(block.astype(np.uint8).tobytes())


def as_png(folder, arrays):
    for split, names in (("train", cifar10.TRAIN), ("test", ("test_batch",))):
        rows = np.moveaxis(arrays[f"x_{split}"], 1, -1).reshape(-1, 1024, 3)
        for name, block in zip(names, np.array_split(rows, len(names)), strict=True):
            Image.fromarray(block).save(folder / f"{name}.png")
        (folder / f"{split}_lables.json").write_text(json.dumps(arrays[f"y_{split}"].tolist()))


FORMATS = {"npz": as_npz, "npz last": lambda f, a: as_npz(f, a, channels_last=True), "bin": as_bin, "png": as_png}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    cifar, digits = tiny()
    monkeypatch.setattr(cifar10, "DIGESTS", {k: hashlib.sha256(v.tobytes()).hexdigest() for k, v in cifar.items()})
    monkeypatch.setattr(mnist, "DIGESTS", {k: hashlib.sha256(mnist.as_idx(v)).hexdigest() for k, v in digits.items()})
    (tmp_path / "mnist").mkdir()
    (tmp_path / "cifar10").mkdir()
    np.savez(tmp_path / "mnist" / "mnist.npz", **digits)
    return tmp_path


@pytest.mark.parametrize("file_format", FORMATS)
def test_every_format_gives_the_same_arrays(folder, file_format):
    cifar, _ = tiny()
    FORMATS[file_format](folder / "cifar10", cifar)
    result = cifar10.read_cifar10(folder)
    for name, array in cifar.items():
        np.testing.assert_array_equal(result[name], array)
        assert result[name].dtype == np.uint8


def test_the_folder_of_the_binary_archive_is_found(folder):
    (folder / "cifar10" / "cifar-10-batches-bin").mkdir()
    as_bin(folder / "cifar10" / "cifar-10-batches-bin", tiny()[0])
    assert len(cifar10.read_cifar10(folder)["x_test"]) == 15


def test_targets_are_objects_with_a_white_digit_and_backgrounds_other_objects(folder):
    as_npz(folder / "cifar10", tiny()[0])
    train, test = load("cifar_mnist", folder=folder, **SMALL)
    assert len(train.target) == 20
    assert len(train.background) == 12
    for split, mark, height in ((train, 10, 14), (test, 200, 9)):
        colours = split.target.x[:, :, 0, 0]
        assert (colours[:, 0] == mark).all()
        for x, colour, digit in zip(split.target.x, colours, split.target.labels, strict=True):
            expected = np.broadcast_to(colour[:, None, None], (3, 32, 32)).copy()
            expected[:, 2 + height, 2 : 3 + 2 * digit] = 255  # the digit of that class with a margin of two pixels
            np.testing.assert_array_equal(x, expected)
        np.testing.assert_array_equal(split.target.factors[:, 0], colours[:, 1] % 10)
        assert (split.background.labels == -1).all()
    objects = {int(index) for index in train.target.x[:, 1, 0, 0]}
    assert len(objects) == 20
    assert not objects & {int(index) for index in train.background.x[:, 1, 0, 0]}
    assert np.bincount(train.target.labels).tolist() == [2] * 10
    assert (len(test.target), len(test.background)) == (10, 5)


def test_sizes_and_seeds(folder):
    as_npz(folder / "cifar10", tiny()[0])
    one, same, other = (load("cifar_mnist", folder=folder, size=64, seed=seed, **SMALL).train for seed in (0, 0, 1))
    assert one.x.shape == (32, 3, 64, 64)
    np.testing.assert_array_equal(one.x, same.x)
    assert not np.array_equal(one.x, other.x)


def test_classes_are_balanced_and_small_ones_are_repeated():
    classes = np.array([0, 0, 0, 0, 1, 2, 2])
    indices = sample_balanced(np.random.default_rng(0), classes, 11)
    assert sorted(np.bincount(classes[indices]).tolist()) == [3, 4, 4]


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda f: (f / "data_batch_3.bin").unlink(), r"must have all of its files in .*; data_batch_3.bin not found"),
        (lambda f: (f / "data_batch_3.bin").write_bytes(b"123"), r"must have 3073 bytes per image; got 3 bytes"),
        (lambda f: (f / "test_batch.bin").write_bytes(bytes(3073)), r"CIFAR-10's x_test must have SHA-256"),
        (
            lambda f: [p.unlink() for p in f.iterdir()],
            r"CIFAR-10 must be in .*; not found; run `untwine data get",
        ),
    ],
)
def test_damaged_or_missing_files_are_refused(folder, damage, sentence):
    as_bin(folder / "cifar10", tiny()[0])
    damage(folder / "cifar10")
    with pytest.raises(ValueError, match=sentence) as error:
        load("cifar_mnist", folder=folder, **SMALL)
    assert "\n" not in str(error.value)


def test_more_objects_than_available_are_refused(folder):
    as_npz(folder / "cifar10", tiny()[0])
    with pytest.raises(ValueError, match=r"n_target \+ n_background must be an integer from 2 to 50; got 60"):
        load("cifar_mnist", folder=folder, n_target=30, n_background=30, n_test=4)


def test_the_authors_mix_halves_objects_and_digits(folder):
    as_npz(folder / "cifar10", tiny()[0])
    opaque, authors = (load("cifar_mnist", folder=folder, mix=mix, **SMALL) for mix in ("opaque", "authors"))
    for before, after in zip(opaque, authors, strict=True):
        np.testing.assert_array_equal(before.labels, after.labels)
        np.testing.assert_array_equal(before.factors, after.factors)
        alone = before.background.x
        np.testing.assert_array_equal(after.background.x, np.round(alone.astype(np.float32) / 255 / 2 * 255).astype(np.uint8))
        # Away from the stroke an object is at half its brightness; under it half of the white ink is added.
        target, corner = after.target.x, before.target.x[:, :, 0, 0]
        np.testing.assert_allclose(target[:, :, 0, 0], corner / 2, atol=0.51)
        assert (target.max(axis=(1, 2, 3)) > 127).all()
        assert target.max() < 255


def test_an_unknown_mix_is_refused_before_files_are_read(tmp_path):
    with pytest.raises(ValueError, match=r"mix must be 'opaque' or 'authors'; got 'author'; did you mean 'authors'\?"):
        load("cifar_mnist", folder=tmp_path, mix="author")


def test_images_that_share_an_object_or_a_digit_are_one_source(folder):
    as_npz(folder / "cifar10", tiny()[0])
    train, test = load("cifar_mnist", folder=folder, **SMALL)
    assert not set(train.sources) & set(test.sources)
    assert not set(train.target.sources) & set(train.background.sources)
    # Every test image without a digit is the object of one with a digit.
    assert set(test.background.sources) <= set(test.target.sources)
