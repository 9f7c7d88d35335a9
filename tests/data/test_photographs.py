import numpy as np
from PIL import Image

from untwine.data.images.photographs import brightness_and_greenness, crop_squares, read_photographs


def test_crops_are_squares_of_64_to_160_pixels(tmp_path):
    # A horizontal ramp of one grey level per two pixels: the range of a crop determines its side.
    ramp = np.repeat(np.arange(256, dtype=np.uint8), 2)
    photograph = np.broadcast_to(ramp[None, :, None], (300, 512, 3)).copy()
    crops = crop_squares(np.random.default_rng(0), [photograph], 400, 28)
    spans = 2 * (crops[:, 0, 14, -1].astype(int) - crops[:, 0, 14, 0]) * 28 / 27
    assert 58 < spans.min() < 75
    assert 150 < spans.max() < 166
    np.testing.assert_array_equal(crops[:, :, 3], crops[:, :, 20])
    assert crops[:, 0, 14, 0].min() < 20
    assert crops[:, 0, 14, -1].max() > 235


def test_large_photographs_are_resized_and_sorted_by_name(tmp_path):
    Image.new("RGB", (1024, 2048), (1, 2, 3)).save(tmp_path / "b.PNG")
    Image.new("L", (100, 70), 9).save(tmp_path / "a.jpg")
    first, second = read_photographs(tmp_path)
    assert first.shape == (70, 100, 3)
    assert second.shape == (1024, 512, 3)
    assert (second == (1, 2, 3)).all()


def test_brightness_and_greenness_by_hand():
    images = np.zeros((2, 3, 2, 2), np.uint8)
    images[0, 1] = 255
    images[1] = np.array([51, 102, 0])[:, None, None]
    np.testing.assert_allclose(brightness_and_greenness(images), [[1, 1], [0.4, 0.4 - 0.1]])
