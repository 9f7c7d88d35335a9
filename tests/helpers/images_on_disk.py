"""Images and arrays that commands read and write."""

import numpy as np
from PIL import Image

import untwine as un


def arrays(path):
    with np.load(path, allow_pickle=False) as content:
        return dict(content)


def pixels(path):
    return np.asarray(Image.open(path))


def save(path, image):
    Image.fromarray(np.moveaxis(image, 0, -1) if len(image) == 3 else image[0]).save(path)


def read(*names):
    """Return the images of that names in the working folder (n, C, H, W)."""
    return np.stack([np.moveaxis(pixels(f"{name}.png"), -1, 0) for name in names])


def targets():
    """Return the test targets of the run on images."""
    return un.load("data.npz").test.target
