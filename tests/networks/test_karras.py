"""The networks of Ruiz et al. 2018, layer by layer: pixel norm, average pooling, nearest up-sampling, a trunk without norm."""

import pytest
import torch
from torch.nn import functional

from untwine.networks import NETWORKS
from untwine.networks.karras import KarrasDecoder, KarrasEncoder, PixelNorm, convolution


def norm(x):
    return x / (x.square().mean(1, keepdim=True) + 1e-8).sqrt()


def test_pixel_norm_divides_each_pixel_by_its_root_mean_square():
    x = torch.tensor([[3.0, 0.0], [4.0, 0.0]]).view(1, 2, 1, 2)
    normed = PixelNorm()(x)
    # The first pixel is (3, 4), with the mean square 12.5; the second is 0 and stays so.
    torch.testing.assert_close(normed, torch.tensor([[3.0, 0.0], [4.0, 0.0]]).view(1, 2, 1, 2) / 12.5**0.5)
    y = 5 * torch.randn(2, 6, 3, 3)
    torch.testing.assert_close(PixelNorm()(y).square().mean(1), torch.ones(2, 3, 3))


@pytest.mark.parametrize("normed", [True, False])
def test_a_convolution_is_followed_by_a_leaky_relu_and_by_pixel_norm_where_requested(normed):
    layers = torch.nn.Sequential(*convolution(2, 5, normed)).double()
    x = torch.randn(2, 2, 7, 6, dtype=torch.float64)
    plain = functional.leaky_relu(functional.conv2d(x, layers[0].weight, layers[0].bias, padding=1), 0.2)
    torch.testing.assert_close(layers(x), norm(plain) if normed else plain)


def average_pool(x):
    """Means of 2 x 2 windows; those at an odd border have fewer pixels."""
    height, width = x.shape[2:]
    means = [
        torch.stack([x[:, :, i : i + 2, j : j + 2].mean((2, 3)) for j in range(0, width, 2)], -1) for i in range(0, height, 2)
    ]
    return torch.stack(means, -2)


def encode_by_hand(net, x, normed):
    x = 2 * x - 1  # images in [0, 1] are mapped to [-1, 1]
    for number, layer in enumerate(one for one in net.convolutions if isinstance(one, torch.nn.Conv2d)):
        x = average_pool(x) if number else x
        x = functional.leaky_relu(functional.conv2d(x, layer.weight, layer.bias, padding=1), 0.2)
        x = norm(x) if normed else x
    return functional.linear(x.flatten(1), net.linear.weight, net.linear.bias)


@pytest.mark.parametrize("shape", [(3, 8, 8), (1, 9, 12)])
def test_the_encoder_pools_by_means_and_norms_each_pixel_and_the_trunk_norms_nothing(shape):
    x = torch.rand(2, *shape, dtype=torch.float64)
    pair = NETWORKS["karras"]
    for build, normed in ((pair.encoder, True), (pair.discriminator_trunk, False)):
        net = build(shape, 5, 4).double()
        torch.testing.assert_close(net(x), encode_by_hand(net, x, normed))
        assert not torch.allclose(net(x), encode_by_hand(net, x, not normed))
    assert isinstance(pair.encoder(shape, 5, 4), KarrasEncoder)


def test_the_decoder_repeats_pixels_norms_them_and_gives_twice_the_last_layer():
    net = KarrasDecoder(3, (2, 16, 16), 4).double()
    z = torch.randn(2, 3, dtype=torch.float64)
    x = norm(functional.leaky_relu(functional.linear(z, net.linear.weight, net.linear.bias), 0.2).view(2, *net.start))
    for step, (height, width) in zip(net.steps, net.sizes, strict=True):
        x = x.repeat_interleave(height // x.shape[2], 2).repeat_interleave(width // x.shape[3], 3)
        x = norm(functional.leaky_relu(functional.conv2d(x, step[0].weight, step[0].bias, padding=1), 0.2))
    torch.testing.assert_close(net(z), 2 * functional.conv2d(x, net.last.weight, net.last.bias))
