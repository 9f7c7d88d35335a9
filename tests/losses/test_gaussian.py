"""Diagonal Gaussians against torch.distributions, recorded values and finite differences, in double precision."""

from pathlib import Path

import numpy as np
import torch
from torch.autograd import gradcheck
from torch.distributions import Normal, kl_divergence

from untwine.losses import gaussian

GOLDEN = np.load(Path(__file__).parents[1] / "golden" / "gaussians.npz", allow_pickle=False)


def codes(n=7, width=3, grad=False):
    torch.manual_seed(0)
    return tuple(torch.randn(n, width, dtype=torch.float64).requires_grad_(grad) for _ in range(2))


def test_kl_equals_torch_and_the_recorded_values():
    mu, logvar = codes()
    truth = kl_divergence(Normal(mu, (0.5 * logvar).exp()), Normal(0.0, 1.0)).sum(1).mean()
    torch.testing.assert_close(gaussian.kl(mu, logvar), truth, rtol=1e-12, atol=0)
    recorded = torch.from_numpy(GOLDEN["kl_1_standard"]).sum(1).mean()
    value = gaussian.kl(torch.from_numpy(GOLDEN["mu1"]), torch.from_numpy(GOLDEN["logvar1"]))
    torch.testing.assert_close(value, recorded, rtol=1e-12, atol=0)


def test_kl_is_zero_only_at_the_prior():
    zero = torch.zeros(4, 2, dtype=torch.float64)
    assert gaussian.kl(zero, zero) == 0
    for mu, logvar in ((1e-3, 0.0), (0.0, 1e-3), (0.0, -1e-3)):
        assert gaussian.kl(zero + mu, zero + logvar) > 0


def test_kl_and_second_moment_are_summed_over_dimensions_and_mean_over_samples():
    mu, logvar = codes()
    for term in (gaussian.kl, gaussian.second_moment):
        once = term(mu, logvar)
        torch.testing.assert_close(term(mu.repeat(3, 1), logvar.repeat(3, 1)), once)
        torch.testing.assert_close(term(mu.repeat(1, 3), logvar.repeat(1, 3)), 3 * once)


def test_second_moment_is_the_mean_squared_norm_of_samples():
    mu, logvar = codes()
    sigma = (0.5 * logvar).exp()
    torch.testing.assert_close(gaussian.second_moment(mu, logvar), (mu.square().sum() + sigma.square().sum()) / len(mu))
    noise = torch.randn(4000, *mu.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    estimate = gaussian.sample(mu, logvar, noise).square().sum(2).mean()
    torch.testing.assert_close(gaussian.second_moment(mu, logvar), estimate, rtol=0.02, atol=0)


def test_sample_is_affine_in_the_noise():
    mu, logvar = codes()
    noise = torch.randn(mu.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    torch.testing.assert_close(gaussian.sample(mu, logvar, torch.zeros_like(mu)), mu)
    standardised = (gaussian.sample(mu, logvar, noise) - mu) / Normal(mu, (0.5 * logvar).exp()).stddev
    torch.testing.assert_close(standardised, noise)


def test_clamped_logvar_is_the_identity_near_zero_and_within_its_bounds():
    near = torch.tensor([-0.01, 0.0, 0.01], dtype=torch.float64)
    torch.testing.assert_close(gaussian.clamp_logvar(near), near, rtol=1e-6, atol=0)
    far = gaussian.clamp_logvar(torch.tensor([-1e30, -40.0, 40.0, 1e30]))
    assert far.abs().max() <= gaussian.LOGVAR_BOUND
    assert torch.isfinite(far.exp()).all()
    line = gaussian.clamp_logvar(torch.linspace(-30, 30, 100, dtype=torch.float64))
    assert (line.diff() > 0).all()
    torch.testing.assert_close(line, -line.flip(0))


def test_gradients():
    mu, logvar = codes(grad=True)
    noise = torch.randn(mu.shape, dtype=torch.float64)
    assert gradcheck(gaussian.kl, (mu, logvar))
    assert gradcheck(gaussian.second_moment, (mu, logvar))
    assert gradcheck(lambda m, v: gaussian.sample(m, v, noise), (mu, logvar))
    assert gradcheck(lambda v: gaussian.clamp_logvar(8 * v), (logvar,))
