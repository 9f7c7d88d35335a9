"""The bars are the effects, the largest change first, grey where q is not small."""

import pytest
from matplotlib.colors import to_hex

from untwine import plots
from untwine.plots.style import BLOCKS, GREY
from untwine.runs.features import Feature

NAN = float("nan")


def features(by=""):
    effects = {"a": 0.2, "b": -1.0, "c": 0.6}
    q = {"a": 0.5, "b": 0.001, "c": 0.04}
    return [Feature(n, by, abs(e) + 0.1, e, e - 0.1, e + 0.1, 2 * e, q[n] / 2, q[n]) for n, e in effects.items()]


def test_bars_are_effects_by_change_with_their_intervals():
    axes = plots.feature_effects(features(), most=2).axes[0]
    assert [bar.get_width() for bar in axes.patches] == [-1.0, 0.6]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["b", "c"]
    (lines,) = axes.collections
    assert [tuple(line[:, 0]) for line in lines.get_segments()] == [(-1.1, -0.9), (0.5, 0.7)]


def test_what_is_not_significant_is_grey_and_untested_features_are_not():
    axes = plots.feature_effects(features()).axes[0]
    assert [to_hex(bar.get_facecolor()) for bar in axes.patches] == [BLOCKS["salient"], BLOCKS["salient"], GREY]
    untested = [one._replace(q=NAN, p=NAN) for one in features()]
    assert {to_hex(bar.get_facecolor()) for bar in plots.feature_effects(untested).axes[0].patches} == {BLOCKS["salient"]}


def test_levels_have_axes_of_their_own_on_one_scale():
    figure = plots.feature_effects([*features("T cells"), *features("B cells")])
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["T cells", "B cells"]
    assert figure.axes[0].get_xlim() == figure.axes[1].get_xlim()


def test_nothing_to_draw_is_refused():
    with pytest.raises(ValueError, match="feature_effects needs at least one feature"):
        plots.feature_effects([])
