import numpy as np
import pytest

from untwine import plots

RNG = np.random.default_rng(0)


def words(axes):
    return [text.get_text() for text in axes.texts]


def test_traversals_have_one_latent_per_row_with_its_range_and_label_dead_ones():
    grid = RNG.random((3, 4, 1, 8, 8))
    values = np.array([np.linspace(-2, 1.5, 4), np.linspace(0, 1, 4), np.zeros(4)])
    figure = plots.traversal_grid(grid, values, ["z 7", "z 0", "z 1"], [0.3, 0.1, 1e-9], title="traversals")
    figure.canvas.draw()
    assert words(figure.axes[0]) == ["traversals", "z 7", "-2 to 1.5", "z 0", "0 to 1", "z 1", "dead"]
    drawn = {(i.get_extent()[3], i.get_extent()[0]): np.asarray(i.get_array()) for i in figure.axes[0].images}
    np.testing.assert_array_equal([drawn[key] for key in sorted(drawn)], grid[:, :, 0].reshape(12, 8, 8))
    for text in figure.axes[0].texts:
        assert text.get_window_extent().x0 >= figure.bbox.x0


def test_traversals_without_names_are_numbered():
    figure = plots.traversal_grid(np.zeros((2, 3, 3, 8, 8), dtype=np.uint8))
    assert [word for word in words(figure.axes[0]) if word] == ["0", "1"]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"names": ["a"]}, r"names must have shape \(2,\), as the grid has; got \(1,\)"),
        ({"values": np.zeros((2, 5))}, r"values must have shape \(2, 3\)"),
        ({"change": np.zeros(3)}, r"change must have shape \(2,\)"),
    ],
)
def test_traversals_of_wrong_shapes_are_refused(given, sentence):
    with pytest.raises(ValueError, match=sentence):
        plots.traversal_grid(np.zeros((2, 3, 1, 8, 8)), **given)


def test_a_factor_matrix_shows_its_numbers_and_frames_the_best_latent_of_each_factor():
    matrix = np.array([[0.9, 0.1, 0.0], [0.2, 0.8, 0.01]])
    figure = plots.factor_matrix(matrix, ["x", "y", "angle"], ["z 0", "z 1"], title="factors")
    axes = figure.axes[0]
    np.testing.assert_array_equal(axes.images[0].get_array(), matrix)
    assert words(axes) == ["0.90", "0.10", "0.00", "0.20", "0.80", "0.01"]
    frames = [(round(patch.get_x() + 0.48), round(patch.get_y() + 0.46)) for patch in axes.patches]
    assert frames == [(0, 0), (1, 1)]  # no latent encodes the angle
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["x", "y", "angle"]


def test_a_large_factor_matrix_has_no_numbers_and_its_scale_may_be_its_own():
    figure = plots.factor_matrix(np.full((32, 40), 3.0), largest=None)
    assert words(figure.axes[0]) == []
    assert figure.axes[0].images[0].get_clim() == (0, 3)


@pytest.mark.parametrize("matrix", [np.zeros(3), np.zeros((0, 2)), np.full((2, 2), np.nan)])
def test_a_factor_matrix_must_be_finite_and_two_dimensional(matrix):
    with pytest.raises(ValueError, match="matrix must be finite scores"):
        plots.factor_matrix(matrix)
    with pytest.raises(ValueError, match="factor_names must have 2 names; got 1"):
        plots.factor_matrix(np.ones((2, 2)), ["a"])


def test_dead_latents_are_grey_and_labelled():
    figure = plots.latent_statistics([0.1, -0.2, 0.0, 0.5], [1.0, 0.9, 0.04, 0.0])
    axes = figure.axes[0]
    assert words(axes) == ["dead", "dead"]
    assert [round(text.get_position()[0]) for text in axes.texts] == [2, 3]
    active, dead = (container.lines[0] for container in axes.containers)
    np.testing.assert_array_equal(active.get_xydata(), [[0, 0.1], [1, -0.2]])
    np.testing.assert_array_equal(dead.get_xydata(), [[2, 0.0], [3, 0.5]])
    assert active.get_color() != dead.get_color()


def test_latents_that_are_all_dead_can_be_drawn():
    figure = plots.latent_statistics(np.zeros(2), np.zeros(2), title="z")
    figure.canvas.draw()
    assert words(figure.axes[0]) == ["dead", "dead"]


@pytest.mark.parametrize(("means", "stds"), [([0.0], [1.0, 1.0]), ([], []), ([0.0], [-1.0]), ([np.nan], [1.0])])
def test_latent_statistics_must_be_finite_and_of_one_length(means, stds):
    with pytest.raises(ValueError, match="means and stds must be finite, one each per latent"):
        plots.latent_statistics(means, stds)


def test_a_trade_off_has_an_annotated_point_for_each_value():
    error = {"beta-VAE": [[0.1, 0.2], [0.3, 0.4]], "VAE": [0.05]}
    score = {"beta-VAE": [[0.5, 0.9], [0.3, 0.7]], "VAE": [0.1]}
    figure = plots.trade_off(error, score, {"beta-VAE": [4, 60]}, y="SAP")
    figure.canvas.draw()
    axes = figure.axes[0]
    np.testing.assert_allclose(axes.lines[0].get_xydata(), [[0.2, 0.4], [0.3, 0.8]])
    assert words(axes) == ["4", "60"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("reconstruction error", "SAP")


def test_a_trade_off_of_wrong_lengths_is_refused():
    with pytest.raises(ValueError, match="needs an error for every score; got none for 'b'"):
        plots.trade_off({}, {"b": [1.0]})
    with pytest.raises(ValueError, match="got 1, 2 and 0"):
        plots.trade_off({"b": [1.0]}, {"b": [1.0, 2.0]})
    for empty in ([], [[]], np.zeros((0, 0))):
        with pytest.raises(ValueError, match="at least one error and score of 'b'; got none; leave it out"):
            plots.trade_off({"a": [1.0], "b": empty}, {"a": [1.0], "b": empty})
    with pytest.raises(ValueError, match="at least one method; got none"):
        plots.trade_off({}, {})


def test_the_statistics_of_many_latents_are_readable():
    figure = plots.latent_statistics(np.linspace(-1, 1, 300), np.r_[np.full(299, 0.5), 0.0])
    figure.canvas.draw()
    axes = figure.axes[0]
    assert figure.get_size_inches()[0] < 16
    assert [tick.get_text() for tick in axes.get_xticklabels()][:3] == ["0", "10", "20"]
    assert words(axes) == []
    assert sum(len(line.get_xdata()) for line in axes.lines if line.get_marker() == "o") == 300


def test_dimensions_that_collapsed_to_the_prior_are_grey_and_counted():
    figure = plots.posterior_statistics([0.01, 2.0, 0.05, 0.0], [0.99, 0.1, 1.02, 0.5], title="content")
    above, below = figure.axes
    assert above.get_title("left") == "content: 2 of 4 dimensions at the prior"
    assert [bar.get_height() for bar in above.patches] == [0.01, 2.0, 0.05, 0.0]
    np.testing.assert_allclose([bar.get_y() + bar.get_height() for bar in below.patches], [0.99, 0.1, 1.02, 0.5])
    for axes in (above, below):
        colours = [bar.get_facecolor() for bar in axes.patches]
        assert colours[0] == colours[2] != colours[1] == colours[3]
    assert plots.posterior_statistics(np.zeros(128), np.ones(128)).get_size_inches()[0] <= 14


@pytest.mark.parametrize(("means", "stds"), [([], []), ([0.0], [1.0, 1.0]), ([np.nan], [1.0]), ([0.0], [-1.0])])
def test_posterior_statistics_must_be_finite_and_of_one_length(means, stds):
    with pytest.raises(ValueError, match="means and stds must be finite, one each per latent"):
        plots.posterior_statistics(means, stds)
