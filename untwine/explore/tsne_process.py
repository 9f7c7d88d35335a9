"""t-SNE in a process of its own.

openTSNE holds the interpreter's lock for up to a second at a time. In the process of the server each answer would wait for it:
the image of the sample under the pointer came after 24 to 39 ms, and sometimes after a second, in place of 2 ms.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from typing import IO

import numpy as np

from untwine._typing import Array
from untwine.explore.workers import NICE
from untwine.metrics.clustering import tsne

MANY = 2_000  # samples: of fewer the plane is there before another process has started
LENGTH = 8  # bytes that say how long the codes are


def plane(codes: Array) -> Array:
    """Return the t-SNE plane (n, 2) of codes (n, d); of many samples from another process, which ends with this one."""
    return (_elsewhere if len(codes) > MANY and sys.executable else tsne)(codes)


def _elsewhere(codes: Array) -> Array:
    content = io.BytesIO()
    np.save(content, codes, allow_pickle=False)
    sent = content.getvalue()
    with tempfile.TemporaryFile() as errors:
        # The same modules as here, wherever they were found, and none of the working folder.
        command = [sys.executable, "-P", "-m", __name__, str(NICE)]
        paths = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, env=paths)  # noqa: S603 (this module)
        with process:
            result = _exchange(process, len(sent).to_bytes(LENGTH) + sent)
        if process.returncode:
            errors.seek(0)
            lines = errors.read().decode(errors="replace").strip().splitlines()
            raise RuntimeError(lines[-1] if lines else f"its process ended with {process.returncode}")
    points: Array = np.load(io.BytesIO(result), allow_pickle=False)
    return points


def _exchange(process: subprocess.Popen[bytes], sent: bytes) -> bytes:
    """Return what a process answers; its standard input stays open until then, and closes when this process ends."""
    if process.stdin is None or process.stdout is None:
        raise RuntimeError("the process of t-SNE must have pipes")
    try:
        with suppress(BrokenPipeError):  # it has ended; its error says why
            process.stdin.write(sent)
            process.stdin.flush()
        return process.stdout.read()
    except BaseException:
        process.kill()
        raise


def answer(given: IO[bytes], result: IO[bytes], end: Callable[[int], object] = os._exit) -> None:
    """Read codes, write their plane; end at once when the process that asked for it has ended."""
    codes = np.load(io.BytesIO(given.read(int.from_bytes(given.read(LENGTH)))), allow_pickle=False)

    def watch() -> None:
        given.read(1)
        end(1)

    Thread(target=watch, daemon=True).start()
    np.save(result, tsne(codes), allow_pickle=False)
    result.flush()


def main() -> None:
    """Answer the process that started this one; the thread that reads standard input would keep a usual end waiting."""
    try:
        if hasattr(os, "nice"):
            os.nice(int(sys.argv[1]))  # who looks at the page needs the processor first
        answer(sys.stdin.buffer, sys.stdout.buffer)
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        os._exit(1)
    os._exit(0)


if __name__ == "__main__":
    main()
