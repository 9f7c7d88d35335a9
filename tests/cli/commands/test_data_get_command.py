"""`untwine data get`, from a server on this machine."""

import json
import signal
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest
from command_line import exit_code, run
from file_server import Behaviour, FileServer

from untwine.data import DataSet, Download, RemoteFile
from untwine.data.catalogue import DATA_SETS
from untwine.data.remote import require_files

CONTENT = bytes(range(256)) * 400


def needs_files(*, folder=None):
    """A data set."""


def check(folder):
    require_files(folder, {"a.bin": 1})


@pytest.fixture
def server(monkeypatch):
    server = FileServer()
    server.files["a.bin"] = Behaviour(CONTENT)
    one = Download("small", "free.", "small", (RemoteFile((f"{server.url}a.bin",), len(CONTENT)),), check)
    monkeypatch.setitem(DATA_SETS._registered, "needs_files", DataSet(needs_files, downloads=(one,)))
    yield server
    server.close()


def test_a_download_says_licence_size_checksum_and_place(server, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("UNTWINE_DATA", str(tmp_path))
    run("data", "get", "needs_files")
    printed = capsys.readouterr()
    assert printed.out.splitlines() == [
        "small: licence free.",
        f"{server.url}a.bin",
        f"  102,400 bytes  SHA-256 {sha256(CONTENT).hexdigest()}",
        f"in place now: {tmp_path / 'small'}",
    ]
    assert "a.bin 100 %" in printed.err
    assert "0.1 of 0.1 MB" in printed.err
    run("data", "get", "needs_files")
    assert f"in place before: {tmp_path / 'small'}" in capsys.readouterr().out
    assert len(server.requests) == 1


def test_json_and_quiet(server, tmp_path, capsys):
    run("data", "get", "needs_files", "--folder", tmp_path, "--quiet", "--json")
    printed = capsys.readouterr()
    (one,) = json.loads(printed.out)
    assert one == {
        "name": "small",
        "folder": str(tmp_path / "small"),
        "files": [{"url": f"{server.url}a.bin", "size": len(CONTENT), "sha256": sha256(CONTENT).hexdigest()}],
        "by_hand": "",
    }
    assert printed.err == ""


def test_what_must_be_placed_by_hand_is_described_and_ends_with_one(tmp_path, capsys):
    assert exit_code("data", "get", "celeba", "--folder", tmp_path) == 1
    text = " ".join(capsys.readouterr().out.split())
    assert "licence non-commercial research only" in text
    assert f"to place by hand in {tmp_path}" in text
    assert "list_attr_celeba.txt" in text
    assert "Source: CelebA (Z. Liu" in text


def test_a_data_set_without_files_needs_none(capsys):
    run("data", "get", "grassy_digits")
    assert capsys.readouterr().out == "grassy_digits needs no files.\n"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("mnst",), "name must be a data set or a download; got 'mnst'; did you mean 'mnist'"),
        (("mpi3d", "--data-set", "kind=rel"), "kind must be 'toy', 'realistic', 'real' or 'real_complex'; got 'rel'"),
        (("mpi3d", "--data-set", "sort=toy"), "options of mpi3d must be among kind,"),
        (("needs_files", "--folder", "/proc/none"), "the data folder must be writable; /proc/none"),
        (("gone",), "404 Not Found; try again later, or place it by hand"),
    ],
)
def test_bad_input_ends_with_a_sentence(server, words, sentence, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("UNTWINE_DATA", str(tmp_path))
    gone = Download("gone", "free.", "gone", (RemoteFile((f"{server.url}gone.bin",)),), check)
    monkeypatch.setitem(DATA_SETS._registered, "gone", DataSet(needs_files, downloads=(gone,)))
    assert exit_code("data", "get", *words) == 2
    error = capsys.readouterr().err
    assert sentence in error
    assert error.count("\n") == 1


CODE = """
import sys
sys.path[:0] = sys.argv[3:]
from test_data_get_command import DATA_SETS, DataSet, Download, RemoteFile, check, needs_files
from untwine.cli.app import main
one = Download("small", "free.", "small", (RemoteFile((sys.argv[1] + "a.bin",)),), check)
DATA_SETS.register("needs_files", DataSet(needs_files, downloads=(one,)))
main(["data", "get", "needs_files", "--folder", sys.argv[2]])
"""


def test_control_c_stops_with_a_sentence_and_the_same_command_continues(server, tmp_path):
    server.files["a.bin"].pause = 0.4
    here = Path(__file__).parent
    words = [sys.executable, "-c", CODE, server.url, str(tmp_path), str(here), str(here.parents[1] / "helpers")]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with process:
        seen = ""
        while "%" not in seen and (line := process.stderr.readline()):
            seen += line
        assert "%" in seen, seen  # what it printed in place of progress
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
    assert process.returncode == 130
    assert rest.endswith("untwine: stopped; the same command continues the download.\n")
    there = (tmp_path / ".downloads/small/a.bin.part").stat().st_size
    assert 0 < there < len(CONTENT)
    server.files["a.bin"].pause = 0.0
    run("data", "get", "needs_files", "--folder", tmp_path, "--quiet")
    assert (tmp_path / "small/a.bin").read_bytes() == CONTENT
    assert server.requests[-1][1] == f"bytes={there}-"
    assert [path.name for path in tmp_path.iterdir()] == ["small"]
