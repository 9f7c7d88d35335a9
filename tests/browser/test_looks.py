"""The page looks as it did: screenshots, made coarse, beside committed ones; light and dark, wide and on a phone.

Cut from a screenshot are the cards of a view, each from its own corner on. Each becomes a small image whose pixels are the mean
colours of cells, and a cell must have the colour of a cell at its place in the committed one, or next to it: fonts and versions
of Chromium move words by some pixels, which stays below that; what is missing, at another place or in another colour does not.

    UNTWINE_LOOKS=write python -m pytest -m browser tests/browser/test_looks.py     writes them anew: look at them, then commit
"""

import io
import os
from pathlib import Path

import numpy as np
import pytest
from browsing import complete, take_four, until
from explored import IMAGES
from PIL import Image

FOLDER = Path(__file__).parent / "looks"
CELL = 20  # pixels of the page
NEAR = 1  # cells that something may have moved by
FAR = 12  # of 255: a colour that is another one
MOST = 0.04  # of the cells may be other ones: other fonts have 0.02 at most, points that are not drawn 0.07
SIZES = {"wide": (1280, 900), "phone": (400, 900)}
# What is cut out, and how high it is. Of cards with buttons that wrap in a wide font, the part below them.
CARDS = {
    "map": (".map", 440),
    "sample": (".panel", 700),
    "recombine": (".slot-row, .tiles.two, table.grid, .between, .latents, .thumbs.large", 240),
}
BOXES = """(where) => [...document.querySelectorAll(where)].filter((one) => one.offsetWidth).map((one) => {
  const { left, top, width } = one.getBoundingClientRect();
  return [left + scrollX, top + scrollY, width].map(Math.round);
})"""
STYLE = """async (style) => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(style);
  document.adoptedStyleSheets = [sheet];
  for (let frame = 0; frame < 3; frame += 1) await new Promise(requestAnimationFrame);
}"""
OTHERWISE = {
    "map": (
        ".plot canvas { opacity: 0; }",
        ".plot { height: 12rem !important; aspect-ratio: auto !important; }",
        ".map { background: #333 !important; }",
        ".plot canvas { transform: scaleX(-1); }",
    ),
    "sample": (
        ".panel canvas { visibility: hidden; }",
        ".panel canvas { filter: invert(1); }",
        ".tiles { display: block !important; }",
    ),
}


def coarse(screenshot, boxes, height):
    """Return the mean colours (H, W, 3) of the cells of each box of a screenshot."""
    with Image.open(io.BytesIO(screenshot)) as image:
        cards = [image.convert("RGB").crop((x, y, x + width // CELL * CELL, y + height)) for x, y, width in boxes]
    return [np.asarray(one.resize((one.width // CELL, one.height // CELL), Image.Resampling.BOX)) for one in cards]


def share_of_others(seen, expected):
    """Return the share of cells whose colour no cell near that place has in the expected image."""
    height, width = seen.shape[:2]
    padded = np.pad(expected.astype(int), ((NEAR, NEAR), (NEAR, NEAR), (0, 0)), mode="edge")
    steps = range(2 * NEAR + 1)
    moved = [padded[down : down + height, right : right + width] for down in steps for right in steps]
    distances = np.min([np.abs(seen.astype(int) - one).max(axis=-1) for one in moved], axis=0)
    return float((distances > FAR).mean())


def difference(seen, name):
    """Return how much of the card that differs most is another: what is there and was not, or was there and is not."""
    with Image.open(FOLDER / f"{name}.png") as image:
        whole = np.asarray(image.convert("RGB"))
    assert sum(len(card) for card in seen) == len(whole)
    shares, top = [], 0
    for card in seen:
        expected = whole[top : top + len(card), : card.shape[1]]
        assert expected.shape == card.shape
        shares += [share_of_others(card, expected), share_of_others(expected, card)]
        top += len(card)
    return max(shares)


def write(seen, name):
    """Write the cards of a view, one below the other."""
    widest = max(card.shape[1] for card in seen)
    padded = [np.pad(card, ((0, 0), (0, widest - card.shape[1]), (0, 0))) for card in seen]
    FOLDER.mkdir(exist_ok=True)
    Image.fromarray(np.concatenate(padded)).save(FOLDER / f"{name}.png", optimize=True)


def show(page, view):
    """Bring a view into a state that is always the same."""
    if view == "recombine":
        page.locator("#views a", has_text="Recombine").click()
        take_four(page)
    else:
        page.locator("label", has_text="PCA").first.click()
        until(page, "document.querySelectorAll('section.map[data-plane=pca]').length === 2")
        page.get_by_label("Go to").fill("7")
        page.get_by_label("Go to").press("Enter")
        page.wait_for_selector(".panel[data-sample='7'] .near canvas")
    page.evaluate("document.activeElement.blur()")
    page.mouse.move(0, 0)


def look(page, view, style=""):
    """Return the cards of a view that is shown, with another style if there is one."""
    page.evaluate(STYLE, style)
    complete(page, "recombine" if view == "recombine" else "map")
    where, height = CARDS[view]
    boxes = page.evaluate(BOXES, where)
    assert boxes
    return coarse(page.screenshot(animations="disabled", full_page=True), boxes, height)


@pytest.mark.parametrize(("size", "scheme"), [("wide", "light"), ("wide", "dark"), ("phone", "light")])
def test_the_views_look_as_they_did(open_page, size, scheme):
    width, height = SIZES[size]
    page = open_page(IMAGES, width=width, height=height, color_scheme=scheme)
    for view in CARDS:
        show(page, view)
        seen = look(page, view)
        name = f"{view}-{size}-{scheme}"
        if os.environ.get("UNTWINE_LOOKS") == "write":
            write(seen, name)
        assert difference(seen, name) <= MOST, name


def test_another_font_looks_alike_and_what_is_not_the_same_does_not(open_page):
    page = open_page(IMAGES)
    for view, styles in OTHERWISE.items():
        show(page, view)
        for font in ("serif", "sans-serif", "Liberation Sans", "Liberation Sans Narrow"):
            assert difference(look(page, view, f"* {{ font-family: '{font}' !important; }}"), f"{view}-wide-light") <= MOST, (
                font
            )
        for style in styles:
            assert difference(look(page, view, style), f"{view}-wide-light") > MOST, style
        assert difference(look(page, view), f"{view}-wide-dark") > 0.5
