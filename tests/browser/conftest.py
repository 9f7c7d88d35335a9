"""A real browser on the real server, in a thread of the tests, with Debian's Chromium.

Where Chromium or Playwright is missing, these tests are skipped and say so.
"""

import shutil
from pathlib import Path

import pytest
from browsing import SECONDS, Served, complete, until

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
OPTIONS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


def pytest_collection_modifyitems(items):
    here = Path(__file__).parent
    for item in items:
        if here in Path(item.path).parents:
            item.add_marker(pytest.mark.browser)
            if CHROMIUM is None:
                item.add_marker(pytest.mark.skip(reason="Chromium is not installed; install Debian's package chromium"))


@pytest.fixture(scope="session")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright for Python is not installed")
    playwright.expect.set_options(timeout=1000 * SECONDS)
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def runs(explored_runs):
    return explored_runs


@pytest.fixture(scope="session")
def served(runs):
    served = Served(runs)
    yield served
    served.end()


@pytest.fixture
def open_page(browser, served):
    """Open the page; at the end, nothing was logged as an error and nothing but the page's own origin was asked for."""
    contexts, problems = [], []

    def open_page(run=0, view="map", at=None, width=1280, height=900, wait=True, allowed=(), prepare=None, **options):
        at = at or served
        context = browser.new_context(viewport={"width": width, "height": height}, accept_downloads=True, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(1000 * SECONDS)
        page.on("pageerror", lambda error: problems.append(str(error)))

        def log(message):
            if message.type in ("error", "warning") and not any(text in message.text for text in allowed):
                problems.append(message.text)

        page.on("console", log)
        page.on(
            "request",
            lambda request: (
                request.url.startswith((f"{at.origin}/", "blob:", "data:")) or problems.append(f"asked for {request.url}")
            ),
        )
        if prepare is not None:
            prepare(page)
        page.goto(f"{at.address}#{view}")
        if run:
            page.wait_for_selector("#run option", state="attached")
            page.select_option("#run", str(run))
        if wait:
            until(page, "run => document.body.dataset.run === run", arg=str(run))
            complete(page, view)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert problems == []
