"""Connections that are bounded in time: one that never completes a request is closed."""

from __future__ import annotations

import asyncio
from asyncio import TimerHandle

from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

CHECKED = 30.0  # seconds; without a new request from one check to the next, a connection is closed


class BoundedProtocol(H11Protocol):
    """HTTP/1.1 that does not wait forever for the rest of a request line or of headers.

    Idle connections are closed by the server's own limit, and bodies are bounded by the guard's.
    """

    _check: TimerHandle | None = None
    _before: RequestResponseCycle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin, and check from time to time whether requests come."""
        super().connection_made(transport)
        self._check = self.loop.call_later(CHECKED, self._checked)

    def connection_lost(self, exc: Exception | None) -> None:
        """End, with the checks."""
        if self._check is not None:
            self._check.cancel()
        super().connection_lost(exc)

    def _checked(self) -> None:
        cycle: RequestResponseCycle | None = self.cycle
        waits = cycle is None or cycle.response_complete
        if waits and cycle is self._before:
            self.transport.close()
            return
        self._before = cycle if waits else None
        self._check = self.loop.call_later(CHECKED, self._checked)
