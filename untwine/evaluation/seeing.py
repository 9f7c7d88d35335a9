"""Networks that look at images for scores of realism: the standard one where its weights are there, else another, by name.

Weights are read from `weights/` in the data folder, as safetensors or as npz of plain arrays: `inception_v3*`, the network of
the FID with the names of its usual weights in torch (and 1008 classes), or `squeezenet1_1*`, with torchvision's names. Where
neither is there, features are those of convolutions with fixed random weights: they tell worse from better, and no more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn
from torch.nn import functional

from untwine._typing import Array
from untwine.data.location import data_folder
from untwine.latents import Latents
from untwine.metrics.blocks import Measurement
from untwine.metrics.encoded import Encoded, Fitted
from untwine.metrics.intervals import halves, over_halves
from untwine.metrics.realism import class_score, frechet
from untwine.networks.pretrained.inception import Inception
from untwine.networks.pretrained.squeezenet import SqueezeNet
from untwine.networks.pretrained.weights import find_weights, load_weights
from untwine.samples import Samples

AT_ONCE = 50
MOST_ROWS = 1_000  # of each group; fewer make the Frechet distance larger, so all methods get as many
# A network's name, how its weights begin, what makes it, and the side of the images it looks at.
KNOWN: tuple[tuple[str, str, Callable[[], nn.Module], int], ...] = (
    ("inception", "inception_v3", Inception, 299),
    ("squeezenet", "squeezenet1_1", SqueezeNet, 128),
)


class Seen(NamedTuple):
    """What a network saw: features (n, d), and probabilities (n, k) of classes where it knows some."""

    features: Array
    classes: Array | None


class Eye(NamedTuple):
    """A network by its name, and how it looks at images (n, C, H, W), uint8 or in [0, 1]."""

    name: str
    look: Callable[[ArrayLike], Seen]


def feature_extractor(name: str | None = None, folder: str | Path | None = None) -> Eye:
    """Return a network to look at images with.

    Parameters
    ----------
    name
        `inception`, `squeezenet` or `random`; the first of these whose weights are there, where not given.
    folder
        The folder that holds `weights/`; without it the environment variable UNTWINE_DATA, then ~/.cache/untwine.
    """
    names = [known for known, *_ in KNOWN] + ["random"]
    if name is not None and name not in names:
        raise ValueError(f"the network must be one of {', '.join(names)}; got {name!r}.")
    place = data_folder(folder) / "weights"
    for known, start, make, side in KNOWN:
        path = find_weights(start, folder)
        if path is not None and name in (None, known):
            return Eye(known, _look(load_weights(make(), path), side))
        if name == known:
            raise ValueError(
                f"the weights of {known} were expected as {place / start}*.safetensors or .npz, but are not there."
            )
    return Eye("random", _look(_random(), 64))


def custom_extractor(name: str, network: Callable[[Tensor], Any], side: int) -> Eye:
    """Return your own network as one to look at images with, under a name of its own, which its scores will bear.

    Parameters
    ----------
    name
        A word that no network here has: `frechet_<name>` and `class_score_<name>` are then its scores.
    network
        From images (n, 3, side, side) in [0, 1] to features (n, d), or to features and probabilities (n, k) of classes; a
        module is put in evaluation mode.
    side
        The side that images are brought to.
    """
    taken = [known for known, *_ in KNOWN] + ["random"]
    if not name.isidentifier() or name in taken:
        raise ValueError(f"custom_extractor must be a name of one word, other than {', '.join(taken)}; got {name!r}.")
    if isinstance(network, nn.Module):
        network.eval()

    def both(x: Tensor) -> tuple[Tensor, Tensor | None]:
        said = network(x)
        features, classes = said if isinstance(said, tuple) else (said, None)
        if features.ndim != 2 or len(features) != len(x):
            raise ValueError(f"{name} expected to return features (n, d), but gave {tuple(features.shape)} for {len(x)} rows.")
        return features, classes

    return Eye(name, _look(both, side))


def realism(method: Fitted, samples: Samples, eye: Eye | None = None, seeds: int = 5) -> dict[str, Measurement]:
    """Return how real what a fitted method makes looks to a network: the metric `realism`, with a network of your choice.

    Parameters
    ----------
    method, samples
        A method that draws codes, and images that it did not learn from.
    eye
        What `feature_extractor` or `custom_extractor` gives; the first known network whose weights are there, where not given.
    seeds
        How many halves of the rows an interval takes.
    """
    data = Encoded(method, samples, method.encode(samples.x), seeds)
    return {one.name: one for one in measured(eye or feature_extractor(), generated_images(data), seeds)}


class _Random(nn.Module):
    """Three convolutions that were never trained; the mean and the deviation of each channel of each are features."""

    def __init__(self) -> None:
        super().__init__()
        sizes = ((3, 32), (32, 64), (64, 128))
        self.layers = nn.ModuleList(nn.Conv2d(before, after, 4, 2, 1) for before, after in sizes)

    def forward(self, x: Tensor) -> tuple[Tensor, None]:
        found, x = [], 2 * x - 1
        for layer in self.layers:
            x = functional.leaky_relu(layer(x), 0.2)
            x = x / x.square().mean((1, 2, 3), keepdim=True).sqrt().clamp(min=1e-6)
            found += [x.mean((2, 3)), x.std((2, 3))]
        return torch.cat(found, 1), None


def _random() -> nn.Module:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return _Random().eval()


def _look(network: Callable[[Tensor], tuple[Tensor, Tensor | None]], side: int) -> Callable[[ArrayLike], Seen]:
    def look(images: ArrayLike) -> Seen:
        x = np.asarray(images)
        if x.ndim != 4 or x.shape[1] not in (1, 3):
            raise ValueError(f"a network must be images (n, C, H, W) with 1 or 3 channels; got shape {x.shape}.")
        found = []
        with torch.no_grad():
            for start in range(0, len(x), AT_ONCE):
                rows = torch.as_tensor(x[start : start + AT_ONCE])
                rows = rows.float() / 255 if rows.dtype == torch.uint8 else rows.float()
                rows = functional.interpolate(rows, (side, side), mode="bilinear", align_corners=False, antialias=True)
                found.append(network(rows.clamp(0, 1).expand(-1, 3, -1, -1)))
        features = np.concatenate([one.numpy() for one, _ in found])
        classes = [one.numpy() for _, one in found if one is not None]
        return Seen(features, np.concatenate(classes) if classes else None)

    return look


def generated_images(data: Encoded, seed: int = 0) -> Iterator[tuple[str, Array, Array]]:
    """Yield a group's name, real images of it, and as many made from codes of the prior, of backgrounds without s."""
    target, prior = data.target, getattr(data.method, "prior")  # noqa: B009 (not all that is fitted has one)
    apart = "salient" in data.latents and not target.all()
    sides = {"target": target, "background": ~target} if apart else {"x": np.ones_like(target)}
    for number, (name, side) in enumerate(sides.items()):
        rows = np.random.default_rng(seed).permutation(np.flatnonzero(side))[:MOST_ROWS]
        drawn = prior(len(rows), torch.Generator().manual_seed(seed + number))
        codes = Latents({block: code.numpy() for block, code in drawn.items()}, data.latents.neutral)
        codes = codes.remove("salient") if name == "background" else codes
        yield name, data.samples.x[np.sort(rows)], data.method.decode(codes)


def measured(eye: Eye, groups: Iterator[tuple[str, Array, Array]], seeds: int) -> Iterator[Measurement]:
    """Yield the Frechet distance and the class score of each group, with intervals over halves of the rows.

    They are called `fid` and `inception_score` where the network is the standard one, and by its name where it is not.
    """
    standard = eye.name == "inception"
    distance, score = ("fid", "inception_score") if standard else (f"frechet_{eye.name}", f"class_score_{eye.name}")
    for name, real, made in groups:
        a, b = eye.look(real), eye.look(made)
        one, value = np.zeros(len(real), dtype=int), frechet(a.features, b.features)
        pairs = zip(halves(one, seeds, 1), halves(one, seeds, 2), strict=True)
        parts = [frechet(a.features[i], b.features[j]) for i, j in pairs]
        yield Measurement(f"{distance}.{name}", value, over_halves(value, parts, (0, np.inf)), len(real), "lower")
        if b.classes is not None:
            value = class_score(b.classes)
            parts = [class_score(b.classes[i]) for i in halves(one, seeds)]
            yield Measurement(f"{score}.{name}", value, over_halves(value, parts, (1, np.inf)), len(real), "higher")
            truth = class_score(a.classes) if a.classes is not None else value
            yield Measurement(f"{score}_real.{name}", truth, (truth, truth), len(real), "info")
