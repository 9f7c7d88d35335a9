"""Resampling keeps constants and straight lines, loses nothing between wide steps, and comes back."""

import numpy as np
import pytest

from untwine.data.imaging.grid import frame, resample, weights


@pytest.mark.parametrize(("n", "mm", "size", "fov"), [(24, 2.0, 16, 48.0), (30, 1.5, 64, 45.0), (15, 3.0, 15, 45.0)])
def test_constants_and_lines_are_kept_away_from_the_edges(n, mm, size, fov):
    w, step = weights(n, mm, size, fov / size), fov / size
    middle = slice(size // 4, -(size // 4))
    place = (np.arange(n) - (n - 1) / 2) * mm
    np.testing.assert_allclose(w.sum(1)[middle], 1)
    centres = (np.arange(size) - (size - 1) / 2) * step
    np.testing.assert_allclose((w @ place)[middle], centres[middle], atol=0.02 * step)


def test_equal_grids_are_the_identity_and_none_is_passed_over():
    np.testing.assert_allclose(weights(12, 2.0, 12, 2.0), np.eye(12), atol=1e-12)
    w = weights(60, 1.0, 10, 6.0)
    np.testing.assert_allclose(w.sum(0)[6:-6], 1 / 6)  # every voxel counts as much as any other


def test_outside_is_zero_and_a_smooth_image_comes_back():
    fitted = frame((20, 30), (2.0, 2.0), 40, None)
    assert [matrix.shape for matrix in fitted.forward] == [(40, 20), (40, 30)]
    rows, columns = np.meshgrid(np.linspace(-1, 1, 20), np.linspace(-1, 1, 30), indexing="ij")
    x = np.exp(-4 * (rows**2 + columns**2))[None]
    pixels = resample(x, fitted.forward)
    assert pixels.shape == (1, 40, 40)
    assert pixels[0, 0].max() < 1e-6  # the image is 40 mm high and the square 60 mm
    np.testing.assert_allclose(resample(pixels, fitted.back), x, atol=0.03)
    assert all(inside.all() for inside in fitted.inside)


def test_a_square_smaller_than_the_slice_says_what_it_covers():
    fitted = frame((20, 20), (1.0, 1.0), 8, 10.0)
    assert [int(inside.sum()) for inside in fitted.inside] == [10, 10]
