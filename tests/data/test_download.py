"""One file over HTTP, from a server on this machine with the faults that real ones have."""

import hashlib
import os
import re
import resource
import signal
import subprocess
import sys
import urllib.request
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from file_server import Behaviour, FileServer

from untwine.data import download
from untwine.data.download import fetch_file
from untwine.data.remote import RemoteFile

CONTENT = np.random.default_rng(0).bytes(300_000)
ROOT = Path(__file__).parents[2]


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(download, "PAUSE", 0.0)
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    server = FileServer()
    yield server
    server.close()


def serve(server, **behaviour):
    server.files["a.bin"] = Behaviour(CONTENT, **behaviour)
    return RemoteFile((f"{server.url}a.bin",), size=len(CONTENT))


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_downloaded_whole_and_watched(server, tmp_path):
    calls = []
    fetch_file(serve(server), tmp_path / "a.bin", lambda *call: calls.append(call))
    assert (tmp_path / "a.bin").read_bytes() == CONTENT
    assert names(tmp_path) == ["a.bin"]
    assert calls[-1] == ("a.bin", 300_000, 300_000)
    assert [done for _, done, _ in calls] == sorted({done for _, done, _ in calls})
    assert server.requests[0][3].startswith("untwine/")  # some servers refuse Python's own name


def test_a_cut_connection_is_continued_where_it_was_cut(server, tmp_path):
    fetch_file(serve(server, cuts=[100_000, 50_000]), tmp_path / "a.bin")
    assert (tmp_path / "a.bin").read_bytes() == CONTENT
    assert [(asked, validator) for _, asked, validator, _ in server.requests] == [
        (None, None),
        ("bytes=100000-", '"one"'),
        ("bytes=150000-", '"one"'),
    ]


def test_a_later_call_continues_what_an_earlier_one_left(server, tmp_path):
    file = serve(server, cuts=[100_000], statuses=[200, *[503] * (download.ATTEMPTS - 1)])
    with pytest.raises(ValueError, match=r"a.bin must be downloaded from one of its addresses; got .*503 .*5 times in a row"):
        fetch_file(file, tmp_path / "a.bin")
    assert names(tmp_path) == ["a.bin.part", "a.bin.part.json"]
    del server.requests[:]
    fetch_file(file, tmp_path / "a.bin")
    assert (tmp_path / "a.bin").read_bytes() == CONTENT
    assert [asked for _, asked, _, _ in server.requests] == ["bytes=100000-"]


def test_a_server_without_ranges_starts_over(server, tmp_path):
    fetch_file(serve(server, cuts=[100_000], ranges=False), tmp_path / "a.bin")
    assert (tmp_path / "a.bin").read_bytes() == CONTENT


@pytest.mark.parametrize("etag", ['"one"', 'W/"one"', ""])
def test_a_file_that_changed_in_between_is_never_joined_with_the_old_one(server, tmp_path, etag):
    file = serve(server, cuts=[100_000], statuses=[200, *[503] * (download.ATTEMPTS - 1)], etag=etag)
    with pytest.raises(ValueError, match="503"):
        fetch_file(file, tmp_path / "a.bin")
    new = bytes(250_000)
    server.files["a.bin"] = Behaviour(new, etag=etag.replace("one", "two"))
    fetch_file(file, tmp_path / "a.bin")
    assert (tmp_path / "a.bin").read_bytes() == new


def test_a_shorter_file_than_what_is_there_starts_over(server, tmp_path):
    file = serve(server, cuts=[100_000], statuses=[200, *[503] * (download.ATTEMPTS - 1)], etag="")
    with pytest.raises(ValueError, match="503"):
        fetch_file(file, tmp_path / "a.bin")
    server.files["a.bin"] = Behaviour(b"short", etag="")
    fetch_file(file, tmp_path / "a.bin")
    assert (tmp_path / "a.bin").read_bytes() == b"short"


def test_another_range_than_asked_for_is_not_appended(server, tmp_path):
    server_file = serve(server, cuts=[100_000], wrong_range=True)
    fetch_file(server_file, tmp_path / "a.bin")
    assert (tmp_path / "a.bin").read_bytes() == CONTENT
    assert server.requests[-1][1] is None  # from the beginning


def test_a_file_that_is_always_truncated_is_not_kept_as_whole(server, tmp_path):
    file = serve(server, ranges=False, cuts=[1000] * download.ATTEMPTS * 2)
    with pytest.raises(ValueError, match="the connection was cut, 5 times in a row"):
        fetch_file(file, tmp_path / "a.bin")
    assert not (tmp_path / "a.bin").exists()


def test_a_wrong_checksum_is_refused_and_the_file_deleted(server, tmp_path):
    right = hashlib.sha256(CONTENT).hexdigest()
    plain = serve(server)
    with pytest.raises(ValueError, match=f"a.bin must have SHA-256 {'0' * 64}; got {right}"):
        fetch_file(RemoteFile(plain.urls, plain.size, "0" * 64), tmp_path / "a.bin")
    assert "a.bin" not in names(tmp_path)
    assert "a.bin.part" not in names(tmp_path)
    fetch_file(RemoteFile(plain.urls, plain.size, right), tmp_path / "a.bin")
    assert (tmp_path / "a.bin").read_bytes() == CONTENT


@pytest.mark.parametrize("status", [403, 404, 410])
def test_a_missing_file_is_taken_from_the_next_address_else_refused_at_once(server, tmp_path, status):
    server.files["gone"] = Behaviour(status=status)
    file = serve(server)
    both = RemoteFile((f"{server.url}gone", *file.urls))
    assert fetch_file(both, tmp_path / "a.bin") == file.urls[0]
    with pytest.raises(ValueError, match=rf"{server.url}gone: {status} .*; try again later, or place it by hand") as error:
        fetch_file(RemoteFile((f"{server.url}gone",)), tmp_path / "b.bin")
    assert "\n" not in str(error.value)
    assert [path for path, *_ in server.requests].count("/gone") == 2  # no second attempt


def test_a_redirect_is_followed_but_not_to_a_file_of_this_machine(server, tmp_path):
    file = serve(server)
    secret = tmp_path / "secret"
    secret.write_text("x")
    server.files["moved"] = Behaviour(status=302, location=file.urls[0])
    fetch_file(RemoteFile((f"{server.url}moved",)), tmp_path / "a.bin")
    assert (tmp_path / "a.bin").read_bytes() == CONTENT
    server.files["local"] = Behaviour(status=302, location=secret.as_uri())
    with pytest.raises(ValueError, match=r"Redirection to url 'file:.*is not allowed"):
        fetch_file(RemoteFile((f"{server.url}local",)), tmp_path / "b.bin")
    with pytest.raises(ValueError, match="unknown url type: file"):
        fetch_file(RemoteFile((secret.as_uri(),)), tmp_path / "b.bin")


def test_no_redirect_leads_from_https_to_http():
    request = urllib.request.Request("https://a.example/x")
    follow = partial(download._Redirects().redirect_request, request, None, 302, "Found", {})
    assert follow("https://b.example/y").full_url == "https://b.example/y"
    with pytest.raises(download._RefusedError, match=r"a redirect to http://b.example/y, which is not as safe"):
        follow("http://b.example/y")


def test_more_than_expected_is_refused_whether_the_server_says_so_or_not(server, tmp_path):
    file = RemoteFile(serve(server).urls, size=100_000)
    with pytest.raises(ValueError, match="300,000 bytes where at most 200,000 were expected"):
        fetch_file(file, tmp_path / "a.bin")
    assert names(tmp_path) == []
    file = RemoteFile(serve(server, length=False).urls, size=100_000)
    with pytest.raises(ValueError, match="more than the 200,000 bytes that were expected"):
        fetch_file(file, tmp_path / "a.bin")
    assert (tmp_path / "a.bin.part").stat().st_size == 0


def test_content_beyond_what_the_server_said_is_not_read(server, tmp_path):
    """The file ends where the server said; its archive or checksum then finds that it is not whole."""
    fetch_file(serve(server, says=1000), tmp_path / "a.bin")
    assert (tmp_path / "a.bin").read_bytes() == CONTENT[:1000]


def test_a_server_that_sends_nothing_is_given_up(server, tmp_path, monkeypatch):
    monkeypatch.setattr(download, "TIMEOUT", 0.05)
    file = serve(server, pause=1.0)
    with pytest.raises(ValueError, match="no answer in time, 5 times in a row"):
        fetch_file(file, tmp_path / "a.bin")


def test_a_proxy_of_the_environment_is_used(server, tmp_path, monkeypatch):
    server.files["a.bin"] = Behaviour(CONTENT)
    monkeypatch.setenv("http_proxy", server.url)
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    fetch_file(RemoteFile(("http://nowhere.invalid/a.bin",)), tmp_path / "a.bin")
    assert (tmp_path / "a.bin").read_bytes() == CONTENT
    assert server.requests[0][0] == "http://nowhere.invalid/a.bin"


def test_a_full_disk_is_said_at_once_and_what_is_there_is_kept(server, tmp_path):
    file, before = serve(server), resource.getrlimit(resource.RLIMIT_FSIZE)
    old = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (120_000, before[1]))
    try:
        with pytest.raises(ValueError, match="must have room for the download; got file too large; free some"):
            fetch_file(file, tmp_path / "a.bin")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, old)
    assert len(server.requests) == 1
    fetch_file(file, tmp_path / "a.bin")
    assert (tmp_path / "a.bin").read_bytes() == CONTENT
    assert server.requests[1][1] == "bytes=120000-"


CODE = """
import sys
import urllib.request
from functools import partial
from pathlib import Path
from untwine.data.download import fetch_file
from untwine.data.remote import RemoteFile
print("ready", flush=True)
fetch_file(RemoteFile((sys.argv[1],)), Path(sys.argv[2]), lambda *call: print(call[1], flush=True))
"""


@pytest.mark.parametrize("with_", [signal.SIGINT, signal.SIGKILL])
def test_a_stopped_download_is_continued(server, tmp_path, with_):
    file = serve(server, pause=0.1)
    command = [sys.executable, "-c", CODE, file.urls[0], str(tmp_path / "a.bin")]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    with process, process.stdout:
        for line in process.stdout:
            if line.strip().isdecimal() and int(line) > 50_000:
                break
        process.send_signal(with_)
    assert process.returncode != 0
    there = (tmp_path / "a.bin.part").stat().st_size
    assert 50_000 < there < len(CONTENT)
    assert (tmp_path / "a.bin.part").read_bytes() == CONTENT[:there]
    server.files["a.bin"].pause = 0.0
    fetch_file(file, tmp_path / "a.bin")
    assert (tmp_path / "a.bin").read_bytes() == CONTENT
    assert re.fullmatch(rf"bytes={there}-", server.requests[-1][1])
    assert os.listdir(tmp_path) == ["a.bin"]
