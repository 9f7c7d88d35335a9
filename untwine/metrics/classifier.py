"""Small networks that are trained on real samples and then predict the class or the factors of others."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn
from torch.nn import functional

from untwine._typing import Array
from untwine.samples import unit_range

SIDE = 32
STEPS, BATCH, RATE = 400, 64, 3e-3
STEPS_PER_CLASS = 8  # with many classes, 400 steps show each of them too seldom
PREDICT_BATCH = 1_000


def network_input(x: ArrayLike, name: str) -> Tensor:
    """Return samples as the networks take them: vectors as they are, images on [0, 1] with sides of at most 32."""
    samples = np.asarray(x)
    if samples.ndim not in (2, 4) or samples.dtype.kind not in "uif" or 0 in samples.shape:
        raise ValueError(f"{name} must be vectors (n, d) or images (n, C, H, W); got {samples.dtype} of shape {samples.shape}.")
    values = torch.as_tensor(unit_range(samples))
    if not torch.isfinite(values).all():
        raise ValueError(f"{name} must be finite; got NaN or infinity; leave those samples out.")
    if samples.ndim == 4 and max(samples.shape[2:]) > SIDE:
        values = functional.adaptive_avg_pool2d(values, (min(SIDE, samples.shape[2]), min(SIDE, samples.shape[3])))
    return values


def train_classifier(x: Tensor, labels: Array, classes: int, seed: int = 0) -> Callable[[Tensor], Array]:
    """Train on samples and their classes; return a function that predicts the class of samples."""
    truth = torch.as_tensor(labels, dtype=torch.int64)
    steps = max(STEPS, STEPS_PER_CLASS * len(np.unique(labels)))
    network = _train(x, classes, lambda out, batch: functional.cross_entropy(out, truth[batch]), seed, steps)
    return lambda other: network(other).argmax(1)


def train_regressor(x: Tensor, factors: Array, seed: int = 0) -> Callable[[Tensor], Array]:
    """Train on samples and their factors (n, k), NaN for unknown; return a function that predicts factors in their units."""
    known = ~np.isnan(factors)
    mean, std = np.nanmean(factors, 0), np.nanstd(factors, 0)
    std = np.where(std > 0, std, 1.0)
    truth = torch.as_tensor(np.where(known, (factors - mean) / std, 0.0), dtype=torch.float32)
    weight = torch.as_tensor(known, dtype=torch.float32)
    network = _train(x, factors.shape[1], lambda out, batch: (weight[batch] * (out - truth[batch]) ** 2).mean(), seed)
    return lambda other: mean + std * network(other)


def _train(
    x: Tensor, outputs: int, loss: Callable[[Tensor, Tensor], Tensor], seed: int, steps: int = STEPS
) -> Callable[[Tensor], Array]:
    """Return the trained network as a function; the global random state is left unchanged."""
    mean, scale = _standardisation(x)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = _network(tuple(x.shape[1:]), outputs)
    optimizer = torch.optim.Adam(network.parameters(), lr=RATE)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=RATE, total_steps=steps)
    rng = np.random.default_rng(seed)
    order = np.concatenate([rng.permutation(len(x)) for _ in range(1 + steps * BATCH // len(x))])
    for i in range(steps):
        batch = torch.as_tensor(order[i * BATCH : (i + 1) * BATCH])
        optimizer.zero_grad()
        torch.autograd.backward(loss(network((x[batch] - mean) / scale), batch))
        optimizer.step()
        schedule.step()

    def predict(other: Tensor) -> Array:
        with torch.no_grad():
            batches = torch.split(other, PREDICT_BATCH)
            return np.concatenate([network((batch - mean) / scale).numpy() for batch in batches])

    return predict


def _standardisation(x: Tensor) -> tuple[Tensor, Tensor]:
    """Return the mean and the standard deviation: of each column of vectors, of all pixels of images together."""
    dims = tuple(range(x.ndim)) if x.ndim == 4 else (0,)
    std = x.std(dims)
    return x.mean(dims), torch.where(std > 0, std, torch.ones(()))


def _network(shape: tuple[int, ...], outputs: int) -> nn.Module:
    if len(shape) == 1:
        return nn.Sequential(nn.Linear(shape[0], 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, outputs))
    layers: list[nn.Module] = []
    width, side = shape[0], min(shape[1:])
    for channels in (16, 32, 64):
        if side < 4:
            break
        layers += [nn.Conv2d(width, channels, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
        width, side = channels, side // 2
    features = width * (shape[1] >> len(layers) // 3) * (shape[2] >> len(layers) // 3)
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(features, 64), nn.ReLU(), nn.Linear(64, outputs))
