"""The page of a run that takes class and content apart."""

from __future__ import annotations

import numpy as np
from run_folders import ABOUT, gallery, score
from test_page import read

CLASSES = {**ABOUT, "method": "lord", "params": {"n_class": 4, "n_content": 2}, "blocks": {"class": 4, "content": 2}}
READ = {
    "class_chance.x": score(0.021, "info"),
    "class_read.class": score(0.951),
    "class_read.content": score(0.034, "lower"),
    "content_chance.x": score(0.011, "info"),
    "content_read.class": score(0.012, "lower"),
    "content_read.content": score(0.877),
}
SWITCHED = ("Every class with every content", "Nearest in each space")


def drawn(**changes):
    rng = np.random.default_rng(0)
    arrays = gallery(blocks=("class", "content"))
    arrays |= {"switch_sources": rng.random((3, 3, 8, 8)), "switch_grid": rng.random((3, 3, 3, 8, 8))}
    arrays |= {"near_sources": rng.random((2, 3, 8, 8)), "near_class": rng.random((2, 5, 3, 8, 8))}
    return {**arrays, "near_content": rng.random((2, 5, 3, 8, 8)), **changes}


def test_class_and_content_have_their_grid_their_neighbours_and_their_readings(folder, tmp_path):
    page = read(folder.full(about=CLASSES, scores=READ, gallery=drawn(), contrast=None, codes=None), tmp_path)
    for title in ("What can be read from each part", *SWITCHED):
        assert title in page.headings
    assert "Swaps" not in page.headings
    text = " ".join(page.text.split())
    assert "class from class0.9510.021as near to 1 as can be" in text
    assert "class from content0.0340.021as near to chance as can be" in text
    assert "content from class0.0120.011as near to chance" in text
    assert "content from content0.8770.011as near to 1" in text
    assert "In a class part that works the classes stand apart; in a content part that works they are mixed." in text


def test_a_class_run_without_images_says_how_to_make_them(folder, tmp_path):
    path = folder.write(about=CLASSES)
    page = read(path, tmp_path)
    assert "There are no images of classes with other contents yet" in page.text
    assert "What can be read from each part" not in page.headings


def test_rows_that_are_vectors_have_no_grid(folder, tmp_path):
    about = {**CLASSES, "shape": [5]}
    page = read(folder.full(about=about, scores=READ, gallery=gallery(False, ("class", "content")), codes=None), tmp_path)
    assert not set(SWITCHED) & set(page.headings)
    assert "What can be read from each part" in page.headings


def test_neighbours_that_are_none_are_left_out(folder, tmp_path):
    one = drawn(near_class=np.zeros((1, 0, 3, 8, 8)))
    page = read(folder.full(about=CLASSES, scores=READ, gallery=one, contrast=None, codes=None), tmp_path)
    assert "Nearest in each space" not in page.headings


def test_gaussian_codes_are_shown_dimension_by_dimension(folder, tmp_path):
    unsure = drawn(posterior_content=np.array([[0.0, 2.0], [1.0, 0.1]]))
    page = read(folder.full(about=CLASSES, scores=READ, gallery=unsure, contrast=None, codes=None), tmp_path)
    assert "How sure each dimension is" in page.headings
    assert "fell back on the prior" in " ".join(page.text.split())


def test_codes_that_are_no_gaussians_have_no_such_image(folder, tmp_path):
    page = read(folder.full(about=CLASSES, scores=READ, gallery=drawn(), contrast=None, codes=None), tmp_path)
    assert "How sure each dimension is" not in page.headings
