"""The page: every section, in order, self-contained, escaped, and the same every time."""

from __future__ import annotations

import base64
import json
import re

import numpy as np
from report_page import read
from run_folders import CARD, ONE_BLOCK, TERMS, score, scores, stored_gallery

from untwine.report.page import report

FIRST = ["Is there salient variation?", "Are the blocks disentangled?"]
HEADINGS = [
    "Scores",
    "Decoding single blocks",
    "Reconstructions",
    "Swaps",
    "Removing and transferring the salient block",
    "Interpolation of the salient block",
    "Latent traversals",
    "Mutual information of latents and factors",
    "Samples from the prior",
    "t-SNE of the codes",
    "Training curves",
    "Configuration",
    "Reproduce this run",
]
LATER = ("Removing and transferring the salient block", "Samples from the prior")  # not in older runs
HOSTILE = "<script>alert('$x_&\"')</script>"


def test_a_full_run_has_every_section_and_loads_nothing(folder, tmp_path):
    page = read(folder.full(), tmp_path)
    assert page.headings == ["demo", "Disentanglement", *FIRST, *HEADINGS]
    assert "untwine evaluate" not in page.text.split("Reproduce this run")[0]
    images = [attributes for tag, attributes in page.tags if tag == "img"]
    # the spectrum, two bars, six sheets of images, three about single latents for each block, two planes, a curve a term
    assert len(images) == 1 + 2 + 6 + 3 * 2 + 2 + len(TERMS)
    assert all(image["alt"] for image in images)
    for image in images:
        assert base64.b64decode(image["src"].partition(",")[2]).startswith(b"\x89PNG")
    for term in TERMS:
        assert any(image["alt"].startswith(f"vae: {term}, from 10.0 to 2.000") for image in images)


def test_scores_are_those_of_the_file(folder, tmp_path):
    page = read(folder.full(), tmp_path)
    text = " ".join(page.text.split())
    for shown in ("0.910 ↑", "0.130 ↓", "0.876 ↑", "0.043 ↓", "0.00421 ↓", "0.890 to 0.930, n = 500"):
        assert shown in text
    assert "Salient block: linear-probe accuracy 0.91, common block: 0.13 (chance level 0.10)" in text
    assert "The blocks are disentangled" in text


def test_a_page_shows_the_configuration_and_how_to_reproduce_it(folder, tmp_path):
    path = folder.full()
    text = read(path, tmp_path).text
    command = text.partition("On the command line:")[2].partition("In Python:")[0].replace("\\\n    ", "")
    expected = (
        "untwine fit principled_vae --data grassy_digits --data-set size=8 --set n_common=4 --set n_salient=2 --set lr=0.001"
    )
    assert expected in command
    assert f"--set clip=null --set networks=conv --out {path}\nuntwine evaluate {path}" in command
    assert "data = un.load('grassy_digits', size=8)" in text
    assert "n_common=4, n_salient=2, lr=0.001, clip=None, networks='conv'," in text
    for setting in ("fingerprint", "abc123", "3.11.2", "feed", "[3, 8, 8]"):
        assert setting in text


def test_python_lines_are_python(folder, tmp_path):
    text = read(folder.full(card={**CARD, "data": {}, "own_networks": ["encoder"]}), tmp_path).text
    lines = text.partition("In Python:")[2].partition("Made by untwine")[0].strip()
    compile(lines, "lines", "exec")
    assert "networks=networks" in lines
    assert "un.load(" not in lines


def test_missing_files_are_named_with_the_command_that_makes_them(folder, tmp_path):
    path = folder.write(card={"format_version": 1, "method": "principled_vae"})
    page = read(path, tmp_path)
    assert page.headings == ["demo", "Disentanglement", *(title for title in HEADINGS if title not in LATER)]
    assert page.text.count(f"untwine evaluate {path}") == 10
    assert "no history.csv" in page.text
    assert not [tag for tag, _ in page.tags if tag == "img"]


def test_vectors_have_lines_instead_of_images(folder, tmp_path):
    page = read(folder.full(gallery=stored_gallery(images=False)), tmp_path)
    images = [attributes["alt"] for tag, attributes in page.tags if tag == "img"]
    assert any("lines over the features" in alt for alt in images)
    assert page.text.count("these are vectors") == 3


def test_a_baseline_inside_a_run_stands_beside_it(folder, tmp_path):
    path = folder.full()
    folder.full(
        "demo/pca",
        card=ONE_BLOCK,
        scores={"probe.z": score(0.777), "reconstruction.x": score(0.5, "lower")},
        gallery=stored_gallery(blocks=("z",)),
        history=[],
    )
    page = read(path, tmp_path)
    assert "demo/pca" in page.headings
    assert "All runs" not in page.headings
    own, _, baseline = page.text.partition("Reproduce this run")
    assert "0.777" in own
    assert "there is nothing to disentangle" in baseline
    assert "Swaps" not in baseline
    alts = [attributes["alt"] for tag, attributes in page.tags if tag == "img"]
    assert any("salient 0.910, pca: z 0.777" in alt for alt in alts)
    spans = [
        attributes.get("colspan") for tag, attributes in page.tags if tag == "th" and attributes.get("scope") == "colgroup"
    ]
    assert spans == ["2", "1"]


def test_several_runs_share_a_table_and_contents(folder, tmp_path):
    folder.full("a")
    folder.full("b", scores=scores(salient=0.2, common=0.3))
    folder.write("c")
    page = read(folder.root, tmp_path)
    assert page.headings[:2] == ["3 runs", "All runs"]
    links = [attributes["href"] for tag, attributes in page.tags if tag == "a"]
    assert links == ["#run-1", "#run-2", "#run-3"] * 2
    assert re.search(r"b \(principled_vae\): the blocks are not disentangled", page.text)


def test_stages_have_separate_curves(folder, tmp_path):
    history = [(stage, epoch, "p", "loss", 1.0) for stage in ("codes", "encoders") for epoch in range(3)]
    page = read(folder.full(history=history), tmp_path)
    assert [heading for heading in page.headings if heading.startswith("Stage")] == ["Stage codes", "Stage encoders"]


def test_hostile_names_are_text(folder, tmp_path):
    drawn = {**stored_gallery(), "label_names": np.array([HOSTILE] + [f"_$\\frac{i}$" for i in range(9)])}
    card = {
        **CARD,
        "method": HOSTILE,
        "params": {HOSTILE: HOSTILE, "b": [HOSTILE]},
        "data": {"name": HOSTILE, "options": {"a": HOSTILE}},
        "blocks": {HOSTILE: 1, "salient": 2},
        "versions": {HOSTILE: HOSTILE},
    }
    marks = {f"probe.{HOSTILE}": score(0.2, "lower"), "probe.salient": score(0.9), f"{HOSTILE}.salient": score(0.1, HOSTILE)}
    history = [('"<b>$fit$"', epoch, '"<i>"', "$a_{$", 1.0) for epoch in range(3)]
    page = read(folder.full("a <b>&", card=card, scores=marks, gallery=drawn, history=history), tmp_path)
    assert page.headings[0] == "a <b>&"
    assert page.text.count(HOSTILE) > 8
    assert not [tag for tag, _ in page.tags if tag in ("script", "b_", "i")]


def test_missing_numbers_are_shown_as_such(folder, tmp_path):
    marks = {"probe.salient": {"value": None}, "probe.common": {"value": float("nan"), "direction": "lower"}}
    page = read(folder.full(scores=marks), tmp_path)
    assert page.text.count("n/a") == 2
    assert "No score shows whether the blocks are disentangled" in page.text


def test_the_page_is_the_same_every_time(folder, tmp_path):
    path = folder.full()
    report(path, tmp_path / "a.html")
    report(path, tmp_path / "b.html")
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_older_scores_without_extras_still_show(folder, tmp_path):
    path = folder.full(scores={"probe.salient": {"value": 0.5}, "novel": {"value": 123456.7}})
    text = read(path, tmp_path).text
    assert "1.2e+05" in text
    assert json.loads((path / "scores.json").read_text())["novel"]["value"] == 123456.7
