"""The routes of the explorer. Runs, blocks and samples are chosen by number or by a known name; no path comes from the page."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from untwine.explore import payload
from untwine.explore.comparison import all_scores, curves
from untwine.explore.decode import RECIPES, Recipe, latent_effects, python_start
from untwine.explore.describe import describe, describe_runs, facts, selection_table
from untwine.explore.maps import PLANES
from untwine.explore.query import INTEGER, Query
from untwine.explore.security import Guard, RefusedError
from untwine.explore.state import Explorer, Ready
from untwine.runs.selections import Selection, add_selection, check_name, check_positions, read_selections

STATIC = Path(__file__).parent / "static"
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
FORMATS = ("page", "npz", "png", "python")
MAX_THUMBNAILS = 64
MAX_BRACKETS = 100  # in a body: JSON that is nested deeper than the interpreter allows is refused before it is read

Answer = Callable[[Explorer, Request, Query], Response]
RunAnswer = Callable[[Ready, Query], Response]


def build(explorer: Explorer, token: str, port: int) -> Guard:
    """Return the whole app: every request passes the guard first."""
    app = Starlette(routes=routes(explorer))
    app.router.redirect_slashes = False  # a path is right or refused
    return Guard(app, token, port)


def routes(explorer: Explorer) -> list[BaseRoute]:
    """Return every route: the files of the page, what is known of the runs, and what is decoded."""

    def get(path: str, answer: Answer, at_once: bool = False) -> Route:
        def endpoint(request: Request) -> Response:
            return _answered(lambda: answer(explorer, request, Query(request.query_params.multi_items())))

        async def without_thread(request: Request) -> Response:
            return endpoint(request)

        return Route(path, without_thread if at_once else endpoint, methods=["GET"])

    def of_run(path: str, answer: RunAnswer, at_once: bool = False) -> Route:
        def answer_run(explorer: Explorer, request: Request, query: Query) -> Response:
            return answer(explorer.ready(_number(request)), query)

        return get(f"/api/runs/{{run}}/{path}", answer_run, at_once)

    def post(path: str, answer: Callable[[Explorer, int, Any], Response]) -> Route:
        async def endpoint(request: Request) -> Response:
            try:
                body = await request.body()
            except RefusedError as error:  # too large
                return PlainTextResponse(error.sentence, error.status)
            except ClientDisconnect:
                return PlainTextResponse("The page went away.", 400)
            return await run_in_threadpool(_answered, lambda: answer(explorer, _number(request), _content(body)))

        return Route(path, endpoint, methods=["POST"])

    return [
        *_static(),
        get("/api/runs", _runs),
        get("/api/scores", lambda explorer, _, query: _json(all_scores(explorer.runs), query)),
        get("/api/runs/{run}", _status),
        get("/api/runs/{run}/curves", lambda explorer, r, query: _json({"curves": curves(explorer.run(_number(r)))}, query)),
        get("/api/runs/{run}/selections", _selections),
        post("/api/runs/{run}/selections", _save),
        post("/api/runs/{run}/table", _table),
        of_run("map", _map),
        of_run("column", _column),
        of_run("code", _code),
        of_run("facts", lambda ready, query: _json(facts(ready, query), query)),
        of_run("effects", lambda ready, query: _json(latent_effects(ready.opened, query), query)),
        of_run("originals", _originals, at_once=True),  # what the pointer waits for: a few samples that are in memory
        *(of_run(name, _maker(recipe)) for name, recipe in RECIPES.items()),
    ]


def _static() -> list[BaseRoute]:
    """Return a route for each file of the page: nothing that a browser asks for is ever looked up on the disk."""
    files = sorted(path for path in STATIC.iterdir() if path.suffix in TYPES)
    contents = {path.name: (path.read_bytes(), TYPES[path.suffix]) for path in files}

    def serve(path: str, name: str) -> Route:
        content, kind = contents[name]
        return Route(path, lambda request: Response(content, media_type=kind), methods=["GET"])

    return [serve("/", "index.html"), *(serve(f"/static/{name}", name) for name in contents if name != "index.html")]


def _answered(answer: Callable[[], Response]) -> Response:
    """Return the answer or, where it is refused, the sentence that says why."""
    try:
        return answer()
    except RefusedError as error:
        return PlainTextResponse(error.sentence, error.status)
    except (ValueError, TypeError) as error:
        return PlainTextResponse(f"{error}"[:2_000], 400)
    except FileNotFoundError as error:
        return PlainTextResponse(f"A file of the run is no longer there: {Path(error.filename or '').name}.", 410)


def _number(request: Request) -> int:
    text = str(request.path_params["run"])
    if not INTEGER.fullmatch(text):
        raise RefusedError(404, "A run must be a number.")
    return int(text)


def _json(content: Any, query: Query) -> Response:
    query.done()
    return JSONResponse(content)


def _packed(content: bytes) -> Response:
    return Response(content, media_type="application/octet-stream")


def _runs(explorer: Explorer, _: Request, query: Query) -> Response:
    damaged = [{"name": name, "sentence": sentence} for name, sentence in explorer.damaged.items()]
    return _json({"runs": describe_runs(explorer.runs), "damaged": damaged}, query)


def _status(explorer: Explorer, request: Request, query: Query) -> Response:
    """Return what is known of a run; asking for it opens the run."""
    opening = explorer.opening(_number(request))
    if opening.error:
        return _json({"state": "failed", "sentence": opening.error}, query)
    if opening.ready is None:
        return _json({"state": "opening", "done": opening.done, "total": opening.total}, query)
    return _json({"state": "ready", **describe(opening.ready)}, query)


def _map(ready: Ready, query: Query) -> Response:
    """Return the points of a plane; an empty answer (204) while t-SNE is being computed."""
    block, plane = query.choice("block", ready.opened.codes), query.choice("plane", PLANES)
    query.done()
    plane_map = ready.maps.get(block, plane)
    if plane_map.error:
        raise RefusedError(422, plane_map.error)
    if plane_map.points is None:
        return Response(status_code=204)
    return _packed(payload.pack({"points": plane_map.points}, {}))


def _column(ready: Ready, query: Query) -> Response:
    if not ready.columns:
        raise RefusedError(404, "The samples of this run have no columns.")
    column = ready.columns[query.integer("column", 0, len(ready.columns) - 1)]
    query.done()
    return _packed(payload.pack({"values": column.values}, {}))


def _code(ready: Ready, query: Query) -> Response:
    codes = ready.opened.codes[query.choice("block", ready.opened.codes)]
    latent = query.integer("latent", 0, codes.shape[1] - 1)
    query.done()
    return _packed(payload.pack({"values": codes[:, latent].astype(np.float32)}, {}))


def _originals(ready: Ready, query: Query) -> Response:
    samples = query.integers("samples", len(ready.opened), range(1, MAX_THUMBNAILS + 1))
    query.done()
    x = payload.shown(ready.opened.x(samples), len(ready.opened.samples.shape))
    return _packed(payload.pack({"originals": x}, {}))


def _maker(recipe: Recipe) -> RunAnswer:
    """Return what answers with the arrays of a recipe: packed for the page, as .npz, its result as .png, or as Python lines."""

    def answer(ready: Ready, query: Query) -> Response:
        kind = query.choice("as", FORMATS, "page")
        decoded = recipe.make(ready.opened, query)
        query.done()
        if kind == "python":
            return PlainTextResponse(f"{python_start(ready.opened)}{decoded.python}")
        if kind == "npz":
            return Response(payload.npz(decoded.arrays), media_type="application/zip")
        axes = len(ready.opened.samples.shape)
        if kind == "png":
            if axes == 1:
                raise ValueError("a .png shows images; the samples of this run are vectors; take the arrays as .npz.")
            images = (
                list(decoded.arrays.values()) if decoded.arrays[recipe.result].ndim == axes else decoded.arrays[recipe.result]
            )
            return Response(payload.png(np.stack([payload.shown(image, axes) for image in images])), media_type="image/png")
        return _packed(payload.pack({name: payload.shown(x, axes) for name, x in decoded.arrays.items()}, decoded.info))

    return answer


def _selections(explorer: Explorer, request: Request, query: Query) -> Response:
    ready = explorer.ready(number := _number(request))
    shown, known = ready.opened.shown, read_selections(explorer.run(number).path)
    fitting = [one for one in known.values() if (one.of, one.fingerprint) == (shown.of, shown.fingerprint)]
    listed = [
        {
            "name": one.name,
            "samples": [i // shown.step for i in one.samples if i % shown.step == 0 and i // shown.step < len(ready.opened)],
        }
        for one in fitting
    ]
    return _json({"selections": listed, "others": len(known) - len(fitting)}, query)


def _save(explorer: Explorer, number: int, content: Any) -> Response:
    """Save a named selection into the run folder: the only route that writes anything."""
    ready = explorer.ready(number)
    name, samples = check_name(content.pop("name", None)), _samples(ready, content)
    shown = ready.opened.shown
    positions = tuple(shown.step * sample for sample in samples)
    with explorer.saving:
        add_selection(explorer.run(number).path, Selection(name, positions, shown.of, shown.fingerprint))
    return JSONResponse({"saved": name, "samples": len(samples)}, 201)


def _table(explorer: Explorer, number: int, content: Any) -> Response:
    """Return the selected samples as CSV."""
    ready = explorer.ready(number)
    return PlainTextResponse(selection_table(ready, _samples(ready, content)), media_type="text/csv")


def _samples(ready: Ready, content: dict[str, Any]) -> tuple[int, ...]:
    samples = content.pop("samples", None)
    if not isinstance(samples, list) or content:
        raise ValueError("what is sent must be the field samples, a list of numbers, and no other field; correct it.")
    positions = check_positions(samples)
    if positions[-1] >= len(ready.opened):
        raise ValueError(f"a selected sample must be below {len(ready.opened)}; got {positions[-1]}; correct it.")
    return positions


def _content(body: bytes) -> dict[str, Any]:
    """Return the JSON object of a body, or refuse what is none."""
    if body.count(b"[") + body.count(b"{") > MAX_BRACKETS:
        raise ValueError("what is sent must be a JSON object with a list of numbers; got more brackets; correct it.")
    try:
        content = json.loads(body)
    except ValueError:
        raise ValueError("what is sent must be JSON; it is not; correct it.") from None
    if not isinstance(content, dict):
        raise ValueError("what is sent must be a JSON object; got something else; correct it.")
    return content
