"""Threads: waiting ones sleep in our own programs, where the user has not said otherwise, and their number can be set."""

import json
import os
import subprocess
import sys

import pytest
import torch
from command_line import DATA, TINY, exit_code, run

from untwine.training.threads import WAIT_POLICY, WAIT_VARIABLES, set_threads, wait_policy


def environment_after(code, **given):
    """Run code in a new process and return the variables that it then has."""
    environment = {name: value for name, value in os.environ.items() if name not in WAIT_VARIABLES} | given
    code += "\nimport json, os; print(json.dumps(dict(os.environ)))"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    return {name: found[name] for name in WAIT_VARIABLES if name in found}


COMMAND = "import sys\nfrom untwine.cli.app import main\ntry:\n    main(['--version'])\nexcept SystemExit:\n    pass\n"


def test_the_command_line_makes_waiting_threads_sleep_before_torch_is_imported():
    assert environment_after(COMMAND + "assert 'torch' not in sys.modules") == dict(WAIT_POLICY)


@pytest.mark.parametrize("name", WAIT_VARIABLES)
def test_what_the_user_has_set_stays_alone(name):
    assert wait_policy({name: "7"}) == {}
    if name == "OMP_WAIT_POLICY":
        assert environment_after(COMMAND, **{name: "active"}) == {name: "active"}


def test_importing_the_package_changes_no_environment():
    assert environment_after("import untwine as un; un.PCA(); un.Study") == {}


def test_a_worker_of_a_study_has_the_policy_and_its_threads_before_torch_is_imported(tmp_path):
    code = (
        "import sys\nfrom untwine.study.executors.worker import limit_threads, start\nassert 'torch' not in sys.modules\n"
        "limit_threads(2)\nimport torch\nassert torch.get_num_threads() == 2"
    )
    assert environment_after(code) == dict(WAIT_POLICY)
    assert environment_after(code, OMP_WAIT_POLICY="passive") == {"OMP_WAIT_POLICY": "passive"}


@pytest.fixture
def threads():
    from threadpoolctl import threadpool_limits

    before = torch.get_num_threads()
    with threadpool_limits():
        yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("threads")
def test_the_number_of_threads_is_a_flag(tmp_path, capsys):
    run("fit", "pca", *DATA, "--quiet", "--threads", 3, "--out", tmp_path / "run")
    assert torch.get_num_threads() == 3
    run("evaluate", tmp_path / "run", "--quiet", "--metrics", "factors", "--threads", 2)
    assert torch.get_num_threads() == 2
    set_threads(None)
    assert torch.get_num_threads() == 2
    assert exit_code("fit", "vae", *DATA, *TINY, "--threads", 0, "--out", tmp_path / "other") == 2
    assert "threads must be an integer of at least 1; got 0." in capsys.readouterr().err
