"""One process at a time in a folder, on one machine or on several that share it, and who it is."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from untwine.runs.names import LOCK


class Holder(NamedTuple):
    """The process that has locked a folder: its machine, its number there, and since when, in seconds since 1970."""

    host: str
    pid: int
    since: float


@contextmanager
def lock(folder: str | os.PathLike[str], wait: bool = True) -> Iterator[bool]:
    """Lock a folder for this process, and yield whether it is locked: without `wait`, not if another process has locked it.

    A lock ends with the process that has it, however that ends. It is on a file, as network file systems lock no folders, and
    the file stays: whoever removed it could remove another's lock.
    """
    handle = os.open(Path(folder) / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        locked = True
        try:
            fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            locked = False
        if locked:
            _write(handle, Holder(socket.gethostname(), os.getpid(), time.time()))
        yield locked
    finally:
        os.close(handle)


def holder(folder: str | os.PathLike[str]) -> Holder | None:
    """Return who has locked a folder, or None."""
    try:
        handle = os.open(Path(folder) / LOCK, os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        with suppress(ValueError, TypeError):  # it has locked the folder and not said who it is yet
            return Holder(**json.loads(os.pread(handle, 4096, 0)))
        return Holder("?", 0, time.time())
    finally:
        os.close(handle)
    return None


def _write(handle: int, who: Holder) -> None:
    content = json.dumps(who._asdict()).encode()
    os.ftruncate(handle, 0)
    os.pwrite(handle, content, 0)
