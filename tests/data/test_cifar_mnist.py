"""CIFAR-10 in its three forms, and digits laid over its objects, on small files of the very formats."""

import hashlib
import json

import numpy as np
import pytest
from PIL import Image

from untwine.data import load
from untwine.data.readers import cifar10, mnist
from untwine.data.sets.cifar_mnist import balanced

SMALL = {"n_target": 20, "n_background": 12, "n_test": 10}


def tiny():
    """Objects of one colour each, which tells part and row; digits of one white stroke, by class longer, by part lower."""
    cifar, digits = {}, {}
    for part, rows, mark, height in (("train", 50, 10, 14), ("test", 15, 200, 9)):
        x = np.zeros((rows, 3, 32, 32), np.uint8)
        x[:, 0], x[:, 1], x[:, 2] = mark, np.arange(rows)[:, None, None], (3 * np.arange(rows))[:, None, None]
        cifar |= {f"x_{part}": x, f"y_{part}": (np.arange(rows) % 10).astype(np.uint8)}
        y, d = (np.arange(40) * 7 % 10).astype(np.uint8), np.zeros((40, 28, 28), np.uint8)
        d[:, height] = 255 * (np.arange(28) <= 2 * y[:, None])
        digits |= {f"x_{part}": d, f"y_{part}": y}
    return cifar, digits


def as_npz(folder, arrays, last=False):
    change = {k: np.moveaxis(v, 1, -1) if last and v.ndim == 4 else v for k, v in arrays.items()}
    np.savez(folder / "cifar10.npz", **change)


def as_bin(folder, arrays):
    for part, names in (("train", cifar10.TRAIN), ("test", ("test_batch",))):
        rows = np.hstack([arrays[f"y_{part}"][:, None], arrays[f"x_{part}"].reshape(len(arrays[f"y_{part}"]), -1)])
        for name, block in zip(names, np.array_split(rows, len(names)), strict=True):
            (folder / f"{name}.bin").write_bytes(block.astype(np.uint8).tobytes())


def as_png(folder, arrays):
    for part, names in (("train", cifar10.TRAIN), ("test", ("test_batch",))):
        rows = np.moveaxis(arrays[f"x_{part}"], 1, -1).reshape(-1, 1024, 3)
        for name, block in zip(names, np.array_split(rows, len(names)), strict=True):
            Image.fromarray(block).save(folder / f"{name}.png")
        (folder / f"{part}_lables.json").write_text(json.dumps(arrays[f"y_{part}"].tolist()))


FORMS = {"npz": as_npz, "npz last": lambda f, a: as_npz(f, a, last=True), "bin": as_bin, "png": as_png}


@pytest.fixture
def place(tmp_path, monkeypatch):
    cifar, digits = tiny()
    monkeypatch.setattr(cifar10, "DIGESTS", {k: hashlib.sha256(v.tobytes()).hexdigest() for k, v in cifar.items()})
    monkeypatch.setattr(mnist, "DIGESTS", {k: hashlib.sha256(mnist.as_idx(v)).hexdigest() for k, v in digits.items()})
    (tmp_path / "mnist").mkdir()
    (tmp_path / "cifar10").mkdir()
    np.savez(tmp_path / "mnist" / "mnist.npz", **digits)
    return tmp_path


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_arrays(place, form):
    cifar, _ = tiny()
    FORMS[form](place / "cifar10", cifar)
    found = cifar10.read_cifar10(place)
    for name, array in cifar.items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].dtype == np.uint8


def test_the_unpacked_folder_of_the_binary_version_is_found(place):
    (place / "cifar10" / "cifar-10-batches-bin").mkdir()
    as_bin(place / "cifar10" / "cifar-10-batches-bin", tiny()[0])
    assert len(cifar10.read_cifar10(place)["x_test"]) == 15


def test_targets_are_objects_with_white_ink_and_backgrounds_other_objects(place):
    as_npz(place / "cifar10", tiny()[0])
    train, test = load("cifar_mnist", folder=place, **SMALL)
    assert len(train.target) == 20
    assert len(train.background) == 12
    for part, mark, height in ((train, 10, 14), (test, 200, 9)):
        rows = part.target.x[:, :, 0, 0]
        assert (rows[:, 0] == mark).all()
        for x, colour, digit in zip(part.target.x, rows, part.target.labels, strict=True):
            expected = np.broadcast_to(colour[:, None, None], (3, 32, 32)).copy()
            expected[:, 2 + height, 2 : 3 + 2 * digit] = 255  # the digit of that class in the middle of a frame of two pixels
            np.testing.assert_array_equal(x, expected)
        np.testing.assert_array_equal(part.target.factors[:, 0], rows[:, 1] % 10)
        assert (part.background.labels == -1).all()
    seen = {int(row) for row in train.target.x[:, 1, 0, 0]}
    assert len(seen) == 20
    assert not seen & {int(row) for row in train.background.x[:, 1, 0, 0]}
    assert np.bincount(train.target.labels).tolist() == [2] * 10
    assert (len(test.target), len(test.background)) == (10, 5)


def test_sizes_and_seeds(place):
    as_npz(place / "cifar10", tiny()[0])
    one, same, other = (load("cifar_mnist", folder=place, size=64, seed=seed, **SMALL).train for seed in (0, 0, 1))
    assert one.x.shape == (32, 3, 64, 64)
    np.testing.assert_array_equal(one.x, same.x)
    assert not np.array_equal(one.x, other.x)


def test_classes_are_balanced_and_come_again_where_there_are_few():
    classes = np.array([0, 0, 0, 0, 1, 2, 2])
    rows = balanced(classes, 11, np.random.default_rng(0))
    assert sorted(np.bincount(classes[rows]).tolist()) == [3, 4, 4]


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda f: (f / "data_batch_3.bin").unlink(), r"expected all of its files in .*, but data_batch_3.bin is not there"),
        (lambda f: (f / "data_batch_3.bin").write_bytes(b"123"), r"expected 3073 bytes for each image, but has 3"),
        (lambda f: (f / "test_batch.bin").write_bytes(bytes(3073)), r"CIFAR-10's x_test expected content with SHA-256"),
        (lambda f: [p.unlink() for p in f.iterdir()], r"CIFAR-10 was must be in .* but is not there; place"),
    ],
)
def test_damaged_or_missing_files_get_their_sentence(place, damage, sentence):
    as_bin(place / "cifar10", tiny()[0])
    damage(place / "cifar10")
    with pytest.raises(ValueError, match=sentence) as error:
        load("cifar_mnist", folder=place, **SMALL)
    assert "\n" not in str(error.value)


def test_more_objects_than_there_are_get_their_sentence(place):
    as_npz(place / "cifar10", tiny()[0])
    with pytest.raises(ValueError, match=r"n_target \+ n_background must be a whole number from 2 to 50; got 60"):
        load("cifar_mnist", folder=place, n_target=30, n_background=30, n_test=4)
