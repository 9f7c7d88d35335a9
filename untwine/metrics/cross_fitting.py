"""Small networks that predict held-out classes or factors from codes: those of all folds are trained together.

Each fold has a network of its own, of two hidden layers and a linear path beside them, on columns standardised by its train
samples. A fifth of these (of whole sources) decides when to stop, and whether the network is used at all: where it predicts no
better than the constant predictor, that one is used, so that codes without information score chance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor
from torch.nn import functional

from untwine._typing import Array
from untwine.data.sources import repeated_sources
from untwine.metrics.held_out import column_stds, random_folds, select_sources
from untwine.training.threads import one_thread

WIDTH, BATCH, RATE, DECAY = 64, 128, 3e-3, 3.0
STEPS, STEPS_PER_CLASS, MAX_STEPS = 300, 8, 2_000
EVERY = 10  # steps between two looks at the validation samples
MAX_VALIDATION = 1_000

Folds = Sequence[tuple[Array, Array]]


class _Best(NamedTuple):
    """The networks of all folds where their validation loss was lowest, and which outputs (folds, k) beat the constant."""

    weights: list[Tensor]
    means: Tensor
    scales: Tensor
    useful: Tensor


def predict_classes(codes: Array, labels: Array, pairs: Folds, seed: int = 0, sources: ArrayLike | None = None) -> Array:
    """Return the classes that networks predict for the test samples of (train, test) pairs, in the order of the pairs.

    Labels are 0 to k - 1. Cross-entropy by Adam with weight decay, 300 steps of 128 samples or 8 a class where those are more,
    at most 2,000.
    """
    k, truth = int(labels.max()) + 1, torch.as_tensor(labels, dtype=torch.int64)
    shares = torch.stack([_class_shares(labels[train], k) for train, _ in pairs])

    def losses(out: Tensor, indices: Tensor) -> Tensor:
        each = functional.cross_entropy(out.flatten(0, 1), truth[indices].flatten(), reduction="none")
        return each.view(indices.shape).mean(1, keepdim=True)

    steps = min(max(STEPS, STEPS_PER_CLASS * k), MAX_STEPS)
    best, z = _train(codes, k, shares.log(), losses, pairs, seed, sources, labels, steps)
    outputs = _outputs(best, z, pairs)
    return np.concatenate(
        [
            out.argmax(1) if useful else np.full(len(out), int(share.argmax()))
            for out, useful, share in zip(outputs, best.useful[:, 0].tolist(), shares, strict=True)
        ]
    )


def predict_factors(codes: Array, factors: Array, pairs: Folds, seed: int = 0, sources: ArrayLike | None = None) -> Array:
    """Return the factors (n, k), in their units, that networks predict for the test samples of (train, test) pairs.

    In the order of the pairs. Squared error of factors standardised by the train samples, NaN for unknown ones.
    """
    known = torch.as_tensor(~np.isnan(factors), dtype=torch.float32)
    means = np.stack([np.nanmean(factors[train], 0) for train, _ in pairs])
    stds = np.stack([np.nanstd(factors[train], 0) for train, _ in pairs])
    stds = np.where(stds > 0, stds, 1.0)
    truth = torch.as_tensor(np.nan_to_num((factors - means[:, None]) / stds[:, None]), dtype=torch.float32)
    rows = torch.arange(len(pairs))[:, None]

    def losses(out: Tensor, indices: Tensor) -> Tensor:
        weight = known[indices]
        return (weight * (out - truth[rows, indices]) ** 2).sum(1) / weight.sum(1).clamp(min=1)

    best, z = _train(codes, factors.shape[1], torch.zeros(len(pairs), factors.shape[1]), losses, pairs, seed, sources)
    outputs = _outputs(best, z, pairs)
    useful = best.useful.numpy()
    return np.concatenate([means[f] + stds[f] * np.where(useful[f], out, 0.0) for f, out in enumerate(outputs)])


def _class_shares(labels: Array, k: int) -> Tensor:
    counts = np.bincount(labels, minlength=k) + 1e-3  # a class that is in no train sample has some probability too
    return torch.as_tensor(counts / counts.sum(), dtype=torch.float32)


def _train(
    codes: Array,
    outputs: int,
    constant: Tensor,
    losses: Callable[[Tensor, Tensor], Tensor],
    pairs: Folds,
    seed: int,
    sources: ArrayLike | None,
    strata: Array | None = None,
    steps: int = STEPS,
) -> tuple[_Best, Tensor]:
    """Return the best networks of all folds, and the codes; `constant` (folds, outputs) is the constant predictor's output.

    `losses` gives the loss (folds, m) of outputs (folds, b, outputs) for the samples at indices (folds, b), m of 1 or outputs.
    """
    rng = np.random.default_rng(seed)
    parted = [_hold_out(train, seed, sources, strata) for train, _ in pairs]
    stds = np.stack([column_stds(codes[fit]) for fit, _ in parted])
    means = torch.as_tensor(np.stack([codes[fit].mean(0) for fit, _ in parted]))[:, None]
    scales = torch.as_tensor(np.where(stds > 0, stds, np.inf))[:, None]
    z = torch.as_tensor(codes)
    many = min(MAX_VALIDATION, *(len(validation) for _, validation in parted))
    check = torch.as_tensor(np.stack([rng.permutation(validation)[:many] for _, validation in parted]))
    batches = np.stack([_batches(fit, steps, rng) for fit, _ in parted], axis=1)
    weights = _initial(len(pairs), codes.shape[1], outputs, constant, seed)
    optimizer = torch.optim.AdamW(weights, lr=RATE, weight_decay=DECAY, foreach=True)

    def forward(indices: Tensor) -> Tensor:
        return _forward(weights, ((z[indices] - means) / scales).float())

    with one_thread(), torch.enable_grad():
        floor = losses(constant[:, None].expand(-1, many, -1), check)
        lowest, best = floor.mean(1), [weight.detach().clone() for weight in weights]
        useful = torch.zeros(floor.shape, dtype=torch.bool)
        for step, indices in enumerate(map(torch.as_tensor, batches), 1):
            optimizer.zero_grad()
            torch.autograd.backward(losses(forward(indices), indices).mean(1).sum())
            optimizer.step()
            if step % EVERY == 0:
                with torch.no_grad():
                    loss = losses(forward(check), check)
                better = loss.mean(1) < lowest
                lowest = torch.where(better, loss.mean(1), lowest)
                useful = torch.where(better[:, None], loss < floor, useful)
                for kept, weight in zip(best, weights, strict=True):
                    kept[better] = weight.detach()[better]
    return _Best(best, means, scales, useful), z


def _hold_out(train: Array, seed: int, sources: ArrayLike | None, strata: Array | None) -> tuple[Array, Array]:
    """Return the samples to fit on and a fifth to validate on, of other sources where there are several."""
    own = select_sources(sources, train)
    repeated = repeated_sources(own, len(train))
    many = len(train) if repeated is None else int(repeated.max()) + 1
    if repeated is not None and many < 2:
        own, many = None, len(train)
    fit, validation = random_folds(len(train), min(5, many), seed, own, None if strata is None else strata[train])[0]
    return train[fit], train[validation]


def _batches(fit: Array, steps: int, rng: np.random.Generator) -> Array:
    """Return the samples (steps, b) of each step, all once before one comes again."""
    size = min(BATCH, len(fit))
    order = np.concatenate([rng.permutation(fit) for _ in range(1 + steps * BATCH // len(fit))])
    return np.resize(order, (steps, BATCH)) if size < BATCH else order[: steps * BATCH].reshape(steps, BATCH)


def _initial(folds: int, width: int, outputs: int, constant: Tensor, seed: int) -> list[Tensor]:
    """Return weights and biases of the layers, and those of the linear path, which starts as the constant predictor."""
    generator = torch.Generator().manual_seed(seed)
    weights: list[Tensor] = []
    for rows, columns in ((width, WIDTH), (WIDTH, WIDTH), (WIDTH, outputs)):
        scale = (2 / rows) ** 0.5 if columns == WIDTH and outputs != columns else (1 / rows) ** 0.5
        weights += [scale * torch.randn(folds, rows, columns, generator=generator), torch.zeros(folds, 1, columns)]
    weights[4].mul_(0.1)
    weights += [torch.zeros(folds, width, outputs), constant[:, None].clone()]
    return [weight.requires_grad_() for weight in weights]


def _forward(weights: list[Tensor], x: Tensor) -> Tensor:
    w1, b1, w2, b2, w3, b3, w, b = weights
    hidden = functional.relu(torch.baddbmm(b1, x, w1))
    hidden = functional.relu(torch.baddbmm(b2, hidden, w2))
    return torch.baddbmm(b3, hidden, w3) + torch.baddbmm(b, x, w)


def _outputs(best: _Best, z: Tensor, pairs: Folds) -> list[Array]:
    """Return the outputs for the test samples of each fold."""
    outputs = []
    with torch.no_grad(), one_thread():
        for fold, (_, test) in enumerate(pairs):
            x = ((z[torch.as_tensor(test)] - best.means[fold]) / best.scales[fold]).float()
            outputs.append(_forward([weight[fold : fold + 1] for weight in best.weights], x[None])[0].numpy())
    return outputs
