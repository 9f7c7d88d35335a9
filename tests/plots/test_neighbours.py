import numpy as np
import pytest

from untwine import plots

RNG = np.random.default_rng(0)


def test_every_image_stands_left_of_those_nearest_to_it_part_by_part():
    sources, by_class, by_content = RNG.random((3, 1, 8, 8)), RNG.random((3, 4, 1, 8, 8)), RNG.random((3, 2, 1, 8, 8))
    figure = plots.nearest_neighbours(sources, {"class": by_class, "content": by_content})
    figure.canvas.draw()
    assert [text.get_text() for text in figure.axes[0].texts] == ["image", "nearest by class", "nearest by content"]
    shown = {(image.get_extent()[3], image.get_extent()[0]): np.asarray(image.get_array()) for image in figure.axes[0].images}
    expected = np.concatenate([sources[:, None], by_class, by_content], axis=1)[:, :, 0].reshape(21, 8, 8)
    np.testing.assert_array_equal([shown[place] for place in sorted(shown)], expected)


def test_neighbours_refuse_what_does_not_fit():
    x = np.zeros((2, 1, 8, 8))
    with pytest.raises(ValueError, match="at least one part; got none"):
        plots.nearest_neighbours(x, {})
    with pytest.raises(ValueError, match="a row for each of 2 images nearest by class; got 3"):
        plots.nearest_neighbours(x, {"class": np.zeros((3, 2, 1, 8, 8))})
    with pytest.raises(ValueError, match=r"\(rows, columns, C, H, W\) for content"):
        plots.nearest_neighbours(x, {"content": x})
