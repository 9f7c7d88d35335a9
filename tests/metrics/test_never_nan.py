"""No metric of single latents gives NaN, whatever is dead, constant or there twice."""

from functools import partial

import numpy as np
import pytest
from codes_made import continuous, discrete

from untwine import metrics

FEW = {"train": 200, "test": 100}
SCORES = {
    "sap": metrics.sap,
    "sap, grouped": partial(metrics.sap, correlated=0.9),
    "sap, svm": partial(metrics.sap, classifier="svm"),
    "mig": metrics.mig,
    "modularity": metrics.modularity,
    "explicitness": metrics.explicitness,
    "dci": metrics.dci,
    "z_diff": partial(metrics.z_diff, **FEW),
    "factor_vae_score": partial(metrics.factor_vae_score, **FEW),
    "information_matrix": metrics.information_matrix,
    "unsupervised": lambda codes, factors: metrics.unsupervised(codes),
}
N = 240
ROUND = (np.ones((N, 1)), np.full((N, 1), 1e-9), np.full((N, 1), 1e9))
DEAD = {
    "a constant latent": lambda z: np.hstack([z, 0.1 * ROUND[0]]),
    "only constant latents": lambda z: np.hstack(ROUND),
    "a constant far from 0": lambda z: np.hstack([z, ROUND[2]]),
    "a latent of rounding errors": lambda z: np.hstack([z, 1 + 1e-16 * z[:, :1]]),
    "every latent twice": lambda z: np.hstack([z, z]),
    "one latent": lambda z: z[:, :1],
}


@pytest.fixture(autouse=True)
def fewer_trees(monkeypatch):
    monkeypatch.setattr("untwine.metrics.boosting.TREES", 3)


def numbers(found):
    """Yield all numbers of an answer, however they are kept."""
    for part in found if isinstance(found, tuple) else (found,):
        yield from np.asarray(part, dtype=float).ravel()


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("what", DEAD)
def test_dead_and_repeated_latents_give_numbers(name, what):
    codes, factors = discrete(N)
    assert np.isfinite(list(numbers(SCORES[name](DEAD[what](codes), factors)))).all()


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("kind", [discrete, continuous])
def test_a_constant_factor_gives_numbers(name, kind):
    if (name, kind) == ("sap, svm", continuous):
        pytest.skip("lines have no classifier")
    codes, factors = kind(N)
    constant = np.full((N, 1), 3, dtype=factors.dtype)
    for more in (np.hstack([factors, constant]), np.hstack([constant, factors])):
        assert np.isfinite(list(numbers(SCORES[name](codes, more)))).all()


def test_attributes_of_dead_codes_are_guessed():
    truth = np.arange(N) % 3 == 0
    for codes in (np.hstack(ROUND), 1e9 + np.zeros((N, 2))):
        found = metrics.attributes(codes, truth)
        assert found.accuracy == pytest.approx(2 / 3, abs=0.01)
        assert np.isfinite(list(numbers(found))).all()
