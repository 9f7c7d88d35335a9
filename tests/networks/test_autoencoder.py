"""The autoencoder says of x what its likelihood's name says, in blocks of the widths it was asked for."""

from types import SimpleNamespace

import pytest
import torch
from torch import nn
from torch.distributions import Laplace, Normal
from torch.nn import functional

from untwine.losses.gaussian import LOGVAR_BOUND
from untwine.networks.autoencoder import Autoencoder


def made(shape=(5,), likelihood="auto", own=None, **changes):
    torch.manual_seed(0)
    asks = {"networks": "mlp", "width": 8, "scale": 0.3, "blocks": {"common": 3, "salient": 2}} | changes
    return Autoencoder(SimpleNamespace(likelihood=likelihood, **asks), shape, own or {}).double()


def rows(shape, n=6):
    return torch.rand(n, *shape, dtype=torch.float64, generator=torch.Generator().manual_seed(1))


def drawn(n=6):
    generator = torch.Generator().manual_seed(2)
    return [torch.randn(n, width, dtype=torch.float64, generator=generator) for width in (3, 2)]


@pytest.mark.parametrize("shape", [(5,), (2, 8, 9)])
@pytest.mark.parametrize("kind", ["gaussian", "laplace"])
def test_reconstruction_is_the_density_at_the_decoded_mean(shape, kind):
    net, x, codes = made(shape, kind), rows(shape), drawn()
    density = (Normal if kind == "gaussian" else Laplace)(net.mean(*codes), 0.3)
    truth = -density.log_prob(x).flatten(1).sum(1).mean()
    torch.testing.assert_close(net.reconstruction(x, *codes), truth)


def learned(net):
    """Return the parameter of the learned variance: what belongs neither to the encoder nor to the decoder."""
    (found,) = [p for name, p in net.named_parameters() if not name.startswith(("encoder", "decoder"))]
    return found


def variance(net, x, codes):
    """Return the variance that the reconstruction implies at each entry, from its gradient (x - m) / (n sigma^2)."""
    x = x.clone().requires_grad_()
    (grad,) = torch.autograd.grad(net.reconstruction(x, *codes), x)
    return ((x - net.mean(*codes)) / (len(x) * grad)).detach()


@pytest.mark.parametrize("shape", [(5,), (2, 8, 9)])
def test_a_learned_variance_is_one_for_each_column_or_channel(shape):
    net, x, codes = made(shape, "gaussian_learned"), rows(shape), drawn()
    assert learned(net).numel() == shape[0]
    with torch.no_grad():
        learned(net).add_(0.1 * torch.randn(learned(net).shape))
    found = variance(net, x, codes)
    by_channel = found.transpose(0, 1).flatten(1)
    torch.testing.assert_close(by_channel, by_channel[:, :1].expand_as(by_channel))
    assert len(by_channel[:, 0].unique()) == shape[0]
    truth = -Normal(net.mean(*codes), found.sqrt()).log_prob(x).flatten(1).sum(1).mean()
    torch.testing.assert_close(net.reconstruction(x, *codes), truth)


@pytest.mark.parametrize("extreme", [-1e6, 1e6])
def test_a_learned_variance_is_bounded(extreme):
    net, x, codes = made(), rows((5,)), drawn()
    with torch.no_grad():
        learned(net).fill_(extreme)
    assert variance(net, x, codes).log().abs().max() <= LOGVAR_BOUND + 1e-6
    assert torch.isfinite(net.reconstruction(x, *codes))


def test_bernoulli_takes_logits_and_means_are_probabilities():
    shape = (1, 8, 8)
    net, x, codes = made(shape, "bernoulli"), rows(shape), drawn()
    by_hand = functional.binary_cross_entropy(net.mean(*codes), x, reduction="none").flatten(1).sum(1).mean()
    torch.testing.assert_close(net.reconstruction(x, *codes), by_hand)
    torch.testing.assert_close(net.mean(*codes), torch.sigmoid(net.output(*codes)))


def test_auto_is_learned_for_vectors_and_fixed_for_images():
    assert made((5,)).kind == "gaussian_learned"
    assert made((1, 8, 8)).kind == "gaussian"
    assert not [name for name, _ in made((1, 8, 8)).named_parameters() if not name.startswith(("encoder", "decoder"))]


def test_vectors_are_decoded_without_a_bound_and_images_within_zero_and_one():
    codes = [1e3 * part for part in drawn()]
    assert made((5,)).mean(*codes).abs().max() > 2
    image = made((1, 8, 8)).mean(*codes)
    assert 0 <= image.min() <= image.max() <= 1


def test_codes_are_the_encoders_output_block_by_block_with_bounded_log_variances():
    net, x = made(), 1e6 * rows((5,))
    output = net.encoder(x)
    codes = net.encode(x)
    assert list(codes) == ["common", "salient"]
    assert torch.equal(torch.cat([code.mu for code in codes.values()], 1), output[:, :5])
    logvar = torch.cat([code.logvar for code in codes.values()], 1)
    assert output[:, 5:].abs().max() > 100
    assert logvar.abs().max() <= LOGVAR_BOUND
    torch.testing.assert_close(logvar, LOGVAR_BOUND * torch.tanh(output[:, 5:] / LOGVAR_BOUND))


def test_own_modules_take_their_place():
    own = {"encoder": nn.Linear(5, 10), "decoder": nn.Linear(5, 5)}
    net = made(own=own)
    assert net.encoder is own["encoder"]
    assert net.decoder is own["decoder"]
    with pytest.raises(ValueError, match="the decoder expected to map"):
        made(own={"decoder": nn.Linear(5, 4)})
    with pytest.raises(ValueError, match="expected modules named encoder and decoder; got head"):
        made(own={"head": nn.Linear(5, 4)})


def test_what_cannot_be_said_of_x_is_refused():
    with pytest.raises(ValueError, match=r"likelihood must be one of auto, gaussian_learned, .*; got 'poisson'"):
        made(likelihood="poisson")
    with pytest.raises(ValueError, match="'bernoulli' must be images"):
        made(likelihood="bernoulli")
