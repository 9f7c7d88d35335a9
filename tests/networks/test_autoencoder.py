"""The autoencoder: its likelihoods against torch, its latent blocks, and the user's own modules."""

from types import SimpleNamespace

import pytest
import torch
from torch import nn
from torch.distributions import Laplace, Normal
from torch.nn import functional

from untwine.losses.gaussian import LOGVAR_BOUND
from untwine.networks.autoencoder import Autoencoder


def build(shape=(5,), likelihood="auto", own=None, **changes):
    torch.manual_seed(0)
    fields = {"networks": "mlp", "width": 8, "scale": 0.3, "blocks": {"common": 3, "salient": 2}} | changes
    return Autoencoder(SimpleNamespace(likelihood=likelihood, **fields), shape, own or {}).double()


def samples(shape, n=6):
    return torch.rand(n, *shape, dtype=torch.float64, generator=torch.Generator().manual_seed(1))


def random_codes(n=6):
    generator = torch.Generator().manual_seed(2)
    return [torch.randn(n, width, dtype=torch.float64, generator=generator) for width in (3, 2)]


@pytest.mark.parametrize("shape", [(5,), (2, 8, 9)])
@pytest.mark.parametrize("kind", ["gaussian", "laplace"])
def test_reconstruction_is_the_density_at_the_decoded_mean(shape, kind):
    net, x, codes = build(shape, kind), samples(shape), random_codes()
    density = (Normal if kind == "gaussian" else Laplace)(net.mean(*codes), 0.3)
    truth = -density.log_prob(x).flatten(1).sum(1).mean()
    torch.testing.assert_close(net.reconstruction(x, *codes), truth)


def learned(net):
    """Return the parameter of the learned variance, which is in neither the encoder nor the decoder."""
    (parameter,) = [p for name, p in net.named_parameters() if not name.startswith(("encoder", "decoder"))]
    return parameter


def variance(net, x, codes):
    """Return the variance that the reconstruction implies at each entry, from its gradient (x - m) / (n sigma^2)."""
    x = x.clone().requires_grad_()
    (grad,) = torch.autograd.grad(net.reconstruction(x, *codes), x)
    return ((x - net.mean(*codes)) / (len(x) * grad)).detach()


@pytest.mark.parametrize("shape", [(5,), (2, 8, 9)])
def test_the_learned_variance_has_one_value_per_feature_or_channel(shape):
    net, x, codes = build(shape, "gaussian_learned"), samples(shape), random_codes()
    assert learned(net).numel() == shape[0]
    with torch.no_grad():
        learned(net).add_(0.1 * torch.randn(learned(net).shape))
    var = variance(net, x, codes)
    by_channel = var.transpose(0, 1).flatten(1)
    torch.testing.assert_close(by_channel, by_channel[:, :1].expand_as(by_channel))
    assert len(by_channel[:, 0].unique()) == shape[0]
    truth = -Normal(net.mean(*codes), var.sqrt()).log_prob(x).flatten(1).sum(1).mean()
    torch.testing.assert_close(net.reconstruction(x, *codes), truth)


@pytest.mark.parametrize("extreme", [-1e6, 1e6])
def test_a_learned_variance_is_bounded(extreme):
    net, x, codes = build(), samples((5,)), random_codes()
    with torch.no_grad():
        learned(net).fill_(extreme)
    assert variance(net, x, codes).log().abs().max() <= LOGVAR_BOUND + 1e-6
    assert torch.isfinite(net.reconstruction(x, *codes))


def test_bernoulli_takes_logits_and_means_are_probabilities():
    shape = (1, 8, 8)
    net, x, codes = build(shape, "bernoulli"), samples(shape), random_codes()
    by_hand = functional.binary_cross_entropy(net.mean(*codes), x, reduction="none").flatten(1).sum(1).mean()
    torch.testing.assert_close(net.reconstruction(x, *codes), by_hand)
    torch.testing.assert_close(net.mean(*codes), torch.sigmoid(net.output(*codes)))


def test_auto_is_learned_for_vectors_and_fixed_for_images():
    assert build((5,)).kind == "gaussian_learned"
    assert build((1, 8, 8)).kind == "gaussian"
    assert not [name for name, _ in build((1, 8, 8)).named_parameters() if not name.startswith(("encoder", "decoder"))]


def test_vectors_are_decoded_without_a_bound_and_images_within_zero_and_one():
    codes = [1e3 * block for block in random_codes()]
    assert build((5,)).mean(*codes).abs().max() > 2
    image = build((1, 8, 8)).mean(*codes)
    assert 0 <= image.min() <= image.max() <= 1


def test_codes_are_the_encoders_output_block_by_block_with_bounded_log_variances():
    net, x = build(), 1e6 * samples((5,))
    output = net.encoder(x)
    codes = net.encode(x)
    assert list(codes) == ["common", "salient"]
    assert torch.equal(torch.cat([code.mu for code in codes.values()], 1), output[:, :5])
    logvar = torch.cat([code.logvar for code in codes.values()], 1)
    assert output[:, 5:].abs().max() > 100
    assert logvar.abs().max() <= LOGVAR_BOUND
    torch.testing.assert_close(logvar, LOGVAR_BOUND * torch.tanh(output[:, 5:] / LOGVAR_BOUND))


def test_own_modules_replace_the_networks():
    own = {"encoder": nn.Linear(5, 10), "decoder": nn.Linear(5, 5)}
    net = build(own=own)
    assert net.encoder is own["encoder"]
    assert net.decoder is own["decoder"]
    with pytest.raises(ValueError, match=r"the decoder must map \(2, 5\) to \(2, 5\); got \(2, 4\)"):
        build(own={"decoder": nn.Linear(5, 4)})
    with pytest.raises(ValueError, match="networks must be modules named encoder or decoder; got head"):
        build(own={"head": nn.Linear(5, 4)})


def test_an_unknown_or_unsuitable_likelihood_is_refused():
    with pytest.raises(ValueError, match=r"likelihood must be 'auto', 'gaussian_learned', .*; got 'poisson'"):
        build(likelihood="poisson")
    with pytest.raises(ValueError, match=r"likelihood='bernoulli' needs images in .*; got vectors"):
        build(likelihood="bernoulli")


def test_separate_encoders_have_nothing_in_common_and_the_layout_of_one():
    torch.manual_seed(0)
    fields = SimpleNamespace(likelihood="auto", networks="mlp", width=8, scale=0.3, blocks={"common": 3, "salient": 2})
    net, x = Autoencoder(fields, (5,), {}, separate=True).double(), samples((5,))
    codes, own = net.encode(x), net.encoder.of_block
    for name, width in net.blocks.items():
        torch.testing.assert_close(codes[name].mu, own[name](x)[:, :width])
        raw = own[name](x)[:, width:]
        torch.testing.assert_close(codes[name].logvar, LOGVAR_BOUND * torch.tanh(raw / LOGVAR_BOUND))
        other = next(encoder for key, encoder in own.items() if key != name)
        grads = torch.autograd.grad(codes[name].mu.sum(), list(other.parameters()), allow_unused=True)
        assert all(grad is None or not grad.any() for grad in grads)
    with pytest.raises(ValueError, match=r"trunks='separate' builds the encoders itself; got an encoder of your own"):
        Autoencoder(fields, (5,), {"encoder": nn.Linear(5, 10)}, separate=True)


def test_the_networks_of_higgins_are_those_of_2d_shapes():
    fields = SimpleNamespace(likelihood="bernoulli", networks="higgins", width=None, scale=0.3, blocks={"z": 10})
    net = Autoencoder(fields, (1, 64, 64), {})
    lines = [
        [
            f"{layer.in_features}-{layer.out_features}" if isinstance(layer, nn.Linear) else type(layer).__name__
            for layer in half
        ]
        for half in (net.encoder.layers, net.decoder.layers)
    ]
    assert lines[0] == ["4096-1200", "ReLU", "1200-1200", "ReLU", "1200-20"]
    assert lines[1] == ["10-1200", "Tanh", "1200-1200", "Tanh", "1200-1200", "Tanh", "1200-4096"]
    assert net.mean(net.encode(torch.rand(2, 1, 64, 64))["z"].mu).shape == (2, 1, 64, 64)


@pytest.mark.parametrize("kind", ["gaussian", "laplace"])
def test_the_best_learned_scale_of_each_channel_is_that_of_its_errors(kind):
    torch.manual_seed(0)
    fields = SimpleNamespace(likelihood=kind, networks="mlp", width=8, scale="learned", blocks={"z": 2})
    net, x = Autoencoder(fields, (3, 4, 4), {}).double(), torch.rand(64, 3, 4, 4, dtype=torch.float64)
    x[:, 1] = 0.5 + 0.1 * x[:, 1]
    z = torch.zeros(64, 2, dtype=torch.float64)
    error = x - net.mean(z).detach()
    best = error.square().mean((0, 2, 3)).sqrt() if kind == "gaussian" else error.abs().mean((0, 2, 3))
    for factor, sign in ((0.9, -1), (1.0, 0), (1.1, 1)):  # the gradient vanishes there, and points there from both sides
        logvar = 2 * (factor * best).log()
        net.noise.data = (10 * torch.atanh(logvar / 10) / 10).view(3, 1, 1)
        torch.testing.assert_close(torch.exp(0.5 * net.logvar).ravel(), factor * best)
        (grad,) = torch.autograd.grad(net.reconstruction(x, z), net.noise)
        assert (grad.abs() < 1e-9).all() if sign == 0 else (sign * grad > 1).all()


def test_a_scale_of_auto_is_learned_and_a_number_is_not():
    for scale, learned in (("auto", True), ("learned", True), (0.3, False)):
        fields = SimpleNamespace(likelihood="auto", networks="mlp", width=8, scale=scale, blocks={"z": 2})
        assert hasattr(Autoencoder(fields, (1, 8, 8), {}), "noise") == learned
        assert hasattr(Autoencoder(fields, (5,), {}), "noise")  # vectors always learn theirs


def test_vectors_are_drawn_with_the_learned_scale_of_a_laplace_likelihood():
    fields = SimpleNamespace(likelihood="laplace", networks="mlp", width=8, scale="learned", blocks={"z": 2})
    net, generator = Autoencoder(fields, (3,), {}), torch.Generator().manual_seed(0)
    with torch.no_grad():
        net.noise.copy_(torch.tensor([-0.6, -0.2, 0.1]))
        z = torch.zeros(20_000, 2)
        x = net.sample(lambda *shape: torch.randn(len(z), *shape, generator=generator), z)
        spread = (x - net.mean(z)).abs().mean(0)
    torch.testing.assert_close(spread, torch.exp(0.5 * net.logvar).detach(), rtol=0.03, atol=0)


@pytest.mark.parametrize(("kind", "power"), [("gaussian", 2), ("laplace", 1)])
def test_a_factor_of_the_learned_scale_weights_errors_as_a_scale_so_many_times_as_large(kind, power):
    torch.manual_seed(0)
    one = SimpleNamespace(likelihood=kind, networks="mlp", width=8, scale="learned", blocks={"z": 2})
    net = Autoencoder(one, (1, 4, 4), {}).double()
    three = Autoencoder(SimpleNamespace(**vars(one), scale_factor=3.0), (1, 4, 4), {}).double()
    three.load_state_dict(net.state_dict())
    x, z = torch.rand(5, 1, 4, 4, dtype=torch.float64), torch.randn(5, 2, dtype=torch.float64)
    torch.testing.assert_close(three.reconstruction(x, z), net.reconstruction(x, z) / 3**power)
    fixed = SimpleNamespace(**{**vars(one), "scale": 3 * float(torch.exp(0.5 * net.logvar.detach()))})
    fixed = Autoencoder(fixed, (1, 4, 4), {}).double()
    fixed.load_state_dict({key: value for key, value in net.state_dict().items() if key != "noise"})
    grads = [
        torch.autograd.grad(one.reconstruction(x, z), one.decoder.parameters(), retain_graph=True) for one in (three, fixed)
    ]
    for mine, others in zip(*grads, strict=True):
        torch.testing.assert_close(mine, others)
    vectors = SimpleNamespace(**{**vars(one), "scale_factor": 3.0})
    assert Autoencoder(vectors, (5,), {}).temperature == 1
