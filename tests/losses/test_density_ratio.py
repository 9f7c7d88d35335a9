"""The density-ratio estimate where the optimal discriminator is known."""

import math

import torch
from torch.autograd import gradcheck
from torch.distributions import MultivariateNormal, Normal

from untwine.losses import density_ratio


def correlated(n, rho, seed=0):
    """Draw z and s of one dimension each with correlation rho: their total correlation is -log(1 - rho^2) / 2."""
    generator = torch.Generator().manual_seed(seed)
    z, e = (torch.randn(n, 1, dtype=torch.float64, generator=generator) for _ in range(2))
    return z, rho * z + math.sqrt(1 - rho**2) * e


def optimal_logits(pairs, rho):
    """Return log p(z, s) - log p(z) p(s), the logits of the optimal discriminator."""
    covariance = torch.tensor([[1.0, rho], [rho, 1.0]], dtype=torch.float64)
    joint = MultivariateNormal(torch.zeros(2, dtype=torch.float64), covariance).log_prob(pairs)
    return joint - Normal(0.0, 1.0).log_prob(pairs).sum(1)


def test_shuffled_pairs_keep_z_and_take_s_from_half_a_batch_away():
    for n in (2, 6, 7):
        z, s = torch.arange(n)[:, None].double(), 10.0 + torch.arange(n)[:, None].double()
        joint, independent = density_ratio.joint_and_shuffled_pairs(z, s)
        assert torch.equal(joint, torch.cat([z, s], 1))
        assert torch.equal(independent[:, :1], z)
        assert torch.equal(independent[:, 1:], s[(torch.arange(n) - n // 2) % n])
        assert (independent[:, 1] - 10 != independent[:, 0]).all()


def test_discriminator_loss_is_log_2_at_chance_level():
    for constant in (torch.zeros(5), torch.zeros(5, 1)):
        assert math.isclose(density_ratio.discriminator_loss(constant, constant), math.log(2), rel_tol=1e-6)
    # Any other constant logits are worse than chance level.
    assert density_ratio.discriminator_loss(torch.ones(5), torch.ones(5)) > math.log(2)


def test_discriminator_loss_is_the_cross_entropy_and_0_for_perfect_logits():
    generator = torch.Generator().manual_seed(0)
    joint, independent = (torch.randn(9, dtype=torch.float64, generator=generator) for _ in range(2))
    by_hand = -0.5 * (torch.sigmoid(joint).log().mean() + (1 - torch.sigmoid(independent)).log().mean())
    torch.testing.assert_close(density_ratio.discriminator_loss(joint, independent), by_hand)
    assert density_ratio.discriminator_loss(joint + 500, independent - 500) < 1e-12
    assert torch.isfinite(density_ratio.discriminator_loss(joint - 5000, independent + 5000))


def test_total_correlation_of_a_known_gaussian():
    for rho in (0.0, 0.5, 0.9):
        joint, _ = density_ratio.joint_and_shuffled_pairs(*correlated(50_000, rho))
        estimate = density_ratio.total_correlation(optimal_logits(joint, rho)).item()
        assert abs(estimate + 0.5 * math.log(1 - rho**2)) < 0.02


def test_no_logits_have_a_lower_loss_than_the_optimal_ones():
    rho = 0.8
    joint, independent = density_ratio.joint_and_shuffled_pairs(*correlated(50_000, rho))
    logits = [optimal_logits(pairs, rho) for pairs in (joint, independent)]
    least = density_ratio.discriminator_loss(*logits)
    assert least < math.log(2)
    for scale, shift in ((0.7, 0.0), (1.4, 0.0), (1.0, 0.3), (1.0, -0.3)):
        assert density_ratio.discriminator_loss(*(scale * one + shift for one in logits)) > least


def test_gradients():
    generator = torch.Generator().manual_seed(0)
    a, b = (torch.randn(4, 2, dtype=torch.float64, generator=generator).requires_grad_() for _ in range(2))
    assert gradcheck(density_ratio.discriminator_loss, (a, b))
    assert gradcheck(density_ratio.total_correlation, (a,))
    assert gradcheck(density_ratio.joint_and_shuffled_pairs, (a, b))
