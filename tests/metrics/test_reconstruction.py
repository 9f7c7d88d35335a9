import numpy as np
import pytest

from untwine.metrics import reconstruction_error
from untwine.metrics.reconstruction import squared_errors


def test_equal_samples_have_no_error_in_either_dtype():
    x = np.random.default_rng(0).integers(0, 256, (5, 3, 8, 8), dtype=np.uint8)
    assert reconstruction_error(x, x) == 0.0
    assert reconstruction_error(x, x.astype(np.float32) / 255) < 1e-14


def test_black_for_white_is_one():
    white = np.full((2, 1, 8, 8), 255, dtype=np.uint8)
    assert reconstruction_error(white, np.zeros((2, 1, 8, 8), dtype=np.float32)) == 1.0
    assert reconstruction_error(white, np.zeros_like(white)) == 1.0  # unsigned differences must not wrap


def test_the_mean_sample_scores_the_mean_variance():
    x = np.random.default_rng(0).normal(size=(50, 4)) * [1.0, 2.0, 3.0, 4.0]
    assert reconstruction_error(x, np.broadcast_to(x.mean(0), x.shape)) == pytest.approx(x.var(0).mean())


def test_errors_by_sample_average_to_the_whole():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 6, 3))
    by_hand = [sum((a - b) ** 2 for a, b in zip(one, two, strict=True)) / 3 for one, two in zip(x, y, strict=True)]
    assert squared_errors(x, y) == pytest.approx(by_hand)
    assert reconstruction_error(x, y) == pytest.approx(np.mean(by_hand))


def test_shapes_must_agree():
    with pytest.raises(ValueError, match="one shape"):
        reconstruction_error(np.ones((3, 2)), np.ones((3, 1)))
