"""Fitted methods that are right or wrong by construction, and data on which this shows."""

import numpy as np

from untwine.latents import Latents
from untwine.samples import Samples

SIDE = 8


class Halves:
    """A fitted method that is right: the common block is the upper half of an image, the salient block the lower half."""

    def __init__(self):
        self.encoded = 0

    def encode(self, x):
        self.encoded += 1
        grey = (x / 255.0 if x.dtype == np.uint8 else x)[:, 0, :, ::2]  # columns come in pairs of one grey
        return Latents({"common": grey[:, 0].astype(np.float32), "salient": grey[:, -1].astype(np.float32)})

    def decode(self, latents):
        upper, lower = (np.repeat(latents[block], 2, axis=1)[:, None, None] for block in ("common", "salient"))
        half = np.ones((1, 1, SIDE // 2, 1), dtype=np.float32)
        return np.concatenate([upper * half, lower * half], axis=2)


class Swapped(Halves):
    """A fitted method that is wrong: what it calls common is salient."""

    def encode(self, x):
        right = super().encode(x)
        return Latents({"common": right.salient, "salient": right.common})

    def decode(self, latents):
        return super().decode(Latents({"common": latents.salient, "salient": latents.common}))


class ClassHalves(Halves):
    """A fitted method that is right: the content is the upper half of an image, the class the lower half."""

    def encode(self, x):
        right = super().encode(x)
        return Latents({"class": right.salient, "content": right.common})

    def decode(self, latents):
        return super().decode(Latents({"common": latents.content, "salient": latents["class"]}))


class Whole:
    """A fitted method with one block, the vector itself."""

    def encode(self, x):
        return Latents({"z": x})

    def decode(self, latents):
        return latents["z"]


class Columns:
    """A fitted method of vectors: the first two columns are common, the last is salient."""

    def encode(self, x):
        return Latents({"common": x[:, :2], "salient": x[:, 2:]})

    def decode(self, latents):
        return latents.array()


def images(targets=200, backgrounds=120, seed=0, dtype=np.uint8):
    """Upper half: four random greys in both groups; lower half: a bright column that shows the class, in targets only."""
    rng = np.random.default_rng(seed)
    n = targets + backgrounds
    groups = np.repeat([1, 0], [targets, backgrounds])
    labels = np.where(groups == 1, np.arange(n) % 4, -1)
    upper = rng.uniform(0, 1, (n, 4))
    lower = np.where(groups[:, None] == 1, 0.8 * np.eye(4)[labels] + rng.uniform(0, 0.2, (n, 4)), 0.0)
    rows = np.concatenate([np.repeat(np.repeat(h, 2, 1)[:, None, None], SIDE // 2, 2) for h in (upper, lower)], axis=2)
    x = np.rint(rows * 255).astype(np.uint8) if dtype == np.uint8 else rows.astype(np.float32)
    return Samples(x, groups=groups, labels=labels, factors=upper[:, :2], factor_names=("left", "right"))


def vectors(n=120, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(2 * n, 3))
    groups = np.repeat([0, 1], n)
    truth[:n, 2] = 0
    names = ("common 0", "common 1", "salient 0")
    return Samples(truth, groups=groups, factors=truth, factor_names=names)


def classes_in_contents(classes=5, contents=12, seed=0):
    """Images of every class (lower half: four greys) in every content (upper half: four greys)."""
    rng = np.random.default_rng(seed)
    halves = np.repeat(rng.uniform(0, 1, (classes, 4)), contents, 0), np.tile(rng.uniform(0, 1, (contents, 4)), (classes, 1))
    lower, upper = (np.repeat(np.repeat(half, 2, 1)[:, None, None], SIDE // 2, 2) for half in halves)
    x = np.rint(255 * np.concatenate([upper, lower], axis=2)).astype(np.uint8)
    return Samples(x, labels=np.repeat(np.arange(classes), contents), factors=halves[1][:, :1], factor_names=("left",))
