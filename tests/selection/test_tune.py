"""Searching the fields of a method: what is searched, that it goes on where it stopped, and that it can be repeated."""

from __future__ import annotations

import json
import pickle
import shlex

import numpy as np
import pytest
from command_line import exit_code, run

import untwine as un
from untwine.selection import tune as module
from untwine.selection.runs import Source
from untwine.selection.space import MOST, RANGES, Range, search_space
from untwine.selection.tune import fit_line

pytest.importorskip("optuna")
pytestmark = pytest.mark.usefixtures("forked_workers")
TINY = {"n_common": 3, "n_salient": 2, "width": 4, "batch": 16, "networks": "mlp", "epochs": 1}
FIELDS = {"beta_salient": (0.1, 1.0), "n_common": (2, 4)}


@pytest.fixture(scope="module")
def data():
    return un.load("toy_contrast", n_target=60, n_background=60, n_features=6, n_common=2, n_salient=1)


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Trials have one epoch and are scored by what is explained; nothing is timed."""
    monkeypatch.setattr(module._Search, "_choose_epochs", lambda *_: {"epochs": 1})


CHOOSE_EPOCHS = module._Search._choose_epochs


def search(data, out, trials, **options):
    return un.tune(data, un.PrincipledVAE(**TINY), 5, out=out, fields=FIELDS, score="explained.x", trials=trials, **options)


def test_a_search_goes_on_where_it_stopped_with_the_trials_that_it_would_have_had(data, tmp_path, monkeypatch):
    whole = search(data, tmp_path / "whole", 4)
    assert len(whole.trials) == 4
    assert whole.trials[0].fields == {"beta_salient": 0.2, "n_common": 3}  # the setting that the method came with
    assert whole.value == max(trial.value for trial in whole.trials)
    best = next(trial for trial in whole.trials if trial.value == whole.value)
    assert {name: whole.method.get_params()[name] for name in FIELDS} == best.fields
    assert all(0.1 <= trial.fields["beta_salient"] <= 1 and trial.fields["n_common"] in (2, 3, 4) for trial in whole.trials)
    assert whole.history.read_bytes().startswith(b"\x89PNG")

    search(data, tmp_path / "parts", 2)
    fitted, fit = [], un.PrincipledVAE.fit

    def stopped(self, *args, **options):
        fitted.append(self.beta_salient)
        if len(fitted) == 2:
            raise KeyboardInterrupt
        return fit(self, *args, **options)

    monkeypatch.setattr(un.PrincipledVAE, "fit", stopped)
    with pytest.raises(KeyboardInterrupt):
        search(data, tmp_path / "parts", 4)
    again = search(data, tmp_path / "parts", 4)
    assert len(fitted) == 3  # the one that was stopped is tried again
    finished = [trial for trial in again.trials if trial.value is not None]
    assert [(one.fields, one.value) for one in finished] == [(one.fields, one.value) for one in whole.trials]


def test_the_test_split_is_not_touched(data, tmp_path):
    none = un.data.Splits(data.train, None)
    assert search(none, tmp_path / "out", 1).value is not None


def test_data_on_which_no_trial_would_have_a_value_are_refused_before_the_budget_is_spent(data, tmp_path, monkeypatch):
    monkeypatch.setattr(module._Search, "_choose_epochs", CHOOSE_EPOCHS)
    few = data.train[np.arange(len(data.train)) % 4 == 0]
    with pytest.raises(ValueError, match="pass more samples, or name another score"):
        un.tune(un.data.Splits(few, None), un.PrincipledVAE(**TINY), 5, out=tmp_path / "out", fields=FIELDS, trials=1)
    assert not list((tmp_path / "out").glob("principled_vae*"))


def test_another_search_in_the_folder_is_refused(data, tmp_path):
    search(data, tmp_path / "out", 1)
    with pytest.raises(ValueError, match="that of the same search"):
        search(data, tmp_path / "out", 2, seed=1)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("x")
    with pytest.raises(ValueError, match="is not empty"):
        search(data, tmp_path / "full", 1)


def test_nothing_of_the_journal_is_unpickled(data, tmp_path, monkeypatch):
    """Optuna unpickles snapshots of some storages; the file has none, and is lines of JSON."""
    from optuna.storages.journal import JournalFileBackend
    from optuna.storages.journal._base import BaseJournalSnapshot

    assert not issubclass(JournalFileBackend, BaseJournalSnapshot)
    monkeypatch.setattr(pickle, "loads", lambda *_: pytest.fail("something was unpickled"))
    search(data, tmp_path / "out", 1)
    search(data, tmp_path / "out", 1)
    assert all(isinstance(json.loads(line), dict) for line in (tmp_path / "out" / "trials.jsonl").read_text().splitlines())


def test_the_fields_that_matter_are_searched_unless_others_are_named():
    space = search_space(un.PrincipledVAE())
    assert list(space) == ["beta_salient", "beta_common", "lambda_z", "lambda_s", "scale"]
    assert all(set(search_space(method())) <= set(RANGES) for method in (un.LORD, un.DIPVAE, un.ContrastivePCA))
    assert len(search_space(un.SepVAE())) <= MOST
    assert search_space(un.ContrastivePCA()) == {
        "alpha": RANGES["alpha"],
        "n_salient": RANGES["n_salient"],
        "n_common": RANGES["n_common"],
    }
    assert search_space(un.PrincipledVAE(), {"lr": (1e-4, 1e-2), "n_salient": None}) == {
        "lr": Range(1e-4, 1e-2),
        "n_salient": RANGES["n_salient"],
    }
    wrong = {"nothing": ("fields must be those", None), "lr": ("need bounds", None), "scale": ("lower one first", (2.0, 1.0))}
    for fields, words in (({name: bounds}, words) for name, (words, bounds) in wrong.items()):
        with pytest.raises(ValueError, match=words):
            search_space(un.PrincipledVAE(), fields)


def test_the_line_fits_the_setting_again(tmp_path):
    method = un.PrincipledVAE(beta_salient=0.5, n_common=3)
    named = Source("toy_contrast", "toy_contrast", {"n_target": 60}, None)
    words = shlex.split(fit_line(named, method, tmp_path / "best"))
    expected = "untwine fit principled_vae --data toy_contrast --data-set n_target=60"
    assert words == [*expected.split(), "--set", "n_common=3", "--set", "beta_salient=0.5", "--out", str(tmp_path / "best")]
    paths = Source("p", None, {"target": "p q/", "background": "c/"}, None)
    assert "--data " not in fit_line(paths, method, tmp_path)
    assert "--data-set 'target=p q/' --data-set background=c/" in fit_line(paths, method, tmp_path)


def test_the_command_prints_a_line_that_runs(tmp_path, capsys):
    data = ("--data", "toy_contrast", "--data-set", "n_target=60", "--data-set", "n_background=60")
    fields = ("--field", "n_salient=1:4", "--score", "explained.x", "--set", "width=4", "--set", "epochs=1")
    run("tune", "principled_vae", *data, *fields, "--trials", 2, "--minutes", 5, "--out", tmp_path / "out", "--quiet")
    printed = capsys.readouterr().out
    assert printed.startswith("The best of 2 trials, on the validation split")
    line = next(line for line in printed.splitlines() if line.startswith("untwine fit"))
    run(*shlex.split(line)[1:], "--quiet")
    assert (tmp_path / "out" / "best" / "method.json").exists()
    assert exit_code("tune", "--field", "scale=a:b", "--data", "toy_contrast", "--out", tmp_path / "x") == 2
    assert "LOW:HIGH" in capsys.readouterr().err
    assert exit_code("tune", "--out", tmp_path / "x") == 2
    assert "tune needs data" in capsys.readouterr().err


def test_a_best_trial_that_did_not_come_apart_is_not_recommended_without_a_word(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(module._Search, "_choose_epochs", lambda search, *_: vars(search).update(in_full=50) or {"epochs": 1})
    options = ("--trials", 1, "--minutes", 5, "--out", tmp_path / "out", "--quiet")
    sizes = (f"--data-set {name}=100".split() for name in ("n_target", "n_background", "n_test"))
    data = ("--data", "grassy_digits", *(word for size in sizes for word in size), "--data-set", "size=8", "--set", "width=4")
    run("tune", "principled_vae", *data, "--field", "n_salient=1:4", *options)
    assert "In the best trial the blocks came not apart: valid 0." in (printed := capsys.readouterr().out)
    assert "Its 1 epochs were few: a whole fit has 50; pass 50.0 times the --minutes." in printed
    apart = {"valid": 0.8, "private": 0.9, "quiet": 0.75, "explained": 0.5}
    told = {"method": un.PrincipledVAE(), "value": 0.4, "command": "", "folder": tmp_path, "history": tmp_path}
    for terms, words in ((apart, ""), (apart | {"quiet": 0.5}, "came only partly apart: quiet 0.50"), ({}, "")):
        tuned = module.Tuned(trials=(module.Trial(0, {}, 0.4, terms),), epochs=20, in_full=20, **told)
        assert words in tuned.advice
        assert bool(words) == bool(tuned.advice)
        assert "few" not in tuned.advice


def test_trials_without_a_value_count_as_trials(tmp_path, capsys):
    data = ("--data", "toy_contrast", "--data-set", "n_target=40", "--data-set", "n_background=40", "--set", "width=4")
    few = ("--trials", 2, "--minutes", 5, "--out", tmp_path / "out", "--quiet")
    assert exit_code("tune", "principled_vae", *data, "--field", "n_salient=1:4", *few) == 2
    assert "none of 2 has one" in capsys.readouterr().err


def test_the_history_is_drawn_and_refuses_nothing():
    figure = un.plots.tuning_history([0.1, None, 0.3], [{"a": 1.0}, {"a": 2.0}, {"a": 3.0}])
    steps = figure.axes[0].lines[1].get_ydata()
    np.testing.assert_allclose(steps, [0.1, 0.1, 0.3])
    assert [list(line.get_xdata()) for line in figure.axes[0].lines if line.get_label() == "failed"] == [[2]]
    figure.draw_without_rendering()
    for axes, values in ((figure.axes[1], "1 2"), (figure.axes[0], "1 2 3")):
        low, high = axes.get_xlim()
        shown = [
            label.get_text() for at, label in zip(axes.get_xticks(), axes.get_xticklabels(), strict=True) if low <= at <= high
        ]
        assert " ".join(shown) == values  # plain numbers, none between two trials
    with pytest.raises(ValueError, match="finite one"):
        un.plots.tuning_history([None], [{}])
