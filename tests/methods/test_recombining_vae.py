"""The recombining VAE: its term by hand, what it moves, and what it is for: no copy of common factors in the salient block."""

import torch
from small import TREATMENTS, small, treatments, vectors
from torch.distributions import Normal

import untwine as un
from untwine.training.batches import TrainingData

N, COMMON, SALIENT = 6, 4, 3


def begun(data, **changes):
    """Return a method as it begins, and functions for its first step and that step's batch, with the same noise each time."""
    method = small("recombining_vae", batch=N, precision="float64", **changes)
    method._prepare(data, {})
    (stage,) = method.stages()
    rows = TrainingData.of(data, method._standard(torch.from_numpy(data.x)), torch.float64, torch.device("cpu"))
    order = rows.order(stage, 0, 0)[0]
    batch = lambda: rows.batch(order, (0, 0, 0), stage.batches)  # noqa: E731
    return method, lambda: dict(stage.step(batch(), 0))["vae"], batch


def posterior(vae, x):
    mu, logvar = vae.encoder(x).chunk(2, 1)
    return Normal(mu, torch.exp(0.5 * 10 * torch.tanh(logvar / 10)))


def drawn(vae, batch, salient=SALIENT):
    """The codes of a batch, drawn as a step draws them."""
    q = posterior(vae, batch.x)
    mu, std = (torch.cat([value[:, :COMMON], value[:, COMMON:]], 1) for value in (q.mean, q.stddev))
    return mu + std * torch.cat([batch.noise(COMMON), batch.noise(salient)], 1)


def test_the_codes_of_a_background_with_a_targets_salient_block_are_predicted_from_what_is_decoded():
    method, step, batch = begun(vectors(target=N, background=N), lambda_r=3.0)
    vae = method.nets_["vae"]
    codes = drawn(vae, batch())
    pair = torch.cat([codes[N:, :COMMON], codes[:N, COMMON:]], 1)
    missing = -posterior(vae, vae.decoder(pair)).log_prob(pair).sum(1).mean()
    torch.testing.assert_close(step()["recombination"], 3.0 * missing)


def test_with_a_block_for_each_target_the_blocks_of_others_are_penalised():
    method, step, batch = begun(treatments(), salient="per_target")
    vae, n = method.nets_["vae"], len(batch().x) // len(TREATMENTS)
    *targets, background = drawn(vae, batch(), SALIENT * (len(TREATMENTS) - 1)).chunk(len(TREATMENTS))
    expected = torch.zeros((), dtype=torch.float64)
    for k, codes in enumerate(targets):
        own = slice(COMMON + SALIENT * k, COMMON + SALIENT * (k + 1))
        pair = torch.zeros_like(codes)
        pair[:, :COMMON], pair[:, own] = background[:, :COMMON], codes[:, own]
        q = posterior(vae, vae.decoder(pair))
        logs, moments = q.log_prob(pair), q.mean.square() + q.variance
        others = torch.ones(codes.shape[1], dtype=torch.bool)
        others[:COMMON] = others[own] = False
        expected += (-logs[:, ~others].sum() + moments[:, others].sum()) / n
    torch.testing.assert_close(step()["recombination"], expected)


def test_recombination_moves_encoder_and_decoder_but_not_through_the_codes_of_the_pair():
    method, step, batch = begun(vectors(target=N, background=N))
    vae = method.nets_["vae"]
    codes = drawn(vae, batch()).detach()
    pair = torch.cat([codes[N:, :COMMON], codes[:N, COMMON:]], 1)
    by_hand = -posterior(vae, vae.decoder(pair)).log_prob(pair).sum(1).mean()
    parameters = [*vae.encoder.parameters(), *vae.decoder.parameters()]
    result, expected = (torch.autograd.grad(one, parameters) for one in (step()["recombination"], by_hand))
    torch.testing.assert_close(result, expected)
    assert all(gradient.any() for gradient in result)


def test_without_its_weight_the_objective_is_that_of_principled_vae():
    data = vectors(target=N, background=N)
    shared = {"beta_common": 3.0, "beta_salient": 0.5, "lambda_s": 7.0, "lambda_z": 11.0}
    _, step, _ = begun(data, lambda_r=0.0, **shared)
    other = small("principled_vae", batch=N, precision="float64", **shared)
    other._prepare(data, {})
    (stage,) = other.stages()
    rows = TrainingData.of(data, other._standard(torch.from_numpy(data.x)), torch.float64, torch.device("cpu"))
    batch = rows.batch(rows.order(stage, 0, 0)[0], (0, 0, 0), stage.batches)
    torch.testing.assert_close(step(), dict(stage.step(batch, 0))["vae"])


def test_wide_salient_blocks_hold_no_copy_of_what_is_common():
    data = un.load("toy_contrast", n_target=700, n_background=700)
    sizes = {"n_common": 10, "n_salient": 8, "width": 64, "epochs": 50, "batch": 32}
    r2 = [
        {name: score.value for name, score in un.evaluate(method.fit(data.train), data.test, metrics=["factors"]).items()}
        for method in (un.RecombiningVAE(**sizes, lambda_r=0.0), un.RecombiningVAE(**sizes))
    ]
    without, with_term = r2
    assert without["factors.salient"] > 0.4
    assert with_term["factors.salient"] < 0.3 * without["factors.salient"]
    assert with_term["factors_salient.salient"] > 0.7
    assert with_term["factors.common"] > 0.9
