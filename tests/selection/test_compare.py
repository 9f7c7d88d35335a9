"""Comparing methods on one data set: the plan, the runs, the ranking, and what is left after an interrupt."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
from command_line import exit_code, run

import untwine as un
from untwine.evaluation.ranking import Ranked
from untwine.report.comparison import advise, ranking_rows, unfinished
from untwine.runs.comparison import Candidate, Comparison, read_comparison, write_comparison
from untwine.runs.names import is_run
from untwine.selection import budget
from untwine.selection import compare as module
from untwine.selection.budget import Clock
from untwine.selection.candidates import choose, supervision
from untwine.selection.runs import Source, cell_of, run_all

pytestmark = pytest.mark.usefixtures("forked_workers")
TINY = {"n_common": 3, "n_salient": 2, "width": 8, "batch": 16, "networks": "mlp"}


METHODS = ("contrastive_pca", "pca", "principled_vae")


def methods():
    return [un.PrincipledVAE(**TINY, epochs=3)]


@pytest.fixture(scope="module", autouse=True)
def short():
    """Methods are trained for the epochs that they name, however few steps these are, and scored by what is quick."""

    def quick(scores):
        if "minimality.x" not in scores:  # as of a method without a salient block
            return None
        terms = {"quiet": 1 / (1 + scores["minimality.x"].value), "explained": 1 / (1 + abs(scores["explained.x"].value))}
        return Ranked(min(terms.values()), terms)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(budget, "LEAST_STEPS", 1)
        patch.setattr(module, "metrics_of", lambda known: ("minimality", "explained"))
        patch.setattr(module, "label_free", quick)
        yield


@pytest.fixture(scope="module")
def data():
    rng, n = np.random.default_rng(0), 60
    x = rng.integers(0, 120, size=(2 * n, 1, 8, 8), dtype=np.uint8)
    x[:n, :, 2:6, 2:6] += rng.integers(0, 130, size=(n, 1, 1, 1), dtype=np.uint8)
    samples = un.Samples(x, groups=(np.arange(2 * n) < n).astype(int))
    return un.data.Splits(samples[::2], samples[1::2])


@pytest.fixture(scope="module")
def compared(data, tmp_path_factory):
    """A finished comparison of two seeds, made once."""
    folder = tmp_path_factory.mktemp("compared") / "out"
    return un.compare(data, methods(), minutes=5, seeds=[0, 1], out=folder)


@pytest.fixture
def no_page(monkeypatch):
    """Leaves out the images and the page, which take most of the time."""
    monkeypatch.setattr(module, "_write_images", lambda *_: None)
    monkeypatch.setattr(module, "report", lambda folder, out: out)


def test_every_run_is_a_run_folder_and_has_a_place(compared):
    comparison = read_comparison(compared.folder)
    assert comparison == compared.comparison
    assert {(one.method, one.seed) for one in comparison.finished()} == {(name, seed) for name in METHODS for seed in (0, 1)}
    assert all(is_run(compared.folder / one.folder) for one in comparison.candidates)
    places = comparison.ranking()
    values = [place.value for place in places if place.value is not None]
    assert values == sorted(values, reverse=True)
    assert [place.method for place in places if place.value is None] == ["pca"]  # it has no salient block
    assert [place.method for place in places if place.is_baseline] == [
        place.method for place in places if place.method in ("pca", "contrastive_pca")
    ]
    assert compared.best == compared.folder / places[0].best.folder
    assert set(comparison.stability) == set(METHODS)
    assert comparison.stability["pca"] == pytest.approx(1)  # a closed form is the same for every seed


def test_the_page_begins_with_the_ranking_and_has_each_method_once(compared):
    page = compared.page.read_text()
    assert page.index("Which method?") < page.index("Ranking without labels") < page.index("Without the salient block")
    assert page.count('<section class="run">') == 3
    assert "Take " in page or "No method took" in page
    assert "http" not in page.replace("http://www.w3.org", "")


def test_the_same_call_fits_nothing_again(compared, data, monkeypatch, no_page):
    monkeypatch.setattr(module, "speed", lambda *_: pytest.fail("a method was timed again"))
    monkeypatch.setattr(
        module, "run_all", lambda cells, *_: pytest.fail("a run was fitted again") if cells else (one for one in ())
    )
    again = un.compare(data, methods(), minutes=5, seeds=[0, 1], out=compared.folder)
    assert again.comparison == compared.comparison


def test_images_are_made_of_as_many_runs_as_there_is_time_to_draw(compared, data, tmp_path):
    folder = shutil.copytree(compared.folder, tmp_path / "out")
    for gallery in folder.glob("*/gallery.npz"):
        gallery.unlink()
    source = Source("data in memory", None, {}, data)
    module._write_images(compared.comparison, source, folder, Clock(5), 1000.0, str)
    first = compared.comparison.ranking()[0].best.folder
    assert [path.parent.name for path in folder.glob("*/gallery.npz")] == [first]


def test_another_method_is_added_to_a_comparison_and_other_data_are_refused(compared, data):
    with pytest.raises(ValueError, match="comparison of the same data"):
        un.compare(un.data.Splits(data.test, data.train), methods(), minutes=5, out=compared.folder)
    (compared.folder.parent / "full").mkdir()
    (compared.folder.parent / "full" / "notes.txt").write_text("mine")
    with pytest.raises(ValueError, match="is not empty"):
        un.compare(data, methods(), minutes=5, out=compared.folder.parent / "full")


def test_an_interrupt_leaves_finished_runs_and_the_next_call_goes_on(data, tmp_path, monkeypatch, no_page):
    fitted, fit = [], un.PrincipledVAE.fit

    def interrupted(self, *args, **options):
        if options.get("out") is not None:
            fitted.append(self.name)
            if len(fitted) == 1:
                raise KeyboardInterrupt
        return fit(self, *args, **options)

    monkeypatch.setattr(un.PrincipledVAE, "fit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        un.compare(data, methods(), minutes=5, out=tmp_path / "out")
    stopped = read_comparison(tmp_path / "out")
    assert [one.state for one in stopped.candidates] == ["finished", "finished", "stopped"]
    assert unfinished(stopped) == ["principled_vae, seed 0, is not finished: the same command resumes it."]
    monkeypatch.setattr(un.PCA, "fit", lambda *_, **__: pytest.fail("a finished run was fitted again"))
    monkeypatch.setattr(module, "_time_scores", lambda *_: module._Costs(0.0, 0.0))
    done = un.compare(data, methods(), minutes=5, out=tmp_path / "out")
    assert not unfinished(done.comparison)


def test_the_end_of_the_budget_stops_what_is_under_way(data, tmp_path):
    """A fit that would go on for hours ends with the time, and can be resumed from its checkpoint."""
    endless = un.PrincipledVAE(**TINY, epochs=100_000)
    source = Source("data in memory", None, {}, data)
    cell = cell_of(source, endless, ["explained"])
    done = [one for one in run_all([cell], source, tmp_path, Clock(0.05), 0.0, 0, 1) if one is not None]
    assert done == []
    assert (cell.folder(tmp_path) / "checkpoint.safetensors").exists()
    assert cell.folder(tmp_path).parent == tmp_path  # not in folders of a study


def test_a_run_that_fails_is_named_and_the_others_go_on(data, tmp_path, monkeypatch, no_page):
    def broken(self, *_, **__):
        raise ValueError("it broke;\n mend it.")

    monkeypatch.setattr(un.ContrastivePCA, "fit", broken)
    monkeypatch.setattr(module, "speed", lambda *_: module.Speed(0.001, 2))
    done = un.compare(data, [un.GeneralisedContrastivePCA(n_common=3, n_salient=2)], minutes=5, out=tmp_path / "out")
    assert unfinished(done.comparison) == ["contrastive_pca, seed 0, failed: it broke; mend it."]
    assert {one.method for one in done.comparison.finished()} == {"pca", "generalised_contrastive_pca"}


def test_methods_are_chosen_by_what_the_data_have(data):
    bare, labelled = replace(data.train, groups=None), replace(data.train, groups=None, labels=np.arange(len(data.train)) % 3)
    assert [supervision(one) for one in (data.train, labelled, bare)] == ["groups", "labels", "nothing"]
    for samples, needs in ((data.train, "groups"), (labelled, "labels"), (bare, "nothing")):
        chosen, trivial = choose(samples, None)
        assert {one.needs for one in chosen if one.name not in trivial} == {needs}
        assert trivial
        assert [one.name for one in chosen[: len(trivial)]] == list(trivial)
    with pytest.raises(ValueError, match="methods must suit data with groups; lord need others"):
        choose(data.train, ["lord"])
    with pytest.raises(ValueError, match="different"):
        choose(data.train, ["mm_cvae", "mm_cvae"])
    with pytest.raises(TypeError, match="list of names"):
        choose(data.train, "mm_cvae")


def candidate(method, value, seed=0, epochs=50, **terms):
    terms = {"valid": value, "private": value, **terms}  # of which the value need not be made here
    return Candidate(method, seed, {}, f"{method}-{seed}", "finished", "", epochs, 50, 1.0, value, terms)


def advice_of(*candidates, baselines=("contrastive_pca",)):
    return " ".join(advise(Comparison("d", "f", "groups", 1.0, candidates, {}, baselines)))


def test_the_advice_says_which_and_why_and_no_more_than_that():
    clear = advice_of(candidate("a", 0.9, private=0.95), candidate("b", 0.6, private=0.4))
    assert clear.startswith("Take a, ranked first without labels: 0.90 of 1; the next, b, has 0.60.")
    assert "Because: private 0.95 against 0.40 (the common block does not say which group a sample is of); valid 0.90" in clear
    assert "weakest point is valid, 0.90" in clear
    assert "Take a, or b: they cannot be told apart" in advice_of(candidate("a", 0.90), candidate("b", 0.89))
    seeds = [candidate("a", 0.9), candidate("a", 0.7, seed=1), candidate("b", 0.75)]
    assert "they cannot be told apart. a has 0.80 (0.70 to 0.90 over 2 seeds)" in advice_of(*seeds)
    nothing = advice_of(candidate("a", 0.2), candidate("b", 0.1))
    assert "No method took these data apart" in nothing
    assert "Because" not in nothing
    assert "trivial baseline: no network did better" in advice_of(candidate("contrastive_pca", 0.9), candidate("b", 0.6))
    assert "trained b for fewer epochs" in advice_of(candidate("a", 0.9), candidate("b", 0.6, epochs=30))
    early = advice_of(candidate("a", 0.9), replace(candidate("b", 0.6, epochs=5), seconds=20.0))
    assert "It is too early to say: b was trained for 5 of 50 epochs. In full they would take about 3 minutes more" in early
    assert "No run could be ranked" in advice_of(replace(candidate("a", 0.9), value=None, terms={}))
    assert "No run is finished yet" in advice_of(replace(candidate("a", 0.9), state="stopped"))


def test_the_table_is_in_the_order_of_the_ranking():
    comparison = Comparison("d", "f", "groups", 1.0, (candidate("b", 0.4), candidate("a", 0.9)), {"a": 0.5}, ("b",))
    head, rows = ranking_rows(comparison)
    assert head == ["method", "value", "valid", "private", "seeds agree", "epochs", "fit, s"]
    assert rows == [
        ["a", "0.90", "0.90", "0.90", "0.50", "50 of 50", "1.0"],
        ["b (baseline)", "0.40", "0.40", "0.40", "-", "50 of 50", "1.0"],
    ]


@pytest.mark.parametrize(
    "change",
    [
        {"candidates": [{"method": "a"}]},
        {"minutes": "soon"},
        {"stability": {"a": "high"}},
        {"folder": "../elsewhere"},
        {"folder": "/etc"},
        {"state": "running"},
        {"seed": True},
    ],
    ids=str,
)
def test_a_damaged_comparison_is_refused(tmp_path, change):
    write_comparison(tmp_path, Comparison("d", "f", "groups", 1.0, (candidate("a", 0.5),)))
    content = json.loads((tmp_path / "comparison.json").read_text())
    target = content["candidates"][0] if set(change) & {"folder", "state", "seed"} else content
    target.update(change)
    (tmp_path / "comparison.json").write_text(json.dumps(content))
    with pytest.raises(ValueError, match="must be as untwine compare wrote it"):
        read_comparison(tmp_path)


def test_the_command_prints_the_ranking_and_resumes(tmp_path, capsys, no_page):
    options = ("--data", "toy_contrast", "--data-set", "n_target=60", "--data-set", "n_background=60", "--workers", 0)
    words = ("compare", "generalised_contrastive_pca", *options, "--minutes", 5, "--out", tmp_path / "out", "--quiet")
    run(*words)
    printed = capsys.readouterr().out
    assert printed.startswith("Ranking without labels, toy_contrast")
    assert "generalised_contrastive_pca" in printed
    assert "contrastive_pca (baseline)" in printed
    assert "Take " in printed
    run(*words, "--json")
    content = json.loads(capsys.readouterr().out)
    assert {place["method"] for place in content["ranking"]} == {"generalised_contrastive_pca", "contrastive_pca", "pca"}
    assert content["best"] in printed


def test_the_command_needs_data(tmp_path, capsys):
    assert exit_code("compare", "--out", tmp_path / "out") == 2
    assert "compare needs data" in capsys.readouterr().err
