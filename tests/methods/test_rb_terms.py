"""Rb-VAE and sRb-VAE: every term of a step by hand, on vectors and on images, and discriminators that miss an input."""

import pytest
import torch
from small import images, small, vectors
from torch.distributions import Laplace, Normal, kl_divergence
from torch.nn import functional

from untwine.losses import adversarial
from untwine.networks import NETWORKS
from untwine.networks.autoencoder import LOGVAR_SCALE
from untwine.networks.discriminator import Discriminator
from untwine.training.batches import TrainingData, as_float

N = 16
CASES = ("vectors", "images")
AUTOENCODER = ("encoder", "decoder")


def started(name, kind, **changes):
    """A method as it begins, its step, and a batch that can be made again with the same chance."""
    data = (vectors if kind == "vectors" else images)(target=N, background=N)
    method = small(name, batch=N, precision="float64", **{"scale": 0.1, **changes})
    method._prepare(data, {})
    x = torch.from_numpy(data.x)
    x = method._standard(x) if kind == "vectors" else x
    (stage,) = method.stages()
    rows = TrainingData.of(data, x, torch.float64, torch.device("cpu"))
    order = rows.order(stage, 0, 0)[0]
    with torch.no_grad():
        method.nets_["reference"]["e"].copy_(torch.tensor([0.5, -1.0, 2.0]))  # at 0 nobody would miss it
    return method, stage.step, lambda: rows.batch(order, (0, 0, 0), stage.batches)


def groups(rows):
    return rows[:N], rows[N:]


def posterior(method, x):
    """q(z|x) and q(e|x) of samples."""
    mu, logvar = method.nets_["vae"].encoder(x).chunk(2, 1)
    std = torch.exp(0.5 * 10 * torch.tanh(logvar / 10))
    return Normal(mu[:, :4], std[:, :4]), Normal(mu[:, 4:], std[:, 4:])


def outputs(method, z, e):
    """p(x|z, e): learned variances for vectors, a Laplace distribution for images."""
    vae = method.nets_["vae"]
    output = vae.decoder(torch.cat([z, e], 1))
    if output.ndim == 4:
        return Laplace(torch.sigmoid(output), method.scale)
    return Normal(output, torch.exp(0.5 * 10 * torch.tanh(LOGVAR_SCALE * vae.noise / 10)))


def total(logs):
    """Summed over features, mean over samples."""
    return logs.flatten(1).sum(1).mean()


def with_reference(method, e):
    return torch.cat([e[:N], method.nets_["reference"]["e"].expand(N, -1)])


def logit(net, kept, *inputs):
    """A discriminator by hand: each input through its own layer, those not kept as zeros, and all through the joint layers."""
    parts = [net.trunk(inputs[0]), *(layer(code) for layer, code in zip(net.codes, inputs[1:], strict=True))]
    shown = [torch.where(kept[:, [i]], functional.leaky_relu(part, 0.2), 0.0) for i, part in enumerate(parts)]
    return net.joint(torch.cat(shown, 1))[:, 0]


@pytest.mark.parametrize("kind", CASES)
def test_every_term_of_rb_vae_is_that_of_eq_3(kind):
    method, step, batch = started("rb_vae", kind, beta_common=3.0, beta_salient=0.5)
    ((player, terms),) = step(batch(), 0)
    rng = batch()
    q_z, q_e = posterior(method, rng.x)
    z, e = (q.mean + q.stddev * rng.noise(width) for q, width in ((q_z, 4), (q_e, 3)))
    logs = outputs(method, z, with_reference(method, e)).log_prob(rng.x)
    prior = Normal(torch.zeros((), dtype=torch.float64), 1.0)
    kls = kl_divergence(q_z, prior)
    expected = {
        "reconstruction": -total(logs[:N]) - total(logs[N:]),
        "kl_common": 3.0 * (total(kls[:N]) + total(kls[N:])),
        "kl_salient": 0.5 * total(kl_divergence(q_e, prior)[:N]),
    }
    assert player == "vae"
    torch.testing.assert_close(terms, expected)


@pytest.mark.parametrize("kind", CASES)
def test_every_term_of_symmetric_rb_vae_is_that_of_algorithm_1(kind):
    method, step, batch = started("symmetric_rb_vae", kind, beta_common=3.0, dropped=0.4)
    (moves,) = step(batch(), 0)
    expected = symmetric_terms(method, batch())
    assert tuple(player for player, _ in moves) == (AUTOENCODER, "discriminator_target", "discriminator_background")
    torch.testing.assert_close(dict(moves), expected)


def symmetric_terms(method, rng):
    """The terms of a step, written down from Eqs. 8 and 10 and Algorithm 1."""
    x, standard = rng.x, Normal(torch.zeros((), dtype=torch.float64), 1.0)
    q_z, q_e = posterior(method, x)
    z, e = (q.mean + q.stddev * rng.noise(width) for q, width in ((q_z, 4), (q_e, 3)))
    z_hat, e_hat = rng.noise(4), with_reference(method, rng.noise(3))
    generated = outputs(method, z_hat, e_hat)
    x_hat = generated.mean if x.ndim == 4 else generated.mean + generated.stddev * rng.noise(x.shape[1])
    q_z_hat, q_e_hat = posterior(method, x_hat)
    ratios = {}
    for which, inputs in (("q", (x, z, e)), ("p", (x_hat, z_hat, e_hat))):
        kept = standard.cdf(rng.noise(3)) >= 0.4
        (x_u, x_r), (z_u, z_r), (e_u, _), (kept_u, kept_r) = map(groups, (*inputs, kept))
        ratios["u", which] = logit(method.nets_["discriminator_target"], kept_u, x_u, z_u, e_u)
        ratios["r", which] = logit(method.nets_["discriminator_background"], kept_r[:, :2], x_r, z_r)
    logs = outputs(method, z, with_reference(method, e)).log_prob(x)
    codes = q_z_hat.log_prob(z_hat)
    kls = kl_divergence(q_z, standard)
    played = {
        "target_encoded": ratios["u", "q"].mean(),
        "background_encoded": ratios["r", "q"].mean(),
        "target_generated": -ratios["u", "p"].mean(),
        "background_generated": -ratios["r", "p"].mean(),
        "reconstruction": -total(logs[:N]) - total(logs[N:]),
        # The background's salient code is the reference vector, which no encoder needs to find again.
        "codes": -total(codes[:N]) - total(codes[N:]) - total(q_e_hat.log_prob(e_hat)[:N]),
        "kl_common": 3.0 * (total(kls[:N]) + total(kls[N:])),
    }
    losses = {
        group: -0.5 * (functional.logsigmoid(ratios[group, "q"]).mean() + functional.logsigmoid(-ratios[group, "p"]).mean())
        for group in "ur"
    }
    return {
        AUTOENCODER: played,
        "discriminator_target": {"discrimination": losses["u"]},
        "discriminator_background": {"discrimination": losses["r"]},
    }


def test_the_paper_has_no_kl_of_the_common_block():
    _, step, batch = started("symmetric_rb_vae", "vectors", beta_common=0.0)
    ((_, terms), *_), *_ = step(batch(), 0)
    assert "kl_common" not in terms
    assert "codes" in terms


@pytest.mark.parametrize("missing", [0, 1, 2])
def test_a_dropped_input_says_nothing_and_the_others_do(missing, monkeypatch):
    method, _, batch = started("symmetric_rb_vae", "vectors")
    keep = torch.ones(2 * N, 3, dtype=torch.float64)
    keep[:, missing] = 0
    asked = []
    monkeypatch.setattr(adversarial, "dropout_mask", lambda noise, dropped: asked.append((noise.shape, dropped)) or keep)
    inputs = [torch.randn(2 * N, width, dtype=torch.float64) for width in (6, 4, 3)]

    def ratios(rows):
        with torch.no_grad():
            return torch.stack(method._log_ratios(batch(), rows, rows)[0])

    before = ratios(inputs)
    for changed in range(3):
        other = [rows + (number == changed) for number, rows in enumerate(inputs)]
        same = ratios(other) == before
        # d_r does not get the salient codes at all.
        assert same[0].all() if changed == missing else not same[0].any()
        assert same[1].all() if changed in (missing, 2) else not same[1].any()
    assert set(asked) == {((2 * N, 3), 0.25)}


@pytest.mark.parametrize("name", ["rb_vae", "symmetric_rb_vae"])
def test_auto_is_laplace_for_images_and_a_learned_variance_for_vectors(name):
    for kind, same, other in (("images", "laplace", "gaussian"), ("vectors", "gaussian_learned", "gaussian")):
        result = {}
        for likelihood in ("auto", same, other):
            _, step, batch = started(name, kind, likelihood=likelihood)
            move = next(step(batch(), 0))
            result[likelihood] = (move if name == "rb_vae" else move[0])[1]["reconstruction"]
        assert torch.equal(result["auto"], result[same])
        assert not torch.isclose(result["auto"], result[other])


def test_a_image_costs_the_laplace_distribution_of_its_error():
    method, _, batch = started("rb_vae", "images", scale=0.25)
    codes = torch.zeros(2 * N, 4, dtype=torch.float64), torch.zeros(2 * N, 3, dtype=torch.float64)
    x, mean = batch().x, method.nets_["vae"].mean(*codes)
    result = method.nets_["vae"].reconstruction(x, *codes)
    by_hand = ((x - mean).abs() / 0.25 + torch.log(torch.tensor(0.5))).flatten(1).sum(1).mean()
    torch.testing.assert_close(result, by_hand)
    assert as_float(torch.tensor([255], dtype=torch.uint8), torch.float64) == 1  # the scale is of images in [0, 1]


@pytest.mark.parametrize("name", ["rb_vae", "symmetric_rb_vae"])
def test_with_separate_trunks_each_term_of_a_block_reaches_its_own_encoder(name):
    method, step, batch = started(name, "vectors", trunks="separate")
    vae, x = method.nets_["vae"], batch().x
    assert set(vae.encoder.of_block) == {"common", "salient"}
    q_z, q_e = posterior(method, x)
    torch.testing.assert_close(torch.cat([q_z.mean, q_e.mean], 1), torch.cat([c.mu for c in vae.encode(x).values()], 1))
    move = next(step(batch(), 0))
    terms = (move[0] if isinstance(move, list) else move)[1]
    salient = list(vae.encoder.of_block["salient"].parameters())
    grads = torch.autograd.grad(terms["kl_common"], salient, allow_unused=True, retain_graph=True)
    assert all(grad is None or not grad.any() for grad in grads)
    assert all(grad is not None and grad.any() for grad in torch.autograd.grad(terms["reconstruction"], salient))


def test_what_is_dropped_is_blocks_single_features_or_inputs_of_the_last_layer():
    torch.manual_seed(0)
    net = Discriminator(NETWORKS["mlp"], (5,), 8, (4, 3)).double()
    x, z, e = (torch.randn(7, width, dtype=torch.float64) for width in (5, 4, 3))
    features = functional.leaky_relu(torch.cat([net.trunk(x), net.codes[0](z), net.codes[1](e)], 1), 0.2)
    first, _, last = net.joint
    for drop, width in (("blocks", 3), ("units", 3 * 128), ("last", 128)):
        assert net.mask_width(drop) == width
        mask = (torch.rand(7, width) > 0.25).double()
        before = {"blocks": mask.repeat_interleave(128, 1), "units": mask, "last": 1.0}[drop]
        hidden = functional.leaky_relu(first(features * before), 0.2)
        torch.testing.assert_close(
            net(x, z, e, mask=mask, drop=drop), last(hidden * (mask if drop == "last" else 1)).squeeze(1)
        )


@pytest.mark.parametrize("drop", ["blocks", "units", "last"])
def test_a_step_drops_as_often_as_asked_and_nothing_at_0(drop):
    method, step, batch = started("symmetric_rb_vae", "vectors", drop=drop)
    masks = []
    for name in ("discriminator_target", "discriminator_background"):
        net = method.nets_[name]
        net.register_forward_pre_hook(lambda net, given, kw: masks.append((net, kw["mask"], kw["drop"])), with_kwargs=True)
    next(step(batch(), 0))
    assert len(masks) == 4
    assert all(mask.shape == (N, net.mask_width(drop)) and given == drop for net, mask, given in masks)
    kept = torch.cat([mask.flatten() for _, mask, _ in masks])
    assert set(kept.tolist()) == {0.0, 1.0}
    assert kept.mean().item() == pytest.approx(0.75, abs=4 * (0.1875 / len(kept)) ** 0.5)
    method.dropped = 0.0
    masks.clear()
    next(step(batch(), 0))
    assert all(mask.all() for _, mask, _ in masks)
