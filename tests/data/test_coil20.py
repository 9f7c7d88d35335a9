import numpy as np
import pytest
from PIL import Image

from untwine.data import grid, load

OBJECTS, POSES = (1, 2, 10), range(12)


def view(number, pose):
    """Return an image whose left and right grey values encode object and pose, with a white bar at the top."""
    image = np.empty((128, 128), np.uint8)
    image[:, :64], image[:, 64:] = 20 * number, 10 * pose
    image[:16] = 255
    return image


def make(root, form):
    if form == "images":
        root = root / "coil-20-proc"
        root.mkdir()
        for number in OBJECTS:
            for pose in POSES:
                Image.fromarray(view(number, pose)).save(root / f"obj{number}__{pose}.png")
        return
    (root / "coil20").mkdir()
    pairs = np.random.default_rng(0).permutation([(number, pose) for number in OBJECTS for pose in POSES]).astype(np.uint8)
    images = np.stack([view(*pair) for pair in pairs.tolist()])
    np.savez(root / "coil20" / "coil20_128.npz", images=images, object=pairs[:, 0], pose=pairs[:, 1])


@pytest.mark.parametrize("form", ["images", "npz"])
def test_images_are_addressed_by_object_and_pose(tmp_path, form):
    make(tmp_path, form)
    coil = grid("coil20", size=32, folder=tmp_path)
    assert coil.sizes == (3, 12)
    data = coil.samples(np.arange(36))
    np.testing.assert_array_equal(data.x[:, 0, 16, 4], 20 * data.factors[:, 0])
    np.testing.assert_array_equal(data.x[:, 0, 16, 28], 2 * data.factors[:, 1])  # 5 degrees a pose
    assert (data.x[:, 0, 1] == 255).all()
    assert data.label_names == ("object 1", "object 2", "object 10")
    np.testing.assert_array_equal(np.array([1, 2, 10])[data.labels], data.factors[:, 0])


@pytest.mark.parametrize(("held_out", "n_test", "sizes"), [("images", None, (33, 3)), ("objects", 1, (24, 12))])
def test_images_or_whole_objects_are_held_out(tmp_path, held_out, n_test, sizes):
    make(tmp_path, "npz")
    train, test = load("coil20", folder=tmp_path, held_out=held_out, n_test=n_test, size=16)
    assert (len(train), len(test)) == sizes
    shared = set(train.labels) & set(test.labels)
    assert bool(shared) == (held_out == "images")
    pairs = {tuple(row) for split in (train, test) for row in split.factors}
    assert len(pairs) == 36


def test_missing_or_damaged_files_are_refused(tmp_path):
    with pytest.raises(ValueError, match="held_out must be 'images' or 'objects'; got 'toys'"):
        load("coil20", folder=tmp_path, held_out="toys")
    with pytest.raises(ValueError, match=r"COIL-20 must be in .* as coil20 or coil-20-proc; not found"):
        load("coil20", folder=tmp_path)
    (tmp_path / "coil20").mkdir()
    with pytest.raises(ValueError, match=r"as obj1__0.png and so on, or as one coil20\*.npz; not found"):
        load("coil20", folder=tmp_path)
    path = tmp_path / "coil20" / "coil20_128.npz"
    np.savez(path, images=np.zeros((2, 8, 8), np.uint8), object=np.zeros(2, int))
    with pytest.raises(ValueError, match="must hold the arrays images, object, pose; it lacks pose"):
        load("coil20", folder=tmp_path)
    np.savez(path, images=np.zeros((2, 8, 8), np.uint8), object=np.zeros(2, int), pose=np.zeros(3, int))
    with pytest.raises(ValueError, match=r"must hold images \(n, H, W\) of uint8, and object \(n,\) .*; got images uint8"):
        load("coil20", folder=tmp_path)
    pairs = np.array([[1, 0], [1, 1], [2, 0]])
    np.savez(path, images=np.zeros((3, 8, 8), np.uint8), object=pairs[:, 0], pose=pairs[:, 1])
    with pytest.raises(ValueError, match="every object in every pose once; got 3 images of 2 objects and 2 poses"):
        load("coil20", folder=tmp_path)
