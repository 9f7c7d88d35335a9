"""Every method has a page, a manual with one set of sections; its options are those of the code, and its Python runs."""

import re
import runpy
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from untwine.methods import METHODS

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "methods"
IMAGES = ROOT / "docs" / "images" / "methods"
TOOL = runpy.run_path(str(ROOT / "tools" / "method_pages.py"))
SECTIONS = ("Idea", "Objective", "When to use it", "Options", "Usage", "Limitations", "Our numbers")
LONGEST = 120


def read(name):
    return (PAGES / f"{name}.md").read_text()


def without_code(text):
    return re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)


def section(text, heading):
    """Return the text under a heading of the second level, up to the next one."""
    match = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    return match[1].strip() if match else ""


def test_there_is_a_page_for_every_method_and_no_other():
    assert {page.stem for page in PAGES.glob("*.md")} == {*METHODS, "README"}


def test_the_index_is_current_and_has_every_method():
    text = (PAGES / "README.md").read_text()
    assert text == TOOL["index"](), "run python tools/method_pages.py"
    assert all(text.count(f"\n| [{name}]({name}.md) | ") == 1 for name in METHODS)


@pytest.mark.parametrize("name", METHODS)
def test_a_page_has_every_section_in_order(name):
    text = read(name)
    headings = re.findall(r"^## (.+)$", without_code(text), re.MULTILINE)
    assert tuple(headings) in (SECTIONS, (*SECTIONS, "Deviations"))
    for heading in headings:
        assert len(section(text, heading)) > 20, f"{name}.md has nothing under ## {heading}"
    assert len(re.findall(r"^# ", without_code(text), re.MULTILINE)) == 1
    assert text.count("\n") <= LONGEST, f"{name}.md is too long for a manual"


@pytest.mark.parametrize("name", METHODS)
def test_a_page_has_an_equation(name):
    equations = re.findall(r"\$\$(.+?)\$\$", section(read(name), "Objective"), re.DOTALL)
    assert equations, f"{name}.md lacks an equation under ## Objective"
    assert all(equation.count("{") == equation.count("}") for equation in equations)


def test_there_is_an_image_for_every_method_and_no_other():
    assert {path.name for path in IMAGES.iterdir()} == {f"{name}.png" for name in METHODS}, "python tools/method_images.py NAME"


@pytest.mark.parametrize("name", METHODS)
def test_a_page_shows_what_its_method_does_and_says_what_one_sees(name):
    found = re.findall(
        rf"^!\[([^\]]+)\]\(\.\./images/methods/{name}\.png\)\n\n(.+?)\n\n", section(read(name), "Idea") + "\n\n", re.M | re.S
    )
    assert len(found) == 1, f"{name}.md lacks its image, or what one sees in it, under ## Idea"
    alternative, caption = (" ".join(text.split()) for text in found[0])
    assert len(alternative) > 30
    assert caption.endswith(f" A short fit on small data, drawn by `python tools/method_images.py {name}`.")
    assert len(caption) > 200, "what does one see in it?"
    path = IMAGES / f"{name}.png"
    assert path.stat().st_size < 60_000
    with Image.open(path) as image:
        pixels = np.asarray(image.convert("L"), float)
    assert min(pixels.shape) > 200
    assert pixels.std() > 20  # something is drawn


@pytest.mark.parametrize("name", METHODS)
def test_a_page_has_numbers_with_the_command_that_prints_them(name):
    numbers = section(read(name), "Our numbers")
    assert re.search(r"\d\.\d", numbers)
    assert re.search(r"`(untwine (study|demo)|pytest|make) ", numbers)


@pytest.mark.parametrize("name", METHODS)
def test_studies_on_a_page_have_finished_cells(name):
    text = read(name)
    named = re.findall(r"studies/(\w+)\.toml", text) + re.findall(r"`(\w+_(?:table\d+|figure\d+|goals|search))`", text)
    for study in set(named) - {"NAME"}:  # NAME stands for any of those that follow it
        assert (ROOT / "studies" / "results" / f"{study}.csv").exists(), study


@pytest.mark.parametrize("name", METHODS)
def test_the_options_on_a_page_are_those_of_the_code(name):
    text = read(name)
    assert text == TOOL["fill"](text, METHODS[name]), f"{name}.md is out of date: run python tools/method_pages.py"
    options = section(text, "Options")
    assert options.startswith(TOOL["BEGIN"])
    assert TOOL["END"] in options


def test_a_stale_table_is_replaced_and_the_rest_of_the_page_stays():
    text = "before <!-- options -->\n| old |\n<!-- /options --> after"
    filled = TOOL["fill"](text, METHODS["dip_vae"])
    assert filled.startswith("before ")
    assert filled.endswith(" after")
    assert "| old |" not in filled
    assert "| `lambda_od` |" in filled
    assert '`DIPVAE.paper("dsprites")`' in filled
    assert TOOL["fill"](filled, METHODS["dip_vae"]) == filled


def test_a_page_without_the_markers_is_refused():
    with pytest.raises(ValueError, match=r"page of VAE must hold .* once each"):
        TOOL["fill"]("## Options", METHODS["vae"])


@pytest.mark.parametrize("name", METHODS)
def test_usage_has_a_command_and_python_that_runs(name, monkeypatch, tmp_path):
    usage = section(read(name), "Usage")
    assert re.search(rf"^untwine fit {name} ", usage, re.MULTILINE), f"{name}.md has no command under ## Usage"
    blocks = re.findall(r"^```python\n(.*?)^```", usage, re.MULTILINE | re.DOTALL)
    assert blocks, f"{name}.md has no Python under ## Usage"
    code = "\n".join(blocks)
    # A block that would train for minutes says in its first line what it is trained with here.
    if match := re.search(r"^# in the tests: (.+)$", code, re.MULTILINE):
        cls, smaller = METHODS[name], eval(f"dict({match[1]})", {})
        init = cls.__init__
        monkeypatch.setattr(cls, "__init__", lambda self, **given: init(self, **given | smaller))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    exec(compile(code, f"docs/methods/{name}.md", "exec"), {})


@pytest.mark.parametrize("name", METHODS)
def test_links_of_a_page_resolve(name):
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", without_code(read(name)))
    assert any(link.endswith("results.md") for link in links)
    for link in links:
        assert re.match(r"[a-z]+:", link) or (PAGES / link).exists(), link
