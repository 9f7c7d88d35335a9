import gc
import signal
import sys
from pathlib import Path

import pytest
import torch

sys.path.insert(0, str(Path(__file__).parent / "helpers"))
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # of a background job; the tests of Ctrl-C need processes that hear it
    signal.signal(signal.SIGINT, signal.default_int_handler)
torch.set_num_threads(1)  # the nets of the tests are too small to share out


def pytest_collection_finish():
    """Keep the garbage collector from going through what pytest and the imports have made, which lives to the end."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def quick_readers():
    """Train the networks that read codes for a fifth of their steps: few tests look at how well they do."""
    from untwine.metrics import cross_fitting

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cross_fitting, "STEPS", cross_fitting.STEPS // 5)
        yield


@pytest.fixture(scope="module")
def forked_workers():
    """Start the workers of studies from a server that has done their imports, some three seconds of work for each."""
    from preloaded import context

    from untwine.study.executors import local

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local, "START", context().get_start_method())
        yield


@pytest.fixture
def full_readers(monkeypatch):
    """Train the networks that read codes for all their steps, as they do for users."""
    monkeypatch.setattr("untwine.metrics.cross_fitting.STEPS", 300)


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
