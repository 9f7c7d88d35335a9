"""How many places a new method, metric, data set, command and section of the report takes: each is added to a copy and used."""

import re
import shutil
from pathlib import Path

import pytest
from one_process import run_commands

ROOT = Path(__file__).parents[2]
METHOD = '''
from dataclasses import dataclass
from typing import ClassVar

from untwine.methods.pca import PCA


@dataclass(eq=False, kw_only=True)
class NewPCA(PCA):
    """A new method."""

    name: ClassVar[str] = "new_pca"
'''
METRIC = """
from untwine.metrics.metric import Measurement, Metric

METRIC = Metric("new_metric", lambda data: [Measurement("new.z", 1.0, (1.0, 1.0), 1)], "A new metric.")
"""
DATA = '''
from untwine.data.data_set import DataSet
from untwine.data.sets.toy_contrast import toy_contrast


def new_data(*, seed=0):
    """A new data set."""
    return toy_contrast(n_target=20, n_background=20, seed=seed)


ENTRIES = {"new_data": DataSet(new_data)}
'''
COMMAND = '''
ORDER = 999


def command() -> None:
    """A new command."""
    print("the new command ran")
'''
SECTION = """
from untwine.report.markup import tag
from untwine.report.section import Section

SECTION = Section("A new section", 999, lambda run: tag("p", "its content"))
"""
# What is added: its files in the package, and the lines in files that are there.
FILES = {
    "untwine/methods/new_pca.py": METHOD,
    "untwine/metrics/new_metric.py": METRIC,
    "untwine/data/sets/new_data.py": DATA,
    "untwine/cli/commands/new.py": COMMAND,
    "untwine/report/sections/new.py": SECTION,
}
LINES = {
    "untwine/methods/__init__.py": ("# isort: on", "from untwine.methods.new_pca import NewPCA as NewPCA\n"),
    "untwine/evaluation/registry.py": ("    # isort: on", "    from untwine.metrics import new_metric\n"),
    "untwine/data/catalogue.py": ("    modules = [", "    import untwine.data.sets.new_data\n"),
}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A copy of the package with one of each; returns it with what the new command printed."""
    copy = tmp_path_factory.mktemp("copy")
    shutil.copytree(ROOT / "untwine", copy / "untwine", ignore=shutil.ignore_patterns("__pycache__"))
    for path, text in FILES.items():
        (copy / path).write_text(f'"""New."""\n{text}')
    for path, (before, line) in LINES.items():
        text = (copy / path).read_text()
        assert text.count(f"\n{before}") == 1
        (copy / path).write_text(text.replace(f"\n{before}", f"\n{line}{before}", 1))

    ended = run_commands(
        copy,
        ["fit", "new_pca", "--data", "new_data", "--set", "n_latent=2", "--out", "run", "--quiet"],
        ["evaluate", "run", "--metrics", "new_metric", "--quiet"],
        ["report", "run"],
        ["new"],
        path=[copy],
    )
    assert [one.code for one in ended] == [0] * 4, ended
    return copy, ended[-1].out


def test_each_is_there_after_its_file_and_at_most_one_line(run):
    copy, out = run
    assert "new_pca" in (copy / "run" / "method.json").read_text()
    assert '"new.z"' in (copy / "run" / "scores.json").read_text()
    assert "A new section" in (copy / "run" / "report.html").read_text()
    assert out == "the new command ran\n"


@pytest.mark.parametrize(
    ("what", "path"),
    [
        ("method", "untwine/methods"),
        ("metric", "untwine/metrics"),
        ("data set", "untwine/data"),
        ("command", "untwine/cli"),
        ("section of the report", "untwine/report"),
    ],
)
def test_contributing_counts_the_places_as_they_are(what, path):
    page = (ROOT / "CONTRIBUTING.md").read_text()
    heading = re.search(rf"## Adding a {what}: (\d) places\n(.*?)(?=\n## )", page, re.S)
    places = int(heading.group(1))
    assert len(re.findall(r"^\d\. ", heading.group(2), re.M)) == places
    files = sum(name.startswith(path) for name in FILES)
    lines = {"method": 1, "metric": 1, "data set": 1}.get(what, 0)
    tests_and_pages = 2 if what == "method" else 1
    assert places == files + lines + tests_and_pages
