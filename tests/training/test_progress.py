"""The progress bar: the numbers that matter fit on any terminal, and a file gets a line now and then."""

import io
import re
from types import SimpleNamespace

import pytest

from untwine.training import progress

TERMS = "encoder: reconstruction 1234.5  kl_common 0.1234  kl_salient 0.5678  decoder: reconstruction 1234.5  w2 0.01"
NUMBERS = re.compile(r"( \d|\d\d|\d\d\d)% \d+:\d\d:\d\d left \d+:\d\d:\d\d")


class Terminal(io.StringIO):
    def isatty(self):
        return True


def lines(monkeypatch, file, total=10, title="training", step=0.0, start=0):
    """Return what a task of as many steps shows, each of which takes as many seconds."""
    now = [0.0]
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: now[0]))  # not that of other threads
    monkeypatch.setattr("sys.stderr", file)
    with progress.bar(title, total, True) as advance:
        for done in range(start + 1, total + 1):
            now[0] += step
            advance(done, lambda: TERMS)
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", file.getvalue()).replace("\r", "\n").split("\n")


@pytest.mark.parametrize("width", [40, 80, 200])
@pytest.mark.parametrize("title", ["training", "a study with a title of many words that fills half of the line"])
def test_percent_and_times_fit_and_the_terms_are_cut(monkeypatch, width, title):
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm")
    shown = [line for line in lines(monkeypatch, Terminal(), title=title, step=1000.0) if line.strip()]
    drawn = shown[1:]  # the first is drawn before any step
    assert drawn
    assert all(NUMBERS.search(line) for line in drawn), shown
    assert all(len(line) <= width for line in shown)
    assert "50% 1:23:20 left 1:23:20" in "\n".join(drawn)
    assert drawn[-1].strip().startswith(title[:7])
    if width == 80:
        assert "encoder" in drawn[-1]
        assert "…" in drawn[-1]


def test_a_file_gets_a_line_for_every_tenth(monkeypatch):
    shown = lines(monkeypatch, io.StringIO(), total=1000, step=0.1)
    assert len(shown) == 10 + 1
    assert shown[4] == f"training  50 %, 50 s, 50 s left  {TERMS}"


def test_a_file_gets_a_line_a_minute_of_a_long_task(monkeypatch):
    shown = lines(monkeypatch, io.StringIO(), total=100, step=45.0)
    assert 45 <= len(shown) <= 65


def test_what_a_resumed_task_did_before_does_not_count_as_fast(monkeypatch):
    shown = lines(monkeypatch, io.StringIO(), total=100, step=1.0, start=49)
    assert shown[0].startswith("training  50 %, 1 s, 50 s left")


def test_before_anything_is_done_the_time_left_is_unknown(monkeypatch):
    now, file = [0.0], io.StringIO()
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: now[0]))  # not that of other threads
    monkeypatch.setattr("sys.stderr", file)
    with progress.bar("study", 4, True) as advance:
        for _ in range(3):
            now[0] += 40
            advance(0, lambda: "0 of 4 cells")
    assert file.getvalue() == "study   0 %, 80 s  0 of 4 cells\n"
