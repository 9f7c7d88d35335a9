"""The executors of this machine: what dies, what is interrupted, what is printed, and scripts that guard nothing."""

import os
import signal
import subprocess
import sys
import time

import dying
import pytest

import untwine as un
from untwine.runs.locking import holder
from untwine.study.executors import local
from untwine.study.executors.executor import find_executor

STUDY = """
title = "Tiny"
seeds = [0, 1]
metrics = ["w2"]

[[data]]
name = "toy_contrast"
label = "toy"
options = { n_common = 2, n_salient = 1, n_features = 6, n_target = 60, n_background = 40 }

[[row]]
label = "Eq. 8"
method = "principled_vae"
fields = { epochs = 2, width = 8, n_common = 3, n_salient = 2, batch = 16 }

[[row]]
label = "longer"
method = "principled_vae"
fields = { epochs = 3, width = 8, n_common = 3, n_salient = 2, batch = 16 }

[[column]]
scores = ["w2.common"]
"""


@pytest.fixture
def study(tmp_path):
    (tmp_path / "tiny.toml").write_text(STUDY)
    return un.Study.read(tmp_path / "tiny.toml")


def values(study):
    return sorted((row["fingerprint"], row["epoch"], row["score"], row["value"]) for row in study.results())


def test_a_worker_that_always_dies_costs_its_cell_and_no_other(study, tmp_path, monkeypatch):
    monkeypatch.setattr(local, "work_until_interrupted", dying.die)
    monkeypatch.setattr(local, "TRIES", 2)
    ran = study.run(tmp_path / "runs", workers=2, only={"row": ["Eq. 8"]})
    assert (ran.finished, ran.known, len(ran.failed)) == (1, 0, 1)
    assert ran.failed[0].startswith("toy, Eq. 8, seed 1: its worker ended with code 7, 2 times; see ")
    assert ran.failed[0].endswith(", and run the study again.")


def test_a_cell_whose_worker_died_is_tried_again_and_ends_as_in_this_process(study, tmp_path, monkeypatch):
    monkeypatch.setattr(local, "work_until_interrupted", dying.die_once)
    assert study.run(tmp_path / "runs", only={"row": ["Eq. 8"]}) == (2, 0, (), ())
    assert (tmp_path / "runs" / "died").exists()
    alone = un.Study.read(study.path)
    assert alone.run(tmp_path / "alone", on="here", only={"row": ["Eq. 8"]}, results=tmp_path / "alone") == (2, 0, (), ())
    assert values(study) == sorted(
        (row["fingerprint"], row["epoch"], row["score"], row["value"]) for row in alone.results(results=tmp_path / "alone")
    )


def test_what_libraries_print_goes_to_the_log_and_a_worker_is_used_again(study, tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(local, "work_until_interrupted", dying.who_and_print)
    log = tmp_path / "workers.log"
    replies = [one[1] for one in local.run_cells(study.cells(), tmp_path, 1, 3, log) if one]
    assert len({reply["pid"] for reply in replies}) == 1
    assert {reply["threads"] for reply in replies} == {"3"}
    assert replies[0]["pid"] != os.getpid()
    assert log.read_text().count("from Python\n") == log.read_text().count("from C\n") == 4
    assert capfd.readouterr() == ("", "")
    with pytest.raises(ProcessLookupError):  # the worker is gone
        os.kill(replies[0]["pid"], 0)


def test_a_script_that_guards_nothing_runs_once(study, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        f"import untwine as un\nprint('once')\nprint(un.Study.read({str(study.path)!r}).run({str(tmp_path / 'runs')!r}, "
        "only={'seed': [0], 'row': ['Eq. 8']}))\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert done.stdout == "once\nRunSummary(finished=1, known=0, skipped=(), failed=())\n"
    assert done.stderr == ""


LONG = STUDY.replace("epochs = 3", "epochs = 4000").replace("seeds = [0, 1]", "seeds = [0]")


def test_a_worker_ends_with_the_process_that_started_it(tmp_path):
    (tmp_path / "long.toml").write_text(LONG)
    study = un.Study.read(tmp_path / "long.toml")
    folder = study.cells()[1].folder(tmp_path / "runs")
    command = [
        sys.executable,
        "-m",
        "untwine",
        "study",
        "run",
        str(study.path),
        "--out",
        str(tmp_path / "runs"),
        "--workers",
        "1",
    ]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 120
        while (who := holder(folder)) is None or not who.pid:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert who.pid != process.pid
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    deadline = time.monotonic() + 20
    while holder(folder) is not None:  # a lock ends with its process
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_executors_by_name():
    assert find_executor("local") is local.run_cells
    with pytest.raises(ValueError, match=r"on must be 'here', 'local' or 'ray'; got 'rays'; did you mean 'ray'\?"):
        find_executor("rays")
    with pytest.raises(ValueError, match="address must be given with on='ray' alone; got on='local'; leave it out"):
        find_executor(address="somewhere:6379")
