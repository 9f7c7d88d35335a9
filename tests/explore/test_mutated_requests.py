"""Thousands of mutated requests: each is answered or refused with a sentence, and the explorer goes on."""

import json
import os
import re
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote, urlsplit
from urllib.request import urlopen

import numpy as np
import pytest
from browsing import Served
from explored import ANSWERED, HOST, SENDING, SENT, TOKEN

from untwine.explore import connections

WORDS = """
.. / %2f ' " <script> NaN -1 1e400 999999999999999999999999
, : salient common all true null [ { }; % %zz é 💥 0 7 0.5
token = &"""
PIECES = [*WORDS.split(), "\0", "\uff19", "\u202e", " ", "\r\nx: y"]
HEADERS = {
    "host": HOST,
    "origin": f"http://{HOST}",
    "cookie": f"untwine_8765={TOKEN}",
    "content-type": "application/json",
    "accept": "*/*",
}


def mutated(text, rng):
    """Return a text with a few pieces of it removed, doubled, replaced or inserted."""
    for _ in range(rng.integers(1, 4)):
        a, b = sorted(rng.integers(0, len(text) + 1, 2))
        piece = PIECES[rng.integers(len(PIECES))]
        text = [text[:a] + text[b:], text[:b] + text[a:], text[:a] + piece + text[b:], text[:a] + piece + text[a:]][
            rng.integers(4)
        ]
    return text


def request(rng):
    """Return a method, an address, headers and a body that were right before something in them was changed."""
    sending = rng.random() < 0.3
    path, fields = list((SENDING if sending else ANSWERED).items())[rng.integers(len(SENDING if sending else ANSWERED))]
    path = path.replace("{run}", str(rng.integers(5)))
    body = json.dumps({"samples": fields["samples"]}) if sending else ""  # no name: nothing is to be saved
    fields = {} if sending else {name: str(value) for name, value in fields.items()}
    headers = {"cookie": HEADERS["cookie"], **({**SENT, "content-type": "application/json"} if sending else {})}
    for _ in range(rng.integers(1, 3)):
        kind = rng.integers(5)
        if kind == 0 and fields:
            name = list(fields)[rng.integers(len(fields))]
            fields[name] = mutated(fields[name], rng)
        elif kind == 1 and fields:
            name = list(fields)[rng.integers(len(fields))]
            fields[mutated(name, rng)] = fields.pop(name)
        elif kind == 2:
            path = "/" + mutated(path[1:], rng)
        elif kind == 3:
            name = list(HEADERS)[rng.integers(len(HEADERS))]
            headers[name] = (
                mutated(HEADERS[name], rng)
                .encode("latin-1", "replace")
                .replace(b"\r", b"")
                .replace(b"\n", b"")
                .replace(b"\0", b"")
            )
        else:
            body = mutated(body, rng)
    query = "&".join(f"{quote(name)}={quote(value)}" for name, value in fields.items())
    address = quote(path, safe="/%") + (f"?{query}" if query else "")
    method = "POST" if sending else ["GET", "HEAD", "PUT", "DELETE", "OPTIONS"][min(4, int(rng.exponential(0.5)))]
    return method, address, headers, body.encode("utf-8", "replace")


def send_mutated(page, many, seed):
    rng, seen = np.random.default_rng(seed), []
    page.client.cookies.clear()
    try:
        for _ in range(many):
            method, address, headers, body = request(rng)
            answer = page.client.request(method, f"http://{HOST}{address}", headers=headers, content=body)
            assert 200 <= answer.status_code < 300 or 400 <= answer.status_code < 500, (method, address, headers, body)
            assert answer.headers["x-content-type-options"] == "nosniff"
            seen.append(answer.status_code)
    finally:
        page.client.cookies.set(page.app.cookie, TOKEN)
    assert page.get("/api/runs").status_code == 200
    return seen


def test_mutated_requests_are_answered_or_refused(page):
    seen = send_mutated(page, 1_000, seed=0)
    # They reach every stage: the guard, the routes, the checks of fields, and some are still right.
    assert {200, 400, 403, 404, 405, 415, 421} <= set(seen)


@pytest.mark.soak
def test_ten_thousand_mutated_requests(page):
    send_mutated(page, 10_000, seed=1)


def mutated_bytes(rng, host, port, token):
    """Return the bytes of a request that was right before some of them were changed."""
    sending = rng.random() < 0.3
    path, fields = list((SENDING if sending else ANSWERED).items())[rng.integers(len(SENDING if sending else ANSWERED))]
    body = json.dumps({"samples": fields["samples"]}).encode() if sending else b""
    query = "" if sending else "?" + "&".join(f"{quote(name)}={quote(str(value))}" for name, value in fields.items())
    lines = [
        f"{'POST' if sending else 'GET'} {path.replace('{run}', str(rng.integers(5)))}{query} HTTP/1.1",
        f"Host: {host}",
        f"Cookie: untwine_{port}={token}",
        "Connection: close",
        *([f"Origin: http://{host}", "Content-Type: application/json", f"Content-Length: {len(body)}"] if sending else []),
    ]
    content = bytearray("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
    for _ in range(rng.integers(1, 5)):
        a, b = sorted(rng.integers(0, len(content) + 1, 2))
        some = rng.integers(0, 256, rng.integers(1, 9), dtype=np.uint8).tobytes()
        content[a:b] = [content[a:b] * 2, b"", some, content[a:b] + some][rng.integers(4)]
    return bytes(content)


def send_bytes(address, many, seed):
    """Send mutated bytes and return the statuses of the answers; none where the connection is closed."""
    parts = urlsplit(address)
    rng, seen = np.random.default_rng(seed), set()
    for _ in range(many):
        content = mutated_bytes(rng, parts.netloc, parts.port, parts.query.removeprefix("token="))
        with socket.create_connection((parts.hostname, parts.port), timeout=60) as connection:
            answer = b""
            with suppress(ConnectionError):  # closed by the server before all was read
                connection.sendall(content)
                connection.shutdown(socket.SHUT_WR)
                while some := connection.recv(65536):
                    answer += some
        if answer:
            status = re.match(rb"HTTP/1\.1 ([24]\d\d) ", answer)
            assert status, (content, answer[:200])
            seen.add(int(status[1]))
    with urlopen(address, timeout=60) as page:
        assert page.status == 200
    return seen


def test_mutated_bytes_are_answered_or_refused_by_the_real_server(runs):
    served = Served(runs)
    try:
        assert {400, 403} <= send_bytes(served.address, 200, seed=0)
    finally:
        served.end()


@pytest.mark.soak
def test_ten_thousand_mutated_requests_leave_the_command_alive_and_its_memory_bounded(runs):
    command = [sys.executable, "-m", "untwine", "explore", str(runs), "--no-browser", "--threads", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            process.stdout.readline()
            address = process.stdout.readline().strip()
            for number in range(5):
                while b'"opening"' in urlopen(address.replace("/?", f"/api/runs/{number}?"), timeout=60).read():
                    pass
            send_bytes(address, 1_000, seed=1)
            before = memory(process.pid)
            send_bytes(address, 10_000, seed=2)
            assert process.poll() is None
            assert memory(process.pid) - before < 2**26, "64 MB more"
        finally:
            process.terminate()


def memory(process):
    """Return the bytes that a process holds in memory."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_a_connection_that_never_completes_a_request_is_closed(runs, monkeypatch):
    monkeypatch.setattr(connections, "CHECKED", 0.2)
    served = Served(runs)
    parts = urlsplit(served.address)
    try:
        for begun in (b"", b"GET / HTTP/1.1\r\nHost:"):
            with socket.create_connection((parts.hostname, parts.port), timeout=60) as connection:
                connection.sendall(begun)
                assert connection.recv(100) == b""
        request = f"GET /?{parts.query} HTTP/1.1\r\nHost: {parts.netloc}\r\n\r\n".encode()
        with socket.create_connection((parts.hostname, parts.port), timeout=60) as connection:
            connection.sendall(request)
            assert connection.recv(100).startswith(b"HTTP/1.1 200 ")
    finally:
        served.end()
