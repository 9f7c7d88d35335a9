"""The maximum mean discrepancy: by hand, against recorded values, and without bias."""

import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.autograd import gradcheck

from untwine.losses import mmd

GOLDEN = {
    key: torch.from_numpy(value)
    for key, value in np.load(Path(__file__).parents[1] / "golden" / "mmd_mmcvae.npz", allow_pickle=False).items()
}


GAMMAS = tuple(10.0**power for power in range(-6, 7))


def kernel(a, b):
    return mmd.gaussian_kernel(a, b, GAMMAS)


def mmd_squared(a, b, gammas=GAMMAS, **options):
    return mmd.mmd_squared(a, b, gammas, **options)


def points(n, width=3, seed=0):
    return torch.randn(n, width, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def test_recorded_values_of_the_kernel_and_of_the_biased_estimate():
    x, y, s = GOLDEN["x"], GOLDEN["y"], GOLDEN["s"]
    assert tuple(GOLDEN["gammas"].tolist()) == pytest.approx(GAMMAS)
    torch.testing.assert_close(kernel(x, y)[0], GOLDEN["gram_xy_row0"])
    for a, b, name in ((x, x, "xx"), (x, y, "xy"), (y, y, "yy")):
        torch.testing.assert_close(kernel(a, b).mean(), GOLDEN[f"gram_{name}_mean"])
    torch.testing.assert_close(mmd_squared(x, y, biased=True), GOLDEN["mmd_xy"])
    torch.testing.assert_close(mmd_squared(s, torch.zeros_like(s), biased=True), GOLDEN["mmd_s_zeros"])
    each = torch.stack([mmd_squared(x, y, (gamma,), biased=True) for gamma in GAMMAS])
    torch.testing.assert_close(each, GOLDEN["mmd_xy_per_gamma"], atol=1e-12, rtol=1e-6)


def test_recorded_gradient_of_the_biased_estimate():
    y = GOLDEN["y"].clone().requires_grad_()
    (grad,) = torch.autograd.grad(mmd_squared(GOLDEN["x"], y, GAMMAS[:7], biased=True), y)
    torch.testing.assert_close(grad, GOLDEN["grad_y_of_mmd_first7_gammas"])


def test_float32_has_no_distance_of_a_point_to_itself():
    x = GOLDEN["x"].float()
    assert torch.equal(kernel(x, x).diagonal(), torch.full((len(x),), float(len(GAMMAS))))
    assert mmd_squared(x, GOLDEN["y"].float(), biased=True).item() == pytest.approx(GOLDEN["mmd_xy"].item(), abs=1e-5)


def test_two_points_each_by_hand():
    a, b = torch.tensor([[0.0], [1.0]], dtype=torch.float64), torch.tensor([[2.0], [4.0]], dtype=torch.float64)
    e = lambda squared: math.exp(-0.5 * squared)  # noqa: E731
    across = (e(4) + e(16) + e(1) + e(9)) / 4
    assert mmd_squared(a, b, (0.5,)).item() == pytest.approx(e(1) + e(4) - 2 * across)
    within = (2 + 2 * e(1)) / 4 + (2 + 2 * e(4)) / 4
    assert mmd_squared(a, b, (0.5,), biased=True).item() == pytest.approx(within - 2 * across)


def test_without_bias_equal_distributions_have_expectation_zero():
    draws = torch.stack(
        [
            torch.stack([mmd_squared(points(8, 2, 2 * i), points(12, 2, 2 * i + 1), biased=b) for b in (False, True)])
            for i in range(600)
        ]
    )
    error = draws.std(0) / math.sqrt(len(draws))
    assert abs(draws[:, 0].mean()) < 4 * error[0]
    assert (draws[:, 0] < 0).double().mean() > 0.3
    # What the diagonals add: each point's 13 kernels with itself instead of with another one.
    assert draws[:, 1].mean() > 50 * error[1]
    assert (draws[:, 1] >= 0).all()


def test_different_distributions_have_a_positive_value():
    a = points(200, 2)
    near, far, wide = (mmd_squared(a, b) for b in (points(200, 2, 1) + 0.5, points(200, 2, 1) + 2, 3 * points(200, 2, 1)))
    assert 0.02 < near < far
    assert wide > 0.1


def test_invariants():
    a, b = points(9), points(7, seed=1) + 1
    for biased in (False, True):
        value = mmd_squared(a, b, biased=biased)
        torch.testing.assert_close(mmd_squared(b, a, biased=biased), value)
        torch.testing.assert_close(mmd_squared(a.flip(0), b.roll(3, 0), biased=biased), value)
        torch.testing.assert_close(mmd_squared(a + 5, b + 5, biased=biased), value)
    assert mmd_squared(a, a, biased=True).abs() < 1e-12


def test_distance_to_a_point_mass_at_zero_vanishes_only_there():
    zeros = torch.zeros(16, 3)
    assert mmd_squared(zeros, zeros) == 0
    values = [mmd_squared(scale * points(16).float(), zeros).item() for scale in (1e-3, 1e-2, 1e-1, 1.0)]
    assert all(before < after for before, after in pairwise(values))
    assert values[0] > 0


def test_gradients_are_right_and_finite_where_points_coincide():
    a, b = points(4, 2).requires_grad_(), points(5, 2, 1).requires_grad_()
    gammas = (0.01, 0.3, 2.0)
    assert gradcheck(lambda a, b: mmd_squared(a, b, gammas), (a, b))
    same = torch.zeros(4, 2, requires_grad=True)
    (grad,) = torch.autograd.grad(mmd_squared(same, torch.zeros(4, 2)), same)
    assert torch.equal(grad, torch.zeros(4, 2))


def test_one_point_has_no_pairs():
    with pytest.raises(ValueError, match=r"needs at least 2 points in each set; got 1 and 4; raise batch to at least 2"):
        mmd_squared(points(1), points(4))
