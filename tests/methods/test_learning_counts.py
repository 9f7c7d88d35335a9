"""Simulated cells of two batches: the salient block encodes the response, and with the covariate the common one no batch."""

import dataclasses

import pytest

import untwine as un

CELLS = {"n_target": 600, "n_background": 600, "n_test": 500, "n_genes": 150, "effect": 1.5, "batch": 0.8}
FIELDS = {"likelihood": "negative_binomial", "epochs": 30, "lr": 4e-3, "width": 128}
METRICS = ["leakage_covariates", "probe_strong"]


@pytest.mark.parametrize("seed", [0, 1])
def test_covariates_take_the_batch_out_of_the_codes_of_counts(seed):
    data = un.load("simulated_cells", **CELLS, seed=seed)
    values = {}
    for covariates in (data.train.covariates, None):
        train = dataclasses.replace(data.train, covariates=covariates)
        method = un.PrincipledVAE(**FIELDS, seed=seed).fit(train)
        scores = un.evaluate(method, data.test, METRICS)
        values[covariates is not None] = {name: score.value for name, score in scores.items()}
    given, without = values[True], values[False]
    assert given["probe_strong.salient"] > 0.65  # four responses
    assert given["probe_strong.common"] < given["probe_strong.salient"] - 0.2
    assert without["leakage_covariates_batch.common"] > 0.7
    for block in ("common", "salient"):
        name = f"leakage_covariates_batch.{block}"
        assert given[name] < without[name] - 0.2
    assert given["leakage_covariates_batch.common"] < 0.4
