"""Named selections in a run folder: added whole or not at all, never replaced, and not trusted when read."""

import json

import pytest

from untwine.runs import selections
from untwine.runs.names import METHOD, SELECTIONS
from untwine.runs.selections import Selection, add_selection, read_selections


@pytest.fixture
def run(tmp_path):
    (tmp_path / METHOD).write_text("{}")
    return tmp_path


def test_selections_are_read_as_they_were_added(run):
    assert read_selections(run) == {}
    add_selection(run, Selection("first", (5, 1, 5), "test", "abc"))
    add_selection(run, Selection("später", (0,), "gallery"))
    assert read_selections(run) == {
        "first": Selection("first", (1, 5), "test", "abc"),
        "später": Selection("später", (0,), "gallery"),
    }
    assert sorted(path.name for path in run.iterdir()) == [METHOD, SELECTIONS]


def test_a_name_is_never_taken_twice_and_nothing_is_written_beside_no_run(run, tmp_path):
    add_selection(run, Selection("a", (1,)))
    before = (run / SELECTIONS).read_bytes()
    with pytest.raises(ValueError, match=r"must be new; 'a' is taken; choose another\."):
        add_selection(run, Selection("a", (2,)))
    assert (run / SELECTIONS).read_bytes() == before
    (run / METHOD).unlink()
    with pytest.raises(ValueError, match=r"is none any more; nothing was written\."):
        add_selection(run, Selection("b", (2,)))
    with pytest.raises(ValueError, match="is none any more"):
        add_selection(tmp_path / "no" / "where", Selection("b", (2,)))
    assert not (tmp_path / "no").exists()


@pytest.mark.parametrize("name", ["", " a", "a ", "x" * 81, "a\tb", None, 1])
def test_wrong_names_are_refused(run, name):
    with pytest.raises(ValueError, match="must be 1 to 80 printable characters"):
        add_selection(run, Selection(name, (1,)))


@pytest.mark.parametrize("samples", [(), (-1,), (1.5,), (True,), ("1",)])
def test_wrong_samples_are_refused(run, samples):
    with pytest.raises(ValueError, match=r"selection must have 1 to|selected sample must be an integer of at least 0"):
        add_selection(run, Selection("a", samples))
    assert not (run / SELECTIONS).exists()


def test_there_cannot_be_ever_more(run, monkeypatch):
    monkeypatch.setattr(selections, "MAX_SELECTIONS", 2)
    for name in "ab":
        add_selection(run, Selection(name, (1,)))
    with pytest.raises(ValueError, match="can have 2 selections"):
        add_selection(run, Selection("c", (1,)))


@pytest.mark.parametrize(
    "entry",
    [
        None,
        [],
        {},
        {"samples": 1},
        {"samples": []},
        {"samples": [-1]},
        {"samples": [1], "of": "x"},
        {"samples": [1], "fingerprint": 1},
    ],
)
def test_files_of_others_are_refused(run, entry):
    (run / SELECTIONS).write_text(json.dumps({"a": entry}))
    with pytest.raises(ValueError, match="must hold selections as untwine writes them"):
        read_selections(run)
