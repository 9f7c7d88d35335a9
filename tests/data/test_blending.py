import numpy as np

from untwine.data.images.blending import blend, blend_threshold, overlay, to_bytes
from untwine.samples import unit_range

Y = np.array([[[[0.2, 0.4], [0.3, 1.0]], [[0.31, 0.0], [0.8, 0.6]]]])
T = np.array([[[1.0, 0.0], [0.5, 1.0]]])


def test_equation_10_by_hand():
    expected = [[[[0.6, 0.2], [0.4, 1.0]], [[0.655, 0.0], [0.65, 0.8]]]]
    np.testing.assert_allclose(blend(Y, T, 0.5), expected, rtol=1e-12)
    np.testing.assert_allclose(blend(Y, T, 0.75)[0, 0], [[0.4, 0.3], [0.35, 1.0]], rtol=1e-12)
    np.testing.assert_array_equal(blend(Y, T, 1.0), Y)


def test_equation_11_by_hand_for_each_pixel_and_channel():
    expected = [[[[0.0, 0.2], [0.0, 1.0]], [[0.655, 0.0], [0.65, 0.8]]]]
    np.testing.assert_allclose(blend_threshold(Y, T, 0.5, 0.3), expected, rtol=1e-12)
    np.testing.assert_allclose(blend_threshold(Y, T, 0.5, 0.9), np.where(Y > 0.9, 1.0, 0.0))


def test_bytes_are_rounded_and_round_trip():
    every = np.arange(256, dtype=np.uint8)
    np.testing.assert_array_equal(to_bytes(unit_range(every)), every)
    np.testing.assert_array_equal(to_bytes(np.array([0.0, 0.0019, 0.002, 1.0])), [0, 0, 1, 255])


def test_overlay_is_sample_by_sample_for_any_number_of_samples():
    rng = np.random.default_rng(0)
    grass = rng.integers(0, 256, (5, 3, 4, 4), dtype=np.uint8)
    digits = rng.integers(0, 256, (7, 4, 4), dtype=np.uint8)
    i, j = rng.integers(5, size=2100), rng.integers(7, size=2100)
    x = overlay(grass, i, digits, j, blend)
    for n in (0, 1, 511, 512, 2099):
        exact = 0.5 * grass[i[n]] + 0.5 * digits[j[n]]
        assert np.abs(x[n] - exact).max() <= 0.5 + 1e-4
