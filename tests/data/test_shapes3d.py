import sys
import types

import numpy as np
import pytest

from untwine.data import grid, load

HUES, SCALES, TURNS = np.array([0.0, 0.1, 0.2]), np.array([0.75, 1.25]), np.array([-30.0, 0.0, 30.0])


def arrays():
    """Return images and labels in the public file's form, with fewer levels; the first pixel tells the row."""
    values = (HUES, HUES[:2], HUES[:2], SCALES, np.arange(4.0), TURNS)
    labels = np.stack(np.meshgrid(*values, indexing="ij"), axis=-1).reshape(-1, 6)
    images = np.random.default_rng(0).integers(0, 256, (len(labels), 64, 64, 3), dtype=np.uint8)
    images[:, 0, 0, 0], images[:, 0, 0, 1] = np.arange(len(labels)) % 256, np.arange(len(labels)) // 256
    return {"images": images, "labels": labels}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("data")
    (place / "shapes3d").mkdir()
    np.savez_compressed(place / "shapes3d" / "3dshapes.npz", **arrays())
    return place


def test_pictures_are_addressed_by_their_factors(folder):
    shapes = grid("shapes3d", folder=folder)
    assert shapes.sizes == (3, 2, 2, 2, 4, 3)
    expected = arrays()
    rows = shapes.rows([[2, 1, 0, 1, 3, 2], [0, 0, 0, 0, 1, 0]])
    np.testing.assert_array_equal(shapes.read(rows), np.moveaxis(expected["images"][rows], -1, 1))
    samples = shapes.samples(rows)
    np.testing.assert_array_equal(samples.factors, expected["labels"][rows])
    assert samples.label_names == ("cube", "cylinder", "sphere", "pill")
    np.testing.assert_array_equal(samples.labels, [3, 1])


def test_splits_share_no_picture(folder):
    train, test = load("shapes3d", folder=folder, n_train=100, n_test=50)
    numbers = [set(part.x[:, 0, 0, 0] + 256 * part.x[:, 1, 0, 0].astype(int)) for part in (train, test)]
    assert len(numbers[0]) == 100
    assert len(numbers[1]) == 50
    assert not numbers[0] & numbers[1]
    assert load("shapes3d", folder=folder, n_train=10, n_test=10, size=32).train.shape == (3, 32, 32)


def test_the_public_h5_gives_the_same(folder, tmp_path, monkeypatch):
    path = tmp_path / "3dshapes.h5"
    try:
        import h5py

        with h5py.File(path, "w") as file:
            for name, array in arrays().items():
                file[name] = array
    except ImportError:
        path.write_bytes(b"\x89HDF")
        monkeypatch.setitem(sys.modules, "h5py", types.SimpleNamespace(File=lambda path, mode: arrays()))
    expected, got = (load("shapes3d", folder=place, n_train=20, n_test=20) for place in (folder, tmp_path))
    assert [part.fingerprint() for part in got] == [part.fingerprint() for part in expected]


def test_other_files_get_their_sentence(tmp_path):
    with pytest.raises(ValueError, match=r"3D Shapes was expected in .* as shapes3d/3dshapes.h5 or .*place what github.com"):
        load("shapes3d", folder=tmp_path)
    made = arrays()
    np.savez(tmp_path / "3dshapes.npz", images=made["images"], labels=made["labels"][:, :5])
    with pytest.raises(ValueError, match=r"expected images \(n, 64, 64, 3\) and labels \(n, 6\), but has .*\(288, 5\)"):
        load("shapes3d", folder=tmp_path)
    np.savez(tmp_path / "3dshapes.npz", images=made["images"], labels=made["labels"][::-1])
    with pytest.raises(ValueError, match="expected every combination of its factors once and in their order"):
        load("shapes3d", folder=tmp_path)
    np.savez(tmp_path / "3dshapes.npz", images=made["images"])
    with pytest.raises(ValueError, match="expected an array labels"):
        load("shapes3d", folder=tmp_path)
