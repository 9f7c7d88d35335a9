"""Total correlation by a discriminator and from the minibatch: by hand, against recorded values, and in closed form."""

import math
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.autograd import gradcheck

from untwine.losses import density_ratio, gaussian, total_correlation
from untwine.losses.total_correlation import KLTerms, kl_decomposition, log_importance_weights, permute_dimensions
from untwine.networks.mlp import layers


def golden(name):
    file = Path(__file__).parents[1] / "golden" / f"{name}.npz"
    return {key: torch.from_numpy(value) for key, value in np.load(file, allow_pickle=False).items()}


FACTOR, TC = golden("factor_vae_terms"), golden("beta_tcvae_terms")
N_SAMPLES = int(TC["dataset_size"])


def recorded(log_weights):
    return kl_decomposition(TC["z"], TC["mu"], TC["logvar"], TC["mu"], TC["logvar"], log_weights)


def assert_terms(terms, *expected, rtol):
    for value, right in zip(terms, expected, strict=True):
        assert value.item() == pytest.approx(float(right), rel=rtol)


def test_permute_dimensions_by_hand():
    z = torch.tensor([[0.0, 10.0], [1.0, 11.0], [2.0, 12.0]])
    noise = torch.tensor([[0.3, -2.0], [0.1, 4.0], [0.2, 1.0]])
    assert permute_dimensions(z, noise).tolist() == [[1.0, 10.0], [2.0, 12.0], [0.0, 11.0]]


def test_permuted_dimensions_keep_their_marginals_and_lose_their_correlation():
    generator = torch.Generator().manual_seed(0)
    column = torch.randn(4000, 1, dtype=torch.float64, generator=generator)
    z = torch.cat([column, column], 1)
    shuffled = permute_dimensions(z, torch.randn(z.shape, dtype=torch.float64, generator=generator))
    assert torch.equal(shuffled.sort(0).values, z.sort(0).values)
    assert abs(torch.corrcoef(shuffled.T)[0, 1].item()) < 0.05


def test_recorded_discriminator():
    d = layers(6, 8, 8, 8, 8, 8, 2).double()
    linear = [part for part in d if isinstance(part, torch.nn.Linear)]
    with torch.no_grad():
        for i, layer in enumerate(linear):
            layer.weight.copy_(FACTOR[f"disc_weight_{i}"])
            layer.bias.copy_(FACTOR[f"disc_bias_{i}"])
    joint, independent = d(FACTOR["z"]), d(FACTOR["z_permuted"])
    torch.testing.assert_close(joint, FACTOR["logits_z"], rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(independent, FACTOR["logits_z_permuted"], rtol=1e-10, atol=1e-12)
    joint, independent = map(total_correlation.log_ratio, (joint, independent))
    tc = density_ratio.total_correlation(joint)
    torch.testing.assert_close(tc, FACTOR["tc_estimate"], rtol=1e-12, atol=0)
    loss = density_ratio.discriminator_loss(joint, independent)
    torch.testing.assert_close(loss, FACTOR["discriminator_loss"], rtol=1e-12, atol=0)
    kl = gaussian.kl(FACTOR["mu"], FACTOR["logvar"])
    whole = FACTOR["recon_loss"] + kl + FACTOR["gamma"] * tc
    torch.testing.assert_close(whole, FACTOR["autoencoder_loss"], rtol=1e-12, atol=0)


def test_recorded_terms_by_minibatch_weighting():
    log_weights = torch.tensor(-math.log(len(TC["z"]) * N_SAMPLES), dtype=torch.float64)
    terms = recorded(log_weights)
    assert_terms(
        terms, TC["mws_mi"], TC["mws_tc"], TC["mws_dwkl"], rtol=5e-6
    )  # the reference has constants in single precision
    # A second reference gives the sums before their weights, in double precision.
    joint = TC["disvae_log_qz_unnormalised"] + log_weights
    product = TC["disvae_log_prod_qzi_unnormalised"] + 6 * log_weights
    expected = (TC["disvae_log_q_zCx"] - joint, joint - product, product - TC["disvae_log_pz"])
    assert_terms(terms, *(term.mean() for term in expected), rtol=1e-12)


def test_recorded_stratified_terms_have_weights_in_the_wrong_column():
    batch = len(TC["z"])
    right = log_importance_weights(batch, N_SAMPLES)
    wrong = torch.full((batch, batch), 1 / (batch - 1), dtype=torch.float64)
    wrong[:, 0], wrong[:, 1] = 1 / N_SAMPLES, right[0, 1].exp()
    wrong[batch - 2, 0] = right[0, 1].exp()
    torch.testing.assert_close(wrong.log()[:8, :8].float(), TC["mss_log_weights_reference"])
    assert_terms(recorded(wrong.log()), TC["mss_mi"], TC["mss_tc"], TC["mss_dwkl"], rtol=2e-5)
    # A sample's own posterior has the largest density at its z: a weight of 1 / 63, not 1 / 5000, makes q(z) far too large.
    assert recorded(right).mutual_information > TC["mss_mi"] + 1


def test_importance_weights_by_hand():
    weights = log_importance_weights(4, 10).exp()  # M = 3 others: the sample itself 1/10, one other 7/30, the rest 1/3
    torch.testing.assert_close(weights[0], torch.tensor([1 / 10, 7 / 30, 1 / 3, 1 / 3], dtype=torch.float64))
    torch.testing.assert_close(weights.diagonal(), torch.full((4,), 0.1, dtype=torch.float64))
    for batch, n_samples in ((2, 2), (2, 9), (5, 5), (64, 5000)):
        torch.testing.assert_close(
            log_importance_weights(batch, n_samples).exp().sum(1), torch.ones(batch, dtype=torch.float64)
        )


@pytest.mark.parametrize("batch", [2, 3, 4, 5])
def test_over_all_batches_the_estimate_is_the_mean_density(batch):
    densities = torch.tensor([0.9, 0.1, 0.4, 0.03, 0.2], dtype=torch.float64)  # q(z|x) of five samples, z drawn from the first
    own, others = densities[:1], densities[1:].tolist()
    weights = log_importance_weights(batch, len(densities)).exp()[0]
    estimates = [
        weights @ torch.cat([own, torch.tensor(order, dtype=torch.float64)]) for order in permutations(others, batch - 1)
    ]
    assert torch.stack(estimates).mean().item() == pytest.approx(densities.mean().item())


def test_a_batch_larger_than_the_data_is_finite_and_a_batch_of_one_is_refused():
    weights = log_importance_weights(6, 5).exp()
    assert not weights.isnan().any()
    assert weights[0, 1] == 0
    z = torch.randn(6, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0)).requires_grad_()
    zeros = torch.zeros(6, 2, dtype=torch.float64)
    (grad,) = torch.autograd.grad(sum(kl_decomposition(z, zeros, zeros, z, zeros, log_importance_weights(6, 5))), z)
    assert grad.isfinite().all()
    with pytest.raises(ValueError, match=r"needs a batch of at least 2 samples; got 1; raise batch"):
        log_importance_weights(1, 5)


def correlated_codes(n, seed=0):
    """Codes whose means are Gaussian with covariance C, and their own noise: q(z) is Gaussian too."""
    generator = torch.Generator().manual_seed(seed)
    root = torch.tensor([[1.0, 0.0], [0.8, 0.6]], dtype=torch.float64)
    mu = torch.randn(n, 2, dtype=torch.float64, generator=generator) @ root.T
    logvar = torch.full_like(mu, math.log(0.3))
    noise = torch.randn(mu.shape, dtype=torch.float64, generator=generator)
    return gaussian.sample(mu, logvar, noise), mu, logvar, root @ root.T + 0.3 * torch.eye(2, dtype=torch.float64)


def test_terms_of_a_known_gaussian():
    z, mu, logvar, c = correlated_codes(1500)
    terms = kl_decomposition(z, mu, logvar, mu, logvar, log_importance_weights(len(z), 100_000))
    whole, marginal = torch.logdet(c), c.diagonal().log().sum()
    right = KLTerms(
        0.5 * (whole - 2 * math.log(0.3)),
        0.5 * (marginal - whole),
        0.5 * (c.diagonal().sum() - 2 - marginal),
    )
    for name, value in terms._asdict().items():
        assert value.item() == pytest.approx(getattr(right, name).item(), abs=0.06), name


def test_the_terms_sum_to_the_kl_whatever_the_weights():
    z, mu, logvar, _ = correlated_codes(40)
    whole = (total_correlation.log_density(z, mu, logvar) - total_correlation.log_density(z, 0 * z, 0 * z)).sum(1).mean()
    for log_weights in (log_importance_weights(40, 77), torch.zeros(40, 40, dtype=torch.float64)):
        torch.testing.assert_close(sum(kl_decomposition(z, mu, logvar, mu, logvar, log_weights)), whole)


def test_the_mean_over_slices_of_the_batch_is_that_of_the_batch():
    z, mu, logvar, _ = correlated_codes(12)
    weights = log_importance_weights(12, 50)
    whole = kl_decomposition(z, mu, logvar, mu, logvar, weights)
    halves = [kl_decomposition(z[s], mu[s], logvar[s], mu, logvar, weights[s]) for s in (slice(0, 6), slice(6, 12))]
    for value, *of_halves in zip(whole, *halves, strict=True):
        torch.testing.assert_close(torch.stack(of_halves).mean(), value)


def test_gradients():
    z, mu, logvar = (value.requires_grad_() for value in correlated_codes(5)[:3])
    weights = log_importance_weights(5, 20)
    for number in range(3):
        assert gradcheck(lambda z, m, v, n=number: kl_decomposition(z, m, v, m, v, weights)[n], (z, mu, logvar))
    noise = torch.randn(5, 2, generator=torch.Generator().manual_seed(0))
    assert gradcheck(lambda z: permute_dimensions(z, noise), (z,))
