import numpy as np
import pytest

from untwine.plots.studies import Line, Panel, study_figure


def drawn(figure):
    figure.canvas.draw()
    return figure


def test_a_line_is_the_mean_over_seeds_in_a_band():
    y = np.array([[1.0, 4.0, 2.0], [3.0, 2.0, 2.0]])
    axes = drawn(study_figure([Panel("toy", "epoch", "w2", {"ours": Line(np.array([1, 2, 9]), y)})])).axes[0]
    np.testing.assert_array_equal(axes.lines[0].get_xydata(), [[1, 2], [2, 3], [9, 2]])
    band = axes.collections[0].get_paths()[0].vertices
    assert {(2.0, 2.0), (2.0, 4.0), (1.0, 1.0), (1.0, 3.0)} <= {tuple(point) for point in band}
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["ours"]
    assert (axes.get_title(loc="left"), axes.get_xlabel(), axes.get_ylabel()) == ("toy", "epoch", "w2")


def test_swept_values_stand_at_even_distance():
    line = Line(np.array([0, 1, 100]), np.ones((1, 3)))
    axes = drawn(study_figure([Panel("toy", "lambda_z", "score", {"s": line}, even=True)])).axes[0]
    np.testing.assert_array_equal(axes.lines[0].get_xdata(), [0, 1, 2])
    assert [text.get_text() for text in axes.get_xticklabels()] == ["0", "1", "100"]


def test_a_name_looks_the_same_in_all_panels_and_decades_are_logarithmic():
    a, b = Line(np.array([1, 2]), np.array([[1.0, 2.0]])), Line(np.array([1, 2]), np.array([[0.01, 2.0]]))
    figure = drawn(
        study_figure([Panel("1", "x", "y", {"a": a, "b": a}), Panel("2", "x", "y", {"b": b}), Panel("3", "x", "y", {})])
    )
    first, second = figure.axes
    assert first.lines[1].get_color() == second.lines[0].get_color() != first.lines[0].get_color()
    assert (first.get_yscale(), second.get_yscale()) == ("linear", "log")


def test_nothing_to_draw_is_refused():
    with pytest.raises(ValueError, match="run the study first"):
        study_figure([Panel("toy", "epoch", "w2", {})])
