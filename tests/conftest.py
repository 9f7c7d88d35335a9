import signal
import sys
from pathlib import Path

import pytest
import torch

sys.path.insert(0, str(Path(__file__).parent / "helpers"))
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # of a background job; the tests of Ctrl-C need processes that hear it
    signal.signal(signal.SIGINT, signal.default_int_handler)
torch.set_num_threads(1)  # the nets of the tests are too small to share out


@pytest.fixture
def folder(tmp_path, monkeypatch):
    from run_folders import Folder

    from untwine.report import markup

    monkeypatch.setattr(markup, "DOTS", 30)  # coarse images are quick to make
    return Folder(tmp_path / "runs")


@pytest.fixture(scope="session")
def explored_runs(tmp_path_factory):
    """The runs of the explorer's tests, fitted once in each process."""
    from explored import make_runs

    return make_runs(tmp_path_factory.mktemp("explored"))
