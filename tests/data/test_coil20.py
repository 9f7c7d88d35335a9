import numpy as np
import pytest
from PIL import Image

from untwine.data import grid, load

OBJECTS, POSES = (1, 2, 10), range(12)


def view(number, pose):
    """Return an image whose greys tell object and pose: left and right half, with a white bar above."""
    image = np.empty((128, 128), np.uint8)
    image[:, :64], image[:, 64:] = 20 * number, 10 * pose
    image[:16] = 255
    return image


def make(place, form):
    if form == "images":
        place = place / "coil-20-proc"
        place.mkdir()
        for number in OBJECTS:
            for pose in POSES:
                Image.fromarray(view(number, pose)).save(place / f"obj{number}__{pose}.png")
        return
    (place / "coil20").mkdir()
    pairs = np.random.default_rng(0).permutation([(number, pose) for number in OBJECTS for pose in POSES]).astype(np.uint8)
    images = np.stack([view(*pair) for pair in pairs.tolist()])
    np.savez(place / "coil20" / "coil20_128.npz", images=images, object=pairs[:, 0], pose=pairs[:, 1])


@pytest.mark.parametrize("form", ["images", "packed"])
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
    make(tmp_path, "packed")
    train, test = load("coil20", folder=tmp_path, held_out=held_out, n_test=n_test, size=16)
    assert (len(train), len(test)) == sizes
    shared = set(train.labels) & set(test.labels)
    assert bool(shared) == (held_out == "images")
    pairs = {tuple(row) for part in (train, test) for row in part.factors}
    assert len(pairs) == 36


def test_other_files_get_their_sentence(tmp_path):
    with pytest.raises(ValueError, match="held_out expected 'images' or 'objects'; got 'toys'"):
        load("coil20", folder=tmp_path, held_out="toys")
    with pytest.raises(ValueError, match=r"COIL-20 was must be in .* as coil20 or coil-20-proc"):
        load("coil20", folder=tmp_path)
    (tmp_path / "coil20").mkdir()
    with pytest.raises(ValueError, match=r"as obj1__0.png and so on, or as one coil20\*.npz, but has neither"):
        load("coil20", folder=tmp_path)
    path = tmp_path / "coil20" / "coil20_128.npz"
    np.savez(path, images=np.zeros((2, 8, 8), np.uint8), object=np.zeros(2, int))
    with pytest.raises(
        ValueError, match=r"expected images \(n, H, W\) of uint8, object \(n,\) and pose \(n,\), but has images"
    ):
        load("coil20", folder=tmp_path)
    pairs = np.array([[1, 0], [1, 1], [2, 0]])
    np.savez(path, images=np.zeros((3, 8, 8), np.uint8), object=pairs[:, 0], pose=pairs[:, 1])
    with pytest.raises(ValueError, match="every object in every pose once, but has 3 images of 2 objects and 2 poses"):
        load("coil20", folder=tmp_path)
