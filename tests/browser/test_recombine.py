"""Recombining samples on the page: what it shows is what the method decodes."""

import io
import re

import numpy as np
import pytest
from browsing import loaded, shown, take_four, until, wait_for_canvas, wait_for_change
from explored import IMAGES, TRAINED, arrays
from PIL import Image

import untwine as un

expect = pytest.importorskip("playwright.sync_api", reason="Playwright for Python is not installed").expect


@pytest.fixture(scope="module")
def images(runs):
    return loaded(runs / "images")


@pytest.fixture
def page(open_page):
    """The view with the samples 1, 5, 9 and 12 as A, B, C and D."""
    page = open_page(IMAGES, "recombine")
    take_four(page)
    return page


def card(page, title):
    return page.locator("#view-recombine .card", has=page.locator("h2", has_text=title))


def image(card, k):
    return card.locator("canvas").nth(k)


def test_a_block_is_swapped_between_two_samples(page, images):
    method, test = images
    swap = card(page, "Swap")
    for block in ("salient", "common"):
        page.get_by_label("Block that changes").select_option(block)
        wait_for_canvas(page, image(swap, 0), test.x[1], 0)
        wait_for_canvas(page, image(swap, 1), test.x[5], 0)
        wait_for_canvas(page, image(swap, 2), un.manipulate.swap(method, test.x[[1]], test.x[[5]], block)[0])
        wait_for_canvas(page, image(swap, 3), un.manipulate.swap(method, test.x[[5]], test.x[[1]], block)[0])
        expect(swap.locator("figcaption")).to_have_text(["A", "B", f"A with B's {block}", f"B with A's {block}"])


def test_a_grid_has_every_combination_of_as_many_samples_as_asked_for(page, images):
    method, test = images
    grid = card(page, "Grid")
    expected = un.manipulate.swap_grid(method, test.x[[1, 5, 9, 12]], test.x[[1, 5, 9, 12]], "salient")
    wait_for_canvas(page, grid.locator("tbody tr").nth(2).locator("td canvas").nth(1), expected[2, 1])
    wait_for_canvas(page, grid.locator("tbody tr").nth(0).locator("td canvas").nth(3), expected[0, 3])
    grid.get_by_label("Size").fill("6")
    expect(grid.locator("tbody td")).to_have_count(36)
    made = grid.get_attribute("data-made")
    grid.get_by_role("button", name="Other samples").click()
    until(page, "made => document.querySelector('section.tall').dataset.made !== made", arg=made)


def test_a_point_is_dragged_between_four_samples(page, images):
    method, test = images
    between = card(page, "Between four")
    z = method.encode(test.x[[1, 5, 9, 12]])
    result = between.get_by_role("img", name="Decoded between the four samples")
    pad = between.locator(".pad")
    pad.scroll_into_view_if_needed()
    box = pad.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] + 30, box["y"] - 20, steps=12)  # beyond the corner is the corner
    page.mouse.up()
    wait_for_canvas(page, result, method.decode(z.take([0]).swap(z.take([1]), "salient"))[0])
    expect(between.locator(".weights")).to_have_text("A 0 %, B 100 %, C 0 %, D 0 %")
    between.locator("label", has_text="all blocks").click()
    wait_for_canvas(page, result, method.decode(z.take([1]))[0])
    point = between.get_by_role("slider", name="Point between")
    point.focus()
    for _ in range(20):
        page.keyboard.press("ArrowDown")
    wait_for_canvas(page, result, method.decode(z.take([3]))[0])


def test_sliders_change_single_latents_live(page, images):
    method, test = images
    latents = card(page, "Single latents")
    wait_for_canvas(page, image(latents, 0), method.reconstruct(test.x[[1]])[0])
    label = latents.locator(".latent label").first.inner_text()
    k = int(label.removeprefix("salient "))
    slider = latents.get_by_label(label, exact=True)
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    before = shown(image(latents, 1))
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    for step in range(6):
        page.mouse.move(box["x"] + box["width"] * (0.5 + step / 12), box["y"] + box["height"] / 2)
    page.mouse.up()
    wait_for_change(page, image(latents, 1), before)
    z = method.encode(test.x[[1]])

    def expected():
        return method.decode(z.traverse("salient", k, [float(slider.input_value())]))[0]

    wait_for_canvas(page, image(latents, 1), expected())
    slider.press("ArrowLeft")
    slider.press("ArrowLeft")
    wait_for_canvas(page, image(latents, 1), expected())
    latents.get_by_role("button", name="Reset").click()
    wait_for_canvas(page, image(latents, 1), method.reconstruct(test.x[[1]])[0])


def test_new_codes_are_drawn_from_the_prior_or_near_the_data(page, images):
    method, test = images
    draws = card(page, "New codes")
    wait_for_canvas(page, image(draws, 3), un.manipulate.sample(method, test.x[[1]], 8, "salient", seed=0)[0, 2])
    draws.get_by_role("button", name="Draw again").click()
    wait_for_canvas(page, image(draws, 3), un.manipulate.sample(method, test.x[[1]], 8, "salient", seed=1)[0, 2])
    draws.locator("label", has_text="near the data").click()
    near = un.manipulate.sample(method, test.x[[1]], 8, "salient", seed=1, from_samples=test.target)
    wait_for_canvas(page, image(draws, 3), near[0, 2])


def test_what_is_made_leaves_as_image_arrays_and_python(page, images, tmp_path):
    method, test = images
    swap = card(page, "Swap")
    expected = un.manipulate.swap(method, test.x[[1]], test.x[[5]], "salient")[0]
    wait_for_canvas(page, image(swap, 2), expected)
    with page.expect_download() as download:
        swap.get_by_label("Download the image").click()
    assert download.value.suggested_filename == "images-swap-1-5.png"
    download.value.save_as(tmp_path / "swap.png")
    with Image.open(tmp_path / "swap.png") as png:
        assert png.size == (4 * 10 + 6, 12)
    with page.expect_download() as download:
        swap.get_by_label("Download the arrays as .npz").click()
    download.value.save_as(tmp_path / "swap.npz")
    np.testing.assert_allclose(arrays((tmp_path / "swap.npz").read_bytes())["a_with_b"], expected, atol=1e-6)
    swap.get_by_label("Show the lines of Python that make this").click()
    code = page.locator("dialog pre").inner_text()
    names = {}
    exec(compile(code, "page", "exec"), names)
    np.testing.assert_allclose(names["a_with_b"], expected, atol=1e-6)
    page.get_by_role("button", name="Close").click()
    page.wait_for_selector("dialog", state="detached")


def test_samples_are_taken_from_the_map_and_from_a_selection(open_page, images):
    _, test = images
    page = open_page(IMAGES)
    go = page.get_by_label("Go to")
    go.fill("7")
    go.press("Enter")
    page.wait_for_selector(".panel[data-sample='7']")
    page.get_by_label("Take sample 7 as B").click()
    page.get_by_label("Colour by").select_option(label="group")
    page.get_by_role("button", name="background").click()
    page.locator("#views a", has_text="Recombine").click()
    expect(page.locator(".slot").get_by_label("B", exact=True)).to_have_value("7")
    wait_for_canvas(page, page.locator(".slot canvas").nth(1), test.x[7], 0)
    page.get_by_role("button", name="From the selection").click()
    chosen = [int(page.locator(".slot").get_by_label(slot, exact=True).input_value()) for slot in "ABCD"]
    assert (test.groups[chosen] == 0).all()
    page.get_by_role("button", name="Random ones").click()


def test_vectors_are_recombined_with_the_features_named(open_page, runs):
    method, test = loaded(runs / "trained")
    page = open_page(TRAINED, "recombine")
    for slot, sample in zip("AB", (2, 6), strict=True):
        field = page.locator(".slot").get_by_label(slot, exact=True)
        field.fill(str(sample))
        field.press("Tab")
    swap = card(page, "Swap")
    page.wait_for_selector("section[data-made='2 6 salient']")
    page.wait_for_selector(".sliders[data-of='2 salient'] .latent")
    swapped = un.manipulate.swap(method, test.x[[2]], test.x[[6]], "salient")[0]
    change = (swapped - method.reconstruct(test.x[[2]])[0]) / test.x.std(axis=0)
    expect(swap.locator(".features tbody th")).to_have_text([f"feature {k}" for k in np.argsort(-np.abs(change))[:8]])
    latents = card(page, "Single latents")
    first = latents.locator(".latent input").first
    first.focus()
    first.press("ArrowRight")
    until(page, "/^2 salient:\\d+:/.test(document.querySelector('.card:has(.latents)').dataset.made)")
    edit = re.fullmatch(r"2 salient:(\d+):(.*)", latents.get_attribute("data-made"))
    z = method.encode(test.x[[2]])
    changed = method.decode(z.traverse("salient", int(edit[1]), [float(edit[2])]))[0]
    size = np.abs(changed - method.decode(z)[0]) / test.x.std(axis=0)
    expect(latents.locator(".features tbody th").first).to_have_text(f"feature {size.argmax()}")
    assert swap.get_by_label("Download the image").count() == 0
    with page.expect_download() as download:
        swap.get_by_label("Download the arrays as .npz").click()
    with open(download.value.path(), "rb") as file:
        assert set(arrays(io.BytesIO(file.read()).getvalue())) == {"a", "b", "a_with_b", "b_with_a"}
