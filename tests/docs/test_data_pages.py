"""Every data set has a description and a page that is current, and the studies that it names are those that use it."""

import json
import runpy
import tomllib
from pathlib import Path

import pytest

from untwine.data import DataCard, data_sets, described
from untwine.data.data_set import DataSet, as_data_set

ROOT = Path(__file__).parents[2]
TOOL = runpy.run_path(str(ROOT / "tools" / "data_pages.py"))
CARDS = {name: as_data_set(load).card for name, load in data_sets().items() if load.__module__.startswith("untwine.")}


def test_the_committed_pages_are_current():
    pages = {path.name: path.read_text() for path in (ROOT / "docs" / "data").glob("*.md")}
    assert pages == TOOL["pages"](), "run `python tools/data_pages.py`"


@pytest.mark.parametrize("name", CARDS)
def test_a_description_is_complete(name):
    card = CARDS[name]
    for key in ("source", "licence", "size", "files", "groups", "labels", "factors", "sources"):
        assert getattr(card, key).endswith("."), key
    studies = [tomllib.loads(path.read_text()) | {"name": path.stem} for path in sorted((ROOT / "studies").glob("*.toml"))]
    used = {one["name"]: one.get("paper", one["title"]) for one in studies if name in {data["name"] for data in one["data"]}}
    assert dict(card.studies) == used


def test_a_card_stands_in_the_docstring_and_on_the_data_set():
    card = DataCard("a lab.", "CC0.", "2 samples.", "none.", "none.", "none.", "none.", "the donor.", papers=("A paper",))

    @described(card)
    def cells(*, seed=0):
        """Cells.

        Notes
        -----
        They are few.
        """

    assert DataSet(cells).card is card
    assert "- Source of a sample: the donor.\n- Used by: A paper.\n\nThey are few." in cells.__doc__
    assert cells.__doc__.count("Notes\n-----") == 1
    assert "Masks" not in cells.__doc__
    assert DataSet(lambda *, seed=0: None).card is None  # of a plug-in without a description


def test_list_data_prints_the_description(capsys):
    from untwine.cli.commands.list import command

    command("data", "brats", json=True)
    (entry,) = json.loads(capsys.readouterr().out)
    assert entry["card"]["sources"] == "the patient, with all visits."
    assert list(entry["card"]["studies"]) == ["brats", "untuned"]
    assert entry["options"]["every"] == 3
    command("data", "brats")
    text = " ".join(capsys.readouterr().out.split())
    for words in (
        "Licence: registration needed",
        "Size: one",
        "Source of a sample: the patient",
        "Used by: `brats` (Double InfoGAN",
    ):
        assert words in text
