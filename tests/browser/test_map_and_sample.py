"""The map and the sample, by mouse, keyboard and touch."""

import csv
import re

import numpy as np
import pytest
from browsing import Map, PausedRequests, complete, inside, loaded, shown, until, wait_for_canvas, wait_for_change
from explored import IMAGES, SINGLE, TRAINED

import untwine as un

expect = pytest.importorskip("playwright.sync_api", reason="Playwright for Python is not installed").expect


@pytest.fixture(scope="module")
def images(runs):
    return loaded(runs / "images")


@pytest.fixture(scope="module")
def trained(runs):
    return loaded(runs / "trained")


def panel_of(page, sample):
    page.wait_for_selector(f".panel[data-sample='{sample}']")
    return page.locator(".panel")


def tsne(page):
    """Wait until all maps are drawn as t-SNE."""
    page.wait_for_selector("section.map[data-plane='tsne'] >> nth=1")
    complete(page, "map")


def count(page):
    return page.locator(".selection .count")


def tile(place, caption):
    return place.locator("figure", has=place.page.locator("figcaption", has_text=caption)).first.locator("canvas")


def test_the_map_of_each_block_is_there_and_becomes_tsne(open_page):
    page = open_page()
    headings = page.locator("section.map h2").all_inner_texts()
    assert [" ".join(text.split()[:4]) for text in headings] == ["common block 4 latents", "salient block 3 latents"]
    tsne(page)
    colours = {
        tuple(pixel) for canvas in page.locator(".plot canvas:first-child").all() for pixel in shown(canvas).reshape(3, -1).T
    }
    assert len(colours) > 20  # points in several colours, antialiased


def test_a_point_has_the_colour_of_its_legend_on_the_paper_of_the_map(open_page, images):
    method, test = images
    page = open_page(color_scheme="dark")
    salient = Map(page, "salient", method.encode(test.x))
    i = salient.alone()
    x, y = np.rint(salient.local[i]).astype(int)
    pixels = shown(salient.element.locator("canvas").first).astype(float)
    entry = page.locator(
        ".legend button", has=page.locator(f"span:text-is('{test.labels[i] if test.labels[i] >= 0 else 'not known'}')")
    )
    colour = [
        float(one) for one in re.findall(r"\d+", entry.locator("i").evaluate("one => getComputedStyle(one).backgroundColor"))
    ]
    paper = pixels[:, 0, 0]
    np.testing.assert_allclose(pixels[:, y, x], 0.85 * np.array(colour) + 0.15 * paper, atol=2)
    np.testing.assert_array_equal(pixels[:, y, x + 9], paper)


def test_hovering_shows_the_sample_in_all_maps(open_page, images):
    method, test = images
    page = open_page()
    salient = Map(page, "salient", method.encode(test.x))
    i = salient.alone()
    page.mouse.move(*salient.places[i])
    page.wait_for_selector(f"#tip[data-sample='{i}']")
    expect(page.locator("#tip")).to_contain_text(f"Sample {i}")
    wait_for_canvas(page, page.locator("#tip canvas"), test.x[i], 0)
    page.mouse.move(5, 5)
    page.wait_for_selector("#tip", state="hidden")


def test_a_click_shows_the_sample_its_counterpart_and_its_neighbours(open_page, images):
    method, test = images
    codes = method.encode(test.x)
    page = open_page()
    salient = Map(page, "salient", codes)
    i = salient.alone()
    page.mouse.click(*salient.places[i])
    panel = panel_of(page, i)
    expect(panel.locator("h2").first).to_have_text(f"Sample {i}")
    wait_for_canvas(page, tile(panel, "Original"), test.x[i], 0)
    wait_for_canvas(page, tile(panel, "Reconstruction"), method.reconstruct(test.x[[i]])[0])
    wait_for_canvas(page, tile(panel, "Without salient"), un.manipulate.remove(method, test.x[[i]], "salient")[0])
    near = np.argsort(np.linalg.norm(codes["common"] - codes["common"][i], axis=1), kind="stable")[1:7]
    section = panel.locator("section.near", has_text="Nearest in the common block")
    wait_for_canvas(page, section.locator("canvas").first, test.x[near[0]], 0)
    section.locator("button").first.click()
    panel_of(page, near[0])
    panel.get_by_label("Without the block").select_option("common")
    wait_for_canvas(page, tile(panel, "Without common"), un.manipulate.remove(method, test.x[[near[0]]], "common")[0])


def test_the_threshold_of_the_difference_map_hides_what_changes_less(open_page, images):
    method, test = images
    page = open_page()
    page.wait_for_selector(".panel[data-sample]")
    i = int(page.locator(".panel").get_attribute("data-sample"))
    panel = panel_of(page, i)
    reconstruction = np.rint(255 * method.reconstruct(test.x[[i]])[0].clip(0, 1))
    counterpart = np.rint(255 * un.manipulate.remove(method, test.x[[i]], "salient")[0].clip(0, 1))
    change = np.abs(counterpart - reconstruction).mean(axis=0) / 255
    slider = panel.get_by_label("Threshold")
    colours = []
    for threshold in (0.02, 0.3, 0.6):
        slider.fill(str(threshold))
        share = 100 * (change > threshold).mean()
        expect(panel.locator(".change p")).to_contain_text(f"{share:.1f} % of the pixels change by more than {threshold:.2f}")
        colours.append(shown(tile(panel, "Difference")))
    assert not np.array_equal(colours[0], colours[2])
    np.testing.assert_array_equal(*colours[2][:2])  # beyond the threshold there is nothing: grey alone


def test_lasso_selects_the_same_samples_everywhere_and_they_leave_as_csv(open_page, images, tmp_path):
    method, test = images
    page = open_page()
    common = Map(page, "common", method.encode(test.x))
    before = [shown(canvas) for canvas in page.locator(".plot canvas:first-child").all()]
    x, y = np.median(common.places, axis=0)
    left, top, right, bottom = x - 90, y - 80, x + 0.3, y + 70
    expected = inside(common.places, left, top, right, bottom)
    assert 2 < len(expected) < len(test)
    common.lasso(page, [(left, top), (right, top), (right, bottom), (left, bottom)])
    expect(count(page)).to_have_text(f"{len(expected)} of {len(test)} samples selected")
    for canvas, one in zip(page.locator(".plot canvas:first-child").all(), before, strict=True):
        wait_for_change(page, canvas, one)  # both maps fade the others
    with page.expect_download() as download:
        page.get_by_label("Download the selected samples as CSV").click()
    download.value.save_as(tmp_path / "selection.csv")
    with (tmp_path / "selection.csv").open() as file:
        assert [int(line["position"]) for line in csv.DictReader(file)] == expected.tolist()
    # Shift adds, and Clear ends it.
    page.keyboard.down("Shift")
    common.lasso(page, [(right, top), (right + 200, top), (right + 200, bottom), (right, bottom)])
    page.keyboard.up("Shift")
    more = inside(common.places, left, top, right + 200, bottom)
    expect(count(page)).to_contain_text(f"{len(more)} of")
    # Alt takes away.
    page.keyboard.down("Alt")
    common.lasso(page, [(left, top), (right, top), (right, bottom), (left, bottom)])
    page.keyboard.up("Alt")
    expect(count(page)).to_contain_text(f"{len(more) - len(expected)} of")
    page.get_by_role("button", name="Clear").click()
    expect(count(page)).to_contain_text("Nothing selected")


def test_points_are_coloured_by_what_is_chosen_and_the_legend_selects(open_page, images):
    method, test = images
    page = open_page()
    chooser = page.get_by_label("Colour by")
    texts = chooser.locator("option").all_inner_texts()
    assert texts[:2] == ["group", "label"]
    assert texts[2:] == [*(f"common {k}" for k in range(4)), *(f"salient {k}" for k in range(3))]
    chooser.select_option(label="group")
    page.wait_for_selector(".legend button:has-text('target')")
    page.get_by_role("button", name="background").click()
    background = int((test.groups == 0).sum())
    expect(count(page)).to_have_text(f"{background} of {len(test)} samples selected")
    chooser.select_option(label="salient 1")
    page.wait_for_selector(".gradient")
    low, high = np.quantile(method.encode(test.x)["salient"][:, 1], [0.01, 0.99], method="lower")
    ends = [float(text.replace("\u2212", "-")) for text in page.locator(".gradient span").all_inner_texts()]
    assert ends == pytest.approx([low, high], abs=0.006)


def test_the_map_is_operated_by_keys(open_page, images):
    _, test = images
    page = open_page()
    tsne(page)
    plot = page.locator(".plot").first
    plot.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#status")).to_have_text(re.compile(r"Sample \d+, label: "))
    sample = int(re.match(r"Sample (\d+)", page.locator("#status").inner_text())[1])
    page.keyboard.press("Enter")
    panel_of(page, sample)
    expect(page.locator("#status")).to_have_text(f"Sample {sample} is shown.")
    page.keyboard.press(" ")
    expect(count(page)).to_have_text(f"1 of {len(test)} samples selected")
    complete(page, "map")
    before = shown(plot.locator("canvas").first)
    page.keyboard.press("+")
    zoomed = wait_for_change(page, plot.locator("canvas").first, before)
    page.get_by_role("button", name="Show the whole map").click()
    wait_for_change(page, plot.locator("canvas").first, zoomed)
    complete(page, "map")
    np.testing.assert_array_equal(shown(plot.locator("canvas").first), before)


def test_keys_that_are_pressed_before_there_are_points_are_not_lost(open_page, images):
    _, test = images
    paused = PausedRequests("**/map?*")
    page = open_page(wait=False, prepare=paused.begin)
    plot = page.locator(".plot").first
    plot.focus()
    for key in ("ArrowRight", "ArrowRight", "Enter", " "):
        page.keyboard.press(key)
    expect(page.locator(".panel h2").first).to_have_text(re.compile("Sample"))
    paused.release()
    expect(count(page)).to_have_text(f"1 of {len(test)} samples selected")
    expect(page.locator("#status")).to_have_text(re.compile(r"Sample \d+ is shown"))
    spoken = re.match(r"Sample (\d+)", page.locator("#status").inner_text())[1]
    panel_of(page, int(spoken))


def test_the_points_stay_where_they_are_while_a_lasso_is_drawn(open_page, images):
    method, test = images
    paused = PausedRequests("**/map?*plane=tsne")
    page = open_page(prepare=paused.begin)
    places = Map(page, "common", method.encode(test.x)).places
    page.locator("label", has_text="t-SNE").first.click()  # asks again; the points are still those of PCA
    x, y = np.median(places, axis=0)
    left, top, right, bottom = x - 90, y - 80, x + 0.3, y + 70
    page.mouse.move(left, top)
    page.mouse.down()
    for corner in ((right, top), (right, bottom)):
        page.mouse.move(*corner, steps=4)
    until(page, "document.querySelectorAll('section.map[data-plane=pca]').length === 2")
    paused.release()
    page.wait_for_selector("section.map[data-plane='tsne'] >> nth=1")
    page.mouse.move(left, bottom, steps=4)
    page.mouse.up()
    expected = inside(places, left, top, right, bottom)
    expect(count(page)).to_have_text(f"{len(expected)} of {len(test)} samples selected")
    complete(page, "map")
    common = page.locator("section.map:has(h2:has-text('common block')) canvas").first
    before = shown(common)
    page.locator("label", has_text="PCA").first.click()
    wait_for_change(page, common, before)  # what was shown in the end was t-SNE


def test_the_wheel_and_dragging_move_the_map_when_asked_to(open_page):
    page = open_page()
    tsne(page)
    page.locator("label", has_text="Move").click()
    plot = page.locator(".plot").first
    box = plot.bounding_box()
    canvas = plot.locator("canvas").first
    before = shown(canvas)
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.wheel(0, -100)
    wait_for_change(page, canvas, before)
    complete(page, "map")
    before = shown(canvas)
    page.mouse.down()
    page.mouse.move(x + 30, y + 20, steps=5)
    page.mouse.up()
    wait_for_change(page, canvas, before)
    expect(count(page)).to_contain_text("Nothing selected")


def test_who_works_by_keys_stays_where_he_is(open_page):
    page = open_page()
    active = "document.activeElement.textContent || document.activeElement.getAttribute('aria-label')"
    entry = page.locator(".legend button").nth(1)
    text = entry.inner_text()
    entry.press("Enter")
    expect(count(page).locator("strong")).to_be_visible()
    assert "".join(page.evaluate(active).split()) == "".join(text.split())
    page.get_by_role("button", name="Clear").press("Enter")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Selection"
    near = page.locator(".near button").first
    near.press("Enter")
    until(page, "/^Sample \\d+$/.test(document.activeElement.textContent)")
    take = page.locator(".slots button").nth(1)
    take.focus()
    page.get_by_label("Without the block").select_option("common")
    page.wait_for_selector(".panel figure:has-text('Without common')")
    assert page.evaluate(active) == "B"


def test_a_name_outlives_what_happens_while_it_is_typed(open_page):
    paused = PausedRequests("**/selections")
    page = open_page(prepare=paused.begin)
    page.locator(".legend button").first.click()
    page.get_by_label("Name").fill("half a na")
    page.locator(".legend button").nth(1).click()
    paused.release()
    page.wait_for_load_state("networkidle")
    assert page.get_by_label("Name").input_value() == "half a na"


def test_a_number_that_no_sample_has_gets_a_sentence(open_page, images):
    page = open_page()
    last = len(images[1]) - 1
    page.get_by_label("Go to").fill("99999")
    page.get_by_label("Go to").press("Enter")
    expect(page.locator("#toast")).to_have_text(f"Samples have numbers from 0 to {last}; choose one of them.")


def test_of_vectors_the_features_that_change_most_are_named(open_page, trained):
    method, test = trained
    page = open_page(TRAINED)
    i = int(page.locator(".panel").get_attribute("data-sample"))
    change = (un.manipulate.remove(method, test.x[[i]], "salient") - method.reconstruct(test.x[[i]]))[0] / test.x.std(axis=0)
    slider = page.locator(".panel").get_by_label("Threshold")
    for threshold in (0.0, float(np.round(np.sort(np.abs(change))[-3] * 20) / 20)):
        slider.fill(str(threshold))
        order = [k for k in np.argsort(-np.abs(change)) if abs(change[k]) > threshold][:15]
        names = page.locator(".panel .features tbody th").all_inner_texts()
        assert names == [f"feature {k}" for k in order]
        numbers = [
            float(text.replace("\u2212", "-"))
            for text in page.locator(".panel .features .figure").all_inner_texts()[0 : len(order)]
        ]
        assert numbers == pytest.approx(change[order], abs=0.006)


def test_a_single_block_has_no_counterpart_and_nothing_to_swap(open_page):
    page = open_page(SINGLE)
    page.wait_for_selector(".panel[data-sample]")
    expect(page.locator(".panel")).to_contain_text("single block, so there is no counterpart")
    page.locator("#views a", has_text="Recombine").click()
    complete(page, "recombine")
    headings = page.locator("#view-recombine h2").all_inner_texts()
    assert [text.rstrip("?").strip() for text in headings] == ["Samples", "Between four", "Single latents", "New codes"]


def test_changing_runs_again_and_again_mixes_nothing_up(open_page):
    page = open_page()
    for run in (TRAINED, IMAGES, SINGLE, TRAINED, IMAGES):
        page.select_option("#run", str(run))
        page.wait_for_timeout(60)
    until(page, f"document.body.dataset.run === '{IMAGES}'")
    page.wait_for_selector("section.map:has(h2:has-text('salient block')) .plot")
    page.wait_for_selector(".panel[data-sample] figure:has-text('Without salient')")
    complete(page, "map")
    assert page.locator("section.map").count() == 2
    assert page.locator("#toast").is_hidden()
