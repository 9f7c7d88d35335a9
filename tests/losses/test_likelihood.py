"""Likelihoods against torch.distributions and finite differences, in double precision."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.autograd import gradcheck
from torch.distributions import Bernoulli, Laplace, Normal

from untwine.losses import likelihood

SHAPES = [(5, 4), (5, 2, 3, 4)]


def x_and_output(shape, grad=False):
    torch.manual_seed(0)
    x = torch.rand(shape, dtype=torch.float64)
    return x, torch.randn(shape, dtype=torch.float64).requires_grad_(grad)


def log_density(distribution, x):
    """Summed over features, mean over samples."""
    return -distribution.log_prob(x).flatten(1).sum(1).mean()


@pytest.mark.parametrize("shape", SHAPES)
def test_fixed_scales_are_log_densities_with_all_constants(shape):
    x, mean = x_and_output(shape)
    for scale in (0.16, 1.0, 3.0):
        torch.testing.assert_close(likelihood.gaussian(x, mean, scale), log_density(Normal(mean, scale), x))
        torch.testing.assert_close(likelihood.laplace(x, mean, scale), log_density(Laplace(mean, scale), x))


@pytest.mark.parametrize("shape", SHAPES)
def test_bernoulli_equals_torch_also_between_zero_and_one(shape):
    x, logits = x_and_output(shape)
    torch.testing.assert_close(likelihood.bernoulli(x.round(), logits), log_density(Bernoulli(logits=logits), x.round()))
    p = torch.sigmoid(logits)
    by_hand = -(x * p.log() + (1 - x) * (1 - p).log()).flatten(1).sum(1).mean()
    torch.testing.assert_close(likelihood.bernoulli(x, logits), by_hand)


def test_bernoulli_stays_finite_where_the_probability_rounds_to_one():
    x = torch.zeros(2, 3, dtype=torch.float64)
    assert likelihood.bernoulli(x, x + 900) == 2700


@pytest.mark.parametrize("shape", SHAPES)
def test_learned_variance_is_broadcast_over_features_and_channels(shape):
    x, mean = x_and_output(shape)
    logvar = torch.randn(shape[1], *(1 for _ in shape[2:]), dtype=torch.float64)
    truth = log_density(Normal(mean, (0.5 * logvar).exp().expand(shape[1:])), x)
    torch.testing.assert_close(likelihood.gaussian_learned(x, mean, logvar), truth)
    fixed = likelihood.gaussian_learned(x, mean, torch.full_like(logvar, 2 * math.log(0.3)))
    torch.testing.assert_close(fixed, likelihood.gaussian(x, mean, 0.3))


@pytest.mark.parametrize("shape", SHAPES)
def test_the_learned_scale_of_a_laplace_likelihood_is_broadcast_likewise(shape):
    x, mean = x_and_output(shape)
    log_scale = torch.randn(shape[1], *(1 for _ in shape[2:]), dtype=torch.float64)
    truth = log_density(Laplace(mean, log_scale.exp().expand(shape[1:])), x)
    torch.testing.assert_close(likelihood.laplace_learned(x, mean, log_scale), truth)


def test_the_optimal_learned_variance_is_the_mean_squared_error():
    x, mean = x_and_output((50, 3))
    logvar = (x - mean).square().mean(0).log().requires_grad_()
    (grad,) = torch.autograd.grad(likelihood.gaussian_learned(x, mean, logvar), logvar)
    torch.testing.assert_close(grad, torch.zeros(3, dtype=torch.float64), rtol=0, atol=1e-12)


def test_gradients():
    x, output = x_and_output((3, 4), grad=True)
    logvar = torch.randn(4, dtype=torch.float64).requires_grad_()
    assert gradcheck(lambda o: likelihood.bernoulli(x, o), (output,))
    assert gradcheck(lambda o: likelihood.gaussian(x, o, 0.5), (output,))
    assert gradcheck(lambda o: likelihood.laplace(x, o, 0.5), (output,))
    assert gradcheck(lambda o, v: likelihood.gaussian_learned(x, o, v), (output, logvar))


@pytest.fixture(scope="module")
def golden():
    file = np.load(Path(__file__).parents[1] / "golden" / "negative_binomial.npz")
    return {name: torch.from_numpy(file[name]) for name in file if file[name].dtype == np.float64}


def test_negative_binomials_have_the_log_densities_of_another_implementation(golden):
    """It adds 1e-8 inside its logarithms, which shows where the mean is 0.001 alone."""
    x, log_mean, log_dispersion = golden["x"], golden["mu"].log(), golden["theta"].log()
    plain = likelihood.negative_binomial_log_prob(x, log_mean, log_dispersion)
    inflated = likelihood.zero_inflated_log_prob(x, log_mean, log_dispersion, golden["zi_logits"])
    usual = golden["mu"] > 0.05
    torch.testing.assert_close(plain[usual], golden["nb_log_prob"][usual], atol=1e-6, rtol=0)
    torch.testing.assert_close(inflated[usual], golden["zinb_log_prob"][usual], atol=1e-6, rtol=0)
    torch.testing.assert_close(plain, golden["nb_log_prob"], atol=5e-5, rtol=0)
    torch.testing.assert_close(likelihood.negative_binomial(x, log_mean, log_dispersion), -plain.sum(1).mean())
    by_hand = -inflated.sum(1).mean()
    torch.testing.assert_close(likelihood.zero_inflated(x, log_mean, log_dispersion, golden["zi_logits"]), by_hand)


def test_negative_binomials_equal_scipy(golden):
    from scipy.stats import nbinom

    r, m = golden["theta"].numpy(), golden["mu"].numpy()
    truth = nbinom.logpmf(golden["x"].numpy(), r, r / (r + m))
    ours = likelihood.negative_binomial_log_prob(golden["x"], golden["mu"].log(), golden["theta"].log())
    np.testing.assert_allclose(ours.numpy(), truth, atol=1e-10)


def test_gradients_of_zero_inflation_are_those_of_another_implementation(golden):
    mean = golden["mu"].clone().requires_grad_()
    logits = golden["zi_logits"].clone().requires_grad_()
    total = likelihood.zero_inflated_log_prob(golden["x"], mean.log(), golden["theta"].log(), logits).sum()
    of_mean, of_logits = torch.autograd.grad(total, [mean, logits])
    usual = golden["mu"] > 0.05
    torch.testing.assert_close(of_mean[usual], golden["zinb_grad_mu"][usual], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(of_logits[usual], golden["zinb_grad_zi_logits"][usual], atol=1e-6, rtol=1e-5)


def test_a_negative_binomial_becomes_a_poisson_and_zero_inflation_nothing(golden):
    x, log_mean = golden["x"], golden["mu"].log()
    poisson = torch.distributions.Poisson(golden["mu"]).log_prob(x)
    far = likelihood.negative_binomial_log_prob(x, log_mean, torch.full_like(log_mean, math.log(1e7)))
    near = likelihood.negative_binomial_log_prob(x, log_mean, torch.full_like(log_mean, math.log(10.0)))
    torch.testing.assert_close(far, poisson, atol=1e-3, rtol=1e-4)
    assert (near - poisson).abs().max() > 0.5
    plain = likelihood.negative_binomial_log_prob(x, log_mean, golden["theta"].log())
    without = likelihood.zero_inflated_log_prob(x, log_mean, golden["theta"].log(), torch.full_like(x, -800.0))
    torch.testing.assert_close(without, plain)


def test_probabilities_of_counts_sum_to_one():
    x = torch.arange(4000, dtype=torch.float64)
    for log_r in (-1.0, 0.5, 4.0):
        log_mean, logit = torch.tensor(2.0, dtype=torch.float64), torch.tensor(0.3, dtype=torch.float64)
        r = torch.tensor(log_r, dtype=torch.float64)
        probabilities = likelihood.negative_binomial_log_prob(x, log_mean, r).exp()
        torch.testing.assert_close(probabilities.sum().item(), 1.0)
        torch.testing.assert_close((x * probabilities).sum(), log_mean.exp())
        inflated = likelihood.zero_inflated_log_prob(x, log_mean, r, logit).exp()
        torch.testing.assert_close(inflated.sum().item(), 1.0)
        torch.testing.assert_close((x * inflated).sum(), log_mean.exp() * torch.sigmoid(-logit))


def test_gradients_of_counts():
    torch.manual_seed(0)
    x = torch.poisson(torch.full((3, 4), 2.0, dtype=torch.float64))
    log_mean, logits = (torch.randn(3, 4, dtype=torch.float64).requires_grad_() for _ in range(2))
    log_r = torch.randn(4, dtype=torch.float64).requires_grad_()
    assert gradcheck(lambda m, r: likelihood.negative_binomial(x, m, r), (log_mean, log_r))
    assert gradcheck(lambda m, r, o: likelihood.zero_inflated(x, m, r, o), (log_mean, log_r, logits))
