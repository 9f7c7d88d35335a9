"""SepVAE by hand: the fixed variance of the background's salient codes, its KL, and the pairs over both groups."""

import math

import pytest
import torch
from small import small, vectors
from torch.distributions import Normal, kl_divergence

from untwine.methods.sep_vae import fix_off_target_variance, pairs
from untwine.networks.autoencoder import Code
from untwine.training.batches import TrainingData


def started(**changes):
    data = vectors(target=64, background=64)
    method = small("sep_vae", batch=64, precision="float64", **changes)
    method._prepare(data, {})
    (stage,) = method.stages()
    rows = TrainingData.of(data, method._standard(torch.from_numpy(data.x)), torch.float64, torch.device("cpu"))
    return method, stage, rows.batch(rows.order(stage, 0, 0)[0], (0, 0, 0), stage.batches)


def test_the_background_has_the_fixed_variance_and_the_target_its_own():
    _, _, batch = started()
    code = Code(torch.randn(128, 3), torch.randn(128, 3))
    result = fix_off_target_variance(batch, code, [3], 0.04)
    assert torch.equal(result.mu, code.mu)
    assert torch.equal(result.logvar[:64], code.logvar[:64])
    torch.testing.assert_close(result.logvar[64:].exp(), torch.full((64, 3), 0.04))


def test_the_salient_penalty_is_the_kl_from_the_narrow_prior():
    method, stage, batch = started(variance=0.04, beta_salient=0.7)
    (_, terms), *_ = stage.step(batch, 0)
    mu = method.nets_["vae"].encode(batch.x)["salient"].mu[64:]
    std = torch.tensor(0.2, dtype=torch.float64)
    kl = kl_divergence(Normal(mu, std), Normal(torch.zeros_like(mu), std)).sum(1).mean()
    torch.testing.assert_close(terms["salient_penalty"], 0.7 * kl)


def test_a_smaller_variance_holds_the_background_closer_to_zero():
    data = vectors(target=200, background=200)
    spread = []
    for variance in (1.0, 0.01):
        method = small("sep_vae", epochs=20, variance=variance, lr=3e-3).fit(data)
        spread.append(method.encode(data.background)["salient"].var(0).sum())
    assert spread[1] < 0.5 * spread[0]


@pytest.mark.parametrize("n", [4, 8, 64])
def test_independent_pairs_meet_their_own_group_as_often_as_the_other(n):
    rows = torch.arange(2 * n)[:, None]
    joint, independent = pairs(rows, rows)
    assert torch.equal(joint[:, 0], joint[:, 1])
    assert (independent[:, 0] != independent[:, 1]).all()
    assert sorted(independent[:, 1].tolist()) == list(range(2 * n))
    same = (independent[:, 0] < n) == (independent[:, 1] < n)
    assert same[:n].sum() == same[n:].sum() == n // 2


def test_the_classifier_moves_with_the_autoencoder_and_learns_to_tell_the_groups():
    data = vectors(target=200, background=200)
    method = small("sep_vae", epochs=30, lr=3e-3).fit(data)
    values = [row.value for row in method.history_ if row.term == "classification"]
    # Two constant guesses cost log 2 each.
    assert values[0] == pytest.approx(2 * math.log(2), abs=0.3)
    assert values[-1] < 0.8 * values[0]
    (stage,) = method.stages()
    owned = {id(p) for p in stage.players["vae"].parameters()}
    assert all(id(p) in owned for p in method.nets_["classifier"].parameters())


def test_without_a_classifier_nobody_owns_it():
    method, stage, batch = started(lambda_class=0.0)
    (_, terms), *_ = stage.step(batch, 0)
    assert "classification" not in terms
    owned = {id(p) for player in stage.players.values() for p in player.parameters()}
    assert not owned & {id(p) for p in method.nets_["classifier"].parameters()}
    method.fit(vectors())
