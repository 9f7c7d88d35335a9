import numpy as np
import pytest

from untwine.plots import contrast_spectrum


def test_points_are_the_contrasts_and_those_beyond_chance_are_marked():
    (axes,) = contrast_spectrum([0.9, 0.8, 0.1, -0.5], [0.2, 0.15, 0.12], 2).axes
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == ["what chance reaches", "beyond chance: 2", "not beyond chance"]
    points = {one.get_label(): np.asarray(one.get_offsets()) for one in axes.collections}
    np.testing.assert_allclose(points["beyond chance: 2"], [[1, 0.9], [2, 0.8]])
    np.testing.assert_allclose(points["not beyond chance"], [[3, 0.1], [4, -0.5]])
    band = axes.collections[0].get_paths()[0].vertices
    assert band[:, 1].max() == pytest.approx(0.2)
    # The last bound holds for what was not tested.
    assert band[np.isclose(band[:, 0], 4.5)][:, 1].max() == pytest.approx(0.12)


def test_one_direction_is_enough():
    (axes,) = contrast_spectrum([0.3], [0.5], 0).axes
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["what chance reaches", "not beyond chance"]


@pytest.mark.parametrize(
    "arguments", [([], [], 0), ([0.1], [], 0), ([0.1], [0.1, 0.2], 0), ([0.1], [0.2], 2), ([[0.1]], [0.1], 0)]
)
def test_numbers_that_do_not_fit_get_a_sentence(arguments):
    with pytest.raises(ValueError, match="contrast_spectrum expected contrasts"):
        contrast_spectrum(*arguments)
