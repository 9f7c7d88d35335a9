"""Several processes run one study at once: they share its cells, none is trained twice, and none fails."""

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import untwine as un
from untwine.runs import files
from untwine.runs.locking import lock
from untwine.study import results
from untwine.study.cells import has_rows, try_cell

pytestmark = pytest.mark.usefixtures("forked_workers")
STUDY = """
title = "Shared"
seeds = [0, 1, 2, 3]
metrics = ["w2"]

[[data]]
name = "toy_contrast"
label = "toy"
options = { n_common = 2, n_salient = 1, n_features = 6, n_target = 60, n_background = 40 }

[[row]]
label = "Eq. 8"
method = "principled_vae"
fields = { epochs = 60, width = 8, n_common = 3, n_salient = 2, batch = 16 }

[[column]]
scores = ["w2.common"]
"""


@pytest.fixture
def study(tmp_path):
    (tmp_path / "shared.toml").write_text(STUDY)
    return un.Study.read(tmp_path / "shared.toml")


def start(study, out, on):
    command = [sys.executable, "-m", "untwine", "study", "run", str(study.path), "--out", str(out), "--on", on, "--quiet"]
    command += ["--workers", "1"] * (on == "local")
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_two_processes_share_the_cells(study, tmp_path):
    processes = [start(study, tmp_path / "runs", on) for on in ("local", "here")]
    ended = [(*process.communicate(timeout=120), process.returncode) for process in processes]
    assert [code for _, _, code in ended] == [0, 0], ended
    assert [err for _, err, _ in ended] == ["", ""]
    ran, known, failed = zip(*([int(word) for word in out.split() if word.isdigit()][:3] for out, _, _ in ended), strict=True)
    assert sum(ran) == 4, ended  # each cell was run by one of them
    assert [one + other for one, other in zip(ran, known, strict=True)] == [4, 4]
    assert failed == (0, 0)
    fingerprints = [row["fingerprint"] for row in study.results() if row["score"] == "w2.common"]
    assert sorted(fingerprints) == sorted(cell.fingerprint for cell in study.cells())


def test_a_cell_that_another_process_runs_comes_last_and_from_its_result(study, tmp_path):
    first, *others = study.cells()
    out, table = tmp_path / "runs", tmp_path / "results" / "shared.csv"
    files.make_folder(first.folder(out))
    with ThreadPoolExecutor(1) as pool:
        with lock(first.folder(out)):
            running = pool.submit(study.run, out)
            while len({row["fingerprint"] for row in results.read_results(table)}) < len(others):
                assert not running.done(), running.result()
                time.sleep(0.02)
            assert first.fingerprint not in table.read_text()
            rows = [dict.fromkeys(results.COLUMNS, 1) | {"fingerprint": first.fingerprint, "score": "theirs", "value": 7.5}]
            files.write_json(first.folder(out) / "cell.json", {"fingerprint": first.fingerprint, "rows": rows})
        assert running.result() == (3, 1, (), ())
    theirs = [(row["score"], row["value"]) for row in study.results() if row["fingerprint"] == first.fingerprint]
    assert theirs == [("theirs", 7.5)]
    assert not (first.folder(out) / "weights.safetensors").exists()


def test_a_cell_is_run_once_its_process_is_gone(study, tmp_path):
    cell = study.cells()[0]
    splits = un.load(cell.name, **cell.options)
    files.make_folder(cell.folder(tmp_path))
    with lock(cell.folder(tmp_path)):
        assert try_cell(cell, tmp_path, lambda: pytest.fail("data were loaded")) is None
    assert not has_rows(cell, tmp_path)
    rows, known = try_cell(cell, tmp_path, lambda: splits)
    assert rows
    assert not known
    assert has_rows(cell, tmp_path)
    assert try_cell(cell, tmp_path, lambda: pytest.fail("data were loaded")) == (rows, True)
