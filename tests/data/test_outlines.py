import numpy as np
import pytest
from scipy import ndimage

from untwine.data.images.outlines import dilate, outlines, restyle, shrink


@pytest.fixture(scope="module")
def lines():
    rng = np.random.default_rng(0)
    return rng.random((6, 64, 64)) < 0.01


def test_the_outline_of_a_square_is_one_pixel_wide_and_inside():
    digit = np.zeros((1, 32, 32), np.uint8)
    digit[:, 8:24, 10:20] = 255
    (line,) = outlines(digit)
    expected = np.zeros((64, 64), bool)
    expected[16:48, 20:40] = True
    expected[17:47, 21:39] = False
    np.testing.assert_array_equal(line, expected)


def test_the_image_border_bounds_the_outline():
    (line,) = outlines(np.full((1, 28, 28), 255, np.uint8))
    assert line[0].all()
    assert line[:, -1].all()
    assert not line[1:-1, 1:-1].any()


@pytest.mark.parametrize("width", range(1, 11))
def test_dilation_is_that_of_scipy_with_a_square(lines, width):
    # An even square has no middle pixel; origin selects the one after it, as here.
    expected = [ndimage.binary_dilation(line, np.ones((width, width)), origin=-1 + width % 2) for line in lines]
    np.testing.assert_array_equal(dilate(lines, width), expected)


def test_shrinking_preserves_area_and_centre(lines):
    scale = np.linspace(0.5, 1, 6)
    for size in (32, 64):
        small = shrink(lines, scale, size)
        factor = scale * size / 64
        np.testing.assert_allclose(small.sum(axis=(1, 2)), lines.sum(axis=(1, 2)) * factor**2, rtol=1e-4)
        output = np.arange(size) + 0.5 - size / 2
        source_axis = np.arange(64) + 0.5 - 32
        for axis in (1, 2):
            weights, source = small.sum(axis=axis), lines.sum(axis=axis)
            middle = (source @ source_axis) / source.sum(axis=1) * factor
            # Intensity is attributed to the centre of its pixel, hence the tolerance.
            np.testing.assert_allclose((weights @ output) / weights.sum(axis=1), middle, atol=0.1)
    np.testing.assert_allclose(shrink(lines, np.ones(6), 64), lines, atol=1e-5)
    by_hand = lines.reshape(6, 32, 2, 32, 2).mean(axis=(2, 4))
    np.testing.assert_allclose(shrink(lines, np.ones(6), 32), by_hand, atol=1e-5)


def test_each_image_gets_its_own_style(lines):
    width, scale, colour = np.array([1, 9, 2, 9, 1, 10]), np.linspace(0.5, 1, 6), np.random.default_rng(1).random((6, 3))
    x = restyle(lines, width, scale, colour, 48)
    assert x.shape == (6, 3, 48, 48)
    assert x.dtype == np.uint8
    for i in range(6):
        grey = shrink(dilate(lines[i : i + 1], width[i]), scale[i : i + 1], 48)[0]
        np.testing.assert_allclose(x[i], 255 * colour[i, :, None, None] * grey, atol=0.51)
