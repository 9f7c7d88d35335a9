"""Hostile data: every fit is either trained, with nothing but finite numbers, or refused in a sentence."""

from itertools import product

import numpy as np
import pytest
import torch
from small import NAMES, small, vectors

from untwine import Samples, TrainingError


def changed(x, groups=None):
    data = vectors()
    return Samples(x(data.x.astype("float64")), groups=data.groups if groups is None else groups, labels=data.labels)


def columns(value):
    def change(x):
        x[:, :3] = value
        return x

    return change


def outlier(x):
    x[5, 2] = 1e8
    return x


# What is hostile in it, and how the method is changed.
HOSTILE = {
    "scaled by 1e4": (lambda: changed(lambda x: 1e4 * x), {}),
    "scaled by 1e-4": (lambda: changed(lambda x: 1e-4 * x), {}),
    "offset by 1e6": (lambda: changed(lambda x: x + 1e6), {}),
    "constant columns": (lambda: changed(columns(7.0)), {}),
    "constant everywhere": (lambda: changed(lambda x: 0 * x + 3.0), {}),
    "every row twice": (lambda: changed(lambda x: np.repeat(x[::2], 2, axis=0)), {}),
    "a background of two": (lambda: vectors(target=60, background=2), {}),
    "1 to 1000": (lambda: vectors(target=2, background=2000), {}),
    "an outlier of 1e8": (lambda: changed(outlier), {}),
    "a rate of 10": (vectors, {"lr": 10.0, "epochs": 40}),
}
CASES = list(product(HOSTILE, NAMES, (0, 1)))


def outcome(kind, name, seed):
    """Fit, and return "trained" or "refused" after looking at every number."""
    make, changes = HOSTILE[kind]
    data, method = make(), small(name, **({"seed": seed, "epochs": 3} | changes))
    try:
        method.fit(data)
        fate = "trained"
    except (ValueError, TypeError, TrainingError) as error:
        sentence = str(error)
        assert sentence.endswith(".")
        assert "\n" not in sentence
        if not isinstance(error, TrainingError):
            return "refused"
        fate = "stopped"  # and the last good weights are there to be looked at
    assert all(torch.isfinite(value).all() for value in method.nets_.state_dict().values())
    assert np.isfinite([row.value for row in method.history_]).all()
    assert np.isfinite(method.transform(data.x)).all()
    assert np.isfinite(method.reconstruct(data.x)).all()
    return fate


# A skipped step is announced by a warning, which is what should happen here.
skips = pytest.mark.filterwarnings("ignore:a step of stage")


@skips
@pytest.mark.parametrize(("kind", "name", "seed"), CASES[::8])
def test_hostile_data(kind, name, seed):
    assert outcome(kind, name, seed) in ("trained", "refused", "stopped")


@skips
@pytest.mark.soak
def test_a_hundred_short_fits_on_hostile_data():
    fates = {case: outcome(*case) for case in CASES}
    assert len(fates) >= 100
    # To refuse everything would be safe too: most of this can be trained on.
    assert sum(fate == "trained" for fate in fates.values()) >= 0.8 * len(fates)


def test_images_without_contrast_are_trained_on_too():
    x = np.full((30, 1, 8, 8), 255, dtype=np.uint8)
    x[:15] = 0
    data = Samples(x, groups=[0, 1] * 15, labels=[0, 1, 2] * 10)
    for name in NAMES:
        method = small(name, networks="conv_norm", likelihood="bernoulli").fit(data)
        assert np.isfinite(method.transform(data.x)).all()
