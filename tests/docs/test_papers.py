"""docs/papers.md is what the studies and their finished cells give, and lists everything that the papers contain."""

import re
import runpy
import shlex
from pathlib import Path

import pytest

from untwine.cli.app import app
from untwine.data import data_sets
from untwine.study.results import Entry

ROOT = Path(__file__).parents[2]
TOOL = runpy.run_path(str(ROOT / "tools" / "papers.py"))
# The number of tables and of figures in each paper, appendices included.
NUMBERED = {
    "Towards Principled Objectives for Contrastive Disentanglement": (2, 10),
    "Learning Disentangled Representations with Reference-Based Variational Autoencoders": (1, 9),
    "Variational Inference of Disentangled Latent Concepts from Unlabeled Observations": (2, 6),
    "Double InfoGAN for Contrastive Analysis": (9, 13),
    "Demystifying Inter-Class Disentanglement": (4, 12),
}


@pytest.fixture(scope="module")
def content():
    return TOOL["read"]()


def test_the_page_is_current():
    assert TOOL["main"](["--check"]) == 0, "run `make papers`"


def test_every_table_and_figure_of_every_paper_is_listed_once_and_claims_as_well(content):
    assert [paper["title"] for paper in content["paper"]] == list(NUMBERED)
    for paper in content["paper"]:
        names = [item["item"] for item in paper["item"]]
        assert len(set(names)) == len(names)
        tables, figures = NUMBERED[paper["title"]]
        numbered = [name for name in names if not name.startswith(("Claim: ", "Algorithm "))]
        assert numbered == [f"Table {i + 1}" for i in range(tables)] + [f"Figure {i + 1}" for i in range(figures)]
        assert sum(name.startswith("Claim: ") for name in names) >= 5
    page = (ROOT / "docs" / "papers.md").read_text()
    assert page.count("| **") == sum(len(paper["item"]) for paper in content["paper"])


def test_the_studies_are_those_of_the_paper_they_are_listed_under(content):
    named = set()
    for paper in content["paper"]:
        for item in paper["item"]:
            for name in item.get("studies", ()):
                assert TOOL["study"](name).spec["paper"].startswith(paper["title"]), (item["item"], name)
                named.add(name)
    published = {path.stem for path in (ROOT / "studies").glob("*.toml") if "\n[published" in path.read_text()}
    assert published <= named


def test_data_sets_and_commands_exist(content):
    known = data_sets()
    assert set(content["missing"]) <= set(known)
    for paper in content["paper"]:
        for item in paper["item"]:
            assert set(item.get("needs", ())) <= set(known), item["item"]
            for command in TOOL["commands"](item):
                program, *words = shlex.split(command)
                if program == "untwine":
                    app.parse_args(words, exit_on_error=False, print_error=False)
                else:
                    assert program == "pytest"
                    assert (ROOT / words[-1]).exists()


def test_no_state_is_typed(content):
    states = "|".join(("reproduced", "in part", "not run"))
    for paper in content["paper"]:
        for item in paper["item"]:
            assert not re.search(states, f"{item.get('note', '')} {item['shows']}"), item["item"]


def entry(row, column, mean, published, score="probe.salient", std=0.01, seeds=3):
    return Entry("faces", row, column, score, mean, std, mean, mean, seeds if mean is not None else 0, 3, published)


def test_numbers_are_reached_in_the_direction_of_their_metric():
    reaches = TOOL["reaches"]
    assert (reaches(0.96, 1.0, "higher"), reaches(0.94, 1.0, "higher"), reaches(2.0, 1.0, "higher")) == (True, False, True)
    assert (reaches(1.04, 1.0, "lower"), reaches(1.06, 1.0, "lower"), reaches(0.0, 1.0, "lower")) == (True, False, True)
    assert (reaches(1.04, 1.0, "info"), reaches(0.9, 1.0, "info"), reaches(1.1, 1.0, "info")) == (True, False, False)
    scores = {"probe.salient": "higher", "probe.common": "lower", "reconstruction.x": "lower", "per_class_fear.z": "higher"}
    scores |= {
        "regression_salient_scale.salient": "lower",
        "regression_salient_scale.common": "higher",
        "probe_object.common": "higher",
    }
    assert {score: TOOL["direction"](score) for score in scores} == scores


def test_published_numbers_are_counted_by_hand():
    counted = TOOL["count"](
        [
            entry("a", "s", 0.9, 0.8),
            entry("b", "s", 0.5, 0.6),
            entry("c", "s", 0.7, 0.5, seeds=2),
            entry("d", "s", None, 0.4),
            entry("e", "s", 0.3, None),
            entry("a", "z", 0.3, 0.2, "probe.common"),
        ]
    )
    # Reached: a and c of s. Pairs of finished rows: a b and a c as published, b c not.
    assert counted[:5] == (5, 4, 2, 3, 2)
    assert counted.differences == pytest.approx((0.125, 1 / 6, 0.4, 0.5))
    assert counted.seeds == "2 of 3 seeds"


@pytest.mark.parametrize(
    ("counts", "stand_in", "state"),
    [
        ([(4, 4, 4, 6, 6)], False, "reproduced"),
        ([(4, 4, 4, 6, 6)], True, "in part"),
        ([(4, 3, 3, 3, 3)], False, "in part"),
        ([(4, 4, 0, 6, 4)], False, "in part"),
        ([(4, 4, 0, 6, 3)], False, "not reproduced"),
        ([(4, 4, 0, 6, 1)], True, "not reproduced"),
        ([(4, 4, 4, 6, 6), (2, 2, 0, 1, 0)], False, "in part"),
    ],
)
def test_the_state_follows_from_the_counts(counts, stand_in, state):
    parts = [TOOL["Part"](TOOL["Count"](*one, ()), stand_in) for one in counts]
    assert TOOL["judge"](parts) == state


def test_claims_are_compared_by_hand():
    table = [
        entry("ours", "s", 0.9, 0.8),
        entry("old beta=1", "s", 0.5, 0.6),
        entry("old beta=2", "s", 0.95, 0.6),
        entry("old but other", "s", 0.1, 0.1),
        entry("ours", "z", 0.3, 0.2, "probe.common"),
        entry("unfinished", "s", None, 0.9),
    ]
    compare = TOOL["compare"]
    claim = {"shows": "", "rows": ["ours"], "than": ["old", "unfinished"], "columns": ["s"]}
    results = list(compare(claim, table))
    assert [one[:3] for one in results] == [(True, True, True), (False, False, True)]
    assert [one.ours for one in results] == pytest.approx([0.4, -0.05])
    leak = {"shows": "", "rows": ["ours"], "than": ["loud", "close"], "columns": ["z"]}
    loud, close = (
        entry(row, "z", mean, 0.1, "probe.common", std) for row, mean, std in (("loud", 0.7, 0.5), ("close", 0.305, 0.0))
    )
    # Lower is better in the common block; the seeds of one vary by more than the difference, as do those of the other.
    assert [(one[:3], round(one.ours, 6)) for one in compare(leak, [*table, loud, close])] == [
        ((True, False, False), 0.4),
        ((True, False, False), 0.005),
    ]
    column = {"shows": "", "rows": ["ours"], "right_column": "z", "columns": ["s"], "is": "higher"}
    assert [(one.clear, round(one.theirs, 6)) for one in compare(column, table)] == [(True, 0.6)]
    value = {"shows": "", "rows": ["ours"], "value": 0.88, "columns": ["s"], "is": "near", "within": 0.03}
    assert [one[:3] for one in compare(value, table)] == [(True, True, None)]
    assert [one.holds for one in compare(value | {"within": 0.01}, table)] == [False]
    assert list(compare(claim | {"columns": ["z"]}, table)) == []


def test_an_item_without_finished_cells_says_why():
    found = TOOL["finding"](
        {"item": "x", "shows": "y", "kind": "study", "studies": ["reference_affectnet"]}, {"affectnet": "on request"}, {}
    )
    assert found == ("data not at hand", ("AffectNet: data not at hand, on request",))
    images = {"item": "x", "shows": "y", "kind": "images", "needs": ["kth", "mnist"], "commands": []}
    assert TOOL["finding"](images, {"kth": "gone"}, {}) == ("drawn", ("kth: data not at hand, gone",))
    assert TOOL["finding"](images | {"needs": ["kth"]}, {"kth": "gone"}, {}).state == "data not at hand"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"state": "reproduced"}, "must have known keys only; got state"),
        ({"kind": "guess"}, "kind of here must be one of study, images"),
        ({"columns": ["taste"]}, "columns of here in dip_table2 must be known; got 'taste'; choose from"),
        ({"rows": ["VAE"]}, "here must have columns; add it"),
        ({"rows": ["VAE"], "columns": ["Male"]}, "must compare its rows with one of than, right_column and value"),
        ({"rows": ["GAN"], "than": ["VAE"], "columns": ["Male"]}, "must be rows of dip_table2; got 'GAN'"),
    ],
)
def test_wrong_entries_are_refused(change, sentence):
    item = {"item": "x", "shows": "y", "kind": "study", "studies": ["dip_table2"]}
    with pytest.raises(ValueError, match=sentence):
        TOOL["_check"](item | change, "here")
