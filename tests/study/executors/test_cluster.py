"""Ray: two simulated nodes, whose workers are killed and of which one is removed, and the resources of a cell."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import untwine as un
from untwine.study.executors.executor import find_executor

sys.path.insert(0, str(Path(__file__).parents[3]))  # the benchmarks are not installed with the library

ray = pytest.importorskip("ray", reason="Ray is not installed: make cluster, or pip install 'untwine[cluster]'")

from benchmarks import executors  # noqa: E402 (without Ray there is nothing to import)

pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own, of files and sockets that it leaves to the interpreter


def expected(cells):
    return {"cells": cells, "finished": cells, "failed": 0, "nodes removed": 1, executors.TWICE: 0, executors.DIFFER: 0}


def test_killed_workers_and_a_removed_node_change_nothing(tmp_path):
    figures = executors.kills(tmp_path, 12, every=4)
    assert expected(12).items() <= figures.items()
    assert figures["workers killed"] > 0


@pytest.mark.soak
def test_a_thousand_cells_are_each_finished_once(tmp_path):
    figures = executors.kills(tmp_path, 1000, every=20)
    assert expected(1000).items() <= figures.items()
    assert figures["workers killed"] > 20


@pytest.fixture(scope="module")
def connected():
    """Ray on this machine, connected as a caller may be: executors use the connection and leave it open."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    ray.init(num_cpus=2, num_gpus=1, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


@pytest.mark.usefixtures("connected")
def test_cells_fail_in_a_sentence_and_reserve_what_they_need(tmp_path):
    study = executors.study(tmp_path, 3, executors.SMALL)
    text = study.path.read_text().replace("n_latent = 2", "n_latent = 99")
    (tmp_path / "wide.toml").write_text(text)
    wide = un.Study.read(tmp_path / "wide.toml")
    assert study.run(tmp_path / "runs", on="ray", workers=None, gpus=1, memory=0.1) == (3, 0, (), ())
    assert study.run(tmp_path / "runs", on="ray", results=tmp_path / "again") == (3, 0, (), ())  # from the run folders
    ran = wide.run(tmp_path / "runs", on="ray", workers=1)
    assert ran.finished == 0
    assert ran.failed[0].startswith("toy, one, seed 0: PCA: n_latent must be <= 6")
    assert [one.sentence for one in wide.status(tmp_path / "runs").of("failed")] == [
        failed.partition(": ")[2] for failed in ran.failed
    ]
    waiting = find_executor("ray", gpus=2)(study.cells(), tmp_path / "other", None, 1, tmp_path / "log")
    with pytest.warns(UserWarning, match=r"no node of the cluster has room for a cell \(1 cores, 0 GB, 2 GPUs\); waiting"):
        assert next(waiting) is None
    waiting.close()
    assert ray.is_initialized()


@pytest.mark.usefixtures("connected")
def test_the_workers_of_a_node_share_one_copy_of_the_data():
    """What the executor relies on: arrays of the object store are mapped, not copied, so they are read-only."""
    from untwine.study.executors.cluster import _load

    (cell, *_) = un.Study.read(Path(un.__file__).parents[1] / "studies" / "treatments.toml").cells()
    data = ray.remote(_load).remote(cell.to_json(), os.devnull, 1)

    def writeable(splits):
        return [bool(samples.x.flags.writeable) for samples in splits]

    assert ray.get(ray.remote(writeable).remote(data)) == [False, False]


def test_an_address_that_nobody_answers_is_refused_in_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(ray, "is_initialized", lambda: False)

    def refuse(**options):
        raise ConnectionError(f"nobody answers\nat {options['address']}")

    monkeypatch.setattr(ray, "init", refuse)
    study = executors.study(tmp_path, 1, executors.SMALL)
    sentence = r"address must be that of a Ray cluster that answers; got 'h:1' \(nobody answers at h:1\); correct it\."
    with pytest.raises(ValueError, match=sentence):
        study.run(tmp_path / "runs", on="ray", address="h:1")


@pytest.mark.soak
def test_ctrl_c_stops_a_cell_after_its_checkpoint_and_another_executor_resumes_it(tmp_path):
    kind = {**executors.REAL, "fields": "epochs = 400, width = 8, n_common = 3, n_salient = 2, batch = 16", "samples": 60}
    study = executors.study(tmp_path, 1, kind)
    (cell,) = study.cells()
    words = ["study", "run", str(study.path), "--out", str(tmp_path / "runs"), "--on", "ray", "--workers", "1", "--quiet"]
    process = subprocess.Popen([sys.executable, "-m", "untwine", *words], stderr=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + 300
        while not study.status(tmp_path / "runs").of("running"):
            assert time.monotonic() < deadline
            assert process.poll() is None
            time.sleep(0.05)
        time.sleep(2.0)
    finally:
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=120)
    assert (process.returncode, errors) == (130, "untwine: stopped; the same command resumes the study.\n")
    assert (cell.folder(tmp_path / "runs") / "checkpoint.safetensors").exists()
    assert study.run(tmp_path / "runs") == (1, 0, (), ())
    assert study.run(tmp_path / "whole", on="here", results=tmp_path / "whole") == (1, 0, (), ())
    assert executors.values(study, tmp_path / "results") == executors.values(study, tmp_path / "whole")
