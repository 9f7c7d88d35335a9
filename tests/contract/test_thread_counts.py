"""Equal bits with equal threads, and codes within a tolerance with other numbers of them, as docs/reproducibility.md states."""

import warnings
from contextlib import contextmanager

import numpy as np
import pytest
import torch
from small import NAMES, images, small, vectors
from threadpoolctl import threadpool_limits

from untwine.evaluation.scoring import evaluate

THREADS = (1, 2, 4)
# Of a code's standard deviation, root mean square over samples: games on images amplify rounding from step to step.
TOLERANCE = {"vectors": 1e-3, "images": 0.1}
QUICK = ("principled_vae", "double_infogan", "lord", "contrastive_pca")


@contextmanager
def threads(number):
    before = torch.get_num_threads()
    with threadpool_limits(number):
        torch.set_num_threads(number)
        try:
            yield
        finally:
            torch.set_num_threads(before)


def wide_data(kind):
    """Enough samples and features that the work is shared out among threads."""
    return images(160, 140, (3, 32, 32)) if kind == "images" else vectors(160, 140, 200)


def codes(name, kind, number):
    """Fit and encode with this number of threads: a few steps, as rounding errors of a game grow from step to step."""
    data = wide_data(kind)
    with threads(number):
        return small(name, epochs=1, batch=64, width=64, seed=3).fit(data).encode(data)


def difference(one, other):
    """Return the largest difference of a block: root mean square over samples, in standard deviations of its widest code."""
    assert one.keys() == other.keys()
    return max(np.sqrt(np.square(one[b] - other[b]).mean(0)).max() / max(one[b].std(0).max(), 1e-6) for b in one)


def check(name, kind):
    fitted = {number: codes(name, kind, number) for number in THREADS}
    again = codes(name, kind, 2)
    assert all(np.array_equal(again[block], fitted[2][block]) for block in again), "equal threads, other bits"
    for number in THREADS[1:]:
        assert difference(fitted[1], fitted[number]) < TOLERANCE[kind], number


@pytest.mark.parametrize("name", QUICK)
def test_threads_change_rounding_alone(name):
    check(name, "vectors")


@pytest.mark.soak
@pytest.mark.parametrize("kind", ["vectors", "images"])
@pytest.mark.parametrize("name", NAMES)
def test_threads_change_rounding_alone_in_every_method(name, kind):
    check(name, kind)


def test_another_seed_differs_far_more_than_another_number_of_threads():
    data = wide_data("vectors")
    one, other = (small("principled_vae", epochs=1, batch=64, seed=seed).fit(data).encode(data) for seed in (3, 4))
    assert difference(one, other) > 100 * TOLERANCE["vectors"]


def test_scores_of_given_codes_do_not_depend_on_threads():
    data = wide_data("vectors")
    method = small("contrastive_pca", seed=3).fit(data)
    scored = []
    for number in THREADS:
        with threads(number), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of classes with few samples
            scored.append({name: one.value for name, one in evaluate(method, data, ["probe", "clustering"], 2).items()})
    assert scored[0]
    assert scored[0] == scored[1] == scored[2]
