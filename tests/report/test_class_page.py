"""The page of a run with a class block and a content block."""

from __future__ import annotations

import numpy as np
from report_page import read
from run_folders import CARD, score, stored_gallery

CLASSES = {**CARD, "method": "lord", "params": {"n_class": 4, "n_content": 2}, "blocks": {"class": 4, "content": 2}}
SCORES = {
    "class_chance.x": score(0.021, "info"),
    "class_read.class": score(0.951),
    "class_read.content": score(0.034, "lower"),
    "content_chance.x": score(0.011, "info"),
    "content_read.class": score(0.012, "lower"),
    "content_read.content": score(0.877),
}
IMAGES = ("Class and content swaps", "Nearest neighbours per block")


def class_gallery(**changes):
    rng = np.random.default_rng(0)
    arrays = stored_gallery(blocks=("class", "content"))
    arrays |= {"switch_sources": rng.random((3, 3, 8, 8)), "switch_grid": rng.random((3, 3, 3, 8, 8))}
    arrays |= {"near_sources": rng.random((2, 3, 8, 8)), "near_class": rng.random((2, 5, 3, 8, 8))}
    return {**arrays, "near_content": rng.random((2, 5, 3, 8, 8)), **changes}


def test_class_and_content_have_swaps_neighbours_and_probe_accuracy(folder, tmp_path):
    page = read(folder.full(card=CLASSES, scores=SCORES, gallery=class_gallery(), contrast=None, codes=None), tmp_path)
    for title in ("Probe accuracy per block", *IMAGES):
        assert title in page.headings
    assert "Swaps" not in page.headings
    text = " ".join(page.text.split())
    assert "class from class0.9510.021near 1" in text
    assert "class from content0.0340.021near the chance level" in text
    assert "content from class0.0120.011near the chance level" in text
    assert "content from content0.8770.011near 1" in text
    assert "the classes are separated in the class block and mixed in the content block." in text


def test_a_class_run_without_images_names_the_command_that_makes_them(folder, tmp_path):
    path = folder.write(card=CLASSES)
    page = read(path, tmp_path)
    assert "There are no images of classes with other contents yet" in page.text
    assert "Probe accuracy per block" not in page.headings


def test_vectors_have_no_grid(folder, tmp_path):
    about = {**CLASSES, "shape": [5]}
    page = read(
        folder.full(card=about, scores=SCORES, gallery=stored_gallery(False, ("class", "content")), codes=None), tmp_path
    )
    assert not set(IMAGES) & set(page.headings)
    assert "Probe accuracy per block" in page.headings


def test_a_single_image_without_neighbours_is_left_out(folder, tmp_path):
    one = class_gallery(near_class=np.zeros((1, 0, 3, 8, 8)))
    page = read(folder.full(card=CLASSES, scores=SCORES, gallery=one, contrast=None, codes=None), tmp_path)
    assert "Nearest neighbours per block" not in page.headings


def test_gaussian_posteriors_are_shown_per_dimension(folder, tmp_path):
    gaussian = class_gallery(posterior_content=np.array([[0.0, 2.0], [1.0, 0.1]]))
    page = read(folder.full(card=CLASSES, scores=SCORES, gallery=gaussian, contrast=None, codes=None), tmp_path)
    assert "Posterior per dimension" in page.headings
    assert "collapsed to the prior" in " ".join(page.text.split())


def test_codes_without_a_posterior_have_no_such_section(folder, tmp_path):
    page = read(folder.full(card=CLASSES, scores=SCORES, gallery=class_gallery(), contrast=None, codes=None), tmp_path)
    assert "Posterior per dimension" not in page.headings
