"""Scores of disentanglement against the reconstruction error, a line for each method and its categorical options."""

import numpy as np
import pytest

from untwine.report import trade_off
from untwine.runs.reading import Run
from untwine.runs.scores import Score


def run(method, sap, error, **params):
    values = {"sap.z": sap, "reconstruction.x": error}
    scores = {name: Score(name, value, value, value, 100, 0.0, "info") for name, value in values.items()}
    return Run(method, None, {"method": method, "params": {"seed": 0, "epochs": 5, **params}}, scores=scores)


@pytest.fixture
def drawn(monkeypatch):
    """Record what is passed to the plot."""
    calls = []
    draw = trade_off.plots.trade_off
    monkeypatch.setattr(
        trade_off.plots, "trade_off", lambda *args, **options: calls.append((args, options)) or draw(*args, **options)
    )
    return calls


def test_each_method_is_a_line_along_its_options_and_seeds_are_averaged(drawn):
    runs = [
        run("beta_vae", 0.4, 0.02, beta=16.0, lr=0.2),
        run("beta_vae", 0.2, 0.01, beta=4.0, lr=0.1),
        run("beta_vae", 0.3, 0.01, beta=4.0, lr=0.1, seed=1),
        run("dip_vae", 0.5, 0.008, variant="ii"),
    ]
    page = str(trade_off.trade_offs(runs))
    assert "Disentanglement against reconstruction" in page
    assert "SAP against the reconstruction error" in page
    [((errors, scores, labels), options)] = drawn
    assert options["y"] == "SAP"
    assert errors == {"beta_vae": [0.01, 0.02], "dip_vae": [0.008]}
    assert scores == {"beta_vae": [pytest.approx(0.25), 0.4], "dip_vae": [0.5]}
    assert labels == {"beta_vae": ["beta=4", "beta=16"], "dip_vae": [""]}


def test_categorical_options_have_lines_of_their_own(drawn):
    runs = [
        run("dip_vae", 0.5, 0.01, variant="i", lambda_od=5.0, sign="plus"),
        run("dip_vae", 0.3, 0.02, variant="ii", lambda_od=5.0, sign="minus"),
        run("dip_vae", 0.6, 0.03, variant="i", lambda_od=20.0, sign="plus"),
        run("dip_vae", 0.4, 0.04, variant="ii", lambda_od=20.0, sign="minus"),
        run("vae", 0.1, 0.01, networks="conv64"),
    ]
    trade_off.trade_offs(runs)
    [((errors, scores, labels), _)] = drawn
    assert errors == {"dip_vae variant=i": [0.01, 0.03], "dip_vae variant=ii": [0.02, 0.04], "vae": [0.01]}
    assert scores == {"dip_vae variant=i": [0.5, 0.6], "dip_vae variant=ii": [0.3, 0.4], "vae": [0.1]}
    both = ["lambda_od=5", "lambda_od=20"]
    assert labels == {"dip_vae variant=i": both, "dip_vae variant=ii": both, "vae": [""]}


def test_few_runs_or_missing_numbers_draw_nothing(drawn):
    assert not trade_off.trade_offs([run("vae", 0.4, 0.02), run("vae", 0.4, 0.02, seed=1)])
    assert not trade_off.trade_offs([run("vae", 0.4, 0.02), run("vae", 0.4, 0.02, seed=1), run("vae", np.nan, 0.01, seed=2)])
    assert drawn == []
