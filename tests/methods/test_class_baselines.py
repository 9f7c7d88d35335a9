"""ML-VAE, DrNet, Cycle-VAE and the mixing autoencoder: each term by hand, and who moves by it."""

import numpy as np
import pytest
import torch
from torch.nn import functional

import untwine as un
from untwine.samples import Samples
from untwine.training.batches import Batch

TINY = {"n_class": 3, "n_content": 2, "epochs": 1, "batch": 12, "width": 8, "precision": "float64"}
SEED = (1, 2, 3)


def rows(classes=4, each=6, columns=5):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(classes, 1, columns)) + 0.5 * rng.normal(size=(classes, each, columns))
    return Samples(x.reshape(-1, columns), labels=np.repeat(np.arange(classes), each))


def moves(method, index, pools=2):
    """Fit, and return the moves of a step on these samples, whose labels are those of the data, with the batch."""
    data = rows()
    method.fit(data)
    index = torch.tensor(index)
    x = method._standard(torch.from_numpy(data.x)).double()[index]
    batch = Batch(x, index, pools, SEED, torch.from_numpy(data.labels)[index], "classes")
    return batch, list(method.step(batch, 0))


PAIRS = [0, 6, 12, 1, 7, 13]  # three pairs of classes 0, 1 and 2: the first samples, then the second


def test_the_group_of_ml_vae_shares_the_product_of_its_gaussians():
    method = un.MLVAE(**TINY | {"together": 3, "scale": 0.5})
    batch, [(player, terms)] = moves(method, [0, 6, 1, 7, 2, 8], pools=3)  # two groups of three
    assert player == "vae"
    nets = method.nets_
    noise = Batch(batch.x, batch.index, 3, SEED)
    s_noise, c_noise = noise.noise(3), noise.noise(2)
    with torch.no_grad():
        mu, logvar = (part.view(3, 2, 3) for part in nets["class_encoder"](batch.x).chunk(2, 1))
        precision = torch.exp(-10 * torch.tanh(logvar / 10))
        variance = 1 / precision.sum(0)
        mean = variance * (mu * precision).sum(0)
        s = (mean + variance.sqrt() * s_noise[:2]).repeat(3, 1)
        c_mu, c_logvar = nets["content_encoder"](batch.x).chunk(2, 1)
        c_logvar = 10 * torch.tanh(c_logvar / 10)
        x = nets["generator"](s, c_mu + torch.exp(c_logvar / 2) * c_noise)
    kl = lambda mu, var: 0.5 * (mu**2 + var - 1 - var.log()).sum()  # noqa: E731
    torch.testing.assert_close(terms["kl_class"], kl(mean, variance) / 6)  # once for each of two groups, over six samples
    torch.testing.assert_close(terms["kl_content"], kl(c_mu, c_logvar.exp()) / 6)
    constant = 5 * (np.log(0.5) + 0.5 * np.log(2 * np.pi))
    torch.testing.assert_close(terms["reconstruction"], ((x - batch.x) ** 2).sum() / (2 * 0.25 * 6) + constant)


def test_the_class_encoder_of_ml_vae_learns_from_every_sample():
    method = un.MLVAE(**TINY | {"together": 3})
    data = rows()
    method.fit(data)
    x = method._standard(torch.from_numpy(data.x)).double()[[0, 6, 1, 7, 2, 8]].requires_grad_()
    batch = Batch(x, torch.arange(6), 3, SEED)
    [(_, terms)] = list(method.step(batch, 0))
    encoder = list(method.nets_["class_encoder"].parameters())
    assert all((grad != 0).any() for grad in torch.autograd.grad(terms["reconstruction"], encoder, retain_graph=True))
    (grad,) = torch.autograd.grad(terms["kl_class"], x, retain_graph=True)
    assert (grad != 0).any(1).all()
    # Means and log-variances both: whoever takes the weights of the product as given teaches half of the encoder nothing.
    (grad,) = torch.autograd.grad(terms["reconstruction"], encoder[-1])
    assert encoder[-1].shape == (6,)
    assert (grad.abs() > 1e-9).all()


def test_drnet_reconstructs_by_the_other_sample_and_its_adversarial_terms_by_hand():
    method = un.DrNet(**TINY | {"lambda_similarity": 3.0, "lambda_game": 0.2})
    batch, [(first, terms), (second, game)] = moves(method, PAIRS)
    assert (first, second) == ("autoencoder", "discriminator")
    nets = method.nets_
    with torch.no_grad():
        s, c = nets["class_encoder"](batch.x), nets["content_encoder"](batch.x)
        x = nets["generator"](s[[3, 4, 5, 0, 1, 2]], c)
        d = lambda a, b: nets["discriminator"](torch.cat([a, b], 1)).sigmoid()  # noqa: E731
        same, other = d(c[:3], c[3:]), d(c[:3], c[[5, 3, 4]])  # a roll by half of three pairs, rounded down
    torch.testing.assert_close(terms["reconstruction"], ((x - batch.x) ** 2).mean())
    torch.testing.assert_close(terms["similarity"], 3 * ((s[:3] - s[3:]) ** 2).mean())
    torch.testing.assert_close(terms["game"], -0.1 * (same.log() + (1 - same).log()).mean())
    torch.testing.assert_close(game["discrimination"], -same.log().mean() - (1 - other).log().mean())
    assert torch.autograd.grad(terms["game"], list(nets["content_encoder"].parameters()))[0].abs().sum() > 0


def test_pairs_that_happen_to_be_of_one_class_do_not_count_as_two():
    method = un.DrNet(**TINY)
    batch, [_, (_, game)] = moves(method, [0, 2, 6, 1, 3, 7])  # two of three pairs are of class 0
    nets = method.nets_
    with torch.no_grad():
        c = nets["content_encoder"](batch.x)
        same = nets["discriminator"](torch.cat([c[:3], c[3:]], 1))
        other = nets["discriminator"](torch.cat([c[:3], c[[5, 3, 4]]], 1)).squeeze(1)
    apart = torch.tensor([True, False, True])  # pair 0 with class 1, pair 1 with class 0, pair 2 with class 0
    expected = functional.softplus(-same).mean() + functional.softplus(other)[apart].mean()
    torch.testing.assert_close(game["discrimination"], expected)


def test_both_cycles_of_cycle_vae_by_hand():
    method = un.CycleVAE(**TINY)
    batch, [(first, terms), (second, reverse)] = moves(method, PAIRS)
    assert (first, second) == (("generator", "encoders"), "encoders")
    nets = method.nets_
    noise = Batch(batch.x, batch.index, 2, SEED)
    drawn, content = noise.noise(2), noise.noise(2)[:3]
    with torch.no_grad():
        s, (mu, logvar) = nets["class_encoder"](batch.x), nets["content_encoder"](batch.x).chunk(2, 1)
        logvar = 10 * torch.tanh(logvar / 10)
        x = nets["generator"](s[[3, 4, 5, 0, 1, 2]], mu + torch.exp(logvar / 2) * drawn)
        again = [nets["content_encoder"](nets["generator"](code, content))[:, :2] for code in (s[:3], s[[2, 0, 1]])]
    torch.testing.assert_close(terms["reconstruction"], 2 * ((x - batch.x) ** 2).mean())
    torch.testing.assert_close(terms["kl"], 3 * 0.5 * (mu**2 + logvar.exp() - 1 - logvar).sum() / (6 * 5))
    torch.testing.assert_close(reverse["cycle"], 10 * (again[0] - again[1]).abs().mean())


def test_the_mixing_autoencoder_mixes_and_plays_by_hand():
    method = un.MixingAE(**TINY | {"lambda_game": 0.3, "w_again": 0.7})
    batch, [(first, terms), (second, game)] = moves(method, PAIRS)
    assert (first, second) == ("autoencoder", "discriminator")
    nets = method.nets_
    with torch.no_grad():
        s, c = nets["class_encoder"](batch.x), nets["content_encoder"](batch.x)
        own, swapped = nets["generator"](s, c), nets["generator"](s[[3, 4, 5, 0, 1, 2]], c)
        mixed = nets["generator"](s[:3], c[[2, 0, 1]])
        d = lambda a, b: nets["discriminator"](torch.cat([a, b], 1)).sigmoid()  # noqa: E731
        real, fake = d(batch.x[:3], batch.x[3:]), d(batch.x[:3], mixed)
        again = nets["content_encoder"](mixed)
    torch.testing.assert_close(terms["reconstruction"], ((own - batch.x) ** 2).mean())
    torch.testing.assert_close(terms["swap"], ((swapped - batch.x) ** 2).mean())
    torch.testing.assert_close(terms["again"], 0.7 * ((again - c[[2, 0, 1]]) ** 2).mean())
    torch.testing.assert_close(terms["game"], -0.3 * fake.log().mean())
    torch.testing.assert_close(game["real"], -real.log().mean())
    torch.testing.assert_close(game["mixed"], -(1 - fake).log().mean())
    assert not torch.autograd.grad(terms["game"], nets["class_encoder"].parameters(), retain_graph=True)[0].eq(0).all()
    # The content to be found again is a constant: the term moves what is found, not what is sought.
    content = list(nets["content_encoder"].parameters())
    sought, given = c[[2, 0, 1]], nets["content_encoder"](batch.x)[[2, 0, 1]]
    result = nets["content_encoder"](nets["generator"](nets["class_encoder"](batch.x)[:3], given))
    expected = torch.autograd.grad(0.7 * functional.mse_loss(result, sought), content)
    for one, other in zip(torch.autograd.grad(terms["again"], content, retain_graph=True), expected, strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize(
    ("kind", "off"),
    [("DrNet", {"lambda_game": 0.0}), ("MixingAE", {"lambda_game": 0.0, "w_again": 0.0}), ("CycleVAE", {"w_cycle": 0.0})],
)
def test_a_term_at_weight_0_is_not_computed(kind, off):
    method = getattr(un, kind)(**TINY | off)
    _, result = moves(method, PAIRS)
    assert len(result) == 1
    assert not {"game", "again", "cycle"} & set(result[0][1])
    assert "discriminator" not in next(iter(method.stages())).players


def test_ml_vae_refuses_groups_of_nothing():
    with pytest.raises(ValueError, match="MLVAE: together must be an integer >= 1; got 0"):
        un.MLVAE(together=0).fit(rows())


@pytest.mark.parametrize(("kind", "parts"), [("MLVAE", ["class", "content"]), ("CycleVAE", ["content"]), ("DrNet", [])])
def test_variational_codes_tell_how_unsure_they_are(kind, parts):
    data = rows()
    method = getattr(un, kind)(**TINY).fit(data)
    result, x = method.posterior_std(data.x), method._standard(torch.from_numpy(data.x)).double()
    assert list(result) == parts
    for part in parts:
        with torch.no_grad():
            mean, logvar = method.nets_[f"{part}_encoder"](x).chunk(2, 1)
        np.testing.assert_allclose(result[part], torch.exp(5 * torch.tanh(logvar / 10)), rtol=1e-5)
        np.testing.assert_allclose(method.encode(data.x)[part], mean, rtol=1e-5, atol=1e-6)
