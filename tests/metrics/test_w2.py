from pathlib import Path

import numpy as np
import pytest

from untwine.metrics import w2_distance

GOLDEN = np.load(Path(__file__).parents[1] / "golden" / "optimal_transport.npz", allow_pickle=False)


def test_equals_the_reference():
    result = w2_distance(GOLDEN["equal_x"], GOLDEN["equal_y"])
    assert result.n == 40
    assert result.value == pytest.approx(float(GOLDEN["equal_w2_squared"]), abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_equals_pot(seed):
    import ot

    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(60, 4)), 2 * rng.normal(size=(60, 4)) + 1
    even = np.full(60, 1 / 60)
    assert w2_distance(x, y, seed=seed).value == pytest.approx(ot.emd2(even, even, ot.dist(x, y)), rel=1e-9)


def test_in_one_dimension_the_sorted_samples_are_matched():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(100, 1)), rng.exponential(size=(100, 1))
    assert w2_distance(x, y).value == pytest.approx(((np.sort(x, 0) - np.sort(y, 0)) ** 2).mean(), rel=1e-12)


def test_equal_points_have_distance_0_in_any_order():
    x = np.random.default_rng(0).normal(size=(80, 3))
    assert w2_distance(x, x[::-1]) == (0.0, 0.0, 80)


def test_a_shift_adds_its_square():
    x = np.random.default_rng(0).normal(size=(80, 3))
    assert w2_distance(x, x + np.array([3.0, 0.0, 4.0])).value == pytest.approx(25.0)


def test_rotation_changes_nothing_and_scale_only_the_value():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 70, 3))
    rotation = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    plain = w2_distance(x, y)
    assert w2_distance(x @ rotation, y @ rotation).value == pytest.approx(plain.value)
    assert w2_distance(100 * x, 100 * y).value == pytest.approx(1e4 * plain.value)
    assert w2_distance(100 * x, 100 * y).relative == pytest.approx(plain.relative)


def test_the_extremes_of_the_relative_distance():
    one = np.ones((10, 2))
    assert w2_distance(one, -one).relative == pytest.approx(4.0)
    assert w2_distance(one * [1, 0], one * [0, 1]).relative == pytest.approx(2.0)
    assert w2_distance(0 * one, 0 * one) == (0.0, 0.0, 10)


def test_far_from_the_origin_it_is_still_exact():
    x = np.random.default_rng(0).normal(size=(50, 2))
    assert w2_distance(x + 1e7, x + 1e7 + [1.0, 0.0]).value == pytest.approx(1.0, rel=1e-6)


def test_unequal_sets_are_drawn_to_the_smaller_and_by_the_seed():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(90, 2)), rng.normal(size=(40, 2))
    assert w2_distance(x, y).n == 40
    assert w2_distance(x, y, n=20).n == 20
    assert w2_distance(x, y, seed=1) == w2_distance(x, y, seed=1) != w2_distance(x, y, seed=2)


def test_no_sample_is_drawn_twice():
    x = np.arange(30.0)[:, None]
    assert w2_distance(x, x, n=30, seed=5).value == 0.0  # any repeated sample would leave another unmatched


def test_bad_sets_are_refused():
    with pytest.raises(ValueError, match="one width"):
        w2_distance(np.ones((5, 2)), np.ones((5, 3)))
    with pytest.raises(ValueError, match="from 1 to 4"):
        w2_distance(np.ones((5, 2)), np.ones((4, 2)), n=5)
