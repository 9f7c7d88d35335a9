"""The images of class and content, by a method that is right by construction."""

import numpy as np
import pytest
from known_methods import SIDE, ClassHalves, Halves, classes_in_contents, images

from untwine.evaluation.class_gallery import nearest
from untwine.evaluation.gallery import gallery

HALF = SIDE // 2


@pytest.fixture(scope="module")
def shown():
    return gallery(ClassHalves(), classes_in_contents())


def test_a_row_keeps_its_class_and_a_column_its_content(shown):
    sources, grid = shown.class_swaps.sources, shown.class_swaps.grid
    assert grid.shape == (8, 8, 1, SIDE, SIDE)
    assert grid.dtype == np.uint8
    for i in range(8):
        assert np.array_equal(grid[i, i], sources[i])
        for j in range(8):
            assert np.array_equal(grid[i, j, :, HALF:], sources[i, :, HALF:])
            assert np.array_equal(grid[i, j, :, :HALF], sources[j, :, :HALF])
    assert len(np.unique(sources[:5, :, HALF:].reshape(5, -1), axis=0)) == 5  # all five classes come first


def test_neighbours_by_class_share_it_and_neighbours_by_content_share_that(shown):
    sources, near = shown.neighbours.sources, shown.neighbours.nearest
    assert near["class"].shape == (6, 5, 1, SIDE, SIDE)
    # Each class has 11 other images, each content 4 in other classes: the fifth nearest must be another content.
    assert (near["class"][:, :, :, HALF:] == sources[:, None, :, HALF:]).all()
    alike = (near["content"][:, :, :, :HALF] == sources[:, None, :, :HALF]).all(axis=(2, 3, 4))
    assert alike.tolist() == [[True] * 4 + [False]] * 6
    for neighbours in near.values():
        assert not (neighbours == sources[:, None]).all(axis=(2, 3, 4)).any()  # never the image itself


def test_the_nearest_come_in_order_and_without_the_sample_itself():
    codes = np.array([[0.0], [3.0], [1.0], [-1.5], [0.0]])
    assert nearest(codes, np.array([0, 1]), 3).tolist() == [[4, 2, 3], [2, 0, 4]]
    assert nearest(codes[:2], np.array([0]), 5).tolist() == [[1]]


def test_one_class_of_two_images_is_shown_too():
    g = gallery(ClassHalves(), classes_in_contents(1, 2))
    assert g.class_swaps.grid.shape[:2] == (2, 2)
    assert g.neighbours.nearest["content"].shape[:2] == (2, 1)


def test_other_blocks_have_no_such_images():
    g = gallery(Halves(), images(30, 10))
    assert g.class_swaps is None
    assert g.neighbours is None
