"""Runs that are fitted once, and an explorer of them with all runs open."""

import pytest
from explored import Page


@pytest.fixture(scope="session")
def runs(explored_runs):
    return explored_runs


@pytest.fixture(scope="session")
def page(runs):
    page = Page(runs)
    for number in range(5):
        assert page.open(number)["state"] == "ready"
    return page
