import numpy as np
import pytest

from untwine.data import data_sets, grid
from untwine.data.factor_grid import FactorGrid, averaged, divisor


@pytest.fixture
def cube():
    """Return a grid whose images show their row."""
    values = (np.array([0.0, 1.0]), np.array([10.0, 20.0, 30.0]), np.array([-1.0, 0.0, 1.0, 2.0]))

    def read(rows):
        return np.broadcast_to(np.asarray(rows, np.uint8)[:, None, None, None], (len(rows), 1, 8, 8))

    return FactorGrid(("kind", "height", "turn"), values, read, "kind", ("cup", "jug"))


def test_rows_and_levels_are_each_others_inverse_the_last_factor_first(cube):
    assert len(cube) == 24
    rows = np.random.default_rng(0).permutation(24)
    np.testing.assert_array_equal(cube.rows(cube.levels(rows)), rows)
    np.testing.assert_array_equal(cube.levels([0, 1, 4, 12]), [[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0]])
    np.testing.assert_array_equal(cube.images([[1, 2, 3], [0, 0, 2]])[:, 0, 0, 0], [23, 2])


def test_samples_have_the_values_of_their_factors_and_their_class(cube):
    samples = cube.samples(np.array([23, 5]))
    np.testing.assert_array_equal(samples.factors, [[1, 30, 2], [0, 20, 0]])
    np.testing.assert_array_equal(samples.labels, [1, 0])
    assert samples.label_names == ("cup", "jug")
    assert samples.factor_names == ("kind", "height", "turn")
    assert samples.groups is None


def test_a_split_shares_no_image_and_follows_the_seed(cube):
    train, test = cube.split(None, 6, 0)
    rows = [part.x[:, 0, 0, 0].tolist() for part in (train, test)]
    assert sorted(rows[0] + rows[1]) == list(range(24))
    assert len(rows[1]) == 6
    assert cube.split(5, 6, 0).train.x[:, 0, 0, 0].tolist() == rows[0][:5]
    assert cube.split(None, 6, 1).test.x[:, 0, 0, 0].tolist() != rows[1]


def test_levels_of_one_factor_can_be_held_out(cube):
    train, test = cube.apart("height", np.array([1]))
    assert set(test.factors[:, 1]) == {20}
    assert set(train.factors[:, 1]) == {10, 30}
    assert len(train) + len(test) == 24


@pytest.mark.parametrize(
    ("levels", "sentence"),
    [
        ([[0, 3, 0]], r"whole numbers \(n, 3\) counted from 0 \(kind 2, height 3, turn 4\); got levels up to \[0, 3, 0\]"),
        ([[0, -1, 0]], "levels expected"),
        ([0, 1, 2], r"but got int64 of shape \(3,\)"),
        ([[0.5, 1, 2]], "but got float64"),
    ],
)
def test_bad_levels_get_their_sentence(cube, levels, sentence):
    with pytest.raises(ValueError, match=sentence):
        cube.images(levels)


def test_more_than_there_is_cannot_be_split(cube):
    with pytest.raises(ValueError, match="n_test must be a whole number from 1 to 23; got 24"):
        cube.split(None, 24, 0)
    with pytest.raises(ValueError, match="n_train must be a whole number from 1 to 18; got 19"):
        cube.split(19, 6, 0)


def test_averaging_is_the_mean_of_squares():
    images = np.random.default_rng(0).integers(0, 256, (2, 3, 16, 16), dtype=np.uint8)
    np.testing.assert_allclose(averaged(images, 8)[1, 2, 3, 5], images[1, 2, 6:8, 10:12].mean(), atol=0.5)
    assert averaged(images, 16) is images
    with pytest.raises(ValueError, match="size must be one of 8, 16, 32, 64; got 48"):
        divisor(48, 64)
    with pytest.raises(ValueError, match="but got '64'"):
        divisor("64", 64)


def test_grids_have_the_names_of_their_data_sets():
    for name in ("cars3d", "chairs3d", "dsprites", "dsprites_redrawn", "mpi3d", "shapes3d", "smallnorb"):
        assert name in data_sets()
    with pytest.raises(ValueError, match=r"grid expected the name of a data set with all combinations.*did you mean dsprites"):
        grid("dsprite")
    with pytest.raises(ValueError, match="dsprites_redrawn has no option 'folder'; it takes size=64"):
        grid("dsprites_redrawn", folder="x")
