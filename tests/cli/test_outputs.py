"""Tables on a terminal and piped, and hints."""

import os
import pty
import re
import subprocess
import sys

from untwine.cli.outputs import next_command, print_table

HEADER, ROWS = ("name", "meaning"), [("a_name_of_a_method", "word " * 40 + "end"), ("b", "[bold]not markup[/bold]")]


def test_a_piped_table_has_whole_lines_in_aligned_columns(capsys):
    print_table(HEADER, ROWS, title="Title")
    assert capsys.readouterr().out.splitlines() == [
        "Title",
        "name                meaning",
        "a_name_of_a_method  " + "word " * 40 + "end",
        "b                   [bold]not markup[/bold]",
    ]


def test_a_table_on_a_terminal_is_wrapped_to_its_width():
    code = f"from untwine.cli.outputs import print_table; print_table({HEADER!r}, {ROWS!r})"
    ours, theirs = pty.openpty()
    process = subprocess.Popen([sys.executable, "-c", code], stdout=theirs, env=os.environ | {"COLUMNS": "60", "TERM": "xterm"})
    assert process.wait() == 0
    os.close(theirs)
    text = os.read(ours, 10_000).decode()
    os.close(ours)
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    lines = text.splitlines()
    assert max(map(len, lines)) <= 60
    assert sum(line.startswith("a_name_of_a_method ") for line in lines) == 1
    assert text.count("word") == 40
    assert "[bold]not markup[/bold]" in text


def test_hints_quote_what_a_shell_would_split():
    assert next_command("evaluate", "runs/x") == "(next: untwine evaluate runs/x)"
    assert next_command("evaluate", "runs/my run") == "(next: untwine evaluate 'runs/my run')"
    assert next_command("report", "it's") == """(next: untwine report 'it'"'"'s')"""
