import sys

import numpy as np
import pytest

from untwine.data import grid, load

HUES, SCALES, TURNS = np.array([0.0, 0.1, 0.2]), np.array([0.75, 1.25]), np.array([-30.0, 0.0, 30.0])


def arrays():
    """Return images and labels in the form of the public file, with fewer levels; the first pixel encodes the index."""
    values = (HUES, HUES[:2], HUES[:2], SCALES, np.arange(4.0), TURNS)
    labels = np.stack(np.meshgrid(*values, indexing="ij"), axis=-1).reshape(-1, 6)
    images = np.random.default_rng(0).integers(0, 256, (len(labels), 64, 64, 3), dtype=np.uint8)
    images[:, 0, 0, 0], images[:, 0, 0, 1] = np.arange(len(labels)) % 256, np.arange(len(labels)) // 256
    return {"images": images, "labels": labels}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("data")
    (root / "shapes3d").mkdir()
    np.savez_compressed(root / "shapes3d" / "3dshapes.npz", **arrays())
    return root


def test_images_are_addressed_by_their_factors(folder):
    shapes = grid("shapes3d", folder=folder)
    assert shapes.sizes == (3, 2, 2, 2, 4, 3)
    expected = arrays()
    indices = shapes.indices([[2, 1, 0, 1, 3, 2], [0, 0, 0, 0, 1, 0]])
    np.testing.assert_array_equal(shapes.read(indices), np.moveaxis(expected["images"][indices], -1, 1))
    samples = shapes.samples(indices)
    np.testing.assert_array_equal(samples.factors, expected["labels"][indices])
    assert samples.label_names == ("cube", "cylinder", "sphere", "pill")
    np.testing.assert_array_equal(samples.labels, [3, 1])


def test_splits_share_no_image(folder):
    train, test = load("shapes3d", folder=folder, n_train=100, n_test=50)
    numbers = [set(split.x[:, 0, 0, 0] + 256 * split.x[:, 1, 0, 0].astype(int)) for split in (train, test)]
    assert len(numbers[0]) == 100
    assert len(numbers[1]) == 50
    assert not numbers[0] & numbers[1]
    assert load("shapes3d", folder=folder, n_train=10, n_test=10, size=32).train.shape == (3, 32, 32)


def public_file(path):
    """Write the arrays as in the public file: two datasets of an HDF5 file, the images in compressed chunks."""
    h5py = pytest.importorskip("h5py")  # in the dev extra; an .npz needs no package
    content = arrays()
    with h5py.File(path, "w") as file:
        file.create_dataset("images", data=content["images"], chunks=(50, 8, 8, 1), compression="gzip", compression_opts=1)
        file.create_dataset("labels", data=content["labels"])
    return path


def test_the_public_h5_gives_the_same_splits(folder, tmp_path):
    public_file(tmp_path / "3dshapes.h5")
    expected, got = (load("shapes3d", folder=root, n_train=20, n_test=20) for root in (folder, tmp_path))
    assert [split.fingerprint() for split in got] == [split.fingerprint() for split in expected]
    content, shapes = arrays(), grid("shapes3d", folder=tmp_path)
    indices = np.array([287, 3, 3, 0, 140])
    np.testing.assert_array_equal(shapes.read(indices), np.moveaxis(content["images"][indices], -1, 1))
    np.testing.assert_array_equal(shapes.samples(indices).factors, content["labels"][indices])


def test_a_damaged_or_incomplete_h5_is_refused(tmp_path):
    path = public_file(tmp_path / "3dshapes.h5")
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match=r"3dshapes.h5 must hold an array labels; it cannot be read"):
        load("shapes3d", folder=tmp_path)
    with pytest.importorskip("h5py").File(path, "w") as file:
        file["labels"] = arrays()["labels"]
    with pytest.raises(ValueError, match=r"3dshapes.h5 must hold an array images; it cannot be read"):
        load("shapes3d", folder=tmp_path)


def test_without_h5py_the_error_says_what_to_install(tmp_path, monkeypatch):
    (tmp_path / "3dshapes.h5").touch()
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(ValueError, match=r"3dshapes.h5 needs the package h5py; install it with pip install h5py, or convert"):
        load("shapes3d", folder=tmp_path)


def test_missing_or_damaged_files_are_refused(tmp_path):
    with pytest.raises(
        ValueError,
        match=r"3D Shapes must be in .* as shapes3d/3dshapes.h5 or .*; not found; run `untwine data get",
    ):
        load("shapes3d", folder=tmp_path)
    content = arrays()
    np.savez(tmp_path / "3dshapes.npz", images=content["images"], labels=content["labels"][:, :5])
    with pytest.raises(ValueError, match=r"must hold images \(n, 64, 64, 3\) and labels \(n, 6\); got .*\(288, 5\)"):
        load("shapes3d", folder=tmp_path)
    np.savez(tmp_path / "3dshapes.npz", images=content["images"], labels=content["labels"][::-1])
    with pytest.raises(ValueError, match="must hold every combination of its factors once and in order"):
        load("shapes3d", folder=tmp_path)
    np.savez(tmp_path / "3dshapes.npz", images=content["images"])
    with pytest.raises(ValueError, match="must hold an array labels"):
        load("shapes3d", folder=tmp_path)
