"""What of a study is finished, running, failed and missing, as its folders show."""

import json
import os
import socket
import time

import pytest

import untwine as un
from untwine.cli.commands.study import command
from untwine.runs.locking import Holder, holder, lock
from untwine.study import results
from untwine.study.cells import _rows, note_failure, try_cell

STUDY = """
title = "Tiny"
seeds = [0, 1, 2]
metrics = ["factors"]

[resources]
threads = 2
memory = 4

[size.paper]
resources = { gpus = 0.5, threads = 3 }

[[data]]
name = "toy_contrast"
label = "toy"
options = { n_target = 60, n_background = 40 }

[[data]]
name = "toy_contrast"
label = "faces"
needs = ["faces"]
sizes = ["small"]

[[row]]
label = "PCA"
method = "pca"
fields = { n_latent = 3 }

[[column]]
scores = ["factors_salient.z"]
"""


@pytest.fixture
def study(tmp_path, monkeypatch):
    monkeypatch.setenv("UNTWINE_DATA", str(tmp_path))
    (tmp_path / "tiny.toml").write_text(STUDY)
    return un.Study.read(tmp_path / "tiny.toml")


def finish(study, cell, seconds):
    score = {"value": 0.5, "low": 0.4, "high": 0.6, "n": 9, "seconds": 1.0}
    results.append(study.path.parent / "results" / "tiny.csv", _rows(cell, {0: {"factors_salient.z": score}}, seconds))


def test_every_state_and_the_time_left(study, tmp_path, capsys):
    out = tmp_path / "runs"
    assert study.status(out).counts == {"finished": 0, "running": 0, "failed": 0, "missing": 6}
    assert study.status(out).seconds_left is None
    first, second, third = study.cells()[:3]
    finish(study, first, 99.0)
    second.folder(out).mkdir(parents=True)
    note_failure(third, out, "it must be another; change it.")
    begun = time.time()
    with lock(second.folder(out)):
        status = study.status(out)
        command(["status", str(study.path), "--out", str(out)], exit_on_error=False, result_action="return_value")
        text = capsys.readouterr().out
        command(["status", str(study.path), "--out", str(out), "--json"], exit_on_error=False, result_action="return_value")
    assert status.counts == {"finished": 1, "running": 1, "failed": 1, "missing": 3}
    (running,) = status.of("running")
    assert running.cell == second
    assert (running.runs.host, running.runs.pid) == (socket.gethostname(), os.getpid())
    assert begun - 1 <= running.runs.since <= time.time()
    assert status.seconds_left == pytest.approx(100, abs=5)  # what the finished seed took; cells without data take none
    assert [one.sentence[:24] for one in status.of("missing")] == ["faces is skipped: faces "] * 3
    assert "toy    1         1        1       0\n" in text
    assert "all    1         1        1       3\n" in text
    assert f"running: toy, PCA, seed 1: process {os.getpid()} on {socket.gethostname()}, since 20" in text
    assert "failed: toy, PCA, seed 2: it must be another; change it.\nmissing: faces is skipped: faces is missing in" in text
    assert text.endswith("about 1.7 minutes left with 1 at a time\n")
    content = json.loads(capsys.readouterr().out)
    assert [one["state"] for one in content["cells"]] == ["finished", "running", "failed", "missing", "missing", "missing"]
    assert content["cells"][1]["runs"]["pid"] == os.getpid()
    assert content["cells"][2]["sentence"] == "it must be another; change it."
    assert (content["finished"], content["size"]) == (1, "small")


def test_a_cell_that_is_run_again_has_not_failed(study, tmp_path):
    cell = study.cells()[0]
    cell.folder(tmp_path).mkdir(parents=True)
    note_failure(cell, tmp_path, "no.")
    assert try_cell(cell, tmp_path, lambda: un.load(cell.name, **cell.options)) is not None
    assert study.status(tmp_path).cells[0].state == "finished"
    assert not (cell.folder(tmp_path) / "failed.json").exists()


def test_a_lock_names_its_process_while_it_is_held(tmp_path):
    assert holder(tmp_path) is None
    with lock(tmp_path) as mine:
        assert mine
        with lock(tmp_path, wait=False) as second:
            assert not second
        assert holder(tmp_path).pid == os.getpid()
        (tmp_path / ".locked_by").write_text("{")  # as if it were being written
        assert holder(tmp_path)[:2] == Holder("?", 0, 0.0)[:2]
    assert holder(tmp_path) is None


def test_resources_come_from_the_file_and_the_call_overrides_them(study, tmp_path):
    given = []

    def executor(cells, out, workers, threads, log):
        given.append((workers, threads))
        yield None

    study.run(tmp_path / "runs", on=executor, workers=3)
    study.run(tmp_path / "runs", "paper", on=executor, workers=None)
    study.run(tmp_path / "runs", on=executor, threads=1)
    assert given == [(3, 2), (None, 3), (1, 1)]
    assert study._resources("paper", None, 8, None) == (3, 8.0, 0.5)
    for wrong, sentence in (
        ("threads = 0", r"threads of \[resources\] must be an integer of at least 1; got 0"),
        ("cores = 2", r"\[resources\] must have known keys only; got 'cores'"),
    ):
        study.path.write_text(STUDY.replace("threads = 2", wrong))
        with pytest.raises(ValueError, match=sentence):
            un.Study.read(study.path)
    with pytest.raises(ValueError, match=r"gpus must be a number of at least 0; got -1\."):
        study.run(tmp_path / "runs", gpus=-1)
