import numpy as np
import pytest

import untwine.data.sets.mpi3d as module
from untwine.data import grid, load

SIZES = {288: (2, 3, 2, 2, 3, 2, 2)}


@pytest.fixture
def images(monkeypatch):
    """Return images in the form of the public file, with fewer levels."""
    monkeypatch.setattr(module, "SIZES", SIZES)
    return np.random.default_rng(0).integers(0, 256, (288, 64, 64, 3), dtype=np.uint8)


@pytest.mark.parametrize("ending", ["npz", "npy"])
def test_images_are_addressed_by_their_factors(tmp_path, images, ending):
    (tmp_path / "mpi3d").mkdir()
    path = tmp_path / "mpi3d" / f"mpi3d_real.{ending}"
    if ending == "npz":
        np.savez_compressed(path, images=images)
    else:
        np.save(path, images)
    arms = grid("mpi3d", folder=tmp_path, kind="real")
    levels = np.array([[1, 2, 0, 1, 2, 0, 1], [0, 0, 0, 0, 0, 0, 0]])
    index = int(np.ravel_multi_index(levels[0], SIZES[288]))
    np.testing.assert_array_equal(arms.images(levels), np.moveaxis(images[[index, 0]], -1, 1))
    train, test = load("mpi3d", folder=tmp_path, kind="real", n_train=200, n_test=88)
    assert {image.tobytes() for split in (train, test) for image in split.x} == {
        np.moveaxis(image, -1, 0).tobytes() for image in images
    }
    np.testing.assert_array_equal(train.labels, train.factors[:, 1])


@pytest.mark.parametrize("name", ["mpi3d_real_complex", "real3d_complicated_shapes_ordered"])
@pytest.mark.parametrize("ending", ["npz", "npy"])
def test_real_complex_is_found_under_its_public_name_too(tmp_path, images, name, ending):
    path = tmp_path / "mpi3d" / f"{name}.{ending}"
    path.parent.mkdir()
    if ending == "npz":
        np.savez(path, images=images)
    else:
        np.save(path, images)
    arms = grid("mpi3d", folder=tmp_path, kind="real_complex")
    np.testing.assert_array_equal(arms.read(np.array([5, 200])), np.moveaxis(images[[5, 200]], -1, 1))
    for other in ("toy", "realistic", "real"):
        with pytest.raises(ValueError, match=f"MPI3D must be in .* as mpi3d/mpi3d_{other}.npy or mpi3d/mpi3d_{other}.npz;"):
            grid("mpi3d", folder=tmp_path, kind=other)


def test_the_numbers_of_images_are_those_of_the_papers():
    assert {np.prod(sizes) for sizes in module.SIZES.values()} == {1_036_800, 460_800}


def test_missing_or_damaged_files_are_refused(tmp_path, images):
    with pytest.raises(ValueError, match="kind must be 'toy', 'realistic', 'real' or 'real_complex'; got 'fake'"):
        load("mpi3d", folder=tmp_path, kind="fake")
    with pytest.raises(ValueError, match=r"MPI3D must be in .* as mpi3d/mpi3d_toy.npy or mpi3d/mpi3d_toy.npz; not found"):
        load("mpi3d", folder=tmp_path)
    np.savez(tmp_path / "mpi3d_toy.npz", images=images[:100])
    with pytest.raises(ValueError, match=r"must hold images \(288, 64, 64, 3\); got \(100, 64, 64, 3\)"):
        load("mpi3d", folder=tmp_path)
