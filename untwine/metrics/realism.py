"""How close generated images are to real ones, and how confident and varied their classes are, in the features of a network."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.latents import Latents
from untwine.metrics.checks import check_codes
from untwine.metrics.directions import HIGHER, INFO, LOWER
from untwine.metrics.encoded import Encoded, Fitted, encode
from untwine.metrics.intervals import halves_interval, random_halves
from untwine.metrics.metric import Measurement, Metric, Requirement, ScoreInfo
from untwine.metrics.requirements import IMAGES
from untwine.samples import Samples

if TYPE_CHECKING:
    from untwine.networks.pretrained.feature_extractor import FeatureExtractor

MAX_SAMPLES = 1_000  # of each group; fewer make the Frechet distance larger, so all methods get as many


def frechet(real: ArrayLike, generated: ArrayLike) -> float:
    r"""Return the Frechet distance of two sets of features (n, d) and (m, d) (Heusel et al. 2017).

    $|\mu_1 - \mu_2|^2 + \mathrm{tr}(\Sigma_1 + \Sigma_2 - 2 (\Sigma_1 \Sigma_2)^{1/2})$: the squared W2 distance of the two
    Gaussians with the sets' means and covariances (divided by n - 1). At least 0, lower is better: 0 means equal means and
    covariances. Few samples make it larger, so only values of equally many samples can be compared. It is called FID when the
    features are those of the Inception network of Heusel et al., and by the network's name otherwise.
    """
    a, b = check_codes(real), check_codes(generated)
    if a.shape[1] != b.shape[1] or min(len(a), len(b)) < 2:
        raise ValueError(f"frechet needs two sets of at least 2 samples with equal features; got {a.shape} and {b.shape}.")
    first, second = (np.atleast_2d(np.cov(features, rowvar=False)) for features in (a, b))
    values, vectors = np.linalg.eigh(first)
    root = vectors * np.sqrt(np.maximum(values, 0)) @ vectors.T
    # The trace of the root of a product is that of a symmetric matrix with the same eigenvalues.
    shared = np.sqrt(np.maximum(np.linalg.eigvalsh(root @ second @ root), 0)).sum()
    return max(0.0, float(np.square(a.mean(0) - b.mean(0)).sum() + np.trace(first) + np.trace(second) - 2 * shared))


def class_score(probabilities: ArrayLike) -> float:
    r"""Return how confident and varied class probabilities (n, k) are: $\exp E\, KL(p(y|x) \| p(y))$ (Salimans et al. 2016).

    From 1 to k, higher is better: k means that every image is surely of one class and all classes are equally frequent, 1 that
    all images get the same probabilities. It is called the inception score when the classifier is the Inception network.
    """
    p = np.asarray(probabilities, dtype=float)
    if p.ndim != 2 or not len(p) or not np.isfinite(p).all() or (p < 0).any() or not np.allclose(p.sum(axis=1), 1, atol=1e-3):
        raise ValueError(
            f"probabilities must have shape (n, k) and sum to 1 over k; got other values, of shape "
            f"{p.shape}; apply a softmax to logits first."
        )
    mean = p.mean(axis=0)
    logs = np.where(p > 0, np.log(np.where(p > 0, p, 1)) - np.log(np.where(mean > 0, mean, 1)), 0.0)
    return float(np.exp((p * logs).sum(axis=1).mean()))


def realism_scores(
    method: Fitted, samples: Samples, extractor: FeatureExtractor | None = None, seeds: int = 5
) -> dict[str, Measurement]:
    """Return the scores of the metric `realism` with a feature extractor of your choice.

    Parameters
    ----------
    method, samples
        A fitted method with a prior, and images that it was not trained on.
    extractor
        From `feature_extractor` or `custom_extractor` of `untwine.networks.pretrained.feature_extractor`; the first known
        network whose weights are there, where not given.
    seeds
        How many random halves of the samples an interval takes.
    """
    data = Encoded(method, samples, encode(method, samples), seeds)
    return {one.name: one for one in _measure(data, extractor)}


def _real_samples(data: Encoded, seed: int = 0) -> dict[str, Array]:
    """Return random samples of each group in their order, or of all where the method has no salient block."""
    target = data.is_target
    contrastive = "salient" in data.latents and not target.all()
    groups = {"target": target, "background": ~target} if contrastive else {"x": np.ones_like(target)}
    drawn = {name: np.random.default_rng(seed).permutation(np.flatnonzero(mask)) for name, mask in groups.items()}
    return {name: np.sort(indices[:MAX_SAMPLES]) for name, indices in drawn.items()}


def generated_images(data: Encoded, seed: int = 0) -> Iterator[tuple[str, Array, Array]]:
    """Yield a group's name, real images of it, and as many decoded from the prior; of the background without salient block."""
    import torch

    prior = getattr(data.method, "prior")  # noqa: B009 (not every fitted method has one)
    for number, (name, indices) in enumerate(_real_samples(data, seed).items()):
        drawn = prior(len(indices), torch.Generator().manual_seed(seed + number))
        latents = Latents({block: codes.numpy() for block, codes in drawn.items()}, data.latents.neutral)
        latents = latents.remove("salient") if name == "background" else latents
        yield name, data.samples.x[indices], data.method.decode(latents)


def _measure(data: Encoded, extractor: FeatureExtractor | None = None) -> Iterator[Measurement]:
    """Yield the Frechet distance and the class score of each group, with intervals over halves of the samples.

    They are called `fid` and `inception_score` for the Inception network, and by the network's name for others.
    """
    from untwine.networks.pretrained.feature_extractor import feature_extractor

    extractor = extractor or feature_extractor()
    standard, name = extractor.name == "inception", extractor.name
    distance, score = ("fid", "inception_score") if standard else (f"frechet_{name}", f"class_score_{name}")
    own = _real_samples(data)
    for group, real, generated in generated_images(data):
        a, b = extractor.extract(real), extractor.extract(generated)
        one_class, value = np.zeros(len(real), dtype=int), frechet(a.features, b.features)
        halves = random_halves(one_class, data.seeds, 1, data.sources_of(own[group]))
        pairs = zip(halves, random_halves(one_class, data.seeds, 2), strict=True)
        repeats = [frechet(a.features[i], b.features[j]) for i, j in pairs]
        interval = halves_interval(value, repeats, (0, np.inf))
        yield Measurement(f"{distance}.{group}", value, interval, len(real), "lower")
        if b.probabilities is not None:
            value = class_score(b.probabilities)
            repeats = [class_score(b.probabilities[i]) for i in random_halves(one_class, data.seeds)]
            interval = halves_interval(value, repeats, (1, np.inf))
            yield Measurement(f"{score}.{group}", value, interval, len(real), "higher")
            truth = class_score(a.probabilities) if a.probabilities is not None else value
            yield Measurement(f"{score}_real.{group}", truth, (truth, truth), len(real), "info")


METRIC = Metric(
    name="realism",
    function=_measure,
    description="Frechet distance and class score of generated images, in the features of a pretrained network that they are "
    "named after.",
    scores={
        "fid": ScoreInfo(
            "Are generated images distributed like real ones? Frechet distance in the features of Inception: 0 is equal.", LOWER
        ),
        "inception_score": ScoreInfo(
            "Are generated images of clear and varied classes? Inception score: 1 is neither.", HIGHER
        ),
        "inception_score_real": ScoreInfo("The Inception score of real images, for comparison.", INFO),
        "frechet_*": ScoreInfo(
            "Are generated images distributed like real ones? Frechet distance in features of the named network: 0 is equal.",
            LOWER,
        ),
        "class_score_*_real": ScoreInfo("The class score of real images, for comparison.", INFO),
        "class_score_*": ScoreInfo(
            "Are generated images of clear and varied classes? Class score of the named network: 1 is neither.", HIGHER
        ),
    },
    requires=(
        IMAGES,
        Requirement(
            "a prior",
            lambda data: hasattr(data.method, "prior"),
            "a method that can sample from its prior",
            "one without a prior",
            "evaluate another method",
        ),
    ),
)
