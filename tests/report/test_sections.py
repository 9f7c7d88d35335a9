"""A section is one file: what lies in the package of sections is on the page, in its order."""

from __future__ import annotations

from pathlib import Path

import pytest

from untwine.report import sections
from untwine.report.page import find_sections, page
from untwine.report.section import Section
from untwine.runs.reading import read_runs

FILES = sorted(path for path in Path(sections.__file__).parent.glob("*.py") if path.name != "__init__.py")
NEW = """
from untwine.report.markup import tag
from untwine.report.section import Section

SECTION = Section("A new section", 55, lambda run: tag("p", f"new for {run.name}"))
"""


def test_every_file_is_a_section_of_its_own_place_and_title():
    sections_found = find_sections()
    assert len(sections_found) == len(FILES) == 18
    assert all(isinstance(section, Section) for section in sections_found)
    assert (
        len({section.title for section in sections_found}) == len({section.order for section in sections_found}) == len(FILES)
    )
    assert [section.order for section in sections_found] == sorted(section.order for section in sections_found)


@pytest.fixture
def new_section(tmp_path, monkeypatch):
    """Put one more file among the sections, as somebody who adds one does."""
    (tmp_path / "new_section.py").write_text(NEW)
    monkeypatch.setattr(sections, "__path__", [*sections.__path__, str(tmp_path)])
    find_sections.cache_clear()
    yield
    find_sections.cache_clear()


@pytest.mark.usefixtures("new_section")
def test_a_file_is_all_that_a_new_section_needs(folder):
    text = page(read_runs(folder.full()))
    assert "<p>new for demo</p>" in text
    assert text.index("Reconstructions</h3>") < text.index("A new section</h3>") < text.index("Swaps</h3>")
