"""Random draws as functions of standard normal noise, and adversarial losses."""

import math

import pytest
import torch

from untwine.losses import adversarial

NOISE = torch.randn(20_000, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def test_uniform_noise_is_uniform_between_its_ends():
    u = adversarial.uniform(NOISE, -1.0, 1.0)
    assert u.min() > -1
    assert u.max() < 1
    assert u.mean().abs() < 0.02
    assert u.var().item() == pytest.approx(1 / 3, abs=0.01)
    torch.testing.assert_close(adversarial.uniform(torch.zeros(1), 0.0, 1.0), torch.full((1,), 0.5))


def test_indices_are_uniform_and_never_out_of_range():
    counts = torch.bincount(adversarial.uniform_index(NOISE, 5), minlength=5)
    assert len(counts) == 5
    assert (counts - 4000).abs().max() < 250
    assert adversarial.uniform_index(torch.tensor([-40.0, 40.0]), 3).tolist() == [0, 2]


def test_binary_cross_entropies_of_logits():
    logits = torch.tensor([-2.0, 0.0, 3.0], dtype=torch.float64)
    p = 1 / (1 + torch.exp(-logits))
    torch.testing.assert_close(adversarial.bce_real(logits), -torch.log(p))
    torch.testing.assert_close(adversarial.bce_fake(logits), -torch.log(1 - p))
    assert adversarial.bce_real(torch.zeros(1)).item() == pytest.approx(math.log(2))


def test_two_codes_share_one_dimension():
    s, other = torch.arange(6.0).view(2, 3), 10 + torch.arange(6.0).view(2, 3)
    expected = torch.tensor([[10.0, 11.0, 2.0], [3.0, 14.0, 15.0]])
    assert torch.equal(adversarial.share_dimension(torch.tensor([2, 0]), s, other), expected)


def test_a_term_at_weight_0_is_never_computed():
    def never():
        raise AssertionError

    terms = adversarial.weighted_terms({"a": (0.5, lambda: torch.tensor(3.0)), "b": (0.0, never)})
    assert terms == {"a": torch.tensor(1.5)}
