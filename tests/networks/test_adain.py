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
