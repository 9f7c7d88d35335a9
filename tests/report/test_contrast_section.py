"""The first thing that a page says: whether there is anything salient in the data."""

from __future__ import annotations

import html
import re

import pytest
from run_folders import ABOUT, ONE_BLOCK, contrast, gallery

from untwine.report.page import page
from untwine.report.sections.contrast import contrast as section
from untwine.report.sections.contrast import sentences
from untwine.runs.reading import read_runs

VECTORS = {**ABOUT, "shape": [20]}


def read(path):
    return read_runs(path)[0]


def test_it_comes_first_and_says_p_value_level_and_both_numbers(folder):
    text = page([read(folder.full())])
    assert text.index("Is there anything salient?") < text.index("The parts came apart") < text.index("Scores</h3>")
    shown = section(read(folder.root / "demo"))
    assert "p\u00a0=\u00a00.005: significant at 5 %" in shown
    assert "Estimated number of salient dimensions: 2. This run has 2." in shown
    assert "199 times" in shown
    assert "600 rows of target and 500 of background" in shown
    assert 'alt="The contrast of 10 directions, from 0.90 to -0.15; 2 are beyond chance."' in shown


@pytest.mark.parametrize(
    "p_value, estimate, about, words",
    [
        (0.04, 1, ABOUT, "significant at 5 %). Estimated number of salient dimensions: 1. This run has 2, more than that"),
        (0.05, 5, ABOUT, "This run has 2. That may do: what is one curved factor"),
        (0.005, 5, VECTORS, 'This run has 2, fewer than that: something may be left out. n_salient="auto" takes'),
        (0.06, 0, ABOUT, "No sign of it. Targets vary in no way that chance does not explain"),
        (0.06, 0, ABOUT, "p\u00a0=\u00a00.060: not significant at 5 %). What a salient part shows here may be chance."),
        (0.06, 0, ABOUT, "Estimated number of salient dimensions: 0. This run has 2."),
    ],
)
def test_what_was_found_is_said_in_words(folder, p_value, estimate, about, words):
    run = read(folder.full(about=about, contrast=contrast(p_value, estimate)))
    said = " ".join(sentences(run.contrast, run.width("salient"), run.has_images))
    assert words in html.unescape(re.sub("<.*?>", "", said))


def test_a_method_without_a_salient_part_is_not_asked(folder):
    run = read(folder.full(about=ONE_BLOCK, gallery=gallery(blocks=("z",)), scores={}))
    assert section(run) == ""
    assert "Is there anything salient?" not in page([run])


def test_without_a_test_the_command_is_named(folder):
    run = read(folder.full(contrast=None))
    assert f"untwine evaluate {run.path}" in section(run)


def test_data_that_does_not_vary_has_no_image(folder):
    empty = {**contrast(1.0, 0), "contrasts": [], "chance": []}
    assert "the data does not vary" in section(read(folder.full(contrast=empty)))
