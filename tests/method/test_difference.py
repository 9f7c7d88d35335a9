"""The difference of image and counterpart: one definition for Python, metrics and figures, and the rule of its threshold."""

import numpy as np
import pytest

import untwine as un
from untwine.method.difference import difference_map, foreground, one_sided, threshold


def test_it_is_image_minus_counterpart_mean_over_channels():
    x = np.zeros((2, 2, 8, 8), np.uint8)
    x[0, 0] = 255
    other = np.full((2, 2, 8, 8), 0.25, np.float32)
    np.testing.assert_allclose(difference_map(x, other), np.stack([np.full((8, 8), 0.25), np.full((8, 8), -0.25)]))
    with pytest.raises(ValueError, match="of one shape"):
        difference_map(x, other[:1])
    with pytest.raises(ValueError, match="must be images"):
        difference_map(np.zeros((2, 3)), np.zeros((2, 3)))


def test_sides():
    maps = np.array([[-0.5, 0.2]])
    np.testing.assert_array_equal(one_sided(maps, "darker"), [[0.5, -0.2]])
    np.testing.assert_array_equal(one_sided(maps, "brighter"), maps)
    np.testing.assert_array_equal(one_sided(maps, "either"), [[0.5, 0.2]])
    with pytest.raises(ValueError, match="side must be 'either', 'darker' or 'brighter'"):
        one_sided(maps, "both")


@pytest.mark.parametrize("above", [0.5, 1, 10])
@pytest.mark.parametrize("side", ["either", "darker", "brighter"])
def test_that_share_of_background_pixels_is_above_the_threshold(above, side):
    maps = np.random.default_rng(0).normal(size=(20, 40, 40))
    inside = np.random.default_rng(1).random(maps.shape) < 0.5
    maps[~inside] *= 100  # margins do not count
    limit = threshold(maps, inside, above, side)
    assert (one_sided(maps, side)[inside] > limit).mean() == pytest.approx(above / 100, rel=0.02)


def test_the_function_of_a_method_is_the_same():
    rng = np.random.default_rng(0)
    x = rng.random((40, 1, 8, 8)).astype(np.float32)
    data = un.Samples(x, groups=np.arange(40) % 2)
    method = un.ContrastivePCA(n_common=3, n_salient=2).fit(data)
    maps = un.manipulate.difference(method, data)
    np.testing.assert_allclose(maps, (x - un.manipulate.remove(method, x))[:, 0], atol=1e-6)
    np.testing.assert_array_equal(foreground(x), x[:, 0] > 0.05)
