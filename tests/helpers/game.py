"""A game of two numbers, small enough to follow the loop by hand."""

import math

import numpy as np
import torch
from torch import nn

from untwine import Samples
from untwine.training.batches import TrainingData
from untwine.training.loop import train
from untwine.training.stage import Player, Stage

X, Y = 3.0, -2.0


class Game(nn.Module):
    """Two numbers a and b, and one that nobody owns."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Parameter(torch.tensor(X)), nn.Parameter(torch.tensor(Y))
        self.idle = nn.Parameter(torch.tensor(1.0))
        self.double()

    def values(self):
        return [p.item() for p in (self.a, self.b, self.idle)]


def training_data(n=8, groups=None, width=2):
    x = np.random.default_rng(0).normal(size=(n, width)).astype("float32")
    samples = Samples(x, groups=groups)
    return TrainingData.of(samples, torch.from_numpy(samples.x), torch.float64, torch.device("cpu"))


def play(game, step, players=None, *, epochs=1, n=8, batch=8, schedule=None, batches="mixed", groups=None, **settings):
    """Run one stage of `epochs * n / batch` steps on a game."""
    players = players or {"a": Player([game.a], 0.1), "b": Player([game.b], 0.1)}
    stage = Stage("only", epochs, players, step, batch, batches, schedule)
    return train([stage], game, training_data(n, groups), **({"seed": 0} | settings))


def adam(lr, *gradients, betas=(0.9, 0.999), eps=1e-8):
    """Return how far Adam goes, by its formula, for the gradients of some steps."""
    moved = m = v = 0.0
    for t, g in enumerate(gradients, 1):
        m, v = betas[0] * m + (1 - betas[0]) * g, betas[1] * v + (1 - betas[1]) * g * g
        moved -= lr * (m / (1 - betas[0] ** t)) / (math.sqrt(v / (1 - betas[1] ** t)) + eps)
    return moved
