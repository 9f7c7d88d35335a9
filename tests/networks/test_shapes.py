"""The standard 64 x 64 networks: the published layers, and every other size is reproduced."""

import random

import pytest
import torch
from torch import nn

from untwine.networks import select_networks
from untwine.networks.shapes import ShapesDecoder, ShapesEncoder, channels

SIDES = range(8, 129, 5)
SIZES = list(zip(SIDES, random.Random(1).sample(SIDES, len(SIDES)), strict=True))


def test_at_64_they_have_the_published_layers():
    pair = select_networks("conv64", (1, 64, 64))
    assert channels(32, 4) == [32, 32, 64, 64]
    encoder, decoder = pair.encoder((1, 64, 64), 20, pair.default_width), pair.decoder(10, (1, 64, 64), pair.default_width)
    # Four convolutions of 4 x 4 with their biases and two linear layers; the decoder mirrors them.
    convolutions = 32 * 16 + 32 + 32 * 32 * 16 + 32 + 64 * 32 * 16 + 64 + 64 * 64 * 16 + 64
    assert sum(p.numel() for p in encoder.parameters()) == convolutions + 256 * 1024 + 256 + 20 * 256 + 20
    transposed = 64 * 64 * 16 + 64 + 64 * 32 * 16 + 32 + 32 * 32 * 16 + 32 + 32 * 16 + 1
    assert sum(p.numel() for p in decoder.parameters()) == transposed + 256 * 10 + 256 + 1024 * 256 + 1024
    layers = [part for part in encoder.modules() if isinstance(part, nn.Conv2d)]
    assert {(part.kernel_size, part.stride) for part in layers} == {((4, 4), (2, 2))}
    assert not [part for net in (encoder, decoder) for part in net.modules() if isinstance(part, nn.LeakyReLU)]


def test_other_sizes_are_halved_down_to_four_and_reproduced():
    assert channels(8, 1) == [8]
    assert channels(8, 5) == [8, 8, 16, 16, 16]
    with torch.no_grad():
        for height, width in [*SIZES, (8, 8), (128, 128), (127, 9), (8, 128)]:
            x = torch.rand(1, 2, height, width)
            z = ShapesEncoder(x.shape[1:], 3, 1)(x)
            assert ShapesDecoder(3, x.shape[1:], 1)(z).shape == x.shape, (height, width)


@pytest.mark.parametrize("shape", [(1, 8, 8), (3, 9, 13), (2, 31, 17), (1, 33, 33)])
def test_every_pixel_reaches_the_codes_and_every_code_the_image(shape):
    torch.manual_seed(0)
    encoder, decoder = ShapesEncoder(shape, 5, 8).double(), ShapesDecoder(5, shape, 8).double()
    x = torch.rand(16, *shape, dtype=torch.float64, requires_grad=True)
    (grad_x,) = torch.autograd.grad(encoder(x).square().sum(), x)
    assert (grad_x.abs().sum(0) > 0).all()  # pixels that padding or striding would drop have no gradient
    z = torch.randn(16, 5, dtype=torch.float64, requires_grad=True)
    image = decoder(z)
    assert ((decoder(z + 0.5) - image).abs().sum(0) > 0).all()
    (grad_z,) = torch.autograd.grad(image.square().sum(), z)
    assert (grad_z.abs().sum(0) > 0).all()
