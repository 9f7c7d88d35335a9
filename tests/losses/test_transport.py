"""The exact W2 between equal batches: by hand, by invariants, against recorded values and against POT."""

from pathlib import Path

import numpy as np
import ot
import pytest
import torch
from torch.autograd import gradcheck

from untwine.losses.transport import w2_squared

GOLDEN = np.load(Path(__file__).parents[1] / "golden" / "optimal_transport.npz", allow_pickle=False)


def points(n=20, width=3, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return tuple(torch.randn(n, width, dtype=torch.float64, generator=generator) for _ in range(2))


def pot(a, b):
    weights = np.full(len(a), 1 / len(a))
    return ot.emd2(weights, weights, ot.dist(a.numpy(), b.numpy(), metric="sqeuclidean"))


def test_recorded_value():
    value = w2_squared(torch.from_numpy(GOLDEN["equal_x"]), torch.from_numpy(GOLDEN["equal_y"]))
    assert value.item() == pytest.approx(float(GOLDEN["equal_w2_squared"]), rel=1e-12)


@pytest.mark.parametrize(("n", "width"), [(1, 1), (2, 5), (17, 2), (64, 16)])
def test_pot_agrees(n, width):
    a, b = points(n, width, seed=n)
    b = 2 * b + 1
    assert w2_squared(a, b).item() == pytest.approx(pot(a, b), rel=1e-10)


def test_on_a_line_the_sorted_points_are_matched():
    a, b = points(31, 1)
    sorted_cost = (a.sort(0).values - b.sort(0).values).square().mean()
    torch.testing.assert_close(w2_squared(a, b), sorted_cost)


def test_invariants():
    a, b = points()
    distance = w2_squared(a, b)
    assert distance > 0
    assert w2_squared(a, a) == 0
    assert w2_squared(a, a[torch.randperm(len(a))]) == 0
    torch.testing.assert_close(w2_squared(b, a), distance)
    torch.testing.assert_close(w2_squared(a.flip(0), b.roll(3, 0)), distance)
    torch.testing.assert_close(w2_squared(a + 5, b + 5), distance)
    torch.testing.assert_close(w2_squared(3 * a, 3 * b), 9 * distance)


def test_a_translation_costs_its_squared_length():
    a, b = points()
    shift = torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64)
    torch.testing.assert_close(w2_squared(a, a + shift), shift.square().sum())
    # Of two sets in general, the means and the rest add up.
    rest = w2_squared(a - a.mean(0), b - b.mean(0))
    torch.testing.assert_close(w2_squared(a, b), rest + (a.mean(0) - b.mean(0)).square().sum())


def test_gradient_by_hand():
    a, b = (points_.requires_grad_() for points_ in points(6, 2))
    # Danskin: the plan is a constant, so the gradient is that of the matched pairs' mean squared distance.
    order = min(_permutations(6), key=lambda pi: (a - b[pi]).square().sum().item())
    grad_a, grad_b = torch.autograd.grad(w2_squared(a, b), (a, b))
    torch.testing.assert_close(grad_a, 2 * (a - b[order]).detach() / 6)
    expected = torch.zeros_like(b)
    expected[order] = 2 * (b[order] - a).detach() / 6
    torch.testing.assert_close(grad_b, expected)
    assert gradcheck(w2_squared, (a, b))


def _permutations(n):
    from itertools import permutations

    return [torch.tensor(order) for order in permutations(range(n))]


def test_codes_far_from_the_origin_keep_their_distance_in_float32():
    a, b = points(40, 4)
    far = w2_squared((a + 1000).float(), (b + 1000).float()).item()
    assert far == pytest.approx(w2_squared(a, b).item(), rel=1e-3)
