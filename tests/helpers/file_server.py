"""A web server on this machine with the faults that real ones have."""

import re
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Behaviour:
    """How a file is served."""

    content: bytes = b""
    cuts: list[int] = field(default_factory=list)  # after how many bytes the next answers end
    ranges: bool = True
    etag: str = '"one"'
    length: bool = True
    says: int | None = None  # Content-Length
    status: int = 200
    statuses: list[int] = field(default_factory=list)  # of the next answers
    location: str = ""
    pause: float = 0.0  # before each piece
    wrong_range: bool = False


class FileServer:
    """Files by path, and every request that came: (path, Range, If-Range, User-Agent)."""

    def __init__(self):
        self.files, self.requests = {}, []
        files, requests = self.files, self.requests

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                requests.append((self.path, self.headers["Range"], self.headers["If-Range"], self.headers["User-Agent"]))
                answer(self, files.get(self.path.partition("//")[2].partition("/")[2] or self.path.lstrip("/")))

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}/"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def answer(handler, file):
    status = 404 if file is None else (file.statuses.pop(0) if file.statuses else file.status)
    if status != 200:
        handler.send_response(status)
        if file is not None and file.location:
            handler.send_header("Location", file.location)
        handler.send_header("Content-Length", "0")
        handler.end_headers()
        return
    start = 0
    asked = re.fullmatch(r"bytes=(\d+)-", handler.headers["Range"] or "")
    same = handler.headers["If-Range"] in (None, file.etag)
    if asked and file.ranges and same:
        start = int(asked[1])
        if start >= len(file.content):
            handler.send_response(416)
            handler.send_header("Content-Length", "0")
            handler.end_headers()
            return
        handler.send_response(206)
        said = start + 1 if file.wrong_range else start
        handler.send_header("Content-Range", f"bytes {said}-{len(file.content) - 1}/{len(file.content)}")
    else:
        handler.send_response(200)
    body = file.content[start:]
    if file.length:
        handler.send_header("Content-Length", str(len(body) if file.says is None else file.says))
    if file.etag:
        handler.send_header("ETag", file.etag)
    handler.end_headers()
    body = body[: file.cuts.pop(0)] if file.cuts else body
    try:
        for i in range(0, len(body), 5000):
            time.sleep(file.pause)
            handler.wfile.write(body[i : i + 5000])
    except OSError:
        handler.close_connection = True  # the client went away
