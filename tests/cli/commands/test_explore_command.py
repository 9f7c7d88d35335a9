"""`untwine explore` as a user starts and ends it."""

import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request

import pytest
from command_line import exit_code

import untwine as un
from untwine.explore.server import listen
from untwine.registry import extras


@pytest.fixture
def served(place):
    """The command on a folder of runs, and the address that it prints."""
    command = [sys.executable, "-W", "error", "-m", "untwine", "explore", str(place), "--no-browser", "--threads", "1"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    lines = [process.stdout.readline() for _ in range(2)]
    yield process, lines
    if process.poll() is None:
        process.kill()
    process.communicate()


def test_it_prints_the_address_answers_there_and_ends_with_ctrl_c(served):
    process, (first, address) = served
    assert first == "Exploring 3 runs; Ctrl-C ends it:\n"
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{43}\n", address)
    with urllib.request.urlopen(address.strip(), timeout=30) as page:
        assert b"<title>untwine explore</title>" in page.read()
        assert "untwine_" in page.headers["set-cookie"]
        assert page.headers["server"] is None
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(address.partition("?")[0], timeout=30)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out, err) == (0, "ended.\n", "")


def test_bad_input_gets_its_sentence(place, tmp_path, capsys):
    assert exit_code("explore", tmp_path) == 2
    assert "runs must be a run folder or hold some" in capsys.readouterr().err
    assert exit_code("explore", tmp_path / "none") == 2
    assert "is not a folder; make one with untwine fit." in capsys.readouterr().err
    assert exit_code("explore", place, "--port", 70_000) == 2
    assert "port must be an integer from 0 to 65535; got 70000." in capsys.readouterr().err
    with listen(0) as taken:
        assert exit_code("explore", place, "--no-browser", "--port", taken.getsockname()[1]) == 2
        assert "use 0 for a free one." in capsys.readouterr().err


def test_without_the_extra_it_says_how_to_install_it(place, monkeypatch):
    def missing(name):
        raise ModuleNotFoundError(name=name)

    monkeypatch.setattr(extras, "import_module", missing)
    with pytest.raises(
        ModuleNotFoundError, match=r"exploring runs needs the package uvicorn, .* pip install 'untwine\[explore\]'"
    ):
        un.explore(place)


def test_importing_it_brings_no_server_along():
    code = "import sys, untwine; untwine.explore; print([m for m in ('starlette', 'uvicorn', 'torch') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ)
    assert done.stdout.strip() == "[]"
