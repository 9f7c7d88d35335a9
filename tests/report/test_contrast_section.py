"""The first thing on a page: whether there is salient variation in the data."""

from __future__ import annotations

import html
import re

import pytest
from run_folders import CARD, ONE_BLOCK, contrast, stored_gallery

from untwine.report.contrast import contrast as section
from untwine.report.contrast import sentences
from untwine.report.page import page
from untwine.runs.reading import read_runs

VECTORS = {**CARD, "shape": [20]}


def read(path):
    return read_runs(path)[0]


def test_it_comes_first_and_says_p_value_level_and_both_numbers(folder):
    text = page([read(folder.full())])
    assert text.index("Is there salient variation?") < text.index("The blocks are disentangled") < text.index("Scores</h3>")
    shown = section(read(folder.root / "demo"))
    assert "p\u00a0=\u00a00.005: significant at 5 %" in shown
    assert "Estimated number of salient dimensions: 2. This run has 2." in shown
    assert "199 times" in shown
    assert "600 samples of target and 500 of background" in shown
    assert 'alt="The contrast of 10 directions, from 0.90 to -0.15; 2 are beyond chance."' in shown


@pytest.mark.parametrize(
    "p_value, estimate, about, words",
    [
        (0.04, 1, CARD, "significant at 5 %). Estimated number of salient dimensions: 1. This run has 2, more than estimated"),
        (0.05, 5, CARD, "This run has 2. For images that can suffice: one nonlinear factor"),
        (
            0.005,
            5,
            VECTORS,
            'This run has 2, fewer than estimated: some salient variation may be missed. n_salient="auto" uses',
        ),
        (0.06, 0, CARD, "No evidence of it. There is no direction in which targets vary more than expected by chance"),
        (0.06, 0, CARD, "p\u00a0=\u00a00.060: not significant at 5 %). What the salient block shows here may be noise."),
        (0.06, 0, CARD, "Estimated number of salient dimensions: 0. This run has 2."),
    ],
)
def test_the_result_is_put_in_words(folder, p_value, estimate, about, words):
    run = read(folder.full(card=about, contrast=contrast(p_value, estimate)))
    text = " ".join(sentences(run.contrast, run.width("salient"), run.has_images))
    assert words in html.unescape(re.sub("<.*?>", "", text))


def test_a_method_without_a_salient_block_has_no_contrast_test(folder):
    run = read(folder.full(card=ONE_BLOCK, gallery=stored_gallery(blocks=("z",)), scores={}))
    assert section(run) == ""
    assert "Is there salient variation?" not in page([run])


def test_without_a_test_the_command_is_named(folder):
    run = read(folder.full(contrast=None))
    assert f"untwine evaluate {run.path}" in section(run)


def test_data_that_does_not_vary_has_no_image(folder):
    empty = {**contrast(1.0, 0), "contrasts": [], "chance": []}
    assert "the data does not vary" in section(read(folder.full(contrast=empty)))
