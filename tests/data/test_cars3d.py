import numpy as np
import pytest
from scipy.io import savemat

from untwine.data import grid, load


def view(model, azimuth, elevation):
    """Return an image whose colours encode its factors, with a white bar at the top."""
    image = np.empty((128, 128, 3), np.uint8)
    image[:] = (40 * model, 10 * azimuth, 60 * elevation)
    image[:32] = 255
    return image


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("data")
    (root / "cars3d").mkdir()
    for model in range(5):
        im = np.stack([np.stack([view(model, a, e) for e in range(4)], axis=-1) for a in range(24)], axis=-2)
        assert im.shape == (128, 128, 3, 24, 4)
        savemat(root / "cars3d" / f"car_{model:03d}_mesh.mat", {"im": im}, do_compression=model % 2 == 0)
    return root


def test_images_are_addressed_by_their_factors(folder):
    cars = grid("cars3d", folder=folder)
    assert cars.sizes == (5, 24, 4)
    levels = cars.levels(np.arange(len(cars)))
    images = cars.read(np.arange(len(cars)))
    np.testing.assert_array_equal(images[:, :, 40, 20], levels * [40, 10, 60])
    assert (images[:, :, 5] == 255).all()  # upright, and the axes not swapped


@pytest.mark.parametrize(("held_out", "train", "test"), [("images", 432, 48), ("models", 288, 192)])
def test_images_or_whole_models_are_held_out(folder, held_out, train, test):
    options = {"n_test": 2} if held_out == "models" else {}
    splits = load("cars3d", folder=folder, held_out=held_out, size=16, **options)
    assert [len(split) for split in splits] == [train, test]
    np.testing.assert_array_equal(splits.train.labels, splits.train.factors[:, 0])
    shared = set(splits.train.labels) & set(splits.test.labels)
    assert shared == (set() if held_out == "models" else set(range(5)))
    assert splits.train.label_names[1] == "car_001_mesh"


def test_missing_or_damaged_files_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"Cars3D must be in .* as cars3d or cars; not found; run `untwine data get"):
        load("cars3d", folder=tmp_path)
    (tmp_path / "cars").mkdir()
    with pytest.raises(ValueError, match=r"as .mat files; there are none"):
        load("cars3d", folder=tmp_path)
    path = tmp_path / "cars" / "a.mat"
    savemat(path, {"im": np.zeros((128, 128, 3, 4), np.uint8)})
    with pytest.raises(ValueError, match=r"must hold an array im \(h, w, 3, 24, 4\) of uint8; got uint8 \(128, 128, 3, 4\)"):
        load("cars3d", folder=tmp_path)
    savemat(path, {"image": np.zeros(3)})
    with pytest.raises(ValueError, match="of uint8; got no such array"):
        load("cars3d", folder=tmp_path)
    for content in (b"", b"nothing at all", path.read_bytes()[:150]):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"a.mat must be a .mat file of MATLAB 5|got no such array"):
            load("cars3d", folder=tmp_path)
    with pytest.raises(ValueError, match="held_out must be 'images' or 'models'; got 'wheels'"):
        load("cars3d", folder=tmp_path, held_out="wheels")
