"""Images with sides from 8 to 128 are reproduced in their size, and every pixel and code has an effect."""

import random
from itertools import pairwise

import pytest
import torch

from untwine.networks import NETWORKS, select_networks
from untwine.networks.conv import ConvDecoder, ConvEncoder, channels, halvings
from untwine.networks.mlp import MLPDecoder, MLPEncoder

SIDES = range(8, 129)
# Every height once, each with another width: odd, even, tall, wide.
SIZES = list(zip(SIDES, random.Random(0).sample(SIDES, len(SIDES)), strict=True))


def test_every_height_and_width_is_reproduced():
    assert {width for _, width in SIZES} == set(SIDES)
    assert sum(height % 2 != width % 2 for height, width in SIZES) > 30
    with torch.no_grad():
        for height, width in [*SIZES, (8, 8), (128, 128), (127, 127), (8, 128), (128, 8), (9, 9)]:
            x = torch.rand(1, 2, height, width)
            z = ConvEncoder(x.shape[1:], 3, 1)(x)
            assert z.shape == (1, 3)
            assert ConvDecoder(3, x.shape[1:], 1)(z).shape == x.shape, (height, width)


@pytest.mark.parametrize("norm", [False, True])
@pytest.mark.parametrize("shape", [(1, 8, 8), (3, 9, 13), (2, 31, 17), (4, 16, 40), (1, 33, 33)])
def test_every_pixel_reaches_the_codes_and_every_code_every_pixel(shape, norm):
    torch.manual_seed(0)
    encoder, decoder = ConvEncoder(shape, 5, 4, norm).double(), ConvDecoder(5, shape, 4, norm).double()
    x = torch.rand(4, *shape, dtype=torch.float64, requires_grad=True)
    (grad_x,) = torch.autograd.grad(encoder(x).square().sum(), x)
    # Pixels at the border that padding or striding would drop have no gradient.
    assert (grad_x != 0).all()
    z = torch.randn(4, 5, dtype=torch.float64, requires_grad=True)
    image = decoder(z)
    assert image.shape == (4, *shape)
    difference = decoder(z + 0.1) - image
    assert (difference != 0).all()
    (grad_z,) = torch.autograd.grad(image.square().sum(), z)
    assert (grad_z != 0).all()


def test_halvings_end_at_four_and_round_up():
    for height, width in SIZES:
        sizes = halvings(height, width)
        assert sizes[0] == (height, width)
        assert max(sizes[-1]) <= 4 < max(sizes[-2])
        for (h, w), (half_h, half_w) in pairwise(sizes):
            assert (half_h, half_w) == (-(-h // 2), -(-w // 2))


def test_width_is_the_number_of_first_channels():
    assert channels(8, 6) == [8, 16, 32, 64, 64, 64]
    narrow, wide = (sum(p.numel() for p in ConvEncoder((1, 32, 32), 4, width).parameters()) for width in (4, 8))
    assert 3 < wide / narrow < 4
    assert ConvEncoder((3, 32, 32), 4, 8).convolutions[1].weight.shape == (8, 3, 4, 4)


def test_memory_layout_does_not_change_the_result():
    torch.manual_seed(0)
    x = torch.rand(3, 3, 13, 10)
    encoder, decoder = ConvEncoder(x.shape[1:], 4, 4, True), ConvDecoder(4, x.shape[1:], 4, True)
    z = encoder(x)
    image = decoder(z)
    for net in (encoder, decoder):
        net.to(memory_format=torch.channels_last)
    torch.testing.assert_close(encoder(x.contiguous(memory_format=torch.channels_last)), z)
    torch.testing.assert_close(decoder(z), image)


@pytest.mark.parametrize("shape", [(7,), (3, 8, 9)])
def test_mlp_maps_any_shape_and_computes_its_formula(shape):
    torch.manual_seed(0)
    encoder, decoder = MLPEncoder(shape, 4, 16), MLPDecoder(4, shape, 16)
    x = torch.rand(5, *shape)
    h = x.flatten(1)
    for i in (0, 2):
        h = torch.nn.functional.leaky_relu(h @ encoder.layers[i].weight.T + encoder.layers[i].bias, 0.2)
    torch.testing.assert_close(encoder(x), h @ encoder.layers[4].weight.T + encoder.layers[4].bias)
    assert decoder(encoder(x)).shape == x.shape


def test_the_table_of_networks_is_closed():
    assert select_networks("auto", (5,)) is NETWORKS["mlp"]
    assert select_networks("conv", (1, 8, 8)) is NETWORKS["conv"]
    with pytest.raises(ValueError, match=r"networks must be 'auto', 'standard', 'mlp', 'conv', 'conv_norm', .*; got 'resnet'"):
        select_networks("resnet", (5,))
    with pytest.raises(ValueError, match=r"networks='conv' needs images \(C, H, W\); got vectors with 5 features"):
        select_networks("conv", (5,))
