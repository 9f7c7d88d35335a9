"""Our batch norm against torch's: outputs, gradients and running statistics."""

import pytest
import torch
from torch import nn

from untwine.networks.conv import ConvEncoder
from untwine.networks.norm import BatchNorm, freeze_running_stats


def pair(channels=4):
    torch.manual_seed(0)
    ours, theirs = BatchNorm(channels).double(), nn.BatchNorm2d(channels).double()
    with torch.no_grad():
        for norm in (ours, theirs):
            norm.weight.copy_(torch.linspace(0.5, 2, channels))
            norm.bias.copy_(torch.linspace(-1, 1, channels))
    return ours, theirs


def batch(seed, n=6, channels=4):
    generator = torch.Generator().manual_seed(seed)
    return 3 * torch.randn(n, channels, 3, 5, dtype=torch.float64, generator=generator) + 2


def outcome(norm, x):
    x = x.clone().requires_grad_()
    out = norm(x)
    grads = torch.autograd.grad(out.sin().sum(), [x, norm.weight, norm.bias])
    return (out.detach(), *grads, norm.running_mean.clone(), norm.running_var.clone())


def test_training_and_evaluation_equal_torch():
    ours, theirs = pair()
    for seed in range(3):
        torch.testing.assert_close(outcome(ours, batch(seed)), outcome(theirs, batch(seed)))
    ours.eval()
    theirs.eval()
    before = ours.running_mean.clone()
    torch.testing.assert_close(outcome(ours, batch(9)), outcome(theirs, batch(9)))
    assert torch.equal(ours.running_mean, before)


def test_the_distributed_form_equals_torch_too():
    ours, theirs = pair()
    for seed in range(2):
        many = outcome(_Distributed(ours), batch(seed))
        torch.testing.assert_close(many, outcome(theirs, batch(seed)))


class _Distributed(nn.Module):
    """The form that sums over processes, run by one process."""

    def __init__(self, norm):
        super().__init__()
        self.norm, self.weight, self.bias = norm, norm.weight, norm.bias
        self.running_mean, self.running_var = norm.running_mean, norm.running_var

    def forward(self, x):
        return self.norm._over_processes(x)


def test_vectors_equal_torch():
    ours, theirs = BatchNorm(4).double(), nn.BatchNorm1d(4).double()
    x = batch(0)[..., 0, 0]
    torch.testing.assert_close(outcome(ours, x), outcome(theirs, x))


@pytest.mark.parametrize("form", [lambda norm, x: norm(x), lambda norm, x: norm._over_processes(x)])
def test_frozen_running_stats_are_not_updated(form):
    ours, theirs = pair()
    with freeze_running_stats(ours):
        out = form(ours, batch(1))
    assert torch.equal(ours.running_mean, torch.zeros(4, dtype=torch.float64))
    assert torch.equal(ours.running_var, torch.ones(4, dtype=torch.float64))
    torch.testing.assert_close(out, theirs(batch(1)))
    form(ours, batch(1))
    assert not torch.equal(ours.running_mean, torch.zeros(4, dtype=torch.float64))


def test_frozen_running_stats_end_with_an_error_and_nest():
    net = ConvEncoder((1, 16, 16), 2, 2, norm=True)
    norms = [part for part in net.modules() if isinstance(part, BatchNorm)]
    assert norms

    def pass_and_fail():
        with freeze_running_stats(net):
            assert not any(norm.track_running_stats for norm in norms)
            with freeze_running_stats(norms[0]):
                pass
            assert not norms[0].track_running_stats
            raise KeyError

    with pytest.raises(KeyError):
        pass_and_fail()
    assert all(norm.track_running_stats for norm in norms)


def test_saved_and_loaded_norms_evaluate_alike():
    ours, _ = pair()
    ours(batch(0))
    again = BatchNorm(4).double()
    again.load_state_dict(ours.state_dict())
    torch.testing.assert_close(again.eval()(batch(1)), ours.eval()(batch(1)), rtol=0, atol=0)
