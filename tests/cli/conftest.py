"""Runs that the tests of several commands share."""

import numpy as np
import pytest
from command_line import DATA, TINY, run
from PIL import Image

SHAPE = (3, 12, 10)


@pytest.fixture(scope="session")
def evaluated(tmp_path_factory):
    """A run on vectors that was fitted and evaluated."""
    folder = tmp_path_factory.mktemp("cli") / "run"
    run("fit", "principled_vae", *DATA, *TINY, "--out", folder)
    run("evaluate", folder, "--quiet", "--seeds", 2)
    return folder


@pytest.fixture(scope="session")
def place(tmp_path_factory):
    """A folder with a run on images, one on vectors, and images."""
    place, rng = tmp_path_factory.mktemp("manipulate"), np.random.default_rng(0)
    x = rng.integers(0, 120, size=(60, *SHAPE), dtype=np.uint8)
    x[:40, :, 2:6, 2:6] += rng.integers(50, 130, size=(40, 1, 1, 1), dtype=np.uint8)
    np.savez(place / "data.npz", x=x, groups=np.arange(60) < 40, labels=np.where(np.arange(60) < 40, np.arange(60) % 4, -1))
    options = ("--set", "n_common=3", "--set", "n_salient=2", "--quiet")
    run("fit", "contrastive_pca", "--data", place / "data.npz", *options, "--out", place / "images")
    run("fit", "generalised_contrastive_pca", "--data", place / "data.npz", *options, "--out", place / "others")
    settings = ("--data-set", "n_target=40", "--data-set", "n_background=40")
    run("fit", "contrastive_pca", "--data", "toy_contrast", *settings, *options, "--out", place / "vectors")
    for name, image in zip("abc", x, strict=False):
        Image.fromarray(np.moveaxis(image, 0, -1)).save(place / f"{name}.png")
    np.save(place / "two.npy", x[:2])
    return place


@pytest.fixture
def inside(place, monkeypatch):
    """The same folder as the working folder, without outputs of earlier tests."""
    monkeypatch.chdir(place)
    for path in place.iterdir():
        if path.stem == "out":
            path.unlink()
    return place
