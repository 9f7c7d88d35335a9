"""Small networks that are trained on real samples and then predict the class or the factors of others."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn
from torch.nn import functional

from untwine._typing import Array
from untwine.samples import unit_range

STEPS, BATCH, RATE = 1_000, 64, 2e-3
STEPS_PER_CLASS = 8  # with many classes, the most steps show each of them too seldom
CHECK, PATIENCE = 25, 6  # steps between two checks on the held-out samples, and checks without a gain
LOWER = 0.2  # the learning rate is lowered by this once, then training stops
HELD_OUT = 5  # one in five samples is held out to stop by
SIDE = 32  # larger images first pass convolutions of stride 2
PREDICT_BATCH = 1_000


def network_input(x: ArrayLike, name: str) -> Tensor:
    """Return samples as the networks take them: vectors as they are, images on [0, 1]."""
    samples = np.asarray(x)
    if samples.ndim not in (2, 4, 5) or samples.dtype.kind not in "uif" or 0 in samples.shape:
        raise ValueError(f"{name} must be vectors (n, d), images or volumes; got {samples.dtype} of shape {samples.shape}.")
    values = torch.as_tensor(unit_range(samples))
    if not torch.isfinite(values).all():
        raise ValueError(f"{name} must be finite; got NaN or infinity; leave those samples out.")
    return values


def train_classifier(x: Tensor, labels: Array, classes: int, seed: int = 0) -> Callable[[Tensor], Array]:
    """Train on samples and their classes; return a function that predicts the class of samples.

    Training stops when the accuracy on a fifth of the samples, held out of every class alike, no longer rises.
    """
    truth = torch.as_tensor(labels, dtype=torch.int64)
    steps = max(STEPS, STEPS_PER_CLASS * len(np.unique(labels)))

    def gain(outputs: Array, indices: Array) -> float:
        return float((outputs.argmax(1) == labels[indices]).mean())

    order = np.random.default_rng(seed).permutation(len(labels))
    order = order[np.argsort(labels[order], kind="stable")]
    network = _train(x, classes, lambda out, batch: functional.cross_entropy(out, truth[batch]), gain, order, seed, steps)
    return lambda other: network(other).argmax(1)


def train_detector(x: Tensor, is_target: Array, seed: int = 0) -> Callable[[Tensor], Array]:
    """Train on targets and backgrounds, weighted alike; return a function to the calibrated probability of target.

    The log odds are calibrated on a fifth of the samples, held out of both groups alike, by logistic regression.
    """
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(seed)
    order = rng.permutation(len(is_target))
    order = order[np.argsort(is_target[order], kind="stable")]
    held_out = order[HELD_OUT // 2 :: HELD_OUT]
    rest = np.delete(order, np.s_[HELD_OUT // 2 :: HELD_OUT])
    shares = np.bincount(is_target[rest], minlength=2) / len(rest)
    weight = torch.as_tensor(0.5 / np.maximum(shares, 1 / len(rest)), dtype=torch.float32)
    truth = torch.as_tensor(is_target[rest], dtype=torch.int64)

    def gain(outputs: Array, indices: Array) -> float:
        labels, correct = is_target[rest][indices], outputs.argmax(1) == is_target[rest][indices]
        return float(np.mean([correct[labels == side].mean() for side in (False, True) if (labels == side).any()]))

    network = _train(
        x[torch.as_tensor(rest)],
        2,
        lambda out, batch: functional.cross_entropy(out, truth[batch], weight),
        gain,
        np.arange(len(rest)),
        seed,
        STEPS,
    )

    def log_odds(other: Tensor) -> Array:
        outputs = network(other)
        return np.asarray(outputs[:, 1:] - outputs[:, :1], dtype=np.float64)

    calibration = LogisticRegression(class_weight="balanced").fit(log_odds(x[torch.as_tensor(held_out)]), is_target[held_out])
    return lambda other: np.asarray(calibration.predict_proba(log_odds(other))[:, 1])


def train_regressor(x: Tensor, factors: Array, seed: int = 0) -> Callable[[Tensor], Array]:
    """Train on samples and their factors (n, k), NaN for unknown; return a function that predicts factors in their units.

    Training stops when the squared error on a random fifth of the samples, held out, no longer falls.
    """
    known = ~np.isnan(factors)
    mean, std = np.nanmean(factors, 0), np.nanstd(factors, 0)
    std = np.where(std > 0, std, 1.0)
    scaled = np.where(known, (factors - mean) / std, 0.0)
    truth, weight = (torch.as_tensor(table, dtype=torch.float32) for table in (scaled, known))

    def gain(outputs: Array, indices: Array) -> float:
        return -float((known[indices] * (outputs - scaled[indices]) ** 2).mean())

    order = np.random.default_rng(seed).permutation(len(factors))
    network = _train(
        x, factors.shape[1], lambda out, batch: (weight[batch] * (out - truth[batch]) ** 2).mean(), gain, order, seed, STEPS
    )
    return lambda other: mean + std * network(other)


def _train(
    x: Tensor,
    outputs: int,
    loss: Callable[[Tensor, Tensor], Tensor],
    gain: Callable[[Array, Array], float],
    order: Array,
    seed: int,
    steps: int,
) -> Callable[[Tensor], Array]:
    """Return the network with the best gain on every fifth sample in `order`; the global random state is left unchanged."""
    held_out, train = order[HELD_OUT // 2 :: HELD_OUT], np.delete(order, np.s_[HELD_OUT // 2 :: HELD_OUT])
    mean, scale = _standardisation(x[torch.as_tensor(train)])
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = _network(tuple(x.shape[1:]), outputs)
    optimizer = torch.optim.Adam(network.parameters(), lr=RATE)

    def predict(other: Tensor) -> Array:
        with torch.no_grad():
            batches = torch.split(other, PREDICT_BATCH)
            return np.concatenate([network((batch - mean) / scale).numpy() for batch in batches])

    rng = np.random.default_rng(seed)
    drawn = np.concatenate([rng.permutation(train) for _ in range(1 + steps * BATCH // len(train))])
    others, best, best_state, waited, rate = x[torch.as_tensor(held_out)], -math.inf, _state(network), 0, RATE
    for i in range(steps):
        batch = torch.as_tensor(drawn[i * BATCH : (i + 1) * BATCH])
        optimizer.zero_grad()
        torch.autograd.backward(loss(network((x[batch] - mean) / scale), batch))
        optimizer.step()
        if (i + 1) % CHECK and i + 1 < steps:
            continue
        now = gain(predict(others), held_out)
        waited = 0 if now > best else waited + 1
        if now > best:
            best, best_state = now, _state(network)
        if waited == PATIENCE:
            if rate < RATE:
                break
            rate, waited = LOWER * RATE, 0
            network.load_state_dict(best_state)
            optimizer = torch.optim.Adam(network.parameters(), lr=rate)
    network.load_state_dict(best_state)
    return predict


def _state(network: nn.Module) -> dict[str, Tensor]:
    return {name: tensor.clone() for name, tensor in network.state_dict().items()}


def _standardisation(x: Tensor) -> tuple[Tensor, Tensor]:
    """Return the mean and the standard deviation: of each column of vectors, of all pixels of images together."""
    dims = tuple(range(x.ndim)) if x.ndim > 2 else (0,)
    std = x.std(dims)
    return x.mean(dims), torch.where(std > 0, std, torch.ones(()))


def _network(shape: tuple[int, ...], outputs: int) -> nn.Module:
    if len(shape) == 1:
        return nn.Sequential(nn.Linear(shape[0], 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, outputs))
    if len(shape) == 4:
        return _network3d(shape, outputs)
    layers: list[nn.Module] = []
    width, (height, length) = shape[0], shape[1:]
    while max(height, length) > SIDE:
        layers += [nn.Conv2d(width, 16, 5, stride=2, padding=2), nn.ReLU()]
        width, height, length = 16, (height + 1) // 2, (length + 1) // 2
    for channels in (16, 32, 64):
        if min(height, length) < 4:
            break
        layers += [nn.Conv2d(width, channels, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
        width, height, length = channels, height // 2, length // 2
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(width * height * length, 64), nn.ReLU(), nn.Linear(64, outputs))


def _network3d(shape: tuple[int, ...], outputs: int) -> nn.Module:
    layers: list[nn.Module] = []
    width, sides = shape[0], list(shape[1:])
    while max(sides) > 4:
        layers += [nn.Conv3d(width, 16, 3, stride=2, padding=1), nn.ReLU()]
        width, sides = 16, [(side + 1) // 2 for side in sides]
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(width * math.prod(sides), 64), nn.ReLU(), nn.Linear(64, outputs))
