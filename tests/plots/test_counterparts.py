"""The colours of differences, and outlines that enclose exactly the pixels of a mask."""

import numpy as np
import pytest

from untwine import plots


def test_darker_is_red_brighter_is_blue_and_the_outline_has_the_perimeter_of_the_mask():
    images = np.full((2, 1, 8, 8), 0.5)
    counterparts = images.copy()
    counterparts[0, 0, 1:3, 1:4] = 0.9  # the image is darker there
    counterparts[0, 0, 5:7, 5:7] = 0.1
    masks = np.zeros((2, 8, 8), bool)
    masks[0, 1:3, 1:4] = True
    axes = plots.salient_maps(images, images, counterparts, masks).axes[0]
    assert [text.get_text() for text in axes.texts] == ["image", "reconstruction", "counterpart", "difference", "mask"]
    red, _, blue = np.moveaxis(axes.images[6].get_array(), -1, 0)  # the fourth row of two
    assert (red[1:3, 1:4] > blue[1:3, 1:4] + 0.2).all()
    assert (blue[5:7, 5:7] > red[5:7, 5:7] + 0.2).all()
    np.testing.assert_allclose(red[0], blue[0], atol=0.02)
    segments = [segment for lines in axes.collections for segment in lines.get_segments()]
    assert len(segments) == 2 * (2 + 3)
    points = np.concatenate(segments)
    left, _, _, top = axes.images[8].get_extent()
    np.testing.assert_allclose([points[:, 0].min(), points[:, 0].max()], [left + 1 / 8, left + 4 / 8])
    np.testing.assert_allclose([points[:, 1].min(), points[:, 1].max()], [top + 1 / 8, top + 3 / 8])


def test_there_is_no_row_of_masks_without_masks():
    images = np.zeros((1, 3, 8, 10), np.uint8)
    assert len(plots.salient_maps(images, images / 255.0, images / 255.0).axes[0].texts) == 4


def test_shapes_must_agree():
    images = np.zeros((2, 1, 8, 8))
    with pytest.raises(ValueError, match="must have one shape"):
        plots.salient_maps(images, images[:1], images)
    with pytest.raises(ValueError, match=r"masks must have shape \(m, H, W\)"):
        plots.salient_maps(images, images, images, images)
