from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from untwine import plots

RNG = np.random.default_rng(0)


def places(figure):
    """Return each image by the left and upper edge of its place."""
    figure.canvas.draw()
    return {(image.get_extent()[0], image.get_extent()[3]): np.asarray(image.get_array()) for image in figure.axes[0].images}


def test_strips_have_their_first_image_at_the_left_and_their_last_at_the_right():
    before, grid, after = RNG.random((2, 3, 8, 8)), RNG.random((2, 4, 3, 8, 8)), RNG.random((2, 3, 8, 8))
    figure = plots.strips(grid, before, after, titles=("A", "on the way", "B"))
    assert [text.get_text() for text in figure.axes[0].texts] == ["A", "on the way", "B"]
    drawn = places(figure)
    assert len(drawn) == 2 * 6
    rows = sorted({top for _, top in drawn})
    expected = np.concatenate([before[:, None], grid, after[:, None]], axis=1)
    for i, top in enumerate(rows):
        strip = [drawn[place] for place in sorted(place for place in drawn if place[1] == top)]
        np.testing.assert_array_equal(strip, np.moveaxis(expected[i], 1, -1))
    assert len(figure.axes[0].lines) == 2


@pytest.mark.parametrize("columns", [1, 2, 9])
def test_titles_stay_inside_the_figure_and_do_not_overlap(columns):
    x = RNG.random((1, columns, 1, 8, 8))
    figure = plots.strips(x, x[:, 0], x[:, 0], titles=("original", "its common block with new salient blocks", "B"))
    figure.canvas.draw()
    whole = figure.bbox
    boxes = sorted((text.get_window_extent().extents for text in figure.axes[0].texts), key=lambda box: box[0])
    assert boxes[0][0] >= whole.x0
    assert boxes[-1][2] <= whole.x1
    assert all(left[2] < right[0] for left, right in pairwise(boxes))


def test_strips_without_titles_and_sides_are_a_plain_grid():
    grid = RNG.integers(0, 256, (2, 3, 1, 8, 8), dtype=np.uint8)
    figure = plots.strips(grid)
    assert [text.get_text() for text in figure.axes[0].texts] == [""]
    assert len(places(figure)) == 6
    assert len(figure.axes[0].lines) == 0


def test_strips_refuse_sides_of_another_length():
    with pytest.raises(ValueError, match="before and after must have one image for each row of the grid; got 3, 2 rows"):
        plots.strips(np.zeros((2, 2, 1, 8, 8)), np.zeros((3, 1, 8, 8)))


@pytest.mark.parametrize("k", [1, 2])
def test_the_labels_of_a_small_swap_grid_stay_inside(k):
    x = np.zeros((k, 1, 8, 8))
    figure = plots.swap_grid(x, x, np.zeros((k, k, 1, 8, 8)), blocks=("content", "class"))
    figure.canvas.draw()
    assert [text.get_text() for text in figure.axes[0].texts] == ["class block from", "content block from"]
    for text in figure.axes[0].texts:
        box = text.get_window_extent()
        assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1
        assert figure.bbox.y0 <= box.y0 < box.y1 <= figure.bbox.y1
