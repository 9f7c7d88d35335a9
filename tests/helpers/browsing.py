"""What a test reads from the page, and where a point of a map is on it."""

from __future__ import annotations

import base64
import io
from threading import Thread
from time import monotonic

import numpy as np
from PIL import Image

import untwine as un
from untwine.evaluation.run import checked_run_data
from untwine.explore.maps import principal_components
from untwine.explore.server import listen, server_of
from untwine.runs.reading import read_cards

SECONDS = 60.0  # that a page may take on a busy machine; what is waited for is there much sooner


class Served:
    """The server of `untwine explore` on a folder, in a thread."""

    def __init__(self, folder):
        self.listening = listen(0)
        runs, damaged = read_cards(folder)
        self.server, self.address = server_of(runs, self.listening, damaged)
        self.origin = self.address.partition("/?")[0]
        self.thread = Thread(target=self.server.run, kwargs={"sockets": [self.listening]})
        self.thread.start()

    def end(self):
        self.server.should_exit = True
        self.thread.join(SECONDS)
        assert not self.thread.is_alive()
        self.listening.close()


class PausedRequests:
    """Requests of a page that wait, from its first one on, until they are released."""

    def __init__(self, pattern):
        self.pattern, self.routes = pattern, []

    def begin(self, page):
        page.route(self.pattern, lambda route: route.continue_() if self.routes is None else self.routes.append(route))

    def release(self):
        paused, self.routes = self.routes, None
        for route in paused:
            route.continue_()


def loaded(folder):
    """Return the method of a run and its test split."""
    method = un.load_method(folder)
    return method, checked_run_data(method, folder).test


def shown(canvas):
    """Return the pixels (3, H, W) of a canvas."""
    content = base64.b64decode(canvas.evaluate("c => c.toDataURL().split(',')[1]"))
    return np.moveaxis(np.asarray(Image.open(io.BytesIO(content)).convert("RGB")), -1, 0)


def turns(page):
    """Give turns until the time is over."""
    end = monotonic() + SECONDS
    while monotonic() < end:
        yield
        page.wait_for_timeout(20)


def wait_for_change(page, canvas, before):
    """Wait until a canvas shows something else than before, and return it."""
    for _ in turns(page):
        if not np.array_equal(seen := shown(canvas), before):
            return seen
    raise AssertionError("the canvas stays as it is")


def until(page, expression, **options):
    """Wait until an expression is true on the page; Playwright's own way needs eval, which the page's policy forbids."""
    for _ in turns(page):
        if page.evaluate(expression, **options):
            return
    raise AssertionError(f"never true: {expression}")


DRAWN = "[...document.querySelectorAll('.plot')].every((plot) => 'drawn' in plot.dataset)"
MADE = "document.querySelectorAll('#view-recombine section.card:not([data-made])').length === 0"
COMPLETE = {
    "map": f"document.querySelector('.panel[data-sample]') && document.querySelector('.map') && {DRAWN}",
    "recombine": f"document.querySelector('.sliders[data-of]') && {MADE}",
    "runs": "document.querySelector('table.scores') && document.querySelector('.curves svg, #view-runs .empty')",
    "words": "document.querySelector('#view-words .word')",
}


def complete(page, view):
    """Wait until all of a view is there and drawn."""
    until(page, f"Boolean(document.querySelector('#view-{view}:not([hidden])') && {COMPLETE[view]})")


def as_shown(image):
    """Return an image of a method (C, H, W) in [0, 1], or uint8, as the page shows it."""
    image = np.asarray(image)
    return image if image.dtype == np.uint8 else np.rint(np.clip(image, 0, 1) * 255).astype(np.uint8)


def wait_for_canvas(page, canvas, image, tolerance=1):
    """Wait until a canvas shows an image, up to one step of its 256."""
    wanted = as_shown(image).astype(int)
    for _ in turns(page):
        seen = shown(canvas)
        if seen.shape == wanted.shape and np.abs(seen - wanted).max() <= tolerance:
            return
    difference = (
        f"by up to {np.abs(seen - wanted).max()}" if seen.shape == wanted.shape else f"in shape: {seen.shape} {wanted.shape}"
    )
    raise AssertionError(f"the canvas differs {difference}")


class Map:
    """The map of a block on the page, as PCA: where each point is, in pixels of the page."""

    def __init__(self, page, block, codes):
        self.element = page.locator(f"section.map:has(h2:has-text('{block} block')) .plot")
        page.locator("label", has_text="PCA").first.click()
        page.wait_for_selector(f"section.map[data-plane='pca']:has(h2:has-text('{block} block'))")
        self.element.scroll_into_view_if_needed()
        complete(page, "map")
        box = self.element.bounding_box()
        points = principal_components(codes[block], 2).astype(float)
        low, high = points.min(axis=0), points.max(axis=0)
        fit = ((np.array([box["width"], box["height"]]) - 28) / (high - low)).min()
        self.local = np.array([box["width"], box["height"]]) / 2 + (points - (low + high) / 2) * fit * [1, -1]
        self.places = self.local + np.array([box["x"], box["y"]])

    def alone(self):
        """Return the point that is farthest from its nearest neighbour: it can be pointed at."""
        distances = np.linalg.norm(self.places[:, None] - self.places[None], axis=-1) + 1e9 * np.eye(len(self.places))
        return int(distances.min(axis=1).argmax())

    def lasso(self, page, corners):
        """Drag around some corners of the page."""
        page.mouse.move(*corners[0])
        page.mouse.down()
        for corner in [*corners[1:], corners[0]]:
            page.mouse.move(*corner, steps=4)
        page.mouse.up()


def inside(places, left, top, right, bottom):
    """Return the points in a rectangle."""
    return np.flatnonzero((places > [left, top]).all(axis=1) & (places < [right, bottom]).all(axis=1))


def take_four(page):
    """Take the samples 1, 5, 9 and 12 as A, B, C and D, and wait until all is made of them."""
    for slot, sample in zip("ABCD", (1, 5, 9, 12), strict=True):
        field = page.locator(".slot").get_by_label(slot, exact=True)
        field.fill(str(sample))
        field.press("Tab")
    page.wait_for_selector("section[data-made='1 5 9 12']")
    page.wait_for_selector(".sliders[data-of='1 salient'] .latent")
