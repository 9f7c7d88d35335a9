from __future__ import annotations

import json

import numpy as np
import pytest
from run_folders import contrast, stored_gallery

from untwine.report.page import report

CONTRAST = json.dumps(contrast()).encode()


def test_a_failed_page_leaves_the_old_one(folder, tmp_path):
    path = folder.full()
    out = tmp_path / "page.html"
    out.write_text("old")
    (path / "scores.json").write_text("{")
    with pytest.raises(ValueError, match=r"scores\.json must be JSON"):
        report(path, out)
    assert out.read_text() == "old"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["page.html", "runs"]


@pytest.mark.parametrize(
    "name, content, sentence",
    [
        ("method.json", b"{", "must be JSON"),
        ("method.json", b"[]", "must be a JSON object"),
        ("method.json", b'{"method": "a"}', "must have an integer format_version"),
        ("method.json", b'{"format_version": 1, "method": 3}', "must have an integer format_version and the name of a method"),
        ("method.json", b'{"format_version": 99, "method": "a"}', "upgrade untwine"),
        ("scores.json", b'{"probe.z": 3}', "a number as value for 'probe.z'"),
        ("scores.json", b'{"probe.z": {"value": "high"}}', "a number as value for 'probe.z'"),
        ("scores.json", b"\xff", "must be JSON"),
        ("history.csv", b"a,b\n1,2\n", "it lacks epoch, player, stage, term, value"),
        ("history.csv", b"\xff\xfe", "cannot be read"),
        ("history.csv", b"stage,epoch,player,term,value\nfit,one,p,t,1\n", "must have the columns"),
        ("history.csv", b"stage,epoch,player,term,value\nfit,1\n", "must have the columns"),
        ("contrast.json", b"[]", "must be a JSON object"),
        ("contrast.json", b"{}", "must hold the numbers that untwine evaluate writes there"),
        ("contrast.json", CONTRAST.replace(b"199", b'"many"'), r"contrast\.json must hold the numbers"),
        ("contrast.json", CONTRAST.replace(b'"n_salient": 2', b'"n_salient": 20'), "run untwine evaluate again"),
        ("contrast.json", CONTRAST.replace(b'"n_salient": 2', b'"n_salient": true'), "run untwine evaluate again"),
        ("contrast.json", CONTRAST.replace(b"0.25", b"NaN"), "run untwine evaluate again"),
        ("contrast.json", CONTRAST.replace(b"[0.25, 0.25, 0.25]", b"[]"), "run untwine evaluate again"),
        ("codes.json", b'{"salient": 3}', r"codes\.json must hold the numbers"),
        ("codes.json", b'{"salient": {"target": 3}}', r"codes\.json must hold the numbers"),
        ("codes.json", b'{"salient": {"target": {"variance": [1]}}}', r"codes\.json must hold the numbers"),
        ("codes.json", b'{"salient": {"target": {"variance": 1, "energy": 1, "effect": 1}}}', "run untwine evaluate again"),
        ("gallery.npz", b"PK", "must hold plain arrays"),
        ("gallery.npz", b"", "must hold plain arrays"),
    ],
)
def test_damaged_files_are_refused_with_one_error_message(folder, tmp_path, name, content, sentence):
    path = folder.full()
    (path / name).write_bytes(content)
    with pytest.raises(ValueError, match=sentence) as caught:
        report(path, tmp_path / "page.html")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "page.html").exists()


def test_objects_in_a_gallery_are_never_unpickled(folder, tmp_path):
    path = folder.full(gallery={"originals": np.array([{}], dtype=object)})
    with pytest.raises(ValueError, match="must hold plain arrays"):
        report(path, tmp_path / "page.html")


def test_wrong_shapes_in_a_gallery_get_a_sentence(folder, tmp_path):
    path = folder.full(gallery={**stored_gallery(), "swap_grid": np.zeros((2, 3, 3, 8, 8), np.float32)})
    with pytest.raises(ValueError, match="grid must have 3 x 3 images"):
        report(path, tmp_path / "page.html")


def test_folders_without_runs_are_refused(folder, tmp_path):
    with pytest.raises(ValueError, match="is not a folder"):
        report(tmp_path / "nowhere", tmp_path / "page.html")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match=r"there is no method\.json"):
        report(tmp_path / "empty", tmp_path / "page.html")
    with pytest.raises(ValueError, match="is a folder; use"):
        report(folder.full(), tmp_path)
