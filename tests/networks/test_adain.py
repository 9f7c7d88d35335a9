"""AdaIN by hand, the paper's layers at its width, and images of every size."""

import pytest
import torch
from torch import nn

from untwine.networks.adain import AdaIN, AdaINEncoder, AdaINGenerator
from untwine.networks.class_content import MODULE_NAMES, build_encoder, build_generator
from untwine.networks.custom import check_module_names


class Fields:
    def __init__(self, networks="auto", width=None, n_class=5, n_content=4):
        self.networks, self.width, self.n_class, self.n_content = networks, width, n_class, n_content


@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last])
@pytest.mark.parametrize("size", [(4, 5), (1, 1), (16, 16)])
def test_the_gradients_of_adain_are_those_of_its_formula(layout, size):
    rng = torch.Generator().manual_seed(0)
    norm = AdaIN(3, 6).double()
    x = (5 + torch.randn(4, 6, *size, generator=rng, dtype=torch.float64)).contiguous(memory_format=layout).requires_grad_()
    e = torch.randn(4, 3, generator=rng, dtype=torch.float64).requires_grad_()
    g = torch.randn(4, 6, *size, generator=rng, dtype=torch.float64)
    inputs = (x, e, *norm.parameters())
    result = norm(x, e)
    scale, shift = norm.modulation.linear(e)[:, :, None, None].chunk(2, 1)
    var, mean = torch.var_mean(x, (2, 3), keepdim=True, correction=0)
    truth = (1 + scale) * (x - mean) * torch.rsqrt(var + 1e-5) + shift
    torch.testing.assert_close(result, truth)
    assert result.is_contiguous(memory_format=layout) or 1 in size
    with torch.no_grad():
        torch.testing.assert_close(norm(x, e), result, rtol=0, atol=0)
    for ours, torchs in zip(torch.autograd.grad(result, inputs, g), torch.autograd.grad(truth, inputs, g), strict=True):
        torch.testing.assert_close(ours, torchs)
    assert torch.autograd.gradcheck(norm, (x[:2, :, :4], e[:2]))


def test_adain_in_half_precision_is_close_to_that_in_single():
    torch.manual_seed(0)
    norm, x, e = AdaIN(3, 6), torch.randn(4, 6, 8, 8), torch.randn(4, 3)
    truth = torch.autograd.grad(norm(x, e).square().sum(), norm.parameters())
    with torch.autocast("cpu", torch.bfloat16):
        y = norm(x.bfloat16(), e)
    result = torch.autograd.grad(y.float().square().sum(), norm.parameters())
    for a, b in zip(result, truth, strict=True):
        torch.testing.assert_close(a, b, rtol=0.1, atol=0.02 * float(b.abs().max()))


def test_adain_sets_mean_and_std_of_each_channel_by_the_class():
    torch.manual_seed(0)
    norm, x, e = (
        AdaIN(3, 2).double(),
        5 + 3 * torch.randn(4, 2, 6, 7, dtype=torch.float64),
        torch.randn(4, 3, dtype=torch.float64),
    )
    out = norm(x, e)
    scale, shift = (e @ norm.modulation.linear.weight.T + norm.modulation.linear.bias).chunk(2, 1)
    torch.testing.assert_close(out.mean((2, 3)), shift)
    torch.testing.assert_close(out.std((2, 3), correction=0), (1 + scale).abs(), atol=1e-5, rtol=1e-5)
    # Brightness and contrast of the input have no effect: the class alone sets them.
    torch.testing.assert_close(norm(10 * x - 3, e), out, atol=1e-5, rtol=1e-5)


def test_at_64_pixels_and_width_64_the_layers_are_the_papers():
    with torch.device("meta"):
        generator, encoder = AdaINGenerator((3, 64, 64), 256, 128, 64), AdaINEncoder((3, 64, 64), 128, 64)
    linear = [(m.in_features, m.out_features) for m in generator.linear if isinstance(m, nn.Linear)]
    assert linear == [(128, 512), (512, 1024), (1024, 4096)]
    convolutions = [(m.out_channels, m.kernel_size[0]) for m in generator.modules() if isinstance(m, nn.Conv2d)]
    assert convolutions == [(256, 3)] * 4 + [(64, 5), (3, 7)]
    assert [(m.modulation.linear.in_features, m.modulation.linear.out_features) for m in generator.norms] == [(256, 512)] * 4
    convolutions = [(m.out_channels, m.kernel_size[0], m.stride[0]) for m in encoder.modules() if isinstance(m, nn.Conv2d)]
    assert convolutions == [(64, 7, 1), (128, 4, 2), (256, 4, 2), (256, 4, 2), (256, 4, 2)]
    assert [(m.in_features, m.out_features) for m in encoder.linear if isinstance(m, nn.Linear)] == [
        (4096, 256),
        (256, 256),
        (256, 128),
    ]


@pytest.mark.parametrize("shape", [(1, 16, 16), (3, 9, 12), (3, 28, 28), (1, 64, 64), (3, 128, 128), (2, 17, 33)])
def test_every_size_is_reproduced_and_both_codes_matter(shape):
    fields = Fields("adain", width=2)
    generator, encoder = build_generator(fields, shape, {}), build_encoder("class", 5, fields, shape, {})
    e, c = torch.randn(2, 5), torch.randn(2, 4)
    x = generator(e, c)
    assert x.shape == (2, *shape)
    assert 0 < x.min() < x.max() < 1
    assert not torch.allclose(generator(e.flip(0), c), x)
    assert not torch.allclose(generator(e, c.flip(0)), x)
    assert encoder(x).shape == (2, 5)


@pytest.mark.parametrize("networks", ["mlp", "conv", "conv64"])
def test_other_networks_decode_both_codes_too(networks):
    generator = build_generator(Fields(networks, 4), (1, 16, 16), {})
    e, c = torch.randn(2, 5), torch.randn(2, 4)
    x = generator(e, c)
    assert not torch.allclose(generator(e.flip(0), c), x)
    assert not torch.allclose(generator(e, c.flip(0)), x)


def test_vectors_have_an_mlp_without_sigmoid():
    generator = build_generator(Fields(), (6,), {})
    assert generator(10 * torch.randn(64, 5), 10 * torch.randn(64, 4)).max() > 1  # no sigmoid
    with pytest.raises(ValueError, match=r"networks='adain' needs images .*; got vectors with 6 features; use networks='mlp'"):
        build_generator(Fields("adain"), (6,), {})
    with pytest.raises(ValueError, match="networks='conv' needs images"):
        build_encoder("class", 5, Fields("conv"), (6,), {})


def test_own_modules_are_checked_by_name_and_output_shape():
    class Custom(nn.Module):
        def forward(self, e, c):
            return (e.sum(1) + c.sum(1))[:, None].expand(-1, 6)

    assert build_generator(Fields(), (6,), {"generator": Custom()})(torch.ones(1, 5), torch.ones(1, 4)).tolist() == [[9.0] * 6]
    with pytest.raises(ValueError, match=r"the generator must map \(2, 5\) and \(2, 4\) to \(2, 7\); got \(2, 6\)"):
        build_generator(Fields(), (7,), {"generator": Custom()})
    with pytest.raises(ValueError, match=r"the class_encoder must map \(2, 6\) to \(2, 5\); got \(2, 3\)"):
        build_encoder("class", 5, Fields(), (6,), {"class_encoder": nn.Linear(6, 3)})
    with pytest.raises(ValueError, match="modules named generator or class_encoder or content_encoder; got encoder"):
        check_module_names({"encoder": nn.Linear(1, 1)}, MODULE_NAMES)
