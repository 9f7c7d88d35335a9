"""What every request must bring before any route sees it, and the headers of every response.

The server is for one person on one machine. Other people's accounts on it lack the token; pages of other sites, which a browser
would let send requests here, lack the cookie (SameSite=Strict) and have another Origin; names of other hosts that lead to this
address (DNS rebinding) are no Host of ours.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BODY, MAX_QUERY = 2**20, 2**14  # bytes
MAX_AT_ONCE = 64  # requests
HTTP = 80  # the port that browsers leave out of an address
SECONDS = 60.0  # for one request, its body included
HEADERS: Mapping[str, str] = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


def new_token() -> str:
    """Return a token that cannot be guessed."""
    return secrets.token_urlsafe(32)


class RefusedError(Exception):
    """A request that is answered with a status and a sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status, self.sentence = status, sentence


@dataclass
class Guard:
    """ASGI middleware that lets only requests of the own page pass, bounded in size, number and time.

    Parameters
    ----------
    app
        What answers the requests that pass.
    token
        In the address of the page, as `?token=`, and from then on in a cookie.
    port
        The port that the server listens on, on the loopback interface.
    """

    app: ASGIApp
    token: str
    port: int
    under_way: int = field(default=0, init=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse the request, or pass it on; every response gets the headers."""
        if scope["type"] != "http":
            return
        started = False

        async def send_with_headers(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                if message["status"] < 400 and self._in_address(scope):
                    headers.append("set-cookie", f"{self.cookie}={self.token}; Path=/; HttpOnly; SameSite=Strict")
            await send(message)

        try:
            self._check(scope)
            self.under_way += 1
            try:
                async with asyncio.timeout(SECONDS):
                    await self.app(scope, self._bounded(receive), send_with_headers)
            finally:
                self.under_way -= 1
        except (RefusedError, TimeoutError) as error:
            if started:
                raise
            status, sentence = (error.status, error.sentence) if isinstance(error, RefusedError) else (408, _TOO_LONG)
            await PlainTextResponse(sentence, status)(scope, receive, send_with_headers)

    @property
    def cookie(self) -> str:
        """The name of the cookie: cookies are shared by all ports of a host, so each port has its own."""
        return f"untwine_{self.port}"

    @property
    def hosts(self) -> tuple[str, ...]:
        """What the Host of a request may be."""
        return tuple(name if self.port == HTTP else f"{name}:{self.port}" for name in ("127.0.0.1", "localhost"))

    def _check(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if len(hosts) != 1 or hosts[0].lower() not in self.hosts:
            raise RefusedError(
                421, f"The host must be {' or '.join(self.hosts)}; open the address that untwine explore printed."
            )
        if any(origin != f"http://{hosts[0].lower()}" for origin in origins):
            raise RefusedError(403, "Requests must come from the explorer's own page; this one came from another site.")
        # The link may stand in a notebook: the page itself, and nothing else, may be asked for from there.
        linked = scope["path"] == "/" and scope["method"] == "GET" and self._in_address(scope)
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none") and not linked:
            raise RefusedError(403, "Requests must come from the explorer's own page; this one came from another site.")
        if not self._has_token(scope, headers):
            raise RefusedError(403, "The address must have the token that untwine explore printed; open the whole address.")
        if scope["method"] not in ("GET", "HEAD") and not (origins and _is_json(headers.get("content-type", ""))):
            raise RefusedError(415, "What is sent must be JSON, from the explorer's own page.")
        if len(scope["query_string"]) > MAX_QUERY:
            raise RefusedError(414, f"A query must have at most {MAX_QUERY:,} bytes.")
        length = headers.get("content-length", "0")
        if not length.isascii() or not length.isdigit() or int(length[:12]) > MAX_BODY:
            raise RefusedError(413, f"What is sent must have at most {MAX_BODY:,} bytes.")
        if self.under_way >= MAX_AT_ONCE:
            raise RefusedError(429, f"At most {MAX_AT_ONCE} requests are answered at once; wait a moment.")

    def _in_address(self, scope: Scope) -> bool:
        tokens = [value for name, value in _query(scope) if name == "token"]
        return len(tokens) == 1 and self._is_token(tokens[0])

    def _has_token(self, scope: Scope, headers: Headers) -> bool:
        """Whether the right token is in the address or, where none is in the address, in the cookie."""
        if any(name == "token" for name, _ in _query(scope)):
            return self._in_address(scope)
        return self._is_token(cookie_parser("; ".join(headers.getlist("cookie"))).get(self.cookie, ""))

    def _is_token(self, text: str) -> bool:
        return hmac.compare_digest(text.encode("utf-8", "surrogatepass"), self.token.encode())

    def _bounded(self, receive: Receive) -> Receive:
        received = 0

        async def bounded() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > MAX_BODY:
                raise RefusedError(413, f"What is sent must have at most {MAX_BODY:,} bytes.")
            return message

        return bounded


_TOO_LONG = f"The request took more than {SECONDS:.0f} seconds and was given up; try a smaller one."


def _query(scope: Scope) -> list[tuple[str, str]]:
    try:
        return parse_qsl(scope["query_string"].decode("ascii", "replace"), keep_blank_values=True, max_num_fields=200)
    except ValueError:
        raise RefusedError(400, "A query must have at most 200 fields.") from None


def _is_json(content_type: str) -> bool:
    return content_type.partition(";")[0].strip().lower() == "application/json"
