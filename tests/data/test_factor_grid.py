import numpy as np
import pytest

from untwine.data import data_sets, grid
from untwine.data.factor_grid import FactorGrid
from untwine.data.images.resizing import average_pool
from untwine.data.options import check_pooled_size


@pytest.fixture
def cube():
    """Return a grid whose images encode their index."""
    values = (np.array([0.0, 1.0]), np.array([10.0, 20.0, 30.0]), np.array([-1.0, 0.0, 1.0, 2.0]))

    def read(indices):
        return np.broadcast_to(np.asarray(indices, np.uint8)[:, None, None, None], (len(indices), 1, 8, 8))

    return FactorGrid(("kind", "height", "turn"), values, read, "kind", ("cup", "jug"))


def test_indices_and_levels_are_inverse_and_the_last_factor_varies_fastest(cube):
    assert len(cube) == 24
    indices = np.random.default_rng(0).permutation(24)
    np.testing.assert_array_equal(cube.indices(cube.levels(indices)), indices)
    np.testing.assert_array_equal(cube.levels([0, 1, 4, 12]), [[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0]])
    np.testing.assert_array_equal(cube.images([[1, 2, 3], [0, 0, 2]])[:, 0, 0, 0], [23, 2])


def test_samples_have_factor_values_and_labels(cube):
    samples = cube.samples(np.array([23, 5]))
    np.testing.assert_array_equal(samples.factors, [[1, 30, 2], [0, 20, 0]])
    np.testing.assert_array_equal(samples.labels, [1, 0])
    assert samples.label_names == ("cup", "jug")
    assert samples.factor_names == ("kind", "height", "turn")
    assert samples.groups is None


def test_a_split_shares_no_image_and_follows_the_seed(cube):
    train, test = cube.split(None, 6, 0)
    indices = [split.x[:, 0, 0, 0].tolist() for split in (train, test)]
    assert sorted(indices[0] + indices[1]) == list(range(24))
    assert len(indices[1]) == 6
    assert cube.split(5, 6, 0).train.x[:, 0, 0, 0].tolist() == indices[0][:5]
    assert cube.split(None, 6, 1).test.x[:, 0, 0, 0].tolist() != indices[1]


def test_levels_of_one_factor_can_be_held_out(cube):
    train, test = cube.hold_out_levels("height", np.array([1]))
    assert set(test.factors[:, 1]) == {20}
    assert set(train.factors[:, 1]) == {10, 30}
    assert len(train) + len(test) == 24


@pytest.mark.parametrize(
    ("factor", "n_test", "expected"), [(None, None, 2), (None, 5, 5), ("height", None, 16), ("height", 1, 8)]
)
def test_images_or_levels_are_held_out_at_random(cube, factor, n_test, expected):
    train, test = cube.hold_out(n_test, 0, factor, n_levels=2)
    assert (len(train), len(test)) == (24 - expected, expected)
    if factor is not None:
        assert not set(train.factors[:, 1]) & set(test.factors[:, 1])
    with pytest.raises(ValueError, match="n_test must be an integer from 1 to"):
        cube.hold_out(24, 0, factor)


@pytest.mark.parametrize(
    ("levels", "sentence"),
    [
        ([[0, 3, 0]], r"integers \(n, 3\) counted from 0 \(kind 2, height 3, turn 4\); got levels up to \[0, 3, 0\]"),
        ([[0, -1, 0]], "levels must be integers"),
        ([0, 1, 2], r"got int64 of shape \(3,\)"),
        ([[0.5, 1, 2]], "got float64"),
    ],
)
def test_bad_levels_are_refused(cube, levels, sentence):
    with pytest.raises(ValueError, match=sentence):
        cube.images(levels)


def test_larger_splits_than_the_grid_are_refused(cube):
    with pytest.raises(ValueError, match="n_test must be an integer from 1 to 23; got 24"):
        cube.split(None, 24, 0)
    with pytest.raises(ValueError, match="n_train must be an integer from 1 to 18; got 19"):
        cube.split(19, 6, 0)


def test_pooling_is_the_mean_of_blocks():
    images = np.random.default_rng(0).integers(0, 256, (2, 3, 16, 16), dtype=np.uint8)
    np.testing.assert_allclose(average_pool(images, 8)[1, 2, 3, 5], images[1, 2, 6:8, 10:12].mean(), atol=0.5)
    assert average_pool(images, 16) is images
    with pytest.raises(ValueError, match="size must be one of 8, 16, 32, 64; got 48"):
        check_pooled_size(48, 64)
    with pytest.raises(ValueError, match="got '64'"):
        check_pooled_size("64", 64)


def test_grids_are_found_by_the_names_of_their_data_sets():
    for name in ("cars3d", "chairs3d", "dsprites", "dsprites_redrawn", "mpi3d", "shapes3d", "smallnorb"):
        assert name in data_sets()
    with pytest.raises(
        ValueError,
        match=r"name must be a data set with every combination of its factors; got 'dsprite'; did you mean 'dsprites'",
    ):
        grid("dsprite")
    with pytest.raises(ValueError, match="options of dsprites_redrawn must be among size=64; got 'folder'"):
        grid("dsprites_redrawn", folder="x")
