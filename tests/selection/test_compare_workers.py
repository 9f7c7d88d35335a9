"""The budget of `untwine compare` with real workers, on two folders of images: from the command to the page."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
from PIL import Image

import untwine as un
from untwine.runs.comparison import read_comparison

MINUTES, STARTING, LATE = 2.0, 20.0, 0.25  # seconds to import, and of the budget: what is under way writes a checkpoint first


@pytest.mark.soak
@pytest.mark.timed
def test_a_comparison_of_two_folders_ends_within_its_budget(tmp_path):
    samples = un.load("grassy_digits", n_target=600, n_background=600, n_test=2, size=16).train
    for group, name in ((0, "grass"), (1, "digits")):
        (tmp_path / name).mkdir()
        for number, x in enumerate(samples.x[samples.groups == group]):
            Image.fromarray(x.transpose(1, 2, 0)).save(tmp_path / name / f"{number:04}.png")
    words = ["compare", "--target", "digits", "--background", "grass", "--data-set", "size=16", "--minutes", str(MINUTES)]
    began = time.monotonic()
    subprocess.run([sys.executable, "-m", "untwine", *words, "--out", "out", "--quiet"], check=True, cwd=tmp_path)
    assert time.monotonic() - began <= STARTING + (1 + LATE) * 60 * MINUTES
    comparison = read_comparison(tmp_path / "out")
    assert comparison is not None
    assert comparison.data == "digits against grass"
    assert len(comparison.finished()) >= 2
    assert "Which method?" in (tmp_path / "out" / "report.html").read_text()
