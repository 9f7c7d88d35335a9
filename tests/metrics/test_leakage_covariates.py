"""Covariates that are planted in codes are found; codes without them score chance."""

import dataclasses

import numpy as np
import pytest

from untwine import Latents, Samples, evaluate
from untwine.metrics import covariate_leakage
from untwine.metrics.intervals import fold_interval

RNG = np.random.default_rng(0)
N = 600
BATCH = np.array(["a", "b", "c"])[np.arange(N) % 3]
NOISE = RNG.normal(size=(N, 5))
PLANTED = NOISE + 4.0 * np.eye(5)[np.arange(N) % 3]


def test_perfect_permuted_rescaled_rotated_and_duplicated_codes():
    rotation = np.linalg.qr(np.random.default_rng(1).normal(size=(5, 5)))[0]
    for same in (PLANTED, PLANTED[:, ::-1] * [1e6, 1e-6, 1, 1e3, 5] + 7, PLANTED @ rotation, np.hstack([PLANTED, PLANTED])):
        assert covariate_leakage(same, BATCH).leakage > 0.95
    assert covariate_leakage(PLANTED, BATCH) == covariate_leakage(PLANTED, np.arange(N) % 3)


@pytest.mark.parametrize("codes", [np.full((N, 3), 0.1), NOISE])
def test_constant_and_random_codes_score_chance(codes):
    result = covariate_leakage(codes, BATCH)
    assert fold_interval(result.leakage, result.folds)[0] <= 0.02
    assert result.leakage < 0.08
    age = np.random.default_rng(3).normal(50, 9, N)
    assert covariate_leakage(codes, age).leakage < 0.02


def test_a_rare_level_counts_as_much_as_a_frequent_one():
    """A reader that always says the frequent level has no credit, and a weak trace of the rare one is not lost."""
    rare = np.arange(2000) % 10 == 0
    noise = np.random.default_rng(2).normal(size=(2000, 4))
    assert covariate_leakage(noise, rare).leakage < 0.1
    shifted = noise + 1.5 * rare[:, None]
    result = covariate_leakage(shifted, rare)
    assert result.n == 400
    # Two Gaussians with means 3 apart: the best accuracy is Phi(1.5) = 0.933, so 0.866 above chance.
    assert result.leakage == pytest.approx(0.866, abs=0.06)


def test_a_number_is_scored_by_r2_however_it_is_encoded():
    age = np.random.default_rng(4).uniform(20, 80, 1500)
    half = age + np.random.default_rng(5).normal(0, age.std(), 1500)
    assert covariate_leakage(age[:, None], age).leakage > 0.97
    assert covariate_leakage(half[:, None], age).leakage == pytest.approx(0.5, abs=0.06)
    assert covariate_leakage(np.sin(age / 12)[:, None], age).leakage > 0.3


def test_wrong_columns_are_refused():
    with pytest.raises(ValueError, match="needs a covariate of at least 2 levels; got 1"):
        covariate_leakage(NOISE, np.repeat("a", N))
    with pytest.raises(ValueError, match="one value for each of the 600 samples"):
        covariate_leakage(NOISE, BATCH[:5])


class Planted:
    """The common block holds the batch, the salient one the age; `z` of nothing."""

    def encode(self, x):
        return Latents({"common": x[:, :4], "salient": x[:, 4:]})

    def decode(self, latents):
        return latents.array()


def planted(n=400):
    rng = np.random.default_rng(6)
    batch, age = rng.integers(0, 2, n), rng.normal(40, 10, n)
    x = rng.normal(size=(n, 8))
    x[:, 1] += 6 * batch
    x[:, 6] = age
    groups = (np.arange(n) % 4 > 0).astype(int)
    return Samples(x.astype("float32"), groups=groups, covariates={"batch": np.array(["u", "v"])[batch], "age": age})


def test_evaluate_scores_each_block_and_covariate_of_targets():
    data = planted()
    scores = evaluate(Planted(), data, ["leakage_covariates"])
    values = {name: score.value for name, score in scores.items()}
    assert set(values) == {f"leakage_covariates_{c}.{b}" for c in ("batch", "age") for b in ("common", "salient")}
    assert values["leakage_covariates_batch.common"] > 0.9
    assert values["leakage_covariates_batch.salient"] < 0.15
    assert values["leakage_covariates_age.salient"] > 0.9
    assert values["leakage_covariates_age.common"] < 0.05
    assert {score.direction for score in scores.values()} == {"lower"}
    assert scores["leakage_covariates_age.common"].n == 300


def test_what_the_groups_share_with_a_covariate_is_no_leak():
    """Salient codes that only say the group are not blamed for a batch that most targets come from."""
    rng = np.random.default_rng(7)
    groups = np.arange(800) % 2
    batch = np.where(rng.random(800) < np.where(groups, 0.9, 0.1), "late", "early")
    x = rng.normal(size=(800, 8))
    x[:, 5] += 8 * groups
    data = Samples(x.astype("float32"), groups=groups, covariates={"batch": batch})
    assert evaluate(Planted(), data, ["leakage_covariates"])["leakage_covariates_batch.salient"].value < 0.2


def test_samples_without_covariates_are_not_scored_by_default_and_refused_by_name():
    data = dataclasses.replace(planted(), covariates=None)
    assert not [name for name in evaluate(Planted(), data) if name.startswith("leakage_covariates")]
    with pytest.raises(ValueError, match="needs a covariate that varies over the target samples"):
        evaluate(Planted(), data, ["leakage_covariates"])


def test_a_source_is_in_one_fold():
    """Codes that remember each source do not predict the batch of sources that they have not seen."""
    sources = np.arange(N) // 12
    batch = np.random.default_rng(8).integers(0, 2, sources.max() + 1)[sources]
    memory = np.random.default_rng(9).normal(size=(sources.max() + 1, 12))[sources]
    assert covariate_leakage(memory, batch).leakage > 0.6
    assert covariate_leakage(memory, batch, sources=sources).leakage < 0.35
