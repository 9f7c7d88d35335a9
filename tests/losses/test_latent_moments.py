"""Moments of q(z) and their penalties: by hand, against recorded values, and exact for mixtures."""

import math
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.autograd import gradcheck

from untwine.losses import latent_moments

GOLDEN = {
    key: torch.from_numpy(value)
    for key, value in np.load(Path(__file__).parents[1] / "golden" / "dip_vae_terms.npz", allow_pickle=False).items()
}


def tensor(*rows):
    return torch.tensor(rows, dtype=torch.float64)


# Dimensions 1 and 2 are equal, 3 is independent: centred, the samples are (1, 1, -1), (-1, -1, -1), (1, 1, 1), (-1, -1, 1).
MU = tensor((1, 1, 0), (-1, -1, 0), (1, 1, 2), (-1, -1, 2))
VARIANCES = tensor((0.2, 0.1, 1), (0.8, 0.4, 3), (0.5, 0.4, 1), (0.5, 0.1, 3))


def test_covariances_of_three_dimensions_by_hand():
    c = latent_moments.covariance_of_means(MU)
    torch.testing.assert_close(c, tensor((1, 1, 0), (1, 1, 0), (0, 0, 1)))
    assert latent_moments.off_diagonal_penalty(c).item() == 2
    assert latent_moments.diagonal_penalty(c).item() == 0
    # The mean variances 0.5, 0.25 and 2 stand on the diagonal alone.
    c = latent_moments.covariance_of_samples(MU, VARIANCES.log())
    torch.testing.assert_close(c, tensor((1.5, 1, 0), (1, 1.25, 0), (0, 0, 3)))
    assert latent_moments.off_diagonal_penalty(c).item() == pytest.approx(2)
    assert latent_moments.diagonal_penalty(c).item() == pytest.approx(0.5**2 + 0.25**2 + 2**2)


def test_third_moments_of_one_dimension_by_hand():
    mu, variances = tensor((0.0,), (0.0,), (0.0,), (4.0,)), tensor((1.0,), (1.0,), (1.0,), (5.0,))
    # Centred: -1, -1, -1, 3, so (27 - 3) / 4 of the means, and thrice (3 * 5 - 3) / 4 of the variances that follow them.
    assert latent_moments.third_moments_of_means(mu).item() == pytest.approx(6)
    assert latent_moments.third_moments_of_samples(mu, variances.log()).item() == pytest.approx(6 + 3 * 3)


def test_moments_of_samples_are_those_of_the_mixture():
    # Each Gaussian is replaced by the corners mu +- sigma, which have its moments up to the third: the sums are exact.
    generator = torch.Generator().manual_seed(0)
    mu, logvar = (torch.randn(5, 3, dtype=torch.float64, generator=generator) for _ in range(2))
    corners = torch.cat([mu + torch.exp(0.5 * logvar) * tensor(signs) for signs in product((-1, 1), repeat=3)])
    torch.testing.assert_close(latent_moments.covariance_of_samples(mu, logvar), latent_moments.covariance_of_means(corners))
    third = latent_moments.third_moments_of_means(corners)
    torch.testing.assert_close(latent_moments.third_moments_of_samples(mu, logvar), third)
    assert third[0, 1, 2].item() == pytest.approx((corners - corners.mean(0)).prod(1).mean().item())
    for order in ((0, 2, 1), (1, 0, 2), (2, 1, 0)):
        torch.testing.assert_close(third.permute(order), third)


def test_recorded_values():
    mu, logvar = GOLDEN["mu"], GOLDEN["logvar"]
    torch.testing.assert_close(latent_moments.covariance_of_means(mu), GOLDEN["cov_z_mean"], rtol=1e-12, atol=1e-12)
    covariances = {"i": latent_moments.covariance_of_means(mu), "ii": latent_moments.covariance_of_samples(mu, logvar)}
    for variant, c in covariances.items():
        off, on = latent_moments.off_diagonal_penalty(c), latent_moments.diagonal_penalty(c)
        torch.testing.assert_close(off, GOLDEN[f"dip_{variant}_off_diagonal"], rtol=1e-12, atol=0)
        torch.testing.assert_close(on, GOLDEN[f"dip_{variant}_diagonal"], rtol=1e-12, atol=0)
        for weight, factor in ((10, 10), (5, 2), (1, 0), (0, 1)):
            whole = weight * off + factor * weight * on
            torch.testing.assert_close(whole, GOLDEN[f"dip_{variant}_od{weight}_factor{factor}"], rtol=1e-12, atol=0)


def test_recorded_gradient():
    mu, logvar = (GOLDEN[name].clone().requires_grad_() for name in ("mu", "logvar"))
    c = latent_moments.covariance_of_samples(mu, logvar)
    loss = 10 * latent_moments.off_diagonal_penalty(c) + 50 * latent_moments.diagonal_penalty(c)
    grads = torch.autograd.grad(loss, (mu, logvar))
    for grad, name in zip(grads, ("mu", "logvar"), strict=True):
        torch.testing.assert_close(grad, GOLDEN[f"dip_ii_od10_factor5_grad_{name}"], rtol=1e-10, atol=1e-13)


def test_penalties_of_independent_standardised_codes_are_zero():
    # A grid of +-1 in every dimension has mean 0, covariance I and no third moments.
    grid = torch.tensor(list(product((-1.0, 1.0), repeat=4)), dtype=torch.float64)
    c = latent_moments.covariance_of_means(grid)
    assert (
        latent_moments.off_diagonal_penalty(c)
        == latent_moments.diagonal_penalty(c)
        == latent_moments.third_moments_of_means(grid).square().sum()
        == 0
    )
    shifted = grid + tensor((1.0, -2.0, 3.0, 5.0))
    torch.testing.assert_close(latent_moments.covariance_of_means(shifted), c)
    torch.testing.assert_close(
        latent_moments.third_moments_of_means(3 * shifted), 27 * latent_moments.third_moments_of_means(shifted)
    )


def test_gradients():
    generator = torch.Generator().manual_seed(1)
    mu, logvar = (torch.randn(4, 3, dtype=torch.float64, generator=generator).requires_grad_() for _ in range(2))
    assert gradcheck(lambda m, v: latent_moments.off_diagonal_penalty(latent_moments.covariance_of_samples(m, v)), (mu, logvar))
    assert gradcheck(lambda m, v: latent_moments.diagonal_penalty(latent_moments.covariance_of_samples(m, v)), (mu, logvar))
    assert gradcheck(lambda m, v: latent_moments.third_moments_of_samples(m, v).square().sum(), (mu, logvar))


def test_moments_keep_their_precision_under_autocast():
    mu, logvar = GOLDEN["mu"].float(), GOLDEN["logvar"].float()
    with torch.autocast("cpu", torch.bfloat16):
        low = (
            latent_moments.off_diagonal_penalty(latent_moments.covariance_of_samples(mu, logvar)),
            latent_moments.third_moments_of_samples(mu, logvar),
        )
    assert math.isclose(low[0].item(), GOLDEN["dip_ii_off_diagonal"].item(), rel_tol=1e-5)
    assert torch.equal(low[1], latent_moments.third_moments_of_samples(mu, logvar))
