"""Small runs to explore, and requests as the explorer's own page sends them."""

from __future__ import annotations

from pathlib import Path
from time import monotonic, sleep

import numpy as np
from starlette.testclient import TestClient

import untwine as un
from untwine.explore.app import STATIC, build
from untwine.explore.state import Explorer
from untwine.runs.reading import read_cards

PORT, TOKEN = 8765, "the-right-token"
HOST = f"127.0.0.1:{PORT}"
SHAPE = (3, 12, 10)
SENT = {"origin": f"http://{HOST}"}  # what a browser adds to a POST


def squares(n: int = 240) -> dict[str, np.ndarray]:
    """Images whose targets have a bright square, of four sizes that are their classes, as arrays of an .npz."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 90, size=(n, *SHAPE), dtype=np.uint8)
    x += np.linspace(0, 80, n).astype(np.uint8)[rng.permutation(n), None, None, None]
    groups, labels = np.arange(n) % 3 > 0, np.where(np.arange(n) % 3 > 0, np.arange(n) % 4, -1)
    for i in np.flatnonzero(groups):
        side = 3 + labels[i]
        x[i, :, 2 : 2 + side, 2 : 2 + side] = np.minimum(255, x[i, :, 2 : 2 + side, 2 : 2 + side].astype(int) + 80)
    return {"x": x, "groups": groups, "labels": labels}


def make_runs(place: Path) -> Path:
    """Make a folder with runs on images (two methods), on vectors (two methods) and of a single block; return it.

    In the order of the explorer: 0 images, 1 other_images, 2 single, 3 trained, 4 vectors.
    """
    np.savez(place / "squares.npz", allow_pickle=False, **squares())
    origin = un.data.origin(place / "squares.npz", {})
    images = un.load(place / "squares.npz")
    toy = {"n_target": 80, "n_background": 60, "n_common": 2, "n_salient": 1}
    vectors = un.load("toy_contrast", **toy)
    named = {"name": "toy_contrast", "options": toy}
    runs = place / "runs"
    un.ContrastivePCA(n_common=4, n_salient=3, alpha=2.0).fit(images.train, out=runs / "images", origin=origin)
    un.GeneralisedContrastivePCA(n_common=4, n_salient=3).fit(images.train, out=runs / "other_images", origin=origin)
    un.PCA(n_latent=5).fit(vectors.train, out=runs / "single", origin=named)
    trained = un.PrincipledVAE.fixed(n_common=3, n_salient=2, epochs=3, width=8).fit(
        vectors.train, out=runs / "trained", origin=named
    )
    un.evaluate_run(runs / "trained", method=trained, data=vectors, seeds=2, metrics=["factors", "w2", "reconstruction"])
    un.ContrastivePCA(n_common=3, n_salient=2, alpha=2.0).fit(vectors.train, out=runs / "vectors", origin=named)
    un.evaluate_run(runs / "images", seeds=2, metrics=["probe", "w2", "reconstruction"])
    un.evaluate_run(runs / "other_images", seeds=2, metrics=["probe", "reconstruction"], gallery=False)
    return runs


IMAGES, OTHER_IMAGES, SINGLE, TRAINED, VECTORS = range(5)


# A request that is answered, for every route; a route without one fails a test of test_security.py.
ANSWERED = {
    "/": {},
    **{f"/static/{path.name}": {} for path in STATIC.iterdir() if path.name != "index.html"},
    "/api/runs": {},
    "/api/scores": {},
    "/api/runs/{run}": {},
    "/api/runs/{run}/curves": {},
    "/api/runs/{run}/selections": {},
    "/api/runs/{run}/map": {"block": "salient", "plane": "pca"},
    "/api/runs/{run}/column": {"column": 0},
    "/api/runs/{run}/code": {"block": "salient", "latent": 1},
    "/api/runs/{run}/facts": {"sample": 3},
    "/api/runs/{run}/effects": {"sample": 3, "block": "salient"},
    "/api/runs/{run}/originals": {"samples": "1,2"},
    "/api/runs/{run}/sample": {"sample": 3, "block": "salient"},
    "/api/runs/{run}/swap": {"a": 1, "b": 2, "block": "salient"},
    "/api/runs/{run}/grid": {"rows": "1,2", "columns": "3,4", "block": "common"},
    "/api/runs/{run}/between": {"corners": "1,2,3,4", "right": 0.25, "down": 1, "block": "all"},
    "/api/runs/{run}/change": {"sample": 1, "edits": "salient:1:0.5,common:0:-1e-3"},
    "/api/runs/{run}/draw": {"sample": 1, "block": "salient", "n": 3, "seed": 5, "source": "data"},
}
SENDING = {
    "/api/runs/{run}/selections": {"name": "a few", "samples": [1, 2]},
    "/api/runs/{run}/table": {"samples": [0, 4]},
}


class Page:
    """The explorer of some runs, and requests with its token; `at` waits until the run that is asked for is open."""

    def __init__(self, folder: Path) -> None:
        self.explorer = Explorer(*read_cards(folder))
        self.app = build(self.explorer, TOKEN, PORT)
        self.client = TestClient(self.app, base_url=f"http://{HOST}", follow_redirects=False)
        self.client.cookies.set(self.app.cookie, TOKEN)

    def get(self, path: str, **fields: object):
        return self.client.get(path, params={name: str(value) for name, value in fields.items()})

    def post(self, path: str, content: object, **headers: str):
        return self.client.post(path, json=content, headers={**SENT, **headers})

    def open(self, number: int):
        """Wait until a run is open or cannot be, and return its description."""
        end = monotonic() + 60
        while (status := self.get(f"/api/runs/{number}").json())["state"] == "opening":
            assert monotonic() < end, "the run was not opened in a minute"
            sleep(0.01)
        return status

    def decoded(self, number: int, recipe: str, **fields: object) -> dict[str, np.ndarray]:
        """Return the arrays of a recipe, from the .npz."""
        response = self.get(f"/api/runs/{number}/{recipe}", **fields, **{"as": "npz"})
        assert response.status_code == 200, response.text
        return arrays(response.content)


def arrays(content: bytes) -> dict[str, np.ndarray]:
    import io

    with np.load(io.BytesIO(content), allow_pickle=False) as stored:
        return {name: stored[name] for name in stored.files}


def unpack(content: bytes) -> dict[str, object]:
    """Return the header of what the page gets, with the arrays by name, as api.js reads it."""
    import json

    length = int.from_bytes(content[:4], "little")
    header = json.loads(content[4 : 4 + length])
    start = 4 + length
    for one in header["arrays"]:
        size = int(np.prod(one["shape"]))
        header[one["name"]] = np.frombuffer(content, one["dtype"], size, start).reshape(one["shape"])
        start += header[one["name"]].nbytes + -header[one["name"]].nbytes % 8
        assert start % 8 == 0
    assert start == len(content)
    return header
