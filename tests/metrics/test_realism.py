"""The Frechet distance and the class score, by closed form and by meaning, and the scores of generated images."""

from pathlib import Path

import numpy as np
import pytest
import torch
from known_methods import Halves
from known_methods import images as synthetic_images
from small import images, small

from untwine.evaluation.scoring import evaluate
from untwine.metrics import class_score, frechet, realism_scores
from untwine.metrics.encoded import Encoded
from untwine.metrics.realism import generated_images
from untwine.networks.pretrained.feature_extractor import custom_extractor

GOLDEN = np.load(Path(__file__).parents[1] / "golden" / "frechet_distance.npz", allow_pickle=False)


def features(n=4000, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def test_equal_sets_have_distance_0_and_shifted_ones_their_squared_shift():
    x = features()
    assert frechet(x, x) == pytest.approx(0, abs=1e-6)
    assert frechet(x, x + np.array([1.0, 2.0, 0.0])) == pytest.approx(5.0, abs=1e-6)


def test_scaled_sets_have_the_distance_of_their_standard_deviations():
    x = features()
    total = np.linalg.eigvalsh(np.cov(x, rowvar=False)).sum()
    # Of S and 4 S: tr(S + 4 S - 2 (4 S^2)^(1/2)) = tr S; and the mean moves by itself.
    assert frechet(x, 2 * x) == pytest.approx(total + np.square(x.mean(0)).sum(), rel=1e-6)


def test_it_is_the_formula_with_scipys_root():
    from scipy.linalg import sqrtm

    a, b = features(seed=1), features(seed=2) @ np.array([[1.0, 0.5, 0.0], [0.0, 2.0, 0.3], [0.0, 0.0, 0.7]]) + 1
    first, second = np.cov(a, rowvar=False), np.cov(b, rowvar=False)
    expected = np.square(a.mean(0) - b.mean(0)).sum() + np.trace(first + second - 2 * np.real(sqrtm(first @ second)))
    assert frechet(a, b) == pytest.approx(expected, rel=1e-8)
    assert frechet(a, b) == pytest.approx(frechet(b, a), rel=1e-8)


@pytest.mark.parametrize(("kind", "close"), [("full_rank", 1e-9), ("singular", 1e-6)])
@pytest.mark.parametrize("theirs", ["fid_pytorch_fid", "fid_torch_fidelity", "by_eigenvalues"])
def test_it_is_the_distance_of_the_usual_packages(kind, close, theirs):
    expected = float(GOLDEN[f"{kind}_{theirs}"])
    assert frechet(GOLDEN[f"{kind}_a"], GOLDEN[f"{kind}_b"]) == pytest.approx(expected, rel=close)


def test_one_feature_and_fewer_samples_than_features():
    a, b = features(500, 1), 3 * features(500, 1, seed=1) + 1
    expected = (a.mean() - b.mean()) ** 2 + (a.std(ddof=1) - b.std(ddof=1)) ** 2
    assert frechet(a, b) == pytest.approx(expected, rel=1e-8)
    assert np.isfinite(frechet(features(5, 20), features(6, 20, seed=1)))


def test_the_class_score_is_the_number_of_classes_at_best_and_1_at_worst():
    assert class_score(np.eye(7)[np.arange(70) % 7]) == pytest.approx(7)
    assert class_score(np.full((30, 7), 1 / 7)) == pytest.approx(1)
    assert class_score(np.eye(7)[np.zeros(20, int)]) == pytest.approx(1)
    p = np.array([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]])
    mean = p.mean(0)
    assert class_score(p) == pytest.approx(np.exp((p * np.log(p / mean)).sum(1).mean()))


def test_bad_arrays_are_refused():
    with pytest.raises(ValueError, match="frechet needs two sets of at least 2 samples with equal features"):
        frechet(features(5, 3), features(5, 4))
    with pytest.raises(ValueError, match="probabilities must have shape"):
        class_score(np.ones((4, 3)))


def test_scores_are_named_after_the_network_and_the_group(tmp_path, monkeypatch):
    monkeypatch.setenv("UNTWINE_DATA", str(tmp_path))
    data = images()
    scores = evaluate(small("double_infogan").fit(data), data, metrics=["realism"])
    assert list(scores) == ["frechet_random.target", "frechet_random.background"]
    assert scores["frechet_random.target"].direction == "lower"
    assert (scores["frechet_random.target"].n, scores["frechet_random.background"].n) == (40, 36)
    one = evaluate(small("vae").fit(data), data, metrics=["realism"])
    assert [score.n for score in one.values()] == [76]
    assert list(one) == ["frechet_random.x"]
    with pytest.raises(ValueError, match="needs a method that can sample from its prior; got one without a prior"):
        evaluate(Halves(), synthetic_images(), metrics=["realism"])


def test_a_custom_network_scores_under_its_own_name(tmp_path, monkeypatch):
    monkeypatch.setenv("UNTWINE_DATA", str(tmp_path))
    data, sides = images(), []
    method = small("double_infogan").fit(data)

    def brightness(x):
        sides.append(tuple(x.shape[1:]))
        features = x.mean((2, 3))
        return features, torch.softmax(features, 1)

    scores = realism_scores(method, data, custom_extractor("brightness", brightness, 12))
    kinds = ("frechet_brightness", "class_score_brightness", "class_score_brightness_real")
    assert list(scores) == [f"{kind}.{side}" for side in ("target", "background") for kind in kinds]
    assert set(sides) == {(3, 12, 12)}
    (_, real, generated), _ = generated_images(Encoded(method, data, method.encode(data.x), 5))
    extractor = custom_extractor("again", lambda x: x.mean((2, 3)), 12)
    real, generated = (extractor.extract(x).features for x in (real, generated))
    assert scores["frechet_brightness.target"].value == pytest.approx(frechet(real, generated))
    standard = realism_scores(method, data)
    assert [(name, one.value) for name, one in standard.items()] == [
        (name, one.value) for name, one in evaluate(method, data, metrics=["realism"]).items()
    ]
