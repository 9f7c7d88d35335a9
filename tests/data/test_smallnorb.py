import gzip
import struct

import numpy as np
import pytest

from untwine.data import grid, load
from untwine.data.sets.smallnorb import SPLITS, read_matrix

INSTANCES = {"training": (4, 6), "testing": (0, 1)}


def matrix(array):
    """Return SmallNORB's binary form: magic, number of axes, at least three lengths, the values."""
    magic = {"uint8": 0x1E3D4C55, "int32": 0x1E3D4C54}[str(array.dtype)]
    lengths = [*array.shape, *[1] * (3 - array.ndim)]
    return struct.pack(f"<Ii{len(lengths)}i", magic, array.ndim, *lengths) + array.tobytes()


def make(root, gzipped=False, seed=0):
    """Write the six files with fewer levels; left images encode their factors, right ones are white."""
    root.mkdir(exist_ok=True)
    for split in SPLITS:
        axes = (np.arange(5), INSTANCES[split.split("-")[1]], np.arange(3), np.arange(0, 8, 2), np.arange(2))
        factors = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 5)
        factors = np.random.default_rng(seed).permutation(factors)
        dat = np.full((len(factors), 2, 96, 96), 255, np.uint8)
        for column in range(5):
            dat[:, 0, :, 16 * column : 16 * column + 16] = (20 * factors[:, column])[:, None, None]
        dat[:, 0, 80:] = 0
        arrays = {"dat": dat, "cat": factors[:, 0].astype(np.int32), "info": factors[:, 1:].astype(np.int32)}
        for kind, array in arrays.items():
            content = matrix(array)
            name = f"smallnorb-{split}-{kind}.mat" + ".gz" * gzipped
            (root / name).write_bytes(gzip.compress(content, mtime=0) if gzipped else content)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("data")
    make(root / "smallnorb")
    return root


def decode(x):
    """Return the factors that each image encodes, in the units of the files."""
    return np.round(x[:, 0, 20, 8::16][:, :5] / 20).astype(int)


def test_images_are_addressed_by_their_factors(folder):
    toys = grid("smallnorb", folder=folder, size=96)
    assert toys.sizes == (5, 4, 3, 4, 2)
    samples = toys.samples(np.arange(len(toys)))
    category, instance, elevation, azimuth, lighting = decode(samples.x).T
    expected = np.column_stack([category, instance, 30 + 5 * elevation, 10 * azimuth, lighting])
    np.testing.assert_array_equal(samples.factors, expected)
    np.testing.assert_array_equal(samples.labels, category)
    assert samples.label_names == ("animal", "human", "airplane", "truck", "car")
    assert (samples.x[:, 0, 90] == 0).all()  # upright


def test_the_files_own_instances_are_held_out(folder):
    train, test = load("smallnorb", folder=folder)
    assert train.shape == (1, 64, 64)
    assert set(train.factors[:, 1]) == {4, 6}
    assert set(test.factors[:, 1]) == {0, 1}
    train, test = load("smallnorb", folder=folder, held_out="images", n_test=100)
    assert (len(train), len(test)) == (380, 100)
    assert not {tuple(row) for row in train.factors} & {tuple(row) for row in test.factors}


def test_gzipped_files_and_other_orders_give_the_same_splits(folder, tmp_path):
    make(tmp_path / "small_norb", gzipped=True, seed=1)
    expected, got = (load("smallnorb", folder=root, size=32) for root in (folder, tmp_path))
    assert [split.fingerprint() for split in got] == [split.fingerprint() for split in expected]


def test_matrices_round_trip(tmp_path):
    for array in (np.arange(24, dtype=np.uint8).reshape(2, 3, 2, 2), np.arange(5, dtype=np.int32), np.ones((4, 4), np.int32)):
        (tmp_path / "a").write_bytes(matrix(array))
        np.testing.assert_array_equal(read_matrix(tmp_path / "a"), array)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "begins with nothing"),
        (b"<html>nothing", "matrix of SmallNORB; it begins with 3c68746d6c3e6e6f"),
        (matrix(np.arange(5, dtype=np.int32))[:-1], "must have 5 values by its header; got 39 bytes"),
        (gzip.compress(matrix(np.arange(5, dtype=np.int32)), mtime=0)[:-6], "matrix of SmallNORB; it cannot be read"),
    ],
)
def test_a_bad_matrix_is_refused(tmp_path, content, sentence):
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(ValueError, match=sentence):
        read_matrix(tmp_path / "a")


def test_missing_files_and_bad_options_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"SmallNORB must be in .* as smallnorb or small_norb; not found"):
        load("smallnorb", folder=tmp_path)
    make(tmp_path / "smallnorb")
    with pytest.raises(ValueError, match="n_test applies to held_out='images'; got 5"):
        load("smallnorb", folder=tmp_path, n_test=5)
    with pytest.raises(ValueError, match="held_out must be 'instances' or 'images'"):
        load("smallnorb", folder=tmp_path, held_out="toys")
    path = tmp_path / "smallnorb" / f"smallnorb-{SPLITS[0]}-info.mat"
    info = read_matrix(path).copy()
    info[0] = info[1]
    path.write_bytes(matrix(info))
    with pytest.raises(ValueError, match=r"must hold every combination of category, instance, .* once"):
        load("smallnorb", folder=tmp_path)
    path.unlink()
    with pytest.raises(ValueError, match=r"as six files; smallnorb-.*training-info.mat \(or .gz\) not found"):
        load("smallnorb", folder=tmp_path)


@pytest.mark.parametrize(("content", "held_out", "classes"), [("azimuth", "instances", 120), ("pose", "images", 40)])
def test_a_class_is_a_combination_of_the_factors_that_are_not_content(folder, content, held_out, classes):
    splits = load("smallnorb", folder=folder, size=16, content=content, held_out=held_out)
    columns = [0, 1, 2, 4] if content == "azimuth" else [0, 1, 4]
    factors, labels = (np.concatenate([getattr(split, name) for split in splits]) for name in ("factors", "labels"))
    assert len(np.unique(labels)) == classes == len(splits.train.label_names)
    pairs = np.unique(np.c_[labels, factors[:, columns]], axis=0)
    assert len(pairs) == classes  # classes and combinations are one to one
    assert bool(set(splits.train.labels) & set(splits.test.labels)) == (held_out == "images")
    assert splits.train.label_names[0].startswith("category 0, instance 0, ")
    with pytest.raises(ValueError, match="content must be '', 'azimuth' or 'pose'; got 'light'"):
        load("smallnorb", folder=folder, content="light")


def test_smallnorb_poses_has_a_class_for_every_toy_in_every_lighting(folder):
    train, test = load("smallnorb_poses", folder=folder, n_test=30)
    same = load("smallnorb", folder=folder, content="pose", held_out="images", n_test=30)
    assert [split.fingerprint() for split in (train, test)] == [split.fingerprint() for split in same]
    assert len(train.label_names) == 5 * 4 * 2
    assert len(test) == 30


def test_the_source_of_an_image_is_its_toy_where_toys_are_held_out(folder):
    splits = load("smallnorb", folder=folder, size=16)
    assert not set(splits.train.sources) & set(splits.test.sources)
    for split in splits:
        toys = np.unique(np.column_stack([split.sources, split.factors[:, :2]]), axis=0)
        assert len(toys) == len(set(split.sources)) == len(np.unique(split.factors[:, :2], axis=0))
    assert load("smallnorb", folder=folder, size=16, held_out="images", n_test=4).train.sources is None
