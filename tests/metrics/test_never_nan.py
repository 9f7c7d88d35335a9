"""No metric of single latents gives NaN, with dead, constant or duplicated latents."""

from functools import partial

import numpy as np
import pytest
from known_codes import continuous, discrete

from untwine import metrics
from untwine.metrics.checks import LARGEST

FEW = {"train": 200, "test": 100}
SCORES = {
    "sap": metrics.sap_score,
    "sap, grouped": partial(metrics.sap_score, correlated=0.9),
    "sap, svm": partial(metrics.sap_score, classifier="svm"),
    "mig": metrics.mig_score,
    "modularity": metrics.modularity_score,
    "explicitness": metrics.explicitness_score,
    "dci": metrics.dci_scores,
    "z_diff": partial(metrics.z_diff_score, **FEW),
    "factor_vae_score": partial(metrics.factor_vae_score, **FEW),
    "information_matrix": metrics.information_matrix,
    "unsupervised": lambda codes, factors: metrics.unsupervised_scores(codes),
    "udr": lambda codes, factors: metrics.udr_score([codes, factors.astype(float), codes[:, ::-1]]),
    "udr, no latent counts as dead": lambda codes, factors: metrics.udr_score([codes, codes, factors], dead=0.0),
    "stability": lambda codes, factors: metrics.stability_score([codes, factors.astype(float), codes[:, ::-1]]),
}
N = 240


def all_of(value, z):
    return np.full((len(z), 1), value)


DEAD = {
    "a constant latent": lambda z: np.hstack([z, all_of(0.1, z)]),
    "only constant latents": lambda z: np.hstack([all_of(value, z) for value in (1.0, 1e-9, 1e9)]),
    "a constant far from 0": lambda z: np.hstack([z, all_of(1e9, z)]),
    "a latent of rounding errors": lambda z: np.hstack([z, 1 + 1e-16 * z[:, :1]]),
    "every latent twice": lambda z: np.hstack([z, z]),
    "one latent": lambda z: z[:, :1],
}


@pytest.fixture(autouse=True)
def fewer_trees(monkeypatch):
    monkeypatch.setattr("untwine.metrics.boosting.TREES", 3)


def numbers(result):
    """Yield all numbers of a result."""
    for field in result if isinstance(result, tuple) else (result,):
        yield from np.asarray(field, dtype=float).ravel()


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("what", DEAD)
@pytest.mark.parametrize("kind", [discrete, continuous])
def test_dead_and_duplicated_latents_give_finite_scores(name, what, kind):
    codes, factors = kind(N)
    assert np.isfinite(list(numbers(SCORES[name](DEAD[what](codes), factors)))).all()


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("kind", [discrete, continuous])
def test_a_constant_factor_gives_finite_scores(name, kind):
    codes, factors = kind(N)
    constant = np.full((N, 1), 3, dtype=factors.dtype)
    for more in (np.hstack([factors, constant]), np.hstack([constant, factors])):
        assert np.isfinite(list(numbers(SCORES[name](codes, more)))).all()


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("kind", [discrete, continuous])
def test_large_codes_give_finite_scores_and_larger_ones_are_refused(name, kind):
    codes, factors = kind(N)
    codes = codes / np.abs(codes).max()
    assert np.isfinite(list(numbers(SCORES[name](0.9 * LARGEST * codes, factors)))).all()
    with pytest.raises(ValueError, match="rescale"):
        SCORES[name](1e200 * codes, factors)


@pytest.mark.parametrize("score", [metrics.z_diff_score_from_draws, metrics.factor_vae_score_from_draws])
@pytest.mark.parametrize("what", DEAD)
def test_drawn_codes_with_dead_latents_give_finite_scores(score, what):
    def draw(factors):
        return DEAD[what](factors.astype(float))

    assert np.isfinite(list(numbers(score(draw, [3, 4], **FEW)))).all()


@pytest.mark.parametrize("what", DEAD)
def test_attribute_accuracy_of_codes_with_dead_latents_is_finite(what):
    codes, factors = discrete(N)
    result = metrics.attribute_accuracy(DEAD[what](codes), factors > 1)
    assert np.isfinite(list(numbers(result))).all()


def test_attribute_accuracy_of_dead_codes_is_that_of_the_majority_class():
    truth = np.arange(N) % 3 == 0
    for codes in (DEAD["only constant latents"](truth), 1e9 + np.zeros((N, 2))):
        result = metrics.attribute_accuracy(codes, truth)
        assert result.accuracy == pytest.approx(2 / 3, abs=0.01)
        assert np.isfinite(list(numbers(result))).all()
