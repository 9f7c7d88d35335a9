"""Methods without supervision: their terms in a step, what their weights do to the codes, and their papers' settings."""

from pathlib import Path

import numpy as np
import pytest
import torch
from small import images, small, vectors
from torch import nn

import untwine as un
from untwine import Samples
from untwine.losses import gaussian, latent_moments, total_correlation
from untwine.methods import METHODS
from untwine.training.batches import Batch, TrainingData

SMALL_NETS = {"width": 4, "epochs": 1, "batch": 12, "width_discriminator": 8}
NAMES = ("dip_vae", "factor_vae", "beta_tcvae", "symmetric_vae")


def skewed(n=250, seed=0):
    """Four skewed factors, mixed."""
    rng = np.random.default_rng(seed)
    factors = rng.exponential(size=(n, 4)) - 1
    return (factors @ rng.normal(size=(4, 6)) + 0.1 * rng.normal(size=(n, 6))).astype("float32")


def tied():
    """An encoder whose codes come in pairs that tell nearly the same."""
    encoder = nn.Linear(6, 8)
    with torch.no_grad():
        encoder.weight.zero_()
        encoder.weight[:4] = torch.eye(6)[[0, 1, 0, 1]]
        encoder.weight[2, 2] = encoder.weight[3, 3] = 0.3
        encoder.bias.copy_(torch.tensor([0.0] * 4 + [-2.0] * 4))
    return encoder


def moments(x, epochs=200, **options):
    """Covariances of different codes (squared, summed), the least variance, and third moments, of means after a short fit."""
    options = {"n_latent": 4, "width": 16, "batch": len(x), "lr": 1e-2, "epochs": epochs} | options
    method = un.DIPVAE(**options).fit(x, networks={"encoder": tied()})
    mu = torch.from_numpy(method.transform(x)).double()
    c = latent_moments.covariance_of_means(mu)
    return (
        latent_moments.off_diagonal_penalty(c).item(),
        c.diagonal().min().item(),
        latent_moments.third_moments_of_means(mu).square().sum().item(),
    )


def test_dip_vae_takes_correlated_codes_apart():
    x = skewed()
    before, _, _ = moments(x, epochs=1, lr=1e-9)
    plain, _, _ = moments(x, lambda_od=0.0, lambda_d=0.0)
    assert before > 3
    assert plain > 0.3
    for variant in ("i", "ii"):
        off, least, _ = moments(x, variant=variant, lambda_od=50.0, lambda_d=50.0)
        assert off < 0.05, variant
        if variant == "i":  # which holds the variance of every mean at 1
            assert least > 0.8


def test_third_moments_of_skewed_factors_shrink():
    x = skewed()
    *_, plain = moments(x, variant="i", lambda_od=50.0, lambda_d=50.0)
    *_, less = moments(x, variant="i", lambda_od=50.0, lambda_d=50.0, lambda_third=50.0)
    assert plain > 5
    assert less < 0.25 * plain


def test_an_unknown_variant_is_refused():
    with pytest.raises(ValueError, match=r"DIPVAE: variant must be 'i' or 'ii'; got 'iii'; did you mean 'ii'\?"):
        small("dip_vae", variant="iii").fit(vectors())


@pytest.mark.parametrize("field", ["layers_discriminator", "width_discriminator"])
def test_a_discriminator_of_nothing_is_refused(field):
    with pytest.raises(ValueError, match=f"FactorVAE: {field} must be an integer >= 1; got 0"):
        small("factor_vae", **{field: 0}).fit(vectors())


def test_a_discriminator_that_sees_nothing_is_refused():
    with pytest.raises(ValueError, match=r"dropped must be a number >= 0 and < 1; got 1\.0\."):
        small("symmetric_vae", dropped=1.0).fit(vectors())


class Begun:
    """A method before its first step, in double precision, and one batch as often as it is asked for."""

    def __init__(self, name, data=None, **options):
        data = data or vectors()
        self.method = small(name, precision="float64", batch=32, **options)
        self.method._prepare(data, {})
        self.method.data_ = {"rows": len(data)}
        (self.stage,) = self.method.stages()
        x = self.method._standard(torch.from_numpy(data.x))
        self.rows = TrainingData.of(data, x, torch.float64, torch.device("cpu"))

    def batch(self):
        return self.rows.batch(self.rows.order(self.stage, 0, 0)[0], (0, 0, 0), self.stage.batches)

    def terms(self):
        """What the first step yields, by player."""
        return dict(self.stage.step(self.batch(), 0))

    def encoded(self):
        batch = self.batch()
        mu, logvar = self.method.nets_["vae"].encode(batch.x)["z"]
        return batch, mu, logvar, gaussian.sample(mu, logvar, batch.noise(4))


def test_the_step_of_beta_vae_counts_the_kl_beta_times():
    result = {beta: Begun("beta_vae", beta=beta).terms()["vae"] for beta in (1.0, 4.0)}
    _, mu, logvar, _ = Begun("beta_vae").encoded()
    mu, logvar = mu.detach().numpy(), logvar.detach().numpy()
    kl = 0.5 * (mu**2 + np.exp(logvar) - logvar - 1).sum(axis=1).mean()
    for beta, terms in result.items():
        assert set(terms) == {"reconstruction", "kl"}
        assert terms["kl"].item() == pytest.approx(beta * kl, rel=1e-10)
        assert terms["reconstruction"].item() == result[1.0]["reconstruction"].item()
    assert un.BetaVAE().beta == 4.0


def test_beta_vae_has_the_recorded_regulariser():
    golden = np.load(Path(__file__).parents[1] / "golden" / "dip_vae_terms.npz", allow_pickle=False)
    halves = []
    for rows in (slice(32), slice(32, None)):
        mu, logvar = (torch.from_numpy(golden[name][rows]) for name in ("mu", "logvar"))
        begun = Begun("beta_vae", beta=4.0, n_latent=6)
        begun.method.nets_["vae"].encode = lambda x, mu=mu, logvar=logvar: {"z": (mu, logvar)}
        halves.append(begun.terms()["vae"]["kl"].item())
    assert np.mean(halves) == pytest.approx(float(golden["beta_vae_regularizer_beta4"]), abs=1e-10)
    assert np.mean(halves) == pytest.approx(4 * float(golden["kl"]), abs=1e-10)


@pytest.mark.parametrize("variant", ["i", "ii"])
def test_the_step_of_dip_vae_has_the_penalties_of_its_covariance(variant):
    begun = Begun("dip_vae", variant=variant, lambda_od=3.0, lambda_d=5.0, lambda_third=7.0)
    _, mu, logvar, _ = begun.encoded()
    c = np.cov(mu.detach().numpy().T, bias=True)
    if variant == "ii":
        c = c + np.diag(logvar.exp().mean(0).detach().numpy())
    terms = begun.terms()["vae"]
    assert terms["off_diagonal"].item() == pytest.approx(3 * (np.square(c).sum() - np.square(np.diag(c)).sum()), rel=1e-9)
    assert terms["diagonal"].item() == pytest.approx(5 * np.square(np.diag(c) - 1).sum(), rel=1e-9)
    third = latent_moments.third_moments_of_means(mu) if variant == "i" else latent_moments.third_moments_of_samples(mu, logvar)
    assert terms["third_moments"].item() == pytest.approx(7 * third.square().sum().item(), rel=1e-9)


@pytest.mark.parametrize(("done", "factor"), [(0.0, 8.0), (0.33, 8.0), (4 / 9, 4.0), (5 / 9, 2.0), (0.67, 1.0), (0.99, 1.0)])
def test_the_penalties_of_dip_vae_begin_stronger_and_end_as_given(done, factor):
    begun = Begun("dip_vae", lambda_od=3.0, lambda_d=5.0, lambda_third=7.0, start=8.0)
    batch = begun.batch()
    batch.done = done
    _, terms = next(begun.stage.step(batch, 0))
    plain = Begun("dip_vae", lambda_od=3.0, lambda_d=5.0, lambda_third=7.0).terms()["vae"]
    for name, value in plain.items():
        times = factor if name in ("off_diagonal", "diagonal", "third_moments") else 1.0
        assert terms[name].item() == pytest.approx(times * value.item(), rel=1e-9), name


def test_the_start_of_dip_vae_is_at_least_one():
    with pytest.raises(ValueError, match=r"^DIPVAE: start must be a number >= 1; got 0\.5\.$"):
        un.DIPVAE(start=0.5).fit(skewed())


@pytest.mark.parametrize(
    ("name", "weights"),
    [
        ("dip_vae", ("lambda_od", "lambda_d", "lambda_third")),
        ("factor_vae", ("gamma",)),
        ("beta_tcvae", ("alpha", "beta", "gamma")),
    ],
)
def test_a_term_without_weight_is_not_there(name, weights):
    result = Begun(name, **dict.fromkeys(weights, 0.0)).terms()
    assert set(result) == {"vae"}
    assert set(result["vae"]) == {"reconstruction"} | ({"kl"} if name != "beta_tcvae" else set())


def test_beta_tcvae_with_equal_weights_has_the_elbo_of_a_vae():
    begun = Begun("beta_tcvae", alpha=1.0, beta=1.0, gamma=1.0)
    batch, mu, logvar, z = begun.encoded()
    kl = total_correlation.log_density(z, mu, logvar) - total_correlation.log_density(z, 0 * z, 0 * z)
    bound = begun.method.nets_["vae"].reconstruction(batch.x, z) + kl.sum(1).mean()
    assert sum(begun.terms()["vae"].values()).item() == pytest.approx(bound.item(), rel=1e-10)


def test_beta_tcvae_knows_how_many_samples_there_are():
    begun = Begun("beta_tcvae", alpha=1.0, beta=2.0, gamma=3.0)
    _, mu, logvar, z = begun.encoded()
    terms = begun.terms()["vae"]
    right = total_correlation.kl_decomposition(z, mu, logvar, mu, logvar, total_correlation.log_importance_weights(32, 88))
    for (name, part), weight in zip(right._asdict().items(), (1, 2, 3), strict=True):
        assert terms[name].item() == pytest.approx(weight * part.item(), rel=1e-9)
    begun.method.data_["rows"] = 10_000
    assert begun.terms()["vae"]["mutual_information"] > terms["mutual_information"]


def test_beta_tcvae_needs_company():
    with pytest.raises(ValueError, match="needs a batch of at least 2 samples; got 1; raise batch"):
        small("beta_tcvae", batch=1).fit(vectors())


@pytest.mark.parametrize(
    ("name", "weight", "off", "on"),
    [("beta_tcvae", "beta", 1.0, 8.0), ("factor_vae", "gamma", 0.0, 10.0)],
)
def test_dependence_between_codes_falls_with_its_weight(name, weight, off, on):
    x = skewed()
    options = {"epochs": 60, "batch": 125, "lr": 1e-2, "width": 16, "lr_discriminator": 1e-2, "width_discriminator": 32}

    def dependence(value):
        """The total correlation of Gaussians with the correlations of the codes."""
        method = small(name, **options, **{weight: value}).fit(x, networks={"encoder": tied()})
        return -0.5 * np.linalg.slogdet(np.corrcoef(method.transform(x).T))[1]

    assert dependence(off) > 1.5
    assert dependence(on) < 0.5


@pytest.mark.parametrize("variant", ["i", "ii"])
def test_the_running_covariance_weighs_each_batch_less_than_the_one_after_it(variant):
    """By hand over three steps: the estimate is a weighted mean of the batches so far, the gradient that of the last."""
    data, rho = Samples(skewed(24)), 0.7
    options = {"variant": variant, "running": rho, "lambda_od": 2.0, "lambda_d": 3.0, "precision": "float64", "batch": 8}
    method = small("dip_vae", **options)
    method._prepare(data, {})
    (stage,) = method.stages()
    rows = TrainingData.of(data, method._standard(torch.from_numpy(data.x)), torch.float64, torch.device("cpu"))
    order, past = rows.order(stage, 0, 0), []
    for t in range(3):
        batch = rows.batch(order[t], (0, 0, t))
        moves = method.step(batch, t)
        _, terms = next(moves)
        mu, logvar = method.nets_["vae"].encode(batch.x)["z"]
        now = (mu - mu.mean(0)).T @ (mu - mu.mean(0)) / len(mu)
        weights = [rho**age * (1 - rho) for age in range(t, -1, -1)]
        c = sum(w * one for w, one in zip(weights, [*past, now], strict=True)) / sum(weights)
        c = c + torch.diag(logvar.exp().mean(0)) if variant == "ii" else c
        by_hand = {"off_diagonal": 2 * (c - torch.diag(c.diagonal())).square().sum()}
        by_hand["diagonal"] = 3 * (c.diagonal() - 1).square().sum()
        parameters = list(method.nets_["vae"].encoder.parameters())
        for name, value in by_hand.items():
            torch.testing.assert_close(terms[name], value)
            mine, truth = (torch.autograd.grad(one, parameters, retain_graph=True) for one in (terms[name], value))
            torch.testing.assert_close(mine, truth)
        assert next(moves, None) is None  # the step is done: the batch counts from now on
        past.append(now.detach())


def test_a_step_that_is_skipped_leaves_no_trace_in_the_running_covariance():
    method = small("dip_vae", running=0.5)
    data = Samples(skewed(16))
    method._prepare(data, {})
    moves = method.step(Batch(torch.full((4, 6), torch.nan), torch.arange(4), 1, (0, 0, 0)), 0)
    next(moves)
    moves.close()  # as the loop does where a term is not finite
    assert not any(buffer.any() for buffer in method.nets_["covariance"].buffers())
    assert "covariance" not in small("dip_vae").fit(data).nets_


@pytest.mark.parametrize("name", NAMES)
def test_settings_of_papers_build_and_train(name):
    for data, preset in METHODS[name].papers.items():
        shape = (preset.data.shape[0], 64, 64)
        method = METHODS[name].paper(data)
        method.check()
        nets = method.build(shape, {})
        codes = nets["vae"].encode(torch.rand(2, *shape))["z"].mu
        assert codes.shape == (2, preset.fields["n_latent"])
        assert nets["vae"].mean(codes).shape == (2, *shape)
        smaller = METHODS[name].paper(data, **{k: v for k, v in SMALL_NETS.items() if hasattr(method, k)})
    rows = images()
    with pytest.warns(UserWarning, match="is fitted to other data than the preset's: samples of shape"):
        smaller.fit(Samples(rows.x[:24]))
    assert np.isfinite(smaller.transform(rows.x)).all()


def test_the_papers_networks_are_the_usual_ones():
    nets = un.FactorVAE.paper("dsprites").build((1, 64, 64), {})
    shapes = [tuple(layer.weight.shape) for layer in nets["vae"].encoder.modules() if hasattr(layer, "weight")]
    assert shapes == [(32, 1, 4, 4), (32, 32, 4, 4), (64, 32, 4, 4), (64, 64, 4, 4), (256, 1024), (20, 256)]
    shapes = [tuple(layer.weight.shape) for layer in nets["discriminator"] if hasattr(layer, "weight")]
    assert shapes == [(1000, 10), *[(1000, 1000)] * 5, (2, 1000)]
