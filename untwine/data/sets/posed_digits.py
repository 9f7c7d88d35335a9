"""Single handwritten digits in many poses: class is which image, content is the pose; embedded, nothing is downloaded.

The digits are the 1,797 of 8 x 8 pixels that come with scikit-learn (the test part of "Optical Recognition of Handwritten
Digits", UCI repository, E. Alpaydin and C. Kaynak, 1998, CC BY 4.0).
"""

from __future__ import annotations

from itertools import product

import numpy as np

from untwine._typing import Array
from untwine.data.factor_grid import FactorGrid
from untwine.data.sets.grassy_digits import originals
from untwine.data.splits import Splits
from untwine.registry.checks import check_int
from untwine.samples import SIDES, Samples

POSE = ("rotation", "scale", "x", "y")
ROTATIONS = np.array([-50.0, -25.0, 0.0, 25.0, 50.0])  # degrees, anticlockwise
SCALES = np.array([0.7, 1.0])
SHIFTS = np.array([-0.14, 0.0, 0.14])  # of the image's side, to the right and down
VALUES = (ROTATIONS, SCALES, SHIFTS, SHIFTS)
SHARE = 0.62  # of the image's side that the 8 pixels of an original take at scale 1


def posed_digits(
    *,
    held_out: str = "classes",
    n_train: int = 200,
    n_test: int | None = None,
    n_poses: int | None = None,
    size: int = 16,
    seed: int = 0,
) -> Splits:
    """Digits of scikit-learn turned, scaled and shifted, each image a class; embedded, nothing to download.

    A class is one image of a digit, its content the pose: 5 rotations, 2 scales and 3 shifts in each direction, so 90 poses.
    Every class comes in every pose, which makes the true image of each class in each pose known. Training and test
    part have different classes and the same poses, or the same classes and different images. Grey, light on dark.

    Source: `sklearn.datasets.load_digits` (UCI, CC BY 4.0), drawn again by bicubic interpolation. Checksum: none, as nothing is
    read from outside. Group: none. Label: the image, named after its digit and its number in the source. Factors: `rotation`
    (degrees), `scale`, `x` and `y` (shifts, in sides of the image).

    Parameters
    ----------
    held_out
        What is held out for testing: other "classes", in every pose, or "images" of the training classes, at random.
    n_train
        How many classes to train on, of 1,797 in all.
    n_test
        How many classes, 50 where not given, or images, a fifth of all where not given, are held out.
    n_poses
        How many of the 90 poses, drawn at random; all where not given.
    size
        The side of the images in pixels, from 8 to 128.
    seed
        Decides which images are classes, which poses there are, and which images are held out.
    """
    if held_out not in ("classes", "images"):
        raise ValueError(f"held_out expected 'classes' or 'images'; got {held_out!r}.")
    (images, kinds), seed = originals(), check_int("seed", seed, 0)
    n_train = check_int("n_train", n_train, 1, len(images) - 1)
    others = check_int("n_test", 50 if n_test is None else n_test, 1, len(images) - n_train) if held_out == "classes" else 0
    poses = np.array(list(product(*VALUES)))
    if n_poses is not None:
        n_poses = check_int("n_poses", n_poses, 1, len(poses))
        poses = poses[np.sort(np.random.default_rng([seed, 1]).permutation(len(poses))[:n_poses])]
    order = np.random.default_rng([seed, 0]).permutation(len(images))
    # The test classes are counted from the end, so that they stay the same when training gets more of them.
    chosen = np.concatenate([order[:n_train], order[::-1][:others]])
    drawn = Poser(images, poses, check_int("size", size, SIDES[0], SIDES[-1]))
    names = tuple(f"{kinds[row]} (image {row})" for row in chosen)

    def part(first: int, last: int) -> Samples:
        many = last - first
        return Samples(
            drawn(np.repeat(chosen[first:last], len(poses)), np.tile(np.arange(len(poses)), many)),
            labels=np.repeat(np.arange(first, last), len(poses)),
            factors=np.tile(poses, (many, 1)),
            label_names=names,
            factor_names=POSE,
        )

    if held_out == "classes":
        return Splits(part(0, n_train), part(n_train, n_train + others))
    every = part(0, n_train)
    many = check_int("n_test", max(1, len(every) // 5) if n_test is None else n_test, 1, max(1, len(every) // 2))
    rows = np.random.default_rng([seed, 2]).permutation(len(every))
    return Splits(every[np.sort(rows[many:])], every[np.sort(rows[:many])])


def posed_digits_grid(*, size: int = 16) -> FactorGrid:
    """Return all 1,797 digits in all 90 poses, drawn only when asked for."""
    images, _ = originals()
    poses = np.array(list(product(*VALUES)))
    drawn = Poser(images, poses, check_int("size", size, SIDES[0], SIDES[-1]))
    values = (np.arange(float(len(images))), *VALUES)
    return FactorGrid(("image", *POSE), values, lambda rows: drawn(*np.divmod(rows, len(poses))), "image")


class Poser:
    """Draws digits (n, 8, 8) in [0, 1] in given poses (m, 4).

    To draw in one pose is a linear map of an original's pixels, so each pose is made a matrix once.
    """

    def __init__(self, images: Array, poses: Array, size: int) -> None:
        # Digits reach the border of their 8 x 8 pixels; with black around them their strokes end softly.
        framed = np.pad(images.astype(np.float32), ((0, 0), (2, 2), (2, 2)))
        self.side, self.size = framed.shape[1], size
        self.ink = framed.reshape(len(images), -1)
        self.poses, self.maps = poses, dict[int, Array]()

    def __call__(self, images: Array, poses: Array) -> Array:
        """Draw the originals and poses of these numbers (n,): (n, 1, size, size), uint8."""
        out = np.empty((len(images), 1, self.size, self.size), np.uint8)
        for pose in np.unique(poses):
            rows = np.flatnonzero(poses == pose)
            light = np.clip(self.ink[images[rows]] @ self._map(int(pose)), 0, 1)
            out[rows] = np.rint(255 * light).astype(np.uint8).reshape(-1, 1, self.size, self.size)
        return out

    def _map(self, pose: int) -> Array:
        """Return the matrix (pixels of an original, pixels drawn) of one pose."""
        if pose not in self.maps:
            across, down = _sources(self.poses[pose], self.size, self.side)
            both = _cubic(down, self.side)[:, :, None] * _cubic(across, self.side)[:, None, :]
            self.maps[pose] = both.reshape(self.size**2, -1).T.astype(np.float32)
        return self.maps[pose]


def _sources(pose: Array, size: int, side: int) -> tuple[Array, Array]:
    """Return where in the original, in its pixels to the right and down, each pixel of the drawing comes from."""
    rotation, scale, x, y = pose
    centres = (np.arange(size) + 0.5) / size - 0.5
    down, across = (grid.ravel() for grid in np.meshgrid(centres - y, centres - x, indexing="ij"))
    cos, sin = np.cos(np.deg2rad(rotation)), np.sin(np.deg2rad(rotation))
    pixels = 8 / (SHARE * scale)
    # Down is the second axis: what turns anticlockwise to the eye is undone by the opposite turn.
    return pixels * (cos * across - sin * down) + (side - 1) / 2, pixels * (sin * across + cos * down) + (side - 1) / 2


def _cubic(places: Array, side: int) -> Array:
    """Return the weight of each of `side` pixels at each place (n, side): Keys' cubic convolution with a = -0.5."""
    t = np.abs(places[:, None] - np.arange(side))
    near, far = (1.5 * t - 2.5) * t**2 + 1, ((-0.5 * t + 2.5) * t - 4) * t + 2
    return np.where(t < 1, near, np.where(t < 2, far, 0.0))
