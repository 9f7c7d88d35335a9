"""The words of tools/words.py: every rule finds its planted word, at its line, and nothing in sentences of the field."""

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
words = runpy.run_path(str(ROOT / "tools" / "words.py"))

CLEAN = '''"""Images of two groups, encoded into a common and a salient block.

The KL divergence of each block is weighted; the standard deviation over seeds is in the last column of each row. A table is
read from a CSV file, and the two classes are told apart by a linear probe. What deviates is listed: deviations from the paper.
"""

import numpy as np


def probe(codes, rng, chance=0.1, left_eye=None):
    # The chance level, and the identity np.eye(3).
    if len(codes) < 2:
        raise ValueError(f"codes must be at least 2 samples; got {len(codes)}; pass more.")
    rows = "rows of the table"
    return np.eye(3), rng.normal(size=3), rows
'''


@pytest.mark.parametrize("rule", words["RULES"], ids=lambda rule: rule.example)
def test_a_planted_word_is_found(rule, tmp_path):
    path = tmp_path / "planted.py"
    path.write_text(f"{CLEAN}\n\n{rule.example}\n")
    folder = rule.under[0]
    hits = words["search"](path, f"{folder}/planted.py" if folder else "planted.py")
    assert (len(CLEAN.splitlines()) + 3, rule.instead) in {(hit.line, hit.instead) for hit in hits}
    assert {hit.line for hit in hits} == {len(CLEAN.splitlines()) + 3}


@pytest.mark.parametrize(
    "rule", [rule for rule in words["RULES"] if rule.example.startswith("# ")], ids=lambda rule: rule.example
)
def test_a_word_is_found_in_documents_docstrings_and_messages_across_lines(rule, tmp_path):
    sentence = rule.example.removeprefix("# ").replace(" ", "\n    ")
    page, code, message = tmp_path / "page.md", tmp_path / "code.py", tmp_path / "message.py"
    page.write_text(f"# Title\n\n{sentence}\n")
    code.write_text(f'def f():\n    """{sentence}"""\n')
    message.write_text(f"x = {sentence!r}\n")
    for path in (page, code, message):
        assert rule.instead in {hit.instead for hit in words["search"](path, path.name)}, path.name


def test_sentences_of_the_field_are_left_alone(tmp_path, capsys):
    path = tmp_path / "clean.py"
    path.write_text(CLEAN)
    assert words["search"](path, "untwine/clean.py") == []
    assert words["main"]([str(path)]) == 0
    assert capsys.readouterr().out == ""


def test_hits_are_printed_with_file_and_line_and_the_exit_is_1(tmp_path, capsys):
    rule = words["RULES"][0]
    (tmp_path / "planted.md").write_text(f"# Title\n\n{rule.example}\n")
    assert words["main"]([str(tmp_path)]) == 1
    assert f"planted.md:3: {rule.example.split()[2]!r} -> {rule.instead}" in capsys.readouterr().out


def test_every_exception_has_a_reason_and_covers_a_file():
    for exempt in words["EXCEPTIONS"]:
        assert len(exempt.reason.split()) > 2
        assert next(ROOT.glob("**/*" if exempt.files == "*" else exempt.files), None) is not None, exempt
