"""Every route refuses what does not come from the explorer's own page with the token, whatever it asks for."""

import asyncio
import hashlib
import shutil
import socket

import pytest
from explored import ANSWERED, HOST, SENDING, SENT, TOKEN, Page
from starlette.testclient import TestClient

from untwine.explore import security
from untwine.explore.app import STATIC, routes
from untwine.explore.security import MAX_BODY, MAX_QUERY, Guard, new_token
from untwine.explore.server import LOOPBACK, listen

REQUESTS = [("GET", path) for path in ANSWERED] + [("POST", path) for path in SENDING]
ids = [f"{method} {path}" for method, path in REQUESTS]


def ask(client, method, path, run=0, fields=None, **options):
    """Send the request of a route, with other fields, headers or content where given."""
    path = path.replace("{run}", str(run))
    if method == "POST":
        options.setdefault("json", SENDING[path.replace(f"/{run}/", "/{run}/")])
        options["headers"] = {**SENT, **options.get("headers", {})}
    else:
        options.setdefault("params", ANSWERED[path.replace(f"/runs/{run}", "/runs/{run}")] if fields is None else fields)
    return client.request(method, path, **options)


@pytest.fixture
def without(page):
    """A client that has no cookie."""
    return TestClient(page.app, base_url=f"http://{HOST}", follow_redirects=False)


@pytest.fixture
def own(runs, tmp_path):
    """An explorer of a copy, to write into."""
    shutil.copytree(runs / "images", tmp_path / "images")
    page = Page(tmp_path)
    page.open(0)
    return page


def test_every_route_is_tested():
    known = {(method, route.path) for route in routes(None) for method in route.methods - {"HEAD"}}
    assert known == set(REQUESTS)


@pytest.mark.parametrize(("method", "path"), REQUESTS, ids=ids)
def test_a_request_of_the_page_is_answered(own, method, path):
    assert ask(own.client, method, path).status_code in (200, 201)


@pytest.mark.parametrize(("method", "path"), REQUESTS, ids=ids)
def test_the_token_is_asked_for(page, without, method, path):
    asked = {} if method == "POST" else ANSWERED[path]
    for token in ("", "wrong", TOKEN[:-1], TOKEN + "x", TOKEN.upper(), "\udcff", "ü"):
        refused = ask(without, method, path, fields=None, params={**asked, "token": token.encode("utf-8", "surrogatepass")})
        assert refused.status_code == 403, token
        assert refused.text.startswith("The address must have the token")
        assert "set-cookie" not in refused.headers
    assert ask(without, method, path).status_code == 403
    without.cookies.set(page.app.cookie, "wrong")
    assert ask(without, method, path).status_code == 403
    # A wrong one in the address is not made good by a right one beside it, nor by the cookie.
    assert ask(without, method, path, params=[("token", TOKEN), ("token", "wrong")]).status_code == 403
    without.cookies.set(page.app.cookie, TOKEN)
    assert ask(without, method, path, params={"token": "wrong"}).status_code == 403


@pytest.mark.parametrize(("method", "path"), REQUESTS, ids=ids)
@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost:80", f"{HOST}.evil.example", "", f"evil@{HOST}"]
)
def test_another_host_is_refused(page, method, path, host):
    assert ask(page.client, method, path, headers={"host": host}).status_code == 421


@pytest.mark.parametrize(("method", "path"), REQUESTS, ids=ids)
@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:1", f"https://{HOST}", f"http://{HOST}.evil.example", ""]
)
def test_another_origin_is_refused(page, method, path, origin):
    refused = ask(page.client, method, path, headers={"origin": origin})
    assert refused.status_code == 403
    assert "access-control-allow-origin" not in refused.headers
    assert ask(page.client, method, path, headers={"sec-fetch-site": "cross-site"}).status_code == 403


@pytest.mark.parametrize(("method", "path"), REQUESTS, ids=ids)
def test_every_answer_has_the_headers_and_no_other_origin_is_allowed(page, without, method, path):
    for answer in (ask(page.client, method, path, run=99), ask(without, method, path), ask(page.client, "GET", "/api/runs")):
        assert {name: answer.headers[name] for name in security.HEADERS} == security.HEADERS
        assert [name for name in answer.headers if name.startswith("access-control")] == []
    policy = security.HEADERS["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "script-src 'self';" in policy


@pytest.mark.parametrize(("method", "path"), [one for one in REQUESTS if "{run}" in one[1]], ids=str)
@pytest.mark.parametrize(
    "run", ["..", "%2e%2e", "-1", "99", "1e0", "0x0", "9" * 400, "%2Fetc%2Fpasswd", "..%2f..%2fetc", "\uff10", "+0"]
)
def test_a_run_is_chosen_by_its_number_alone(page, method, path, run):
    content = {"json": SENDING[path]} if method == "POST" else {"params": ANSWERED[path]}
    answer = ask(page.client, method, path, run=run, **content)
    assert answer.status_code == 404, answer.text


@pytest.mark.parametrize(
    "wrong",
    [
        "..",
        "../../../etc/passwd",
        "/etc/passwd",
        "%2e%2e%2f",
        "file:///etc/passwd",
        "",
        "-1",
        "1e9",
        "NaN",
        "inf",
        "9" * 500,
        "1,,2",
    ],
)
@pytest.mark.parametrize(("path", "field"), [(path, field) for path, fields in ANSWERED.items() for field in fields])
def test_no_field_takes_a_path_or_what_is_out_of_range(page, path, field, wrong):
    answer = ask(page.client, "GET", path, fields={**ANSWERED[path], field: wrong})
    if (field, wrong) not in {("right", ""), ("edits", "")} and (field != "edits" or wrong):
        assert answer.status_code == 400, answer.text
        assert len(answer.text) < 2_001


@pytest.mark.parametrize("path", ANSWERED)
def test_nothing_is_redirected(page, path):
    other = path.rstrip("/") + "/" if path != "/" else "/index.html"
    assert ask(page.client, "GET", other, fields={}).status_code == 404


@pytest.mark.parametrize("path", ANSWERED)
def test_fields_that_a_route_does_not_have_are_refused(page, path):
    if path.startswith("/api"):
        answer = ask(page.client, "GET", path, fields={**ANSWERED[path], "file": "x"})
        assert (answer.status_code, answer.text) == (400, "there is no field 'file' in this request; leave it out.")
        twice = [*ANSWERED[path].items(), ("file", "x"), ("file", "y")]
        assert ask(page.client, "GET", path, fields=twice).status_code == 400


@pytest.mark.parametrize("path", SENDING)
def test_only_json_from_the_page_is_taken(page, path):
    plain = {"content": b'{"samples": [1], "name": "x"}'}
    for headers in ({"content-type": "text/plain"}, {"content-type": "application/x-www-form-urlencoded"}, {}):
        assert ask(page.client, "POST", path, json=None, headers=headers, **plain).status_code == 415
    address = path.replace("{run}", "0")
    assert page.client.post(address, json=SENDING[path]).status_code == 415  # no Origin
    assert page.client.put(address, json=SENDING[path], headers=SENT).status_code == 405
    assert page.client.delete(address, headers=SENT).status_code in (405, 415)


@pytest.mark.parametrize("path", SENDING)
@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"null", b"1", b'"x"', b"\xff\xfe", b"[" * 100_000, b'{"a":' * 50_000,
     b'{"samples": []}', b'{"samples": "1,2"}',
     b'{"samples": [-1]}', b'{"samples": [1.5]}', b'{"samples": [true]}', b'{"samples": [NaN]}', b'{"samples": [99999]}',
     b'{"samples": [1], "path": "/etc/passwd"}', b'{"samples": {"0": 1}}', b'{"samples": [1' + b"0" * 5_000 + b"]}"],
    ids=lambda body: body[:24].decode(errors="replace"),
)  # fmt: skip
def test_a_malformed_body_is_refused(page, path, body):
    if path.endswith("selections") and body.startswith(b'{"samples"'):
        body = b'{"name": "x", ' + body[1:]
    answer = ask(page.client, "POST", path, json=None, content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 400, answer.text


@pytest.mark.parametrize("name", ["", " x", "x" * 81, "a\nb", "a\0b", None, 3, ["x"], {"a": 1}, "\u202e"])
def test_a_name_that_could_mislead_is_refused(own, name):
    answer = own.post("/api/runs/0/selections", {"name": name, "samples": [1]})
    assert answer.status_code == 400
    assert not (own.explorer.runs[0].path / "selections.json").exists()


@pytest.mark.parametrize(("method", "path"), REQUESTS, ids=ids)
def test_what_is_too_large_is_refused(page, method, path):
    large = {"json": None} if method == "POST" else {}
    json = {"content-type": "application/json"}
    body = b'{"samples": [' + b"1," * MAX_BODY + b"1]}"
    assert ask(page.client, method, path, content=body, headers=json, **large).status_code == 413
    if method == "POST":  # without a length, in chunks
        chunks = (body[i : i + 65536] for i in range(0, len(body), 65536))
        assert ask(page.client, method, path, content=chunks, headers=json, **large).status_code == 413
    for length in ("99999999999999", "-1", "x", "\uff11"):
        assert ask(page.client, method, path, headers={**json, "content-length": length.encode()}).status_code == 413
    assert ask(page.client, method, path, params={"x": "y" * MAX_QUERY}).status_code == 414
    assert ask(page.client, method, path, params=[("x", "y")] * 300).status_code == 400


def test_the_cookie_is_set_from_the_address_and_enough_from_then_on(page, without):
    first = without.get("/", params={"token": TOKEN})
    assert first.status_code == 200
    cookie = first.headers["set-cookie"]
    assert cookie == f"untwine_8765={TOKEN}; Path=/; HttpOnly; SameSite=Strict"
    assert without.get("/static/main.js").status_code == 200
    assert "set-cookie" not in without.get("/api/runs").headers


def test_a_link_to_the_page_may_be_followed_from_elsewhere_but_nothing_else(without):
    headers = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert without.get("/", params={"token": TOKEN}, headers=headers).status_code == 200
    assert without.get("/", headers=headers).status_code == 403  # the cookie that came with it is not enough
    assert without.get("/api/runs", params={"token": TOKEN}, headers=headers).status_code == 403


def test_tokens_are_compared_in_constant_time_and_cannot_be_guessed(page, without, monkeypatch):
    compared = []
    compare = security.hmac.compare_digest
    monkeypatch.setattr(security.hmac, "compare_digest", lambda a, b: compared.append((a, b)) or compare(a, b))
    without.get("/static/main.js", params={"token": "x"})
    page.get("/static/main.js")
    assert compared == [(b"x", TOKEN.encode()), (TOKEN.encode(), TOKEN.encode())]
    tokens = {new_token() for _ in range(1_000)}
    assert len(tokens) == 1_000
    assert min(map(len, tokens)) >= 43  # 256 bits


def test_requests_are_bounded_in_number_and_time(page, monkeypatch):
    monkeypatch.setattr(security, "MAX_AT_ONCE", 0)
    assert page.get("/api/runs").status_code == 429
    monkeypatch.undo()

    async def sleeps(scope, receive, send):
        await asyncio.sleep(60)

    monkeypatch.setattr(security, "SECONDS", 0.05)
    slow = TestClient(Guard(sleeps, TOKEN, 8765), base_url=f"http://{HOST}")
    answer = slow.get("/", params={"token": TOKEN})
    assert (answer.status_code, answer.text.split()[:4]) == (408, ["The", "request", "took", "more"])
    assert page.get("/api/runs").status_code == 200


def test_the_server_listens_on_the_loopback_interface_only():
    with listen(0) as listening:
        assert listening.getsockname()[0] == LOOPBACK == "127.0.0.1"
        port = listening.getsockname()[1]
        with pytest.raises(ValueError, match=rf"port must be one that is free; {port} cannot be used \(.*\); use 0"):
            listen(port)


def content_of(folder):
    """Every file below a folder with its content and the time it was changed."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path: (hashlib.sha256(path.read_bytes()).digest(), path.stat().st_mtime_ns) for path in paths}


def test_answers_are_sent_without_waiting_for_more():
    options = []

    async def answer(_, writer):
        options.append(writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()
        await writer.wait_closed()

    async def connect():
        listening = listen(0)
        async with await asyncio.start_server(answer, sock=listening):
            reader, writer = await asyncio.open_connection(*listening.getsockname())
            await reader.read()
            writer.close()
            await writer.wait_closed()

    asyncio.run(connect())
    assert options[0] != 0


def test_nothing_is_written_but_a_named_selection(own):
    folder = own.explorer.runs[0].path
    before = content_of(folder.parent)
    for method, path in REQUESTS:
        if (method, path) != ("POST", "/api/runs/{run}/selections"):
            assert ask(own.client, method, path).status_code == 200
    assert content_of(folder.parent) == before
    assert ask(own.client, "POST", "/api/runs/{run}/selections").status_code == 201
    after = content_of(folder.parent)
    assert {path: one for path, one in after.items() if path.name != "selections.json"} == before
    assert set(after) - set(before) == {folder / "selections.json"}


def test_files_of_the_page_have_no_inline_script_and_name_no_other_host():
    for path in STATIC.iterdir():
        text = path.read_text()
        hosts = text.replace("http://www.w3.org/2000/svg", "")
        assert [word for word in ("http://", "https://", "//cdn") if word in hosts] == [], path
        assert [word for word in ("innerHTML", "insertAdjacentHTML", "eval(") if word in text] == [], path
    index = (STATIC / "index.html").read_text()
    assert index.count("<script") == index.count('src="/static/main.js"></script>') == 1
    modules = {path.name for path in STATIC.glob("*.js")}
    assert {name for name in modules if f'"/static/{name}"' in index} == modules  # all are fetched at once, not one by one
    assert [word for word in ("style=", "onclick", "onload") if word in index] == []
