"""The 6- and 8-layer networks: the number of layers, every image size, and normalisation per pixel."""

import random
from itertools import pairwise

import pytest
import torch
from torch import nn

import untwine as un
from untwine.networks import NETWORKS
from untwine.networks.channel_norm import ChannelNorm, LayeredDecoder, LayeredEncoder, plan, widths

SIDES = range(8, 129)
SIZES = list(zip(SIDES, random.Random(1).sample(SIDES, len(SIDES)), strict=True))


def samples(shape, n=3, seed=0):
    return torch.randn(n, *shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def test_channel_norm_is_its_formula():
    norm, x = ChannelNorm(4).double(), samples((4, 3, 5))
    with torch.no_grad():
        norm.weight.copy_(torch.linspace(0.5, 2, 4))
        norm.bias.copy_(torch.linspace(-1, 1, 4))
    mean, variance = x.mean(1, keepdim=True), x.var(1, correction=0, keepdim=True)
    by_hand = (x - mean) / torch.sqrt(variance + 1e-5) * norm.weight.view(-1, 1, 1) + norm.bias.view(-1, 1, 1)
    torch.testing.assert_close(norm(x), by_hand)
    torch.testing.assert_close(norm(x.contiguous(memory_format=torch.channels_last)), by_hand)


def test_channel_norm_treats_pixels_independently():
    norm, x = ChannelNorm(4).double(), samples((4, 3, 5))
    other = x.clone()
    other[0, :, 1, 2] += samples((4,), 1)[0]
    changed = (norm(other) != norm(x)).any(1)
    assert changed.nonzero().tolist() == [[0, 1, 2]]
    # Brightness and contrast that all channels share are removed.
    torch.testing.assert_close(norm(3 * x + 7), norm(x), atol=1e-4, rtol=1e-4)


def test_one_channel_is_refused():
    with pytest.raises(ValueError, match=r"needs at least 2 channels; got 1; raise width"):
        ChannelNorm(1)


@pytest.mark.parametrize(("name", "convolutions"), [("layers6", 5), ("layers8", 7)])
def test_the_layers_are_as_many_as_the_name_says(name, convolutions):
    pair = NETWORKS[name]
    for shape in ((3, 28, 28), (1, 8, 8), (3, 64, 64), (3, 96, 96), (2, 128, 9)):
        encoder, decoder = pair.encoder(shape, 6, 4), pair.decoder(3, shape, 4)
        count = lambda net, kind: sum(isinstance(part, kind) for part in net.modules())  # noqa: E731
        assert (count(encoder, nn.Conv2d), count(encoder, nn.Linear)) == (convolutions, 1)
        assert (count(decoder, nn.ConvTranspose2d), count(decoder, nn.Linear)) == (convolutions, 1)
        assert count(encoder, ChannelNorm) == convolutions
        assert count(encoder, nn.LeakyReLU) == convolutions


def test_the_plan_halves_as_early_as_it_can_and_ends_at_four():
    assert plan(7, 64, 64) == [(64, 64), (32, 32), (16, 16), (16, 16), (8, 8), (8, 8), (4, 4), (4, 4)]
    assert plan(5, 128, 128) == [(side, side) for side in (128, 64, 32, 16, 8, 4)]
    assert plan(5, 8, 8) == [(8, 8)] + 5 * [(4, 4)]
    for size in SIZES:
        for convolutions in (5, 7):
            sizes = plan(convolutions, *size)
            assert len(sizes) == convolutions + 1
            assert max(sizes[-1]) <= 4
            assert sizes[1] == tuple(-(-side // 2) for side in size)
            for before, after in pairwise(sizes):
                assert after in (before, tuple(-(-side // 2) for side in before))
    assert widths(plan(7, 64, 64), 8) == [8, 16, 16, 32, 32, 64, 64]
    with pytest.raises(ValueError, match=r"5 convolutions need images with sides of at most 128; got 136 x 8; use smaller"):
        plan(5, 136, 8)


@pytest.mark.parametrize("layers", [6, 8])
def test_every_height_and_width_is_reproduced(layers):
    with torch.no_grad():
        for size in [*SIZES[:: 8 if layers == 8 else 1], (8, 8), (128, 128), (127, 127), (8, 128), (128, 8), (9, 9)]:
            x = torch.rand(1, 2, *size)
            z = LayeredEncoder(x.shape[1:], 3, 2, layers)(x)
            assert z.shape == (1, 3)
            assert LayeredDecoder(3, x.shape[1:], 2, layers)(z).shape == x.shape, size


@pytest.mark.parametrize("layers", [6, 8])
@pytest.mark.parametrize("shape", [(1, 8, 8), (3, 9, 13), (2, 31, 17)])
def test_every_pixel_reaches_the_codes_and_every_code_every_pixel(shape, layers):
    torch.manual_seed(0)
    encoder, decoder = LayeredEncoder(shape, 5, 4, layers).double(), LayeredDecoder(5, shape, 4, layers).double()
    x = torch.rand(4, *shape, dtype=torch.float64, requires_grad=True)
    (grad_x,) = torch.autograd.grad(encoder(x).square().sum(), x)
    assert (grad_x != 0).all()
    z = torch.randn(4, 5, dtype=torch.float64, requires_grad=True)
    image = decoder(z)
    assert (decoder(z + 0.1) != image).all()
    (grad_z,) = torch.autograd.grad(image.square().sum(), z)
    assert (grad_z != 0).all()


def test_memory_layout_does_not_change_the_result():
    torch.manual_seed(0)
    x = torch.rand(3, 3, 13, 10)
    encoder, decoder = LayeredEncoder(x.shape[1:], 4, 4, 6), LayeredDecoder(4, x.shape[1:], 4, 6)
    z = encoder(x)
    image = decoder(z)
    for net in (encoder, decoder):
        net.to(memory_format=torch.channels_last)
    torch.testing.assert_close(encoder(x.contiguous(memory_format=torch.channels_last)), z)
    torch.testing.assert_close(decoder(z), image)


@pytest.mark.parametrize("name", ["layers6", "layers8"])
def test_they_learn_to_reconstruct_images(name):
    generator = torch.Generator().manual_seed(0)
    places = torch.randint(0, 8, (64, 2), generator=generator)
    x = torch.zeros(64, 1, 12, 12)
    for row, (top, left) in enumerate(places):
        x[row, 0, top : top + 5, left : left + 5] = 1
    method = un.VAE.fixed(networks=name, width=8, epochs=120, batch=32, n_latent=4).fit(x.numpy())
    blank = -float(x.var(0).mean())
    assert method.score(x.numpy()) > 0.5 * blank
    assert un.VAE.fixed(networks=name, width=8, epochs=1, lr=1e-9, n_latent=4).fit(x.numpy()).score(x.numpy()) < blank
