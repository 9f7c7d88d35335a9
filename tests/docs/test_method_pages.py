"""Every method has a page, and every page says what a reader needs: the idea, an equation, when to use it, limits, numbers."""

import re
from pathlib import Path

import pytest

from untwine.methods import METHODS

PAGES = Path(__file__).parents[2] / "docs" / "methods"
PARTS = ("Idea.", "When to use it.", "Limitations.", "Our numbers.")


def part(text, name):
    """What stands under a bold word, up to the next that begins a paragraph."""
    found = re.search(rf"^\*\*{re.escape(name)}\*\*(.*?)(?=^\*\*[A-Z]|\Z)", text, re.MULTILINE | re.DOTALL)
    return found[1].strip() if found else ""


def test_there_is_a_page_for_every_method_and_no_other():
    assert {page.stem for page in PAGES.glob("*.md")} == set(METHODS)


@pytest.mark.parametrize("name", METHODS)
def test_a_page_has_every_part(name):
    text = (PAGES / f"{name}.md").read_text()
    for wanted in PARTS:
        assert len(part(text, wanted)) > 20, f"{name}.md lacks **{wanted}**"
        assert len(re.findall(rf"^\*\*{re.escape(wanted)}\*\*", text, re.MULTILINE)) == 1
    equations = re.findall(r"\$\$(.+?)\$\$", text, re.DOTALL)
    assert equations, f"{name}.md lacks an equation"
    assert all(equation.count("{") == equation.count("}") for equation in equations)
    numbers = part(text, "Our numbers.")
    assert "../results.md" in numbers or re.search(r"\d\.\d", numbers)
    assert not re.search(r"\*\*(Use it when|Limitations)\*\*", text)
