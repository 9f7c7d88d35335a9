"""Runs that are fitted once, and an explorer of them with all runs open."""

import pytest
from explored import Page, make_runs


@pytest.fixture(scope="session")
def runs(tmp_path_factory):
    return make_runs(tmp_path_factory.mktemp("explore"))


@pytest.fixture(scope="session")
def page(runs):
    page = Page(runs)
    for number in range(5):
        assert page.open(number)["state"] == "ready"
    return page
