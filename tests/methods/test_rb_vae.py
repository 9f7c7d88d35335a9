"""Rb-VAE and sRb-VAE: the reference vector, who moves by what, and the paper's networks."""

import numpy as np
import pytest
import torch
from small import images, small, vectors
from torch.distributions import Normal, kl_divergence
from torch.nn import functional

from untwine.losses import adversarial
from untwine.networks.karras import KarrasDecoder, KarrasEncoder
from untwine.training.batches import TrainingData

NAMES = ("rb_vae", "symmetric_rb_vae")
AUTOENCODER = ("encoder", "decoder")
PLAYERS = (AUTOENCODER, "discriminator_target", "discriminator_background")


def started(name, **changes):
    data = vectors(target=64, background=64)
    method = small(name, batch=64, precision="float64", **changes)
    method._prepare(data, {})
    (stage,) = method.stages()
    rows = TrainingData.of(data, method._standard(torch.from_numpy(data.x)), torch.float64, torch.device("cpu"))
    return method, stage, lambda number: rows.batch(rows.order(stage, 0, number)[0], (0, 0, number), stage.batches)


@pytest.mark.parametrize("name", NAMES)
def test_the_reference_vector_is_learned_and_is_what_remove_sets(name):
    data = vectors(target=64, background=64)
    method = small(name, epochs=5).fit(data)
    reference = method.neutral()["salient"]
    assert (np.abs(reference) > 1e-4).all()  # it began at 0
    z = method.encode(data.x[:5])
    np.testing.assert_array_equal(z.remove("salient").salient, np.tile(reference, (5, 1)))


def test_the_kl_terms_of_rb_vae_are_those_of_eq_3():
    method, stage, batch = started("rb_vae", beta_common=3.0, beta_salient=0.5)
    ((player, terms),) = stage.step(batch(0), 0)
    assert player == "vae"
    codes = method.nets_["vae"].encode(batch(0).x)
    sums = {name: kl(*code) for name, code in codes.items()}
    torch.testing.assert_close(terms["kl_common"], 3.0 * (sums["common"][:64].mean() + sums["common"][64:].mean()))
    torch.testing.assert_close(
        terms["kl_salient"], 0.5 * sums["salient"][:64].mean()
    )  # the background has the reference instead


def kl(mu, logvar):
    zero = torch.zeros_like(mu)
    return kl_divergence(Normal(mu, torch.exp(0.5 * logvar)), Normal(zero, zero + 1)).sum(1)


def test_the_backgrounds_salient_code_does_not_reach_its_reconstruction():
    method, stage, batch = started("rb_vae")
    (_, terms), *_ = stage.step(batch(0), 0)
    with torch.no_grad():
        method.nets_["reference"]["e"].add_(1.0)
    (_, other), *_ = stage.step(batch(0), 0)
    assert not torch.equal(terms["reconstruction"], other["reconstruction"])
    torch.testing.assert_close(terms["kl_salient"], other["kl_salient"])


def moves(stage, batch):
    (move,) = stage.step(batch, 0)
    return dict(move)


def test_all_gradients_are_taken_at_the_same_parameters():
    _, stage, batch = started("symmetric_rb_vae")
    assert tuple(moves(stage, batch(0))) == PLAYERS


def test_a_discriminator_is_the_log_ratio_of_encoded_over_generated():
    _, stage, batch = started("symmetric_rb_vae", dropped=0.0)
    given = moves(stage, batch(0))
    # The autoencoder sees E_q[d] and -E_p[d]; the discriminator labels encoded samples 1.
    for group in ("target", "background"):
        encoded, generated = given[AUTOENCODER][f"{group}_encoded"], -given[AUTOENCODER][f"{group}_generated"]
        loss = given[f"discriminator_{group}"]["discrimination"]
        # Between the bounds that Jensen sets on the mean of softplus.
        assert loss >= 0.5 * (functional.softplus(-encoded) + functional.softplus(generated)) - 1e-9


def test_each_side_of_the_autoencoder_moves_on_its_own_half_of_the_game():
    _, stage, batch = started("symmetric_rb_vae", dropped=0.0)
    terms = moves(stage, batch(0))[AUTOENCODER]
    for group in ("target", "background"):
        for player, half in (("encoder", "generated"), ("decoder", "encoded")):
            grads = torch.autograd.grad(
                terms[f"{group}_{half}"], stage.players[player].parameters(), allow_unused=True, retain_graph=True
            )
            assert all(grad is None or not grad.any() for grad in grads), (group, player)


def test_inputs_are_dropped_as_often_as_requested_and_noise_becomes_laplace():
    noise = torch.randn(200_000, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    assert adversarial.dropout_mask(noise, 0.25).mean().item() == pytest.approx(0.75, abs=0.005)
    assert adversarial.dropout_mask(noise, 0.0).min() == 1
    result = adversarial.laplace(noise)
    assert result.abs().mean().item() == pytest.approx(1.0, abs=0.01)  # the scale of a Laplace distribution
    assert result.var().item() == pytest.approx(2.0, abs=0.03)


@pytest.mark.parametrize("size", [8, 28, 64, 96, 128])
def test_the_networks_of_the_paper_fit_every_size(size):
    encoder, decoder = KarrasEncoder((3, size, size), 10, 4), KarrasDecoder(5, (3, size, size), 4)
    out = decoder(encoder(torch.rand(2, 3, size, size))[:, :5])
    assert out.shape == (2, 3, size, size)
    assert torch.isfinite(out).all()
    assert not torch.equal(out[0], out[1])


def test_the_papers_networks_train_it_on_images():
    data = images(shape=(3, 16, 16))
    method = small("symmetric_rb_vae", networks="karras", epochs=2).fit(data)
    assert np.isfinite(method.transform(data.x)).all()
