"""A small network that is trained on real rows and then judges others: which class, and which factors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn
from torch.nn import functional

from untwine._typing import Array

SIDE = 32
STEPS, BATCH, RATE = 400, 64, 3e-3
STEPS_PER_CLASS = 8  # where classes are many, 400 steps show each of them too seldom
AT_ONCE = 1_000


def judged_rows(x: ArrayLike, name: str) -> Tensor:
    """Return rows as the judge sees them: vectors as they are, images on [0, 1] with sides of at most 32."""
    rows = np.asarray(x)
    if rows.ndim not in (2, 4) or rows.dtype.kind not in "uif" or 0 in rows.shape:
        raise ValueError(f"{name} must be vectors (n, d) or images (n, C, H, W); got {rows.dtype} of shape {rows.shape}.")
    values = torch.as_tensor(rows.astype(np.float32) / (255.0 if rows.dtype == np.uint8 and rows.ndim == 4 else 1.0))
    if not torch.isfinite(values).all():
        raise ValueError(f"{name} must be finite numbers; got NaN or infinity; leave those rows out.")
    if rows.ndim == 4 and max(rows.shape[2:]) > SIDE:
        values = functional.adaptive_avg_pool2d(values, (min(SIDE, rows.shape[2]), min(SIDE, rows.shape[3])))
    return values


def class_judge(x: Tensor, labels: Array, classes: int, seed: int = 0) -> Callable[[Tensor], Array]:
    """Train on rows and their classes; return a function from rows to their most likely class."""
    truth = torch.as_tensor(labels, dtype=torch.int64)
    steps = max(STEPS, STEPS_PER_CLASS * len(np.unique(labels)))
    network = _trained(x, classes, lambda out, rows: functional.cross_entropy(out, truth[rows]), seed, steps)
    return lambda other: network(other).argmax(1)


def factor_judge(x: Tensor, factors: Array, seed: int = 0) -> Callable[[Tensor], Array]:
    """Train on rows and their factors (n, k), NaN for unknown; return a function from rows to factors in the same units."""
    known = ~np.isnan(factors)
    middle, spread = np.nanmean(factors, 0), np.nanstd(factors, 0)
    spread = np.where(spread > 0, spread, 1.0)
    truth = torch.as_tensor(np.where(known, (factors - middle) / spread, 0.0), dtype=torch.float32)
    weight = torch.as_tensor(known, dtype=torch.float32)
    network = _trained(x, factors.shape[1], lambda out, rows: (weight[rows] * (out - truth[rows]) ** 2).mean(), seed)
    return lambda other: middle + spread * network(other)


def _trained(
    x: Tensor, outputs: int, loss: Callable[[Tensor, Tensor], Tensor], seed: int, steps: int = STEPS
) -> Callable[[Tensor], Array]:
    """Return the trained network as a function; the caller's random numbers stay as they were."""
    centre, scale = _scale(x)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = _network(tuple(x.shape[1:]), outputs)
    optimizer = torch.optim.Adam(network.parameters(), lr=RATE)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=RATE, total_steps=steps)
    rng = np.random.default_rng(seed)
    order = np.concatenate([rng.permutation(len(x)) for _ in range(1 + steps * BATCH // len(x))])
    for i in range(steps):
        rows = torch.as_tensor(order[i * BATCH : (i + 1) * BATCH])
        optimizer.zero_grad()
        torch.autograd.backward(loss(network((x[rows] - centre) / scale), rows))
        optimizer.step()
        schedule.step()

    def apply(other: Tensor) -> Array:
        with torch.no_grad():
            return np.concatenate([network((part - centre) / scale).numpy() for part in torch.split(other, AT_ONCE)])

    return apply


def _scale(x: Tensor) -> tuple[Tensor, Tensor]:
    """Return what centres and scales: each column of vectors, all pixels of images by one number."""
    dims = tuple(range(x.ndim)) if x.ndim == 4 else (0,)
    scale = x.std(dims)
    return x.mean(dims), torch.where(scale > 0, scale, torch.ones(()))


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
