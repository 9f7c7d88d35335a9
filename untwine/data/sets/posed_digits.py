"""Single handwritten digits in many poses: the class is the image, the content the pose; embedded, without download.

The digits are scikit-learn's, see `untwine.data.readers.sklearn_digits`.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from untwine._typing import Array
from untwine.data.data_card import DataCard, described
from untwine.data.data_set import DataSet
from untwine.data.factor_grid import FactorGrid
from untwine.data.options import check_size
from untwine.data.readers.sklearn_digits import read_digits
from untwine.data.splits import Splits, hold_out_at_random
from untwine.registry.checks import check_choice, check_int
from untwine.samples import Samples

POSE = ("rotation", "scale", "x", "y")
ROTATIONS = np.array([-50.0, -25.0, 0.0, 25.0, 50.0])  # degrees, anticlockwise
SCALES = np.array([0.7, 1.0])
SHIFTS = np.array([-0.14, 0.0, 0.14])  # fractions of the image's side, to the right and down
VALUES = (ROTATIONS, SCALES, SHIFTS, SHIFTS)
DIGIT_WIDTH = 0.62  # fraction of the image's side that the 8 pixels of a digit cover at scale 1


CARD = DataCard(
    source="`sklearn.datasets.load_digits` (UCI, E. Alpaydin and C. Kaynak, 1998), resampled by bicubic interpolation.",
    licence="CC BY 4.0.",
    size="90 images of each of 200 training and 50 test classes, 1 x 16 x 16.",
    files="none. Checksum: none.",
    groups="none.",
    labels="the image, named after its digit and its index in the source.",
    factors="`rotation` (degrees), `scale`, `x` and `y` (shifts, in sides of the image).",
    sources='none: the class is the source, and `validation_split(by="classes")` holds whole classes out.',
    studies={
        "lord_table1": "Demystifying Inter-Class Disentanglement, table 1",
        "lord_table2": "Demystifying Inter-Class Disentanglement, table 2",
        "lord_table3": "Demystifying Inter-Class Disentanglement, table 3",
        "lord_table4": "Demystifying Inter-Class Disentanglement, table 4",
    },
)


@described(CARD)
def posed_digits(
    *,
    held_out: str = "classes",
    n_train: int = 200,
    n_test: int | None = None,
    n_poses: int | None = None,
    size: int = 16,
    seed: int = 0,
) -> Splits:
    """Digits of scikit-learn rotated, scaled and shifted, each image a class; embedded, no download.

    A class is one image of a digit, its content the pose: 5 rotations, 2 scales and 3 shifts in each direction, so 90 poses.
    Every class has every pose, so that the ground truth of each class in each pose is known. Training and test split have
    different classes and the same poses, or the same classes and different images. Grey, light on dark.

    Parameters
    ----------
    held_out
        What is held out for testing: other "classes", in every pose, or random "images" of the training classes.
    n_train
        Number of training classes, of 1,797 in all.
    n_test
        Number of classes to hold out, by default 50; or of images, by default a fifth of all.
    n_poses
        Number of poses, drawn at random from 90; by default all.
    size
        Side length of the images in pixels, from 8 to 128.
    seed
        Decides which images are classes, which poses are used, and which images are held out.
    """
    check_choice("held_out", held_out, ("classes", "images"))
    (images, digits), seed = read_digits(), check_int("seed", seed, 0)
    n_train = check_int("n_train", n_train, 1, len(images) - 1)
    n_others = check_int("n_test", 50 if n_test is None else n_test, 1, len(images) - n_train) if held_out == "classes" else 0
    poses = np.array(list(product(*VALUES)))
    if n_poses is not None:
        n_poses = check_int("n_poses", n_poses, 1, len(poses))
        poses = poses[np.sort(np.random.default_rng([seed, 1]).permutation(len(poses))[:n_poses])]
    order = np.random.default_rng([seed, 0]).permutation(len(images))
    # Test classes are taken from the end, so that they do not depend on n_train.
    classes = np.concatenate([order[:n_train], order[::-1][:n_others]])
    poser = Poser(images, poses, check_size(size))
    names = tuple(f"{digits[i]} (image {i})" for i in classes)

    def samples(start: int, stop: int) -> Samples:
        n = stop - start
        return Samples(
            poser(np.repeat(classes[start:stop], len(poses)), np.tile(np.arange(len(poses)), n)),
            labels=np.repeat(np.arange(start, stop), len(poses)),
            factors=np.tile(poses, (n, 1)),
            label_names=names,
            factor_names=POSE,
        )

    if held_out == "classes":
        return Splits(samples(0, n_train), samples(n_train, n_train + n_others))
    whole = samples(0, n_train)
    n_test = check_int("n_test", max(1, len(whole) // 5) if n_test is None else n_test, 1, max(1, len(whole) // 2))
    return hold_out_at_random(whole, n_test, np.random.default_rng([seed, 2]))


def posed_digits_grid(*, size: int = 16) -> FactorGrid:
    """Return all 1,797 digits in all 90 poses as a grid, drawn on demand."""
    images, _ = read_digits()
    poses = np.array(list(product(*VALUES)))
    poser = Poser(images, poses, check_size(size))
    values = (np.arange(float(len(images))), *VALUES)
    return FactorGrid(("image", *POSE), values, lambda indices: poser(*np.divmod(indices, len(poses))), "image")


class Poser:
    """Draws digits (n, 8, 8) in [0, 1] in given poses (m, 4).

    A pose is a linear map of the pixels of a digit, so that its matrix is computed once.
    """

    def __init__(self, images: Array, poses: Array, size: int) -> None:
        # Strokes reach the border of the 8 x 8 pixels; a black border lets them fade out.
        padded = np.pad(images.astype(np.float32), ((0, 0), (2, 2), (2, 2)))
        self.side, self.size = padded.shape[1], size
        self.ink = padded.reshape(len(images), -1)
        self.poses, self.maps = poses, dict[int, Array]()

    def __call__(self, images: Array, poses: Array) -> Array:
        """Draw the images and poses with these indices (n,): (n, 1, size, size), uint8."""
        x = np.empty((len(images), 1, self.size, self.size), np.uint8)
        for pose in np.unique(poses):
            indices = np.flatnonzero(poses == pose)
            light = np.clip(self.ink[images[indices]] @ self._map(int(pose)), 0, 1)
            x[indices] = np.rint(255 * light).astype(np.uint8).reshape(-1, 1, self.size, self.size)
        return x

    def _map(self, pose: int) -> Array:
        """Return the matrix of one pose (input pixels, output pixels)."""
        if pose not in self.maps:
            across, down = _source_coordinates(self.poses[pose], self.size, self.side)
            weights = _cubic_weights(down, self.side)[:, :, None] * _cubic_weights(across, self.side)[:, None, :]
            self.maps[pose] = weights.reshape(self.size**2, -1).T.astype(np.float32)
        return self.maps[pose]


def _source_coordinates(pose: Array, size: int, side: int) -> tuple[Array, Array]:
    """Return the coordinates in the input, in pixels to the right and down, of each output pixel."""
    rotation, scale, x, y = pose
    centres = (np.arange(size) + 0.5) / size - 0.5
    down, across = (grid.ravel() for grid in np.meshgrid(centres - y, centres - x, indexing="ij"))
    cos, sin = np.cos(np.deg2rad(rotation)), np.sin(np.deg2rad(rotation))
    pixels = 8 / (DIGIT_WIDTH * scale)
    # The second axis points down, so that an anticlockwise rotation has this inverse.
    return pixels * (cos * across - sin * down) + (side - 1) / 2, pixels * (sin * across + cos * down) + (side - 1) / 2


def _cubic_weights(coordinates: Array, side: int) -> Array:
    """Return the weight of each of `side` pixels at each coordinate (n, side): Keys' cubic convolution with a = -0.5."""
    t = np.abs(coordinates[:, None] - np.arange(side))
    near, far = (1.5 * t - 2.5) * t**2 + 1, ((-0.5 * t + 2.5) * t - 4) * t + 2
    return np.where(t < 1, near, np.where(t < 2, far, 0.0))


ENTRIES = {"posed_digits": DataSet(posed_digits, grid=posed_digits_grid)}
