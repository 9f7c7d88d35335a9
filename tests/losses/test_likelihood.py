"""Likelihoods against torch.distributions and finite differences, in double precision."""

import math

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
