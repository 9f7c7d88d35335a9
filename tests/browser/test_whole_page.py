"""Runs side by side, selections that stay, and what holds for the whole page: theme, keys, labels, width, network."""

import importlib.util
import os
import re
import shutil
import time
from pathlib import Path

import pytest
from browsing import SECONDS, Served, complete, loaded, until, wait_for_canvas
from explored import IMAGES, OTHER_IMAGES, TRAINED

import untwine as un
from untwine.evaluation.registry import explain
from untwine.runs.scores import read_scores
from untwine.runs.selections import read_selections

expect = pytest.importorskip("playwright.sync_api", reason="Playwright for Python is not installed").expect
VIEWS = ("map", "recombine", "runs", "words")
PACKAGED = importlib.util.find_spec("axe_playwright_python")  # which brings axe-core along
AXE = Path(
    os.environ.get("UNTWINE_AXE") or (Path(PACKAGED.origin).parent / "axe.min.js" if PACKAGED and PACKAGED.origin else "")
)


@pytest.fixture
def copied(runs, tmp_path):
    """An explorer of a copy of two runs on the same images, to write into and to delete, and of a damaged one."""
    for name in ("images", "other_images", "single"):
        shutil.copytree(runs / name, tmp_path / name)
    (tmp_path / "single" / "method.json").write_text("{")
    served = Served(tmp_path)
    yield served, tmp_path
    served.end()


def test_scores_are_compared_sorted_filtered_and_explained(open_page, runs):
    page = open_page(IMAGES, "runs")
    head = [text.rstrip(" ▲▼") for text in page.locator("table.scores thead th").all_inner_texts()]
    assert head == ["Score", "Block", "Better", "images", "other_images"]  # those on the same data
    scores = read_scores(runs / "images")
    others = read_scores(runs / "other_images")
    row = page.locator("table.scores tbody tr", has=page.locator("td:text-is('salient')")).first
    assert row.locator(".better").inner_text() == "↑ higher is better"
    assert [float(text.replace("\u2212", "-")) for text in row.locator("td.value b").all_inner_texts()] == pytest.approx(
        [scores["probe.salient"].value, others["probe.salient"].value], abs=6e-4
    )
    assert page.locator(".group", has_text="probe").first.locator(".words").inner_text() == explain("probe.salient")
    better = max(scores["probe.salient"].value, others["probe.salient"].value)
    best = row.locator("td.best b").all_inner_texts()
    assert [float(text) for text in best] == pytest.approx([better] * len(best), abs=6e-4)
    # sorted by a run, upwards and downwards
    for sign in (1, -1):
        page.locator("thead button", has_text="other_images").click()
        cells = page.locator("table.scores tbody tr td:last-child").all()
        values = [float(cell.locator("b").inner_text().replace("\u2212", "-")) for cell in cells if cell.locator("b").count()]
        assert values == sorted(values, key=lambda value, sign=sign: sign * value)
        assert len(values) == len(others)
    page.get_by_label("Filter").fill("recon")
    expect(page.locator("table.scores tbody tr")).to_have_count(1)
    page.get_by_label("Filter").fill("nothing like it")
    expect(page.locator("#view-runs")).to_contain_text("No score has these words")
    page.get_by_label("Filter").fill("")
    heading = page.locator("thead button", has_text="Block")
    heading.press("Enter")
    assert page.evaluate("document.activeElement.textContent") == "Block ▲"  # where it was pressed
    page.locator("table.scores .why").first.click()
    page.wait_for_selector("#view-words .sought")
    assert page.locator(".sought dd").inner_text() == explain(page.locator(".sought dt").inner_text() + ".salient")


def test_curves_of_any_term_are_drawn(open_page, runs):
    page = open_page(TRAINED, "runs")
    page.wait_for_selector("path.curve")
    history = un.load_method(runs / "trained").history_
    terms = list(dict.fromkeys(f"{row.stage} · {row.player} · {row.term}" for row in history))
    chooser = page.get_by_label("Term", exact=True)
    assert chooser.locator("option").all_inner_texts() == terms
    chooser.select_option(terms[-1])
    last = [row.value for row in history if f"{row.stage} · {row.player} · {row.term}" == terms[-1]][-1]
    text = page.locator(".curve-legend small").first.inner_text().removeprefix("ends at ").replace("\u2212", "-")
    assert float(text) == pytest.approx(last, rel=0.01, abs=6e-4)
    points = re.findall(r"[ML]([\d.]+) ([\d.]+)", page.locator("path.curve").get_attribute("d"))
    assert len(points) == 3  # epochs


def test_one_sample_goes_through_several_models(open_page, runs):
    page = open_page(IMAGES, "runs")
    field = page.locator("#view-runs").get_by_label("Sample", exact=True)
    field.fill("6")
    field.press("Tab")
    page.wait_for_selector("#view-runs .card[data-sample='6']")
    for k, name in enumerate(("images", "other_images")):
        method, test = loaded(runs / name)
        model = page.locator(".model").nth(k)
        assert model.locator("h3").inner_text().startswith(name)
        wait_for_canvas(page, model.locator("canvas").nth(0), test.x[6], 0)
        wait_for_canvas(page, model.locator("canvas").nth(1), method.reconstruct(test.x[[6]])[0])
        wait_for_canvas(page, model.locator("canvas").nth(2), un.manipulate.remove(method, test.x[[6]])[0])
    page.get_by_role("checkbox", name="other_images").uncheck()
    expect(page.locator(".model")).to_have_count(0)
    page.get_by_role("checkbox", name="vectors").check()
    page.wait_for_selector("th:has-text('vectors')")


def test_a_selection_is_saved_into_the_run_folder_and_found_again(copied, open_page):
    served, folder = copied
    page = open_page(at=served, allowed=("400",))
    page.get_by_label("Colour by").select_option(label="label")
    page.get_by_role("button", name="2", exact=False).filter(has=page.locator("span:text-is('2')")).click()
    _, test = loaded(folder / "images")
    twos = [i for i in range(len(test)) if test.labels[i] == 2]
    expect(page.locator(".selection strong")).to_have_text(str(len(twos)))
    page.get_by_label("Name").fill("twos")
    page.get_by_role("button", name="Save").click()
    page.wait_for_selector("option[value='twos']", state="attached")
    assert list(read_selections(folder / "images")["twos"].samples) == twos
    page.get_by_label("Name").fill("twos")
    page.get_by_role("button", name="Save").click()
    page.wait_for_selector("#toast:has-text('must be new')")
    again = open_page(at=served)
    again.get_by_label("Saved selections").select_option("twos")
    expect(again.locator(".selection strong")).to_have_text(str(len(twos)))


def test_a_run_that_is_deleted_meanwhile_gets_a_sentence(copied, open_page):
    served, folder = copied
    page = open_page(at=served, allowed=("410",))
    shutil.rmtree(folder / "other_images")
    page.select_option("#run", str(OTHER_IMAGES))
    expect(page.locator("#opening-text")).to_contain_text("is no longer there")
    page.locator("#views a", has_text="Runs").click()
    page.wait_for_selector(".problem:has-text('deleted or moved')")
    page.wait_for_selector(".problem:has-text('must be JSON')")
    page.select_option("#run", str(IMAGES))
    page.locator("#views a", has_text="Map").click()
    page.wait_for_selector("section.map .plot")


def test_two_tabs_show_their_own_runs(open_page, runs):
    first, second = open_page(IMAGES, "recombine"), open_page(TRAINED, "recombine")
    for turn in range(5):
        for page in (first, second):
            field = page.locator(".slot").get_by_label("A", exact=True)
            field.fill(str(turn + 1))
            field.press("Tab")
    method, test = loaded(runs / "images")
    b = int(first.locator(".slot").get_by_label("B", exact=True).input_value())
    swap = first.locator(".card", has=first.locator("h2", has_text="Swap"))
    wait_for_canvas(first, swap.locator("canvas").nth(2), un.manipulate.swap(method, test.x[[5]], test.x[[b]])[0])
    b = second.locator(".slot").get_by_label("B", exact=True).input_value()
    second.wait_for_selector(f"section[data-made='5 {b} salient']")


def test_light_and_dark_follow_the_system_until_a_person_chooses(open_page):
    page = open_page(color_scheme="light")

    def is_light(light):
        until(page, "light => (getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0] > 128) === light", arg=light)

    is_light(True)
    page.emulate_media(color_scheme="dark")
    is_light(False)
    page.get_by_role("button", name="Switch to the light page").click()
    is_light(True)
    page.reload()
    complete(page, "map")
    is_light(True)
    page.get_by_role("button", name="Switch to the dark page").click()
    is_light(False)


@pytest.mark.parametrize("run", [IMAGES, TRAINED])
def test_every_control_has_a_name_every_number_its_words_and_nothing_is_wider_than_the_page(open_page, run):
    page = open_page(run)
    targets = set()
    for view in VIEWS:
        page.locator("#views a", has_text=view.capitalize()).click()
        complete(page, view)
        for width in (400, 1280):
            page.set_viewport_size({"width": width, "height": 900})
            until(page, "document.documentElement.scrollWidth <= innerWidth")
        nameless = page.evaluate(
            """() => [...document.querySelectorAll("button, input, select, a, [tabindex='0'], [role=img]")]
              .filter((one) => !(one.labels?.length || one.getAttribute("aria-label") || one.getAttribute("aria-labelledby")
                || one.title || one.textContent.trim()))
              .map((one) => one.outerHTML)"""
        )
        assert nameless == []
        targets |= set(page.evaluate("[...document.querySelectorAll('a.why')].map((one) => one.hash.slice('#words/'.length))"))
    words = page.evaluate("[...document.querySelectorAll('.word')].map((one) => one.id.slice('word-'.length))")
    assert len(targets) > 8
    assert targets <= set(words)


def test_a_finger_draws_a_lasso_on_a_phone(open_page):
    page = open_page(width=400, has_touch=True)
    plot = page.locator(".plot").first
    plot.scroll_into_view_if_needed()
    corners = [(0.02, 0.02), (0.98, 0.02), (0.98, 0.98), (0.02, 0.98)]
    plot.evaluate(
        """(plot, corners) => {
          const box = plot.getBoundingClientRect();
          const send = (kind, [x, y]) => plot.dispatchEvent(new PointerEvent(kind, {
            pointerId: 1, pointerType: "touch", isPrimary: true, bubbles: true, cancelable: true,
            clientX: box.left + x * box.width, clientY: box.top + y * box.height }));
          plot.setPointerCapture = () => {};
          send("pointerdown", corners[0]);
          for (const corner of [...corners.slice(1), corners[0]]) send("pointermove", corner);
          send("pointerup", corners[0]);
        }""",
        corners,
    )
    expect(page.locator(".selection .count")).to_have_text(re.compile(r"^(\d+) of \1 samples selected$"))


def test_every_view_is_reached_by_keys_alone(open_page):
    page = open_page()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "skip"
    seen = []
    for _ in range(90):
        page.keyboard.press("Tab")
        seen.append(
            page.evaluate("(document.activeElement.getAttribute('aria-label') || document.activeElement.textContent).trim()")
        )
    assert {"Map", "Recombine", "Runs", "Words", "Zoom in"} <= set(seen)
    assert any(text.startswith("Map of the salient block") for text in seen)
    assert any(text.startswith("Take sample") for text in seen)


@pytest.mark.skipif(
    not AXE.is_file(), reason="axe-core is not there: install the extra dev, or set UNTWINE_AXE to its axe.min.js"
)
@pytest.mark.parametrize("run", [IMAGES, TRAINED])
@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 400)])
def test_axe_finds_no_serious_fault(open_page, run, scheme, width):
    page = open_page(run, color_scheme=scheme, width=width)
    page.evaluate(AXE.read_text())
    for view in VIEWS:
        page.locator("#views a", has_text=view.capitalize()).click()
        complete(page, view)
        found = page.evaluate(
            "async () => (await axe.run()).violations.map((v) => [v.impact, v.id, v.nodes.map((n) => n.html)])"
        )
        assert [one for one in found if one[0] in ("serious", "critical")] == [], view


def test_the_first_points_are_there_soon(open_page):
    start = time.monotonic()
    page = open_page()
    page.wait_for_selector("section.map[data-plane]")
    assert time.monotonic() - start < SECONDS  # of busy machines: python -m benchmarks --only explore has the bounds
