import numpy as np
import pytest

from untwine import plots

RNG = np.random.default_rng(0)


def test_neighbours_are_drawn_right_of_their_image_block_by_block():
    sources, by_class, by_content = RNG.random((3, 1, 8, 8)), RNG.random((3, 4, 1, 8, 8)), RNG.random((3, 2, 1, 8, 8))
    figure = plots.nearest_neighbours(sources, {"class": by_class, "content": by_content})
    figure.canvas.draw()
    assert [text.get_text() for text in figure.axes[0].texts] == ["image", "nearest by class", "nearest by content"]
    drawn = {(image.get_extent()[3], image.get_extent()[0]): np.asarray(image.get_array()) for image in figure.axes[0].images}
    expected = np.concatenate([sources[:, None], by_class, by_content], axis=1)[:, :, 0].reshape(21, 8, 8)
    np.testing.assert_array_equal([drawn[place] for place in sorted(drawn)], expected)


def test_neighbours_of_wrong_shapes_are_refused():
    x = np.zeros((2, 1, 8, 8))
    with pytest.raises(ValueError, match="at least one block; got none"):
        plots.nearest_neighbours(x, {})
    with pytest.raises(ValueError, match="the images nearest by class must have a row for each of the 2 images; got 3"):
        plots.nearest_neighbours(x, {"class": np.zeros((3, 2, 1, 8, 8))})
    with pytest.raises(ValueError, match=r"content must be images \(rows, columns, C, H, W\); got shape"):
        plots.nearest_neighbours(x, {"content": x})
