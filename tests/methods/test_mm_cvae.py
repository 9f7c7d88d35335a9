"""MM-cVAE matches moments, and keeps its balance: no run diverges, and neither part collapses."""

import numpy as np
import pytest
import torch
from small import small, vectors

import untwine as un
from untwine.batches import Rows

STEPS, BATCH = 1000, 64


def toy(seed):
    return un.load("toy_contrast", n_target=500, n_background=500, seed=seed).train


def grass(seed):
    return un.load("grassy_digits", n_target=500, n_background=500, n_test=10, size=12, seed=seed).train


def hostile(seed):
    """Columns of sizes from 1e-4 to 1e4 far from 0, four times as many targets, and a tail of outliers."""
    chance = np.random.default_rng(seed)
    data = un.load("toy_contrast", n_target=800, n_background=200, seed=seed).train
    x = data.x * np.where(chance.random((len(data), 1)) < 0.01, 20.0, 1.0)
    return un.Samples(x * np.logspace(-4, 4, x.shape[1]) + 100.0, groups=data.groups)


DATA = {"toy": toy, "grass": grass, "hostile": hostile}


def fate(kind, seed):
    """Train for at least STEPS steps; what is not finite is a warning, and a warning is an error."""
    data = DATA[kind](seed)
    largest = max(len(data.target), len(data.background))
    method = un.MMcVAE(epochs=-(-STEPS // -(-largest // BATCH)), batch=BATCH, seed=seed).fit(data)
    z, background = method.encode(data.target), method.encode(data.background)
    first, last = ([row.value for row in method.history_ if row.epoch == epoch] for epoch in (0, method.epochs - 1))
    assert np.isfinite(last).all()
    if sum(last) >= sum(first):
        return "diverged"
    # The prior has variance 1 in each used dimension: 0.05 in all of them together is nothing.
    parts = {**dict(z.items()), "common of the background": background.common}
    spread = {block: codes.var(0).sum() for block, codes in parts.items()}
    return next((f"collapsed: {block}" for block, sum_ in spread.items() if sum_ < 0.05), "trained")


@pytest.mark.parametrize("kind", ["hostile"])
def test_a_run_neither_diverges_nor_collapses(kind):
    assert fate(kind, seed=0) == "trained"


@pytest.mark.soak
@pytest.mark.parametrize("kind", tuple(DATA))
def test_none_of_thirty_runs_diverges_or_collapses(kind):
    # Ten seeds on each of the three kinds of data.
    fates = {seed: fate(kind, seed) for seed in range(10)}
    assert set(fates.values()) == {"trained"}, fates


def step(**changes):
    """The terms of one step on a fixed batch."""
    data = vectors(target=64, background=64)
    method = small("mm_cvae", batch=64, **changes)
    method._prepare(data, {})
    (stage,) = method.stages()
    rows = Rows.of(data, method._standard(torch.from_numpy(data.x)), torch.float32, torch.device("cpu"))
    ((player, terms),) = stage.step(rows.batch(rows.order(stage, 0, 0)[0], (0, 0, 0)), 0)
    assert player == "vae"
    return terms


def test_the_moments_are_those_of_the_codes_of_both_groups():
    terms = step(lambda_z=3.0, lambda_s=2.0)
    again = step(lambda_z=6.0, lambda_s=0.0)
    torch.testing.assert_close(again["mmd_common"], 2 * terms["mmd_common"])
    assert "mmd_salient" not in again
    # An untrained encoder gives both groups codes near N(0, I): alike, and far from 0.
    assert terms["mmd_common"].abs() < 0.1
    assert terms["mmd_salient"] > 0.5


def test_a_batch_of_one_gets_the_sentence():
    with pytest.raises(ValueError, match=r"expected at least 2 points in each set, but got 1 and 1; raise batch"):
        small("mm_cvae", batch=1).fit(vectors())
