"""The rows that commands read, and the files and words that they write."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from untwine._typing import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from untwine.method.contract import Method
    from untwine.samples import Samples

IMAGES, VECTORS = (".png", ".npz", ".npy"), (".npz", ".npy", ".csv")
SHOWN = 6  # rows of data where none are asked for
MOST_MADE, MOST_DRAWN, IN_A_ROW = 100_000, 40, 8
LUMA = (0.299, 0.587, 0.114)  # of red, green and blue in grey, as in television


def open_run(run: Path, out: Path, overwrite: bool) -> Method:
    """Read a run, once it is sure that what is made of its rows can be written."""
    from untwine.methods import load_method

    check_new(out, (*IMAGES, ".csv"), overwrite)
    method = load_method(run)
    check_new(out, *((IMAGES, True, "images") if len(method.shape_) == 3 else (VECTORS, True, "vectors")))
    return method


def check_new(out: Path, endings: Sequence[str], overwrite: bool, kind: str = "") -> None:
    """Refuse to write a file of another kind, or over one that is there."""
    if out.suffix not in endings:
        known = f"{', '.join(endings[:-1])} or {endings[-1]}" + f", for the rows of this run are {kind}" * bool(kind)
        raise ValueError(f"--out must be a file that ends in {known}; got {str(out)!r}.")
    if out.is_dir():
        raise ValueError(f"--out must be a file to write, but {out} is a folder; name a file in it.")
    if out.exists() and not overwrite:
        raise ValueError(f"--out must be a new file, but {out} is there already; choose another or pass --overwrite.")


def rows_from(
    paths: Sequence[Path | None], shape: tuple[int, ...], test: Callable[[], Samples], most: int | None, seed: int
) -> tuple[list[Array], list[str]]:
    """Return the rows of each file and, for each that is None, targets of the test data, of different classes in turn.

    With them come notes of what was done to images to bring them to the shape of the run.

    Parameters
    ----------
    paths
        Files or folders that `read_samples` reads.
    shape
        The shape of one row in the run.
    test
        Returns the test data; only called if a path is None.
    most
        How many rows to take of each; of files all, and of the data `SHOWN`, or all if there are fewer, where it is None.
    seed
        Which rows of the data.
    """
    from untwine.metrics.scored_samples import class_balanced_order
    from untwine.registry.checks import check_int

    check_int("--seed", seed, 0)
    if most is not None:
        check_int("--rows", most, 1)
    read = [None if path is None else _read(path, shape) for path in paths]
    parts: Iterator[Array] = iter(())
    if None in read:
        samples = test()
        order = class_balanced_order(samples.labels, targets(samples), np.random.default_rng(seed))
        many = most or min(SHOWN, max(1, len(order)))
        # The second part of the rows are others than the first, as long as there are enough.
        parts = (samples.x[order[np.arange(k * many, (k + 1) * many) % len(order)]] for k in range(len(paths)))
        if len(order) < many:
            raise ValueError(f"--rows expected at most the {len(order)} targets of the test data; got {many}; ask for fewer.")
    found = [next(parts) if one is None else one[0][:most] for one in read]
    return found, [one[1] for one in read if one is not None and one[1]]


def targets(samples: Samples) -> Array:
    """Return the indices of the targets; of all rows where there are no groups."""
    from untwine.metrics.scored_samples import target_mask

    return np.flatnonzero(target_mask(samples.groups, len(samples)))


def _read(path: Path, shape: tuple[int, ...]) -> tuple[Array, str]:
    """Read rows, and bring images to the shape of the run; return them with a note of what was done."""
    from untwine.data.readers.folders import ENDINGS, read_samples

    if len(shape) != 3 or not (path.is_dir() or path.suffix.lower() in ENDINGS):
        return read_samples(path).x, ""
    channels, height, width = shape
    done = []
    try:
        x = read_samples(path).x
    except ValueError:  # too large or of several sizes, which is mended below; or unreadable, which is said there
        x = np.empty((0, 0, 0, 0))
    if x.shape[2:] != (height, width):
        side = max(height, width)
        top, left = (side - height) // 2, (side - width) // 2
        x = read_samples(path, size=side).x[:, :, top : top + height, left : left + width]
        done.append(f"brought to {width} x {height} pixels (cut to the middle where the sides differ)")
    if x.shape[1] == 3 and channels == 1:
        x = np.rint(np.tensordot(x, LUMA, ([1], [0])))[:, None].astype(np.uint8)
        done.append("made grey")
    if x.shape[1] == 1 and channels == 3:
        x = np.repeat(x, 3, axis=1)
        done.append("taken as colour")
    return x, f"{path} was {' and '.join(done)}, as the run expects." if done else ""


def check_few(out: Path, down: int, right: int) -> None:
    """Refuse to make more than can be kept, or drawn."""
    if down * right > MOST_MADE:
        raise ValueError(f"at most {MOST_MADE:,} rows are made at once, but this asks for {down:,} x {right:,}; take fewer.")
    if out.suffix == ".png" and max(down, right) > MOST_DRAWN:
        raise ValueError(
            f"a .png expected at most {MOST_DRAWN} x {MOST_DRAWN} images, but this has {down:,} x {right:,}; take fewer, "
            "or write an .npz."
        )


def write_made(
    out: Path, sources: Mapping[str, Array], name: str, made: Array, draw: Callable[[], Figure], plain: bool
) -> None:
    """Write the rows that were made: as an image with what it was made from, as arrays, or as a table."""
    from untwine.evaluation.gallery import save_gallery as save_arrays
    from untwine.runs import files

    if out.suffix == ".png":
        files.write(out, _tiles(made) if plain else _drawing(draw(), made))
    elif out.suffix == ".npz":
        save_arrays(out, {**sources, name: made})
    elif out.suffix == ".npy":
        files.write(out, _array(made))
    else:
        write_table(out, [f"x{i}" for i in range(made.shape[-1])], made.reshape(-1, made.shape[-1]))


def write_table(out: Path, names: Sequence[str], rows: Array) -> None:
    """Write a .csv with a line of names."""
    from untwine.runs import files

    lines = (",".join(map(repr, row)) for row in rows.tolist())
    files.write(out, "\n".join([",".join(names), *lines]) + "\n")


def tell(out: Path, task: str, part: str, made: Array, words: str, notes: Sequence[str], as_json: bool) -> None:
    """Print what was written, in words or as JSON."""
    for note in notes:
        print(f"untwine: note: {note}", file=sys.stderr)
    if as_json:
        print_json({"task": task, "part": part, "shape": list(made.shape), "out": str(out), "notes": list(notes)})
    else:
        print(f"{words}: {out}")


def print_json(content: Any) -> None:
    """Print what any reader of JSON accepts."""
    print(json.dumps(content, indent=2, allow_nan=False))


def _array(made: Array) -> bytes:
    content = io.BytesIO()
    np.save(content, made, allow_pickle=False)
    return content.getvalue()


def _drawing(figure: Figure, made: Array) -> bytes:
    # Every pixel of an image becomes the same number of dots, about 120 for the image's side.
    from untwine.plots.images import CELL

    side = max(made.shape[-2:])
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=side * max(1, round(120 / side)) / CELL, facecolor="white")
    return content.getvalue()


def in_rows(made: Array) -> Array:
    """Return images (n, C, H, W) as (rows, columns, C, H, W), filled up with white ones."""
    columns = min(len(made), IN_A_ROW)
    white = np.ones((-len(made) % columns, *made.shape[1:]), made.dtype)
    return np.concatenate([made, white]).reshape(-1, columns, *made.shape[1:])


def _tiles(made: Array) -> bytes:
    """Return images (n, C, H, W) or (rows, columns, C, H, W) side by side, in their own pixels."""
    from PIL import Image

    cells = in_rows(made) if made.ndim == 4 else made
    cells = cells[:, :, :3] if cells.shape[2] >= 3 else cells[:, :, :1]
    down, right, channels, height, width = cells.shape
    tiled = cells.transpose(0, 3, 1, 4, 2).reshape(down * height, right * width, channels)
    whole = np.rint(np.clip(tiled, 0, 1) * 255).astype(np.uint8)
    content = io.BytesIO()
    Image.fromarray(whole if channels == 3 else whole[:, :, 0]).save(content, format="png")
    return content.getvalue()
