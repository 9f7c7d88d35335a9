import numpy as np
import torch

from untwine.losses.classes import class_means, product_of_gaussians


def test_samples_of_one_class_get_the_mean_of_their_codes():
    codes = torch.tensor([[1.0, 0.0], [3.0, 2.0], [5.0, 4.0], [7.0, 7.0]], dtype=torch.float64, requires_grad=True)
    labels = torch.tensor([4, 0, 4, 9])
    means = class_means(codes, labels)
    torch.testing.assert_close(
        means.detach(), torch.tensor([[3.0, 2.0], [3.0, 2.0], [3.0, 2.0], [7.0, 7.0]], dtype=torch.float64)
    )
    assert torch.autograd.gradcheck(lambda z: class_means(z, labels), codes)


def test_the_product_of_gaussians_is_that_of_their_densities():
    """By closed form: the product of N(1, 1/2) and N(4, 1/4) has precision 6 and mean (2 + 16) / 6."""
    mu = torch.tensor([[[1.0]], [[4.0]]], dtype=torch.float64)
    logvar = torch.tensor([[[0.5]], [[0.25]]], dtype=torch.float64).log()
    mean, total_logvar = product_of_gaussians(mu, logvar)
    torch.testing.assert_close(mean, torch.tensor([[3.0]], dtype=torch.float64))
    torch.testing.assert_close(total_logvar.exp(), torch.tensor([[1 / 6]], dtype=torch.float64))
    x = np.linspace(-4, 9, 20001)
    density = np.exp(-((x - 1) ** 2) / (2 * 0.5) - (x - 4) ** 2 / (2 * 0.25))
    density /= density.sum()
    np.testing.assert_allclose([(density * x).sum(), (density * (x - 3) ** 2).sum()], [3, 1 / 6], rtol=1e-6)


def test_every_factor_of_the_product_gets_a_gradient():
    torch.manual_seed(0)
    mu, logvar = (torch.randn(3, 2, 2, dtype=torch.float64, requires_grad=True) for _ in range(2))
    assert torch.autograd.gradcheck(product_of_gaussians, (mu, logvar))
    for grad in torch.autograd.grad(sum(one.square().sum() for one in product_of_gaussians(mu, logvar)), (mu, logvar)):
        assert (grad != 0).all()
