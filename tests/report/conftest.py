from __future__ import annotations

import pytest
from run_folders import Folder

from untwine.report import markup


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(markup, "DOTS", 30)  # coarse pictures are quick to make
    return Folder(tmp_path / "runs")
