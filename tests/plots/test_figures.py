from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from untwine import plots

RNG = np.random.default_rng(0)


def drawn_images(figure):
    return [np.asarray(image.get_array()) for image in figure.axes[0].images]


def texts(figure):
    return [text.get_text() for text in figure.axes[0].texts]


def legend(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def draw(figure):
    figure.canvas.draw()
    return figure


def test_image_rows_draw_the_given_images_with_their_names():
    grey, colour = RNG.random((3, 1, 8, 8), dtype=np.float32), RNG.integers(0, 256, (2, 3, 8, 12), dtype=np.uint8)
    figure = draw(plots.image_rows({"grey": grey, "[z, 0]": colour}, titles=["a", "b", "c"]))
    assert texts(figure) == ["grey", "[z, 0]", "a", "b", "c"]
    images = drawn_images(figure)
    assert len(images) == 5
    np.testing.assert_array_equal(images[0], grey[0, 0])
    np.testing.assert_array_equal(images[4], np.moveaxis(colour[1], 0, -1))


def test_image_rows_are_below_each_other_and_keep_aspect_ratios():
    figure = plots.image_rows({"a": np.zeros((2, 1, 8, 8)), "b": np.zeros((2, 1, 8, 16))})
    boxes = [image.get_extent() for image in figure.axes[0].images]
    left, right, bottom, top = np.array(boxes).T
    assert top[2] > bottom[0]
    assert left[1] > right[0]
    np.testing.assert_allclose((bottom - top) / (right - left), [1, 1, 0.5, 0.5])


@pytest.mark.parametrize("channels, ndim", [(1, 2), (2, 2), (3, 3), (4, 3)])
def test_any_number_of_channels_is_drawn(channels, ndim):
    x = RNG.random((1, channels, 8, 8), dtype=np.float32)
    image = drawn_images(draw(plots.image_rows({"x": x})))[0]
    assert image.ndim == ndim
    np.testing.assert_array_equal(image if ndim == 2 else image[..., 2], x[0, 0 if ndim == 2 else 2])


def test_a_swap_grid_has_its_sources_in_the_first_row_and_column():
    common, salient = RNG.random((2, 3, 8, 8)), RNG.random((3, 3, 8, 8))
    grid = RNG.random((2, 3, 3, 8, 8))
    figure = draw(plots.swap_grid(common, salient, grid))
    assert texts(figure) == ["salient block from", "common block from"]
    places = {tuple(np.round(image.get_extent(), 3)): np.asarray(image.get_array()) for image in figure.axes[0].images}
    assert len(places) == 2 + 3 + 6
    rows = sorted({box[3] for box in places})
    columns = sorted({box[0] for box in places})
    at = {(rows.index(box[3]), columns.index(box[0])): image for box, image in places.items()}
    assert (0, 0) not in at
    for i in range(2):
        np.testing.assert_array_equal(at[i + 1, 0], np.moveaxis(common[i], 0, -1))
        for j in range(3):
            np.testing.assert_array_equal(at[0, j + 1], np.moveaxis(salient[j], 0, -1))
            np.testing.assert_array_equal(at[i + 1, j + 1], np.moveaxis(grid[i, j], 0, -1))


def test_an_interpolation_frames_its_four_corners():
    grid = RNG.random((4, 5, 1, 8, 8))
    figure = draw(plots.interpolation(grid))
    assert len(drawn_images(figure)) == 20
    np.testing.assert_array_equal(drawn_images(figure)[7], grid[1, 2, 0])
    assert len(figure.axes[0].lines) == 4


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: plots.image_rows({}), "at least one row"),
        (lambda: plots.image_rows({"a": np.zeros((2, 8, 8))}), "the row 'a' must be images"),
        (lambda: plots.image_rows({"a": np.full((2, 1, 8, 8), np.nan)}), "finite floats"),
        (lambda: plots.image_rows({"a": np.zeros((2, 1, 8, 8))}, titles=["one"]), "a title for each of the 2 columns"),
        (lambda: plots.swap_grid(*[np.zeros((2, 1, 8, 8))] * 2, np.zeros((2, 3, 1, 8, 8))), "grid must have 2 x 2 images"),
        (lambda: plots.embedding_scatter(np.zeros((3, 4))), "points must have shape \\(n, 2\\)"),
        (
            lambda: plots.embedding_scatter(np.zeros((3, 2)), labels=[0, 1]),
            "labels must have one value for each of the 3",
        ),
        (lambda: plots.training_curves([]), "at least one row"),
        (lambda: plots.training_curves([{"stage": "fit"}]), "stage, epoch, player, term and value"),
        (lambda: plots.scores_bars({}, "probe"), "at least one finite score"),
        (lambda: plots.feature_profiles({"a": np.zeros((2, 3)), "b": np.zeros((2, 4))}), "rows must be arrays of one shape"),
    ],
)
def test_wrong_inputs_are_refused(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


def clusters(centres, points=30):
    labels = np.repeat(np.arange(len(centres)), points)
    return np.asarray(centres)[labels] + RNG.normal(size=(len(labels), 2)), labels


def test_the_background_of_an_embedding_is_drawn_below():
    points, labels = clusters([(0, 0), (20, 0), (0, 20)])
    labels, groups = np.where(labels == 2, -1, labels), np.where(labels == 2, 0, 1)
    figure = draw(
        plots.embedding_scatter(
            points, labels, groups, label_names=["cat", "dog"], group_names=["grass", "pets"], title="salient"
        )
    )
    assert legend(figure) == ["cat", "dog", "grass"]
    dots = {each.get_gid(): each for each in figure.axes[0].collections}
    np.testing.assert_allclose(dots["grass"].get_offsets(), points[groups == 0])
    np.testing.assert_allclose(dots["dog"].get_offsets(), points[labels == 1])
    assert dots["grass"].get_zorder() < dots["cat"].get_zorder()
    assert len({tuple(each.get_facecolor()[0]) for each in (dots["cat"], dots["dog"])}) == 2
    assert figure.axes[0].get_title() == "salient"


def test_only_compact_classes_have_their_name_in_the_embedding():
    points, labels = clusters([(0, 0), (30, 0), (0, 30)])
    assert texts(plots.embedding_scatter(points, labels)) == ["0", "1", "2"]
    assert texts(plots.embedding_scatter(points, RNG.permutation(labels))) == []


def test_an_embedding_without_labels_is_coloured_by_group():
    points, groups = clusters([(0, 0), (9, 0), (0, 9)])
    figure = draw(plots.embedding_scatter(points, None, groups, group_names=["controls", "a", "b"]))
    assert legend(figure) == ["a", "b", "controls"]


def test_more_classes_than_colours_differ_by_marker():
    points, labels = clusters(RNG.normal(size=(25, 2)) * 50, points=3)
    figure = draw(plots.embedding_scatter(points, labels, label_names=[f"_$x{i}$" for i in range(25)]))
    looks = {(tuple(each.get_facecolor()[0]), each.get_paths()[0].vertices.tobytes()) for each in figure.axes[0].collections}
    assert len(looks) == 25
    assert len(legend(figure)) == 25


def history(*terms, epochs=6):
    return [
        {"stage": stage, "epoch": str(epoch), "player": player, "term": term, "value": str(value(epoch))}
        for epoch in range(epochs)
        for stage, player, term, value in terms
    ]


def test_every_term_has_a_panel():
    rows = history(
        ("fit", "generator", "adversarial", lambda e: e - 3),
        ("fit", "generator", "info", lambda e: 10.0**-e),
        ("fit", "critic", "info", lambda e: 1 + e),
        ("fit", "critic", "broken", lambda e: "nan" if e == 2 else 1.0),
    )
    figure = draw(plots.training_curves(rows))
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == ["generator: adversarial", "generator: info", "critic: info", "critic: broken"]
    np.testing.assert_array_equal(figure.axes[0].lines[0].get_ydata(), np.arange(6) - 3)
    assert [axes.get_yscale() for axes in figure.axes] == ["linear", "log", "linear", "linear"]


def test_the_same_term_in_two_stages_has_two_panels():
    figure = plots.training_curves(history(("codes", "p", "loss", float), ("encoders", "p", "loss", float)))
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["codes · p: loss", "encoders · p: loss"]


def test_bars_have_the_scores_and_a_line_at_chance_level():
    scores = {
        "common": {"value": 0.13, "low": 0.1, "high": 0.16, "direction": "lower", "block": "common"},
        "salient": {"value": 0.91, "direction": "higher", "block": "salient"},
        "pca: z": {"value": 0.5},
        "missing": {"value": None},
    }
    figure = draw(plots.scores_bars(scores, "probe", chance=0.1))
    axes = figure.axes[0]
    np.testing.assert_allclose([bar.get_width() for bar in axes.patches], [0.13, 0.91, 0.5])
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        "common\nshould be low",
        "salient\nshould be high",
        "pca: z",
    ]
    assert any(list(line.get_xdata()) == [0.1, 0.1] for line in axes.lines)
    assert any(list(line.get_xdata()) == [0.1, 0.16] for line in axes.lines)
    assert texts(figure) == ["0.13", "0.91", "0.50"]


def test_bars_show_negative_scores():
    axes = draw(plots.scores_bars({"common": {"value": -0.4}}, "factors")).axes[0]
    assert axes.get_xlim()[0] < -0.4


def test_profiles_have_a_panel_per_sample_and_a_line_per_row():
    rows = {"original": RNG.normal(size=(4, 7)), "reconstruction": RNG.normal(size=(4, 7))}
    figure = draw(plots.feature_profiles(rows))
    assert len(figure.axes) == 4
    np.testing.assert_array_equal(figure.axes[2].lines[1].get_ydata(), rows["reconstruction"][2])
    assert legend(figure) == ["original", "reconstruction"]


def test_importing_loads_no_matplotlib_and_drawing_no_pyplot():
    code = (
        "import sys, untwine.plots, untwine.report, numpy as np; assert 'matplotlib' not in sys.modules; "
        "untwine.plots.interpolation(np.zeros((2, 2, 1, 8, 8))); assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
