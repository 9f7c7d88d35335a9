"""The map and the sample, by mouse, keyboard and touch."""

import csv

import numpy as np
import pytest
from browsing import Map, inside, loaded, shown, until, wait_for_canvas, wait_for_change
from explored import IMAGES, SINGLE, TRAINED

import untwine as un


@pytest.fixture(scope="module")
def images(runs):
    return loaded(runs / "images")


@pytest.fixture(scope="module")
def trained(runs):
    return loaded(runs / "trained")


def panel_of(page, sample):
    page.wait_for_selector(f".panel[data-sample='{sample}']")
    return page.locator(".panel")


def tile(place, caption):
    return place.locator("figure", has=place.page.locator("figcaption", has_text=caption)).first.locator("canvas")


def test_the_map_of_each_block_is_there_and_becomes_tsne(open_page):
    page = open_page()
    headings = page.locator("section.map h2").all_inner_texts()
    assert [" ".join(text.split()[:4]) for text in headings] == ["common block 4 latents", "salient block 3 latents"]
    page.wait_for_selector("section.map[data-plane='tsne'] >> nth=1", timeout=60_000)
    colours = {
        tuple(pixel) for canvas in page.locator(".plot canvas:first-child").all() for pixel in shown(canvas).reshape(3, -1).T
    }
    assert len(colours) > 20  # points in several colours, antialiased


def test_hovering_shows_the_sample_in_all_maps(open_page, images):
    method, test = images
    page = open_page()
    salient = Map(page, "salient", method.encode(test.x))
    i = salient.alone()
    page.mouse.move(*salient.places[i])
    page.wait_for_selector(f"#tip[data-sample='{i}']")
    assert page.locator("#tip").is_visible()
    assert f"Sample {i}" in page.locator("#tip").inner_text()
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
    assert panel.locator("h2").first.inner_text() == f"Sample {i}"
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
        assert (
            panel.locator(".change p")
            .inner_text()
            .startswith(f"{share:.1f} % of the pixels change by more than {threshold:.2f}")
        )
        colours.append(shown(tile(panel, "Difference")))
    assert not np.array_equal(colours[0], colours[2])
    np.testing.assert_array_equal(*colours[2][:2])  # beyond the threshold there is nothing: grey alone


def test_lasso_selects_the_same_samples_everywhere_and_they_leave_as_csv(open_page, images, tmp_path):
    method, test = images
    page = open_page()
    before = [shown(canvas) for canvas in page.locator(".plot canvas:first-child").all()]
    common = Map(page, "common", method.encode(test.x))
    x, y = np.median(common.places, axis=0)
    left, top, right, bottom = x - 90, y - 80, x + 0.3, y + 70
    expected = inside(common.places, left, top, right, bottom)
    assert 2 < len(expected) < len(test)
    common.lasso(page, [(left, top), (right, top), (right, bottom), (left, bottom)])
    page.wait_for_selector(".selection strong")
    assert page.locator(".selection .count").inner_text() == f"{len(expected)} of {len(test)} samples selected"
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
    until(page, f"document.querySelector('.selection .count').textContent.startsWith('{len(more)} of')")
    page.get_by_role("button", name="Clear").click()
    assert page.locator(".selection .count").inner_text().startswith("Nothing selected")


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
    assert page.locator(".selection .count").inner_text() == f"{background} of {len(test)} samples selected"
    chooser.select_option(label="salient 1")
    page.wait_for_selector(".gradient")
    low, high = np.quantile(method.encode(test.x)["salient"][:, 1], [0.01, 0.99], method="lower")
    ends = [float(text.replace("\u2212", "-")) for text in page.locator(".gradient span").all_inner_texts()]
    assert ends == pytest.approx([low, high], abs=0.006)


def test_the_map_is_operated_by_keys(open_page, images):
    _, test = images
    page = open_page()
    plot = page.locator(".plot").first
    plot.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    spoken = page.locator("#status").inner_text()
    assert spoken.startswith("Sample ")
    sample = int(spoken.removeprefix("Sample ").partition(",")[0])
    page.keyboard.press("Enter")
    panel_of(page, sample)
    page.keyboard.press(" ")
    assert page.locator(".selection .count").inner_text() == f"1 of {len(test)} samples selected"
    before = shown(plot.locator("canvas").first)
    page.keyboard.press("+")
    wait_for_change(page, plot.locator("canvas").first, before)
    page.get_by_role("button", name="Show the whole map").click()


def test_the_wheel_and_dragging_move_the_map_when_asked_to(open_page):
    page = open_page()
    page.wait_for_selector("section.map[data-plane='tsne'] >> nth=1")
    page.locator("label", has_text="Move").click()
    plot = page.locator(".plot").first
    box = plot.bounding_box()
    canvas = plot.locator("canvas").first
    before = shown(canvas)
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.wheel(0, -100)
    before = wait_for_change(page, canvas, before)
    page.mouse.down()
    page.mouse.move(x + 30, y + 20, steps=5)
    page.mouse.up()
    wait_for_change(page, canvas, before)
    assert page.locator(".selection .count").inner_text().startswith("Nothing selected")


def test_of_vectors_the_features_that_change_most_are_named(open_page, trained):
    method, test = trained
    page = open_page(TRAINED)
    page.wait_for_selector(".panel[data-sample] .change")
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
    assert "single block, so there is no counterpart" in page.locator(".panel").inner_text()
    page.locator("#views a", has_text="Recombine").click()
    page.wait_for_selector("#view-recombine .latent")
    headings = page.locator("#view-recombine h2").all_inner_texts()
    assert [text.rstrip("?").strip() for text in headings] == ["Samples", "Between four", "Single latents", "New codes"]


def test_changing_runs_again_and_again_mixes_nothing_up(open_page):
    page = open_page()
    for run in (TRAINED, IMAGES, SINGLE, TRAINED, IMAGES):
        page.select_option("#run", str(run))
        page.wait_for_timeout(60)
    page.wait_for_selector("section.map:has(h2:has-text('salient block')) .plot")
    page.wait_for_selector(".panel[data-sample] figure:has-text('Without salient')")
    assert page.locator("section.map").count() == 2
    assert page.locator("#toast").is_hidden()
