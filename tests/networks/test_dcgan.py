"""The networks of Carton et al. 2024: the layers of its tables 4 and 5, the noise before them, and both norms."""

from itertools import chain

import pytest
import torch
from torch import nn

from untwine.networks import NETWORKS
from untwine.networks.attention import AttentionDecoder, SelfAttention
from untwine.networks.critic import Critic, Generator, select_gan_networks
from untwine.networks.dcgan import DCGANDecoder, Trunk
from untwine.networks.norm import BatchNorm


def critic(name, shape, width=4, noise_std=0.2):
    return Critic(NETWORKS[name], shape, width, logits=("real",), codes={"z": 3, "s": 2}, noise_std=noise_std)


def layers(net):
    """Return every layer as a line of the paper's tables: type, kernel, channels, stride and spectral norm."""
    lines = []
    for part in net.modules():
        spectral = ", spectral" * nn.utils.parametrize.is_parametrized(part, "weight")
        if isinstance(part, nn.Conv2d | nn.ConvTranspose2d):
            assert part.padding == ((part.kernel_size[0] - 1) // 2,) * 2
            up = "up " * isinstance(part, nn.ConvTranspose2d)
            lines.append(
                f"{up}{part.kernel_size[0]}x{part.kernel_size[1]} conv {part.out_channels}, {part.stride[0]}{spectral}"
            )
        elif isinstance(part, nn.Linear):
            lines.append(f"FC {part.out_features}{spectral}")
        elif isinstance(part, BatchNorm):
            lines.append(f"norm {len(part.weight)}")
        elif isinstance(part, nn.LeakyReLU):
            lines.append(f"lReLU {part.negative_slope}")
        elif isinstance(part, nn.ReLU):
            lines.append("ReLU")
        elif isinstance(part, SelfAttention):
            lines.append("attention")
    return [line for line in lines if "1x1" not in line]  # the attention has its own test


def test_the_layers_of_table_4():
    trunk, generator = Trunk((3, 64, 64), 64), DCGANDecoder(128, (3, 64, 64), 64)
    first, *others = [[f"4x4 conv {c}, 2", f"norm {c}", "lReLU 0.2"] for c in (64, 128, 256, 512)]
    assert layers(trunk) == [first[0], first[2], *chain(*others)]
    assert layers(trunk.head(5, codes=True)) == ["FC 5"]  # the same as a 4 x 4 convolution of a 4 x 4 input
    assert layers(trunk.head(1, codes=False)) == ["FC 1"]
    assert trunk.features == 512 * 4 * 4
    between = [["norm 512", "ReLU"], *([f"up 4x4 conv {c}, 2", f"norm {c}", "ReLU"] for c in (256, 128, 64))]
    assert layers(generator) == ["FC 8192", *chain(*between), "up 4x4 conv 3, 2"]
    assert generator.linear.weight.shape == (512 * 16, 128)


def test_the_layers_of_table_5():
    trunk, generator = Trunk((1, 128, 128), 64, spectral=True), AttentionDecoder(128, (1, 128, 128), 64)
    assert layers(trunk) == [*chain(*([f"4x4 conv {c}, 2, spectral", "lReLU 0.2"] for c in (64, 128, 256, 512, 512)))]
    assert layers(trunk.head(5, codes=True)) == ["FC 128, spectral", "lReLU 0.2", "FC 5, spectral", "lReLU 0.2"]
    assert layers(trunk.head(1, codes=False)) == ["FC 1"]
    assert trunk.features == 512 * 4 * 4
    blocks = [[f"3x3 conv {c}, 1", f"norm {c}", "ReLU"] for c in (1024, 512, 256, 256, 128, 64)]
    assert layers(generator) == ["FC 8192", *chain(*blocks[:3]), "attention", *chain(*blocks[3:]), "3x3 conv 1, 1"]
    assert generator.start == (512, 4, 4)
    sides, hook = [], generator.steps[2][-1].register_forward_hook(lambda layer, given, out: sides.append(out.shape[-1]))
    assert generator(torch.zeros(2, 128)).shape == (2, 1, 128, 128)
    hook.remove()
    assert sides == [32]


def test_linear_heads_give_negative_codes_the_slope_of_positive_ones():
    """The head of table 5 ends with a LeakyReLU; the one of the authors' code is the same without it."""
    heads = []
    for name in ("dcgan_attention", "dcgan_attention_linear"):
        torch.manual_seed(0)
        heads.append(critic(name, (1, 32, 32)).eval().heads["z"])
    features = torch.randn(50, heads[0].layers[0][0].in_features)
    bent, linear = (head(features) for head in heads)
    assert (linear < 0).any()
    assert (linear > 0).any()
    torch.testing.assert_close(bent, nn.functional.leaky_relu(linear, 0.2))
    assert layers(heads[1]) == layers(heads[0])[:-1]


@pytest.mark.parametrize("side", [32, 64, 128])
def test_width_scales_every_layer_at_every_size(side):
    for make in (lambda width: Trunk((3, side, side), width), lambda width: DCGANDecoder(10, (3, side, side), width)):
        narrow, wide = ([part for part in make(width).modules() if isinstance(part, BatchNorm)] for width in (8, 32))
        assert narrow
        assert [4 * len(part.weight) for part in narrow] == [len(part.weight) for part in wide]
    attentive = [layers(AttentionDecoder(10, (1, side, side), width)) for width in (8, 16)]
    assert attentive[0].count("attention") == attentive[1].count("attention") == 1
    assert attentive[0] != attentive[1]


@pytest.mark.parametrize("name", ["dcgan", "dcgan_attention"])
@pytest.mark.parametrize("shape", [(3, 32, 32), (1, 64, 64), (1, 128, 128), (2, 8, 8), (3, 9, 12), (1, 17, 40)])
def test_every_size_is_reproduced_and_every_pixel_and_code_has_an_effect(name, shape):
    torch.manual_seed(0)
    nets = critic(name, shape).double(), Generator(NETWORKS[name], 5, shape, 4).double()
    z = torch.randn(9, 5, dtype=torch.float64)
    image = nets[1](z[:, :3], z[:, 3:])
    assert image.shape == (9, *shape)
    assert image.abs().max() <= 1
    assert (nets[1](z + 1) != image).any(0).all()  # in some sample: ReLU may be zero in others
    x = torch.rand(3, *shape, dtype=torch.float64, requires_grad=True)
    outputs = nets[0](x)
    assert {head: tuple(out.shape) for head, out in outputs.items()} == {"real": (3,), "z": (3, 3), "s": (3, 2)}
    # With batch norm the sum over samples would not depend on the pixels.
    (grad,) = torch.autograd.grad(sum((out[0] ** 3).sum() for out in outputs.values()), x)
    assert (grad[0] != 0).all()


def test_noise_comes_before_every_layer_and_every_head():
    net, shapes = critic("dcgan", (3, 32, 32)).eval(), []

    def draw(*shape):
        shapes.append(shape)
        return torch.zeros(2, *shape)

    x = torch.rand(2, 3, 32, 32)
    without_noise = net(x)
    zero_noise = net(x, draw)
    assert shapes == [(32, 32, 3), (16, 16, 4), (8, 8, 8), (256,), (256,), (256,)]
    assert all(torch.equal(zero_noise[name], out) for name, out in without_noise.items())
    with_noise = net(x, lambda *shape: torch.ones(2, *shape))
    assert all(not torch.equal(with_noise[name], out) for name, out in without_noise.items())
    noiseless = critic("dcgan", (3, 32, 32), noise_std=0.0)
    noiseless(x, lambda *shape: pytest.fail("noise was drawn without need"))


def test_noise_has_the_given_std():
    net = critic("mlp", (5,), noise_std=0.3)
    net.trunk.encoder = nn.Identity()
    net.heads = nn.ModuleDict()
    features = net.trunk(torch.full((2, 5), 10.0), lambda *shape: torch.ones(2, *shape))
    torch.testing.assert_close(features, torch.full((2, 5), 10.3))
    head = critic("dcgan", (3, 8, 8), noise_std=0.3).heads["z"]
    head.layers[0] = nn.Identity()
    torch.testing.assert_close(head(features, lambda *shape: torch.ones(2, *shape)), torch.full((2, 5), 10.6))


def test_with_spectral_norm_codes_get_noise_before_both_of_their_layers():
    net, shapes = critic("dcgan_attention", (1, 32, 32)), []

    def draw(*shape):
        shapes.append(shape)
        return torch.zeros(2, *shape)

    net(torch.rand(2, 1, 32, 32), draw)
    assert shapes == [(32, 32, 1), (16, 16, 4), (8, 8, 8), (256,), (256,), (8,), (256,), (8,)]  # real, then twice z and twice s


def test_spectral_norm_makes_the_largest_singular_value_one():
    torch.manual_seed(0)
    trunk = Trunk((1, 32, 32), 4, spectral=True)
    for _ in range(50):  # each pass in training refines the estimate
        trunk(torch.rand(2, 1, 32, 32))
    for step in trunk.steps:
        weight = step[0].weight.detach()
        assert torch.linalg.matrix_norm(weight.flatten(1), 2).item() == pytest.approx(1, abs=1e-3)


def test_attention_by_hand():
    torch.manual_seed(0)
    layer = SelfAttention(8)
    x = torch.randn(2, 8, 2, 3)
    assert torch.equal(layer(x), x)  # gamma starts at 0
    nn.init.constant_(layer.gamma, 0.7)
    out = layer(x)
    f, g, h = ((part.weight[:, :, 0, 0] @ x.flatten(2)) + part.bias[:, None] for part in (layer.f, layer.g, layer.h))
    for row in range(2):
        for j in range(6):
            weights = torch.softmax(torch.stack([f[row, :, i] @ g[row, :, j] for i in range(6)]), 0)
            mixed = sum(weights[i] * h[row, :, i] for i in range(6))
            torch.testing.assert_close(out.flatten(2)[row, :, j], x.flatten(2)[row, :, j] + 0.7 * mixed)


def test_weights_are_initialised_as_in_dcgan():
    torch.manual_seed(0)
    net = Trunk((3, 32, 32), 64)
    assert net.steps[1][0].weight.std().item() == pytest.approx(0.02, rel=0.02)
    assert net.steps[1][1].weight.mean().item() == pytest.approx(1, abs=0.01)
    assert net.steps[1][0].bias is None  # batch norm would cancel it


def test_auto_is_dcgan_for_images_and_fully_connected_for_vectors():
    assert select_gan_networks("auto", (3, 8, 8)) is NETWORKS["dcgan"]
    assert select_gan_networks("auto", (5,)) is NETWORKS["mlp"]
    assert select_gan_networks("conv", (3, 8, 8)) is NETWORKS["conv"]
