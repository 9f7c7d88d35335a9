"""The site: its navigation, links and notebooks hold for the pages that are there; nothing is loaded from the network.

`make docs` builds it with every warning an error, which takes half a minute; `make soak` does that as a test.
"""

import importlib.util
import json
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

import untwine as un
from untwine.cli.app import app

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
CONFIG = yaml.safe_load((ROOT / "mkdocs.yml").read_text())
needs_mkdocs = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("mkdocs", "material", "mkdocstrings", "latex2mathml")),
    reason="needs pip install 'untwine[docs]'",
)


@pytest.fixture(scope="module")
def tools():
    """The folder of the tools, importable as mkdocs makes it."""
    sys.path.insert(0, str(ROOT / "tools"))
    yield
    sys.path.remove(str(ROOT / "tools"))


@pytest.fixture(scope="module")
def hooks(tools):
    import site_hooks

    return site_hooks


def entries(items):
    for item in items:
        if isinstance(item, dict):
            for inside in item.values():
                yield from entries([inside] if isinstance(inside, str) else inside)
        else:
            yield item


@pytest.fixture(scope="module")
def pages(tools):
    """Every page of the site by its path: those of docs/, of the root, and of the API."""
    import site_pages

    own = [path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")]
    return [*own, *site_pages.ROOT_PAGES, *site_pages.api_pages()]


@needs_mkdocs
def test_every_page_is_in_the_navigation_once(hooks, pages):
    filled = list(entries(hooks.fill_navigation(CONFIG["nav"], pages)))
    assert sorted(filled) == sorted(pages)


@needs_mkdocs
def test_a_new_page_needs_no_line(hooks, pages):
    filled = hooks.fill_navigation(CONFIG["nav"], [*pages, "tutorials/a_new_page.md", "howto/a_new_task.md"])
    titles = {title: list(entries(inside)) for section in filled for title, inside in section.items()}
    assert "tutorials/a_new_page.md" in titles["Tutorials"]
    assert "howto/a_new_task.md" in titles["How-to"]


def headings(path):
    text = re.sub(r"^```.*?^```", "", path.read_text(), flags=re.MULTILINE | re.DOTALL)
    for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        yield re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", words).strip().lower())


def test_links_to_headings_lead_to_one():
    broken = []
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.rglob("*.md")]:
        text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
        for target, anchor in re.findall(r"\]\(([^)#\s]*)#([^)\s]+)\)", text):
            if re.match(r"[a-z]+:", target):
                continue
            other = (page.parent / target) if target else page
            if other.suffix == ".md" and anchor not in set(headings(other)):
                broken.append((page.name, target, anchor))
    assert broken == []


@needs_mkdocs
@pytest.mark.parametrize(
    ("target", "source", "uri", "expected"),
    [
        ("docs/methods", "CONTRIBUTING.md", "contributing.md", "methods/README.md"),
        ("../CONTRIBUTING.md#adding-a-metric-3-places", "docs/architecture.md", "architecture.md",
         "contributing.md#adding-a-metric-3-places"),
        ("../../README.md", "docs/tutorials/faq.md", "tutorials/faq.md", "../index.md"),
        ("../images/a.png", "docs/tutorials/faq.md", "tutorials/faq.md", "../images/a.png"),
        ("../untwine/samples.py", "docs/architecture.md", "architecture.md", ""),
        ("https://example.org/docs", "docs/architecture.md", "architecture.md", "https://example.org/docs"),
        ("#here", "docs/architecture.md", "architecture.md", "#here"),
    ],
)  # fmt: skip
def test_links_of_the_repository_become_links_of_the_site(hooks, target, source, uri, expected):
    assert hooks.link(target, source, uri) == expected


def test_the_reference_has_every_public_name(tools):
    import site_pages

    text = "\n".join(site_pages.api_pages().values())
    shown = set(re.findall(r"^::: ([\w.]+)$|heading: ([\w.]+)$", text, re.MULTILINE))
    shown = {name for pair in shown for name in pair if name}
    modules = {"data", "manipulate", "metrics", "plots"}
    assert {f"untwine.{name}" for name in {*un.__all__} - modules} <= shown
    for module in modules:
        names = getattr(getattr(un, module), "__all__", None)
        assert {f"untwine.{module}.{name}" for name in names or ["swap", "remove", "traverse"]} <= shown


@needs_mkdocs
def test_equations_become_mathml_and_the_rest_stays(hooks):
    html = hooks.on_page_content(r'a <span class="arithmatex">\(x &lt; 1\)</span> b', None, None, None)
    assert html.startswith("a <math")
    assert html.endswith("</math> b")
    assert "&#x0003C;" in html
    assert "\\(" not in html


def test_nothing_of_the_theme_is_loaded_from_the_network():
    assert CONFIG["theme"]["font"] is False
    assert CONFIG["strict"] is True
    for address in (*CONFIG["extra"]["polyfills"], *CONFIG["extra_css"], *CONFIG.get("extra_javascript", [])):
        assert (DOCS / address).is_file(), address
    assert any("iframe-worker" in address for address in CONFIG["extra"]["polyfills"])  # or the plugin adds a public address


# --- notebooks


def notebook_tool():
    return runpy.run_path(str(ROOT / "tools" / "notebooks.py"))


def test_notebooks_are_of_the_present_python_of_their_pages():
    tool = notebook_tool()
    pages = {tool["path"](page.relative_to(DOCS).as_posix()): page for page in tool["pages"]()}
    kept = set((DOCS / "notebooks").glob("*.ipynb"))
    assert kept <= set(pages), "notebooks without a page"
    stale = [page.name for page in pages.values() if not tool["is_current"](page)]
    assert stale == [], "run `make notebooks`: each page with Python shows its outputs"


@pytest.mark.parametrize("path", sorted((DOCS / "notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_notebook_is_one_and_shows_outputs(path):
    notebook = json.loads(path.read_text())
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    cells = notebook["cells"]
    assert len({cell["id"] for cell in cells}) == len(cells)
    assert {cell["cell_type"] for cell in cells} == {"markdown", "code"}
    outputs = [output for cell in cells if cell["cell_type"] == "code" for output in cell["outputs"]]
    assert all(output["output_type"] in ("stream", "display_data") for output in outputs)
    assert "# in the tests" not in path.read_text()
    assert "/tmp/" not in path.read_text()
    assert path.stat().st_size < 600_000


def test_a_page_is_run_block_by_block_with_what_it_prints_draws_and_ends_with(tmp_path, monkeypatch):
    tool = notebook_tool()
    monkeypatch.chdir(tmp_path)
    text = """# Page

```python
# in the tests: epochs=1
import numpy as np
import untwine as un
print("hello")
class Kept:
    width: int
assert Kept.__annotations__ == {"width": int}  # no string, as the tool's own annotations are
1 + 1
```

Words.

```python no-run
raise
```

```python
un.plots.image_rows({"a": np.zeros((2, 1, 4, 4))}).savefig("a.png")
```
"""
    outputs = tool["run"](text)
    assert [one.get("text") for one in outputs[0]] == ["hello\n2\n"]
    assert [list(one["data"]) for one in outputs[1]] == [["image/png", "text/plain"]]
    assert (tmp_path / "a.png").exists()
    cells = tool["notebook"](text, outputs)["cells"]
    assert [cell["cell_type"] for cell in cells] == ["markdown", "code", "markdown", "code"]
    assert cells[1]["source"].startswith("import numpy")


@needs_mkdocs
def test_outputs_stand_below_the_code(hooks, tmp_path):
    path = tmp_path / "page.ipynb"
    text = "# Page\n\n```python\nprint(1)\n```\n\nAfter.\n"
    stream = {"output_type": "stream", "name": "stdout", "text": "1\n"}
    image = {"output_type": "display_data", "data": {"image/png": "", "text/plain": "<Figure>"}, "metadata": {}}
    path.write_text(json.dumps(notebook_tool()["notebook"](text, [[stream, image]])))
    shown = hooks.with_outputs(text, path, "tutorials/page.md")
    assert "(../notebooks/page.ipynb)" in shown
    assert (
        shown.index("print(1)")
        < shown.index("```text { .output")
        < shown.index("../outputs/page-0-1.png")
        < shown.index("After")
    )


@needs_mkdocs
def test_the_line_for_the_tests_is_not_shown(hooks):
    page = SimpleNamespace(file=SimpleNamespace(src_uri="tutorials/no_such_page.md", name="no_such_page"))
    text = "# Page\n\n```python\n# in the tests: epochs=1\nimport untwine as un\n```\n"
    shown = hooks.on_page_markdown(text, page, None, None)
    assert shown == text.replace("# in the tests: epochs=1\n", "")


@needs_mkdocs
def test_every_fence_of_a_page_is_one_that_the_site_knows(hooks, tools):
    import site_pages

    known = re.compile(r"^```(\w+( \{ \.output title=\"Output\" \})?)?$")
    sources = {f"{path.relative_to(DOCS)}": path for path in DOCS.rglob("*.md")}
    sources |= {page: ROOT / source for page, source in site_pages.ROOT_PAGES.items()}
    wrong = []
    for uri, path in sources.items():
        shown = hooks.on_page_markdown(path.read_text(), SimpleNamespace(file=SimpleNamespace(src_uri=uri)), None, None)
        wrong += [(uri, line) for line in shown.splitlines() if line.startswith("```") and not known.match(line)]
    assert wrong == []


@needs_mkdocs
def test_lists_in_lists_are_indented_as_the_site_wants_it(hooks):
    page = SimpleNamespace(file=SimpleNamespace(src_uri="howto/no_such_page.md"))
    text = "1. one\n   - inside\n\n   more of one\n2. two\n\n```\n  as it is\n```\n"
    expected = "1. one\n    - inside\n\n    more of one\n2. two\n\n```\n  as it is\n```\n"
    assert hooks.on_page_markdown(text, page, None, None) == expected


# --- pages written from the code, and the gallery


@pytest.mark.parametrize("kind", ["command", "metric"])
def test_pages_written_from_the_code_are_current(kind):
    tool = runpy.run_path(str(ROOT / "tools" / f"{kind}_pages.py"))
    kept = {path.name: path.read_text() for path in (DOCS / f"{kind}s").glob("*.md")}
    assert kept == tool["pages"](), f"run `python tools/{kind}_pages.py`, or `make pages`"


def test_every_image_of_the_gallery_has_its_command():
    text = (DOCS / "gallery.md").read_text()
    images = re.findall(r"^!\[[^\]]+\]\(([^)]+)\)\n\n((?:`[^`]+`(?:, then )?)+)", text, re.MULTILINE)
    assert len(images) == len(re.findall(r"^!\[", text, re.MULTILINE)) >= 10
    for path, commands in images:
        assert (DOCS / path).is_file()
        for command in re.findall(r"`([^`]+)`", commands):
            words = command.split()
            assert words[0] in ("untwine", "python", "make", "pytest"), command
            if words[0] == "untwine":
                assert words[1] in app
            if words[0] == "python":
                assert (ROOT / words[1]).is_file()


@pytest.mark.soak
@needs_mkdocs
def test_the_site_builds_without_a_warning_and_names_no_address_to_load_from(tmp_path):
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    loads = re.compile(r"""<(?:script|link|img|iframe)[^>]*\b(?:src|href)=["']?(https?:[^"' >]+)""")
    built = list((tmp_path / "site").rglob("*.html"))
    assert len(built) > 150
    assert [(path.name, loads.findall(path.read_text())) for path in built if loads.search(path.read_text())] == []
    assert [path.name for path in built if "<p>```" in path.read_text()] == []  # a fence that is none


def test_every_metric_of_ours_has_an_image_of_what_scores_high_and_low():
    tool = runpy.run_path(str(ROOT / "tools" / "metric_pages.py"))
    pages = {name: text for name, text in tool["pages"]().items() if name != "README.md"}
    assert len(pages) > 30
    for name, text in pages.items():
        image = f"images/metrics/{Path(name).stem}.png"
        assert f"(../{image})" in text, f"draw it by python tools/metric_images.py {Path(name).stem}"
        assert 2_000 < (ROOT / "docs" / image).stat().st_size < 60_000
