"""Histograms of features: those in which groups differ come first, each group with its share."""

import numpy as np
import pytest

from untwine.plots import feature_histograms

RNG = np.random.default_rng(0)


def titles(figure):
    return [axes.get_title(loc="left") for axes in figure.axes]


def test_the_features_that_differ_most_are_drawn_first():
    x, groups = RNG.normal(size=(200, 40)), np.arange(200) % 2
    x[:, 7] *= 50  # the largest, but the same in both groups
    x[groups == 1, 31] += 3
    names = [f"gene {i}" for i in range(40)]
    figure = feature_histograms(x, names, groups, ("control", "drug"))
    assert len(figure.axes) == 12
    assert titles(figure)[0] == "gene 31"
    assert titles(feature_histograms(x))[0] == "feature 7"
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["control", "drug"]
    assert "12 of 40 features" in figure.get_suptitle()


def test_each_group_has_a_histogram_of_its_own_share():
    x = np.repeat([0.0, 1.0], [30, 10])[:, None]
    figure = feature_histograms(x, ["a"], x[:, 0].astype(int), ("many", "few"))
    tops = [patch.get_path().vertices[:, 1].max() for patch in figure.axes[0].patches]
    assert tops == pytest.approx([1, 1])


def test_images_are_refused():
    with pytest.raises(ValueError, match=r"x must be vectors \(n, d\); got shape .*; use image_rows"):
        feature_histograms(np.zeros((2, 1, 8, 8)))
