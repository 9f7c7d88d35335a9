import numpy as np
import pytest

from untwine.plots import contrast_spectrum


def test_points_are_the_contrasts_and_significant_ones_are_marked():
    (axes,) = contrast_spectrum([0.9, 0.8, 0.1, -0.5], [0.2, 0.15, 0.12], 2).axes
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == ["permutation null", "significant: 2", "not significant"]
    points = {one.get_label(): np.asarray(one.get_offsets()) for one in axes.collections}
    np.testing.assert_allclose(points["significant: 2"], [[1, 0.9], [2, 0.8]])
    np.testing.assert_allclose(points["not significant"], [[3, 0.1], [4, -0.5]])
    band = axes.collections[0].get_paths()[0].vertices
    assert band[:, 1].max() == pytest.approx(0.2)
    # The last critical value holds for directions that were not tested.
    assert band[np.isclose(band[:, 0], 4.5)][:, 1].max() == pytest.approx(0.12)


def test_one_direction_is_enough():
    (axes,) = contrast_spectrum([0.3], [0.5], 0).axes
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["permutation null", "not significant"]


@pytest.mark.parametrize(
    "arguments", [([], [], 0), ([0.1], [], 0), ([0.1], [0.1, 0.2], 0), ([0.1], [0.2], 2), ([[0.1]], [0.1], 0)]
)
def test_values_that_do_not_match_are_refused(arguments):
    with pytest.raises(ValueError, match="contrast_spectrum needs at least one contrast"):
        contrast_spectrum(*arguments)
