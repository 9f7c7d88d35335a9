"""One file over HTTP: resumed where it was cut, with proxies from the environment, timeouts and retries."""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import re
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import IO, Any, TypeVar
from urllib.parse import urlsplit

from untwine.data.remote import RemoteFile

T = TypeVar("T")
Watch = Callable[[str, int, int | None], None]  # called with the file's name, the bytes that are there, and all bytes

CHUNK = 1 << 18
TIMEOUT = 30.0  # seconds without a byte
ATTEMPTS = 5  # in a row without a new byte
PAUSE = 1.0  # seconds before the second attempt; doubled each time
LATER = (408, 425, 429, 500, 502, 503, 504)  # statuses that another attempt may change
RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")


@dataclass
class _Beginning:
    """What a partial file is the beginning of, as written beside it."""

    url: str
    validator: str
    total: int | None


class _RefusedError(Exception):
    """A server's refusal that another attempt would not change."""


class _ChangedError(Exception):
    """The file at the address is another one than the partial file is of."""


def fetch_file(file: RemoteFile, path: Path, watch: Watch | None = None) -> str:
    """Download a file, and return the address that it came from; what an earlier call has left is continued.

    While it is incomplete it is named `<path>.part`. It is renamed when it has as many bytes as the server said and, where that
    is known, the right checksum.

    Parameters
    ----------
    file
        The file.
    path
        Where to write it; a file that is there is taken as downloaded.
    watch
        Called with the file's name, the bytes that are there, and all bytes, where the server said how many.
    """
    if path.exists():
        return file.urls[0]
    incomplete, refusals = path.with_name(f"{path.name}.part"), []
    for url in file.urls:
        try:
            _fetch(url, incomplete, file, watch)
        except _RefusedError as error:
            refusals.append(f"{url}: {error}")
            continue
        _verify(incomplete, file)
        os.replace(incomplete, path)
        _beside(incomplete).unlink(missing_ok=True)
        return url
    raise ValueError(
        f"{file.name} must be downloaded from one of its addresses; got {'; '.join(refusals)}; try again later, or "
        "place it by hand."
    )


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _verify(incomplete: Path, file: RemoteFile) -> None:
    if not file.sha256:
        return
    got = digest(incomplete)
    if got != file.sha256:
        incomplete.unlink()
        raise ValueError(
            f"{file.name} must have SHA-256 {file.sha256}; got {got}; it was deleted: download it again, or check the address."
        )


def _fetch(url: str, incomplete: Path, file: RemoteFile, watch: Watch | None) -> None:
    """Attempt the download until it is complete, or until several attempts in a row brought no new byte."""
    failures = 0
    while True:
        before = _size(incomplete)
        try:
            return _attempt(url, incomplete, file, watch)
        except _ChangedError:
            incomplete.unlink(missing_ok=True)
            reason = "the file changed while it was downloaded"
        except urllib.error.HTTPError as error:
            error.close()
            reason = f"{error.code} {error.reason}"
            if error.code not in LATER:
                raise _RefusedError(reason) from None
        except (urllib.error.URLError, http.client.HTTPException, OSError) as error:
            reason = _reason(error)
            if isinstance(getattr(error, "reason", None), ssl.SSLCertVerificationError):
                raise _RefusedError(reason) from None
        failures = 1 if _size(incomplete) > before else failures + 1
        if failures >= ATTEMPTS:
            raise _RefusedError(f"{reason}, {failures} times in a row")
        time.sleep(PAUSE * 2 ** (failures - 1))


def _attempt(url: str, incomplete: Path, file: RemoteFile, watch: Watch | None) -> None:
    known = _read_beginning(incomplete, url)
    start = _size(incomplete) if known is not None else 0
    if known is not None and known.total is not None and start == known.total:
        return
    request = urllib.request.Request(url, headers=_headers(start, known))  # noqa: S310 (the opener has HTTP and HTTPS alone)
    try:
        answer = _opener().open(request, timeout=TIMEOUT)
    except urllib.error.HTTPError as error:
        if start and error.code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            error.close()
            raise _ChangedError from None
        raise
    with answer as response:
        start, total = _continued(response, start, known)
        if total is not None and total > file.limit:
            raise _RefusedError(f"{total:,} bytes where at most {file.limit:,} were expected")
        with _writing(incomplete, append=start > 0) as content:
            if not start:
                beginning = _Beginning(url, _validator(response.headers), total)
                _on_disk(incomplete, lambda: _beside(incomplete).write_text(json.dumps(asdict(beginning))))
            done = _copy(response, content, incomplete, start, total, file, watch)
    if total is not None and done != total:
        raise http.client.IncompleteRead(b"", total - done)


def _copy(
    response: Any, content: IO[bytes], incomplete: Path, done: int, total: int | None, file: RemoteFile, watch: Watch | None
) -> int:
    """Write what the server sends after the bytes that are there, and return how many there are then."""
    while chunk := response.read1(CHUNK):
        done += len(chunk)
        if done > file.limit:
            content.truncate(0)
            raise _RefusedError(f"more than the {file.limit:,} bytes that were expected")
        _on_disk(incomplete, partial(_write_all, content, chunk))
        if watch is not None:
            watch(file.name, done, total)
    _on_disk(incomplete, lambda: os.fsync(content.fileno()))
    return done


def _write_all(content: IO[bytes], chunk: bytes) -> None:
    rest = memoryview(chunk)
    while rest:
        rest = rest[content.write(rest) :]  # an unbuffered file may write less than it is given


def _writing(incomplete: Path, append: bool) -> IO[bytes]:
    """Open the partial file; what is written is on its way to the disk at once, so that an interrupt loses nothing."""
    return _on_disk(incomplete, lambda: incomplete.open("ab" if append else "wb", buffering=0))


def _on_disk(incomplete: Path, action: Callable[[], T]) -> T:
    """Do something with the disk; an error of the disk is not one of the network, which is tried again."""
    try:
        return action()
    except OSError as error:
        raise ValueError(
            f"{incomplete.parent} must have room for the download; got {(error.strerror or str(error)).lower()}; free some, "
            "and run the same command again, which continues it."
        ) from None


def _headers(start: int, known: _Beginning | None) -> dict[str, str]:
    from untwine import __version__

    headers = {"User-Agent": f"untwine/{__version__}", "Accept-Encoding": "identity"}
    if start and known is not None:
        headers["Range"] = f"bytes={start}-"
        if known.validator:
            headers["If-Range"] = known.validator  # a file that has changed since is sent from its beginning
    return headers


def _continued(response: Any, start: int, known: _Beginning | None) -> tuple[int, int | None]:
    """Return from which byte on the server sends the file, and how many bytes it has, if the server says so."""
    if response.status == HTTPStatus.PARTIAL_CONTENT:
        match = RANGE.fullmatch(response.headers.get("Content-Range", ""))
        total = int(match[2]) if match and match[2] != "*" else None
        if match is None or int(match[1]) != start or known is None or (total or known.total) != known.total:
            raise _ChangedError
        return start, total if total is not None else known.total
    length = response.headers.get("Content-Length", "")
    return 0, int(length) if length.isdecimal() else None


def _validator(headers: Any) -> str:
    """Return what a changed file differs in: its strong ETag, else when it was last modified."""
    tag = headers.get("ETag", "")
    return str(tag if tag.startswith('"') else headers.get("Last-Modified", ""))


def _beside(incomplete: Path) -> Path:
    return incomplete.with_name(f"{incomplete.name}.json")


def _read_beginning(incomplete: Path, url: str) -> _Beginning | None:
    """Return what a partial file is the beginning of; None where there is none, or one of another address."""
    try:
        known = _Beginning(**json.loads(_beside(incomplete).read_text()))
    except (OSError, ValueError, TypeError):
        return None
    return known if incomplete.exists() and known.url == url else None


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _reason(error: BaseException) -> str:
    inner = getattr(error, "reason", error)
    if isinstance(inner, http.client.IncompleteRead):
        return "the connection was cut"
    return "no answer in time" if isinstance(inner, TimeoutError) else str(inner) or type(inner).__name__


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Redirects, but never from HTTPS to HTTP; the standard library refuses files of this machine itself."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        if urlsplit(req.full_url).scheme == "https" and urlsplit(newurl).scheme != "https":
            raise _RefusedError(f"a redirect to {newurl}, which is not as safe")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _opener() -> urllib.request.OpenerDirector:
    """Return what opens addresses: HTTP and HTTPS alone, by the proxies of the environment, without a file or FTP."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.UnknownHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        _Redirects(),
    ):
        opener.add_handler(handler)
    return opener
