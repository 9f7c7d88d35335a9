"""Small networks on codes, one for each fold, which are trained together."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from untwine._typing import Array
from untwine.metrics.held_out import column_stds

HIDDEN = 128
STEPS, BATCH, RATE = 400, 64, 3e-3
STEPS_PER_CLASS = 8  # with many classes, 400 steps show each of them too seldom


def predict_folds(codes: Array, labels: Array, folds: list[tuple[Array, Array]], shares: Array, seed: int) -> Array:
    """Return the class that an MLP predicts for the test samples of each fold; -1 for samples of no fold.

    One network for each fold, with two hidden layers and ReLU, is trained by Adam on the cross-entropy of the fold's train
    samples, whose columns are standardised. Samples are weighted so that class k counts `shares[k]` in every fold: a class that
    is frequent among the test samples is rare among the train samples, and a network that has learned nothing else would fall
    below chance.
    """
    inputs = torch.as_tensor(np.stack([_standardised(codes, train) for train, _ in folds]), dtype=torch.float32)
    truth = torch.as_tensor(labels, dtype=torch.int64)
    weights = torch.as_tensor(np.stack([_class_weights(labels[train], shares) for train, _ in folds]), dtype=torch.float32)
    classes, steps = int(labels.max()) + 1, max(STEPS, STEPS_PER_CLASS * len(np.unique(labels)))
    parameters = _initial_parameters((codes.shape[1], HIDDEN, HIDDEN, classes), len(folds), seed)
    optimizer = torch.optim.Adam(parameters, lr=RATE, fused=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=RATE, total_steps=steps)
    rng = np.random.default_rng(seed)
    orders = torch.as_tensor(np.stack([_order(rng, train, steps * BATCH) for train, _ in folds]))
    fold = torch.arange(len(folds))[:, None]
    for i in range(steps):
        batch = orders[:, i * BATCH : (i + 1) * BATCH]
        logits = _outputs(parameters, inputs[fold, batch])
        target = truth[batch]
        losses = functional.cross_entropy(logits.flatten(0, 1), target.flatten(), reduction="none").view(target.shape)
        optimizer.zero_grad()
        # The sum over folds: each network has the gradient of its own mean.
        torch.autograd.backward((losses * weights[fold, target]).mean(1).sum())
        optimizer.step()
        schedule.step()
    predicted = np.full(len(labels), -1)
    with torch.no_grad():
        for k, (_, test) in enumerate(folds):
            own = [p[k : k + 1] for p in parameters]
            predicted[test] = _outputs(own, inputs[k : k + 1, torch.as_tensor(test)])[0].argmax(1).numpy()
    return predicted


def _standardised(codes: Array, train: Array) -> Array:
    std = column_stds(codes[train])
    return np.asarray((codes - codes[train].mean(0)) / np.where(std > 0, std, np.inf))


def _class_weights(labels: Array, shares: Array) -> Array:
    """Return for each class its wanted share over its share among these labels; 0 for a class that is not among them."""
    here = np.bincount(labels, minlength=len(shares)) / len(labels)
    return np.divide(shares, here, out=np.zeros_like(shares), where=here > 0)


def _order(rng: np.random.Generator, train: Array, length: int) -> Array:
    return np.concatenate([rng.permutation(train) for _ in range(1 + length // len(train))])[:length]


def _initial_parameters(widths: tuple[int, ...], networks: int, seed: int) -> list[Tensor]:
    """Return the weights (networks, inputs, outputs) and biases (networks, 1, outputs) of each layer."""
    generator = torch.Generator().manual_seed(seed)
    parameters = []
    for n_in, n_out in pairwise(widths):
        for shape in ((networks, n_in, n_out), (networks, 1, n_out)):
            uniform = 2 * torch.rand(shape, generator=generator) - 1
            parameters.append((uniform / n_in**0.5).requires_grad_())
    return parameters


def _outputs(parameters: list[Tensor], x: Tensor) -> Tensor:
    for layer in range(0, len(parameters), 2):
        x = torch.baddbmm(parameters[layer + 1], x if layer == 0 else functional.relu(x), parameters[layer])
    return x
