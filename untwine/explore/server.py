"""The server: on the loopback interface alone, until Ctrl-C."""

from __future__ import annotations

import os
import socket
import sys
import webbrowser
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

from untwine.registry.checks import check_int
from untwine.registry.extras import optional

if TYPE_CHECKING:
    import uvicorn

    from untwine.runs.reading import Run

LOOPBACK = "127.0.0.1"


def explore(runs: str | os.PathLike[str], *, port: int = 0, browser: bool = True) -> None:
    """Explore a run folder, or all run folders in a folder, in a browser, until Ctrl-C.

    The server listens on this machine only, and answers only who has the address that it prints. Nothing is written but
    selections that are saved under a name, into the folder of their run.

    Parameters
    ----------
    runs
        A run folder, or a folder with run folders in it.
    port
        The port to listen on; 0 takes a free one.
    browser
        Open the address in the browser.
    """
    check_int("port", port, 0, 65535)
    purpose = "exploring runs"
    optional("uvicorn", purpose)
    optional("starlette", purpose)

    from untwine.runs.reading import read_cards

    listed, damaged = read_cards(Path(runs))
    for name, sentence in damaged.items():
        print(f"The run {name!r} is left out: {sentence}", file=sys.stderr)
    with listen(port) as listening:
        server, address = server_of(listed, listening, damaged)
        print(f"Exploring {len(listed)} run{'s' * (len(listed) != 1)}; Ctrl-C ends it:\n{address}", flush=True)
        if browser:
            Thread(target=webbrowser.open, args=(address,), daemon=True).start()
        try:
            server.run(sockets=[listening])
        except KeyboardInterrupt:
            print("ended.")


def server_of(
    runs: Sequence[Run], listening: socket.socket, damaged: Mapping[str, str] | None = None
) -> tuple[uvicorn.Server, str]:
    """Return the server of some runs on a socket, and the address of the page; the first run is being opened.

    `damaged` says by name why other runs are left out.
    """
    import uvicorn

    from untwine.explore.app import build
    from untwine.explore.connections import BoundedProtocol
    from untwine.explore.security import HTTP, new_token
    from untwine.explore.state import Explorer

    port, token = listening.getsockname()[1], new_token()
    explorer = Explorer(runs, damaged or {})
    explorer.opening(0)  # is being opened while the browser starts
    config = uvicorn.Config(
        build(explorer, token, port),
        log_level="warning",
        access_log=False,
        lifespan="off",
        ws="none",
        http=BoundedProtocol,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=1,
        h11_max_incomplete_event_size=2**15,
    )
    return uvicorn.Server(config), f"http://{LOOPBACK}{'' if port == HTTP else f':{port}'}/?token={token}"


def listen(port: int) -> socket.socket:
    """Return a socket that listens on the loopback interface, or say that the port is taken."""
    # Of a socket that does not say TCP, asyncio leaves Nagle's algorithm on, and every few answers come 40 ms late.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((LOOPBACK, port))
        listening.listen(128)
    except OSError as error:
        listening.close()
        reason = (error.strerror or str(error)).lower()
        raise ValueError(f"port must be one that is free; {port} cannot be used ({reason}); use 0 for a free one.") from None
    return listening
