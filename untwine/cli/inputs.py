"""The samples that commands such as `encode`, `swap`, `remove` and `traverse` take: from files or from test data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from untwine.cli.flags import DataFlags, OutputFlags, SampleFlags
from untwine.cli.outputs import check_new

if TYPE_CHECKING:
    from untwine._typing import Array
    from untwine.method.contract import Method
    from untwine.samples import Samples

IMAGES, VECTORS = (".png", ".npz", ".npy"), (".npz", ".npy", ".csv")
DEFAULT_SAMPLES = 6  # of the test data
HOW = {"crop": "center-cropped", "pad": "padded with black", "stretch": "stretched"}
LUMA = (0.299, 0.587, 0.114)  # weights of red, green and blue in ITU-R BT.601 luma


def open_run(run: Path, output: OutputFlags) -> Method:
    """Load a run, after checking that the output can be written and can hold its samples."""
    from untwine.methods import load_method

    check_new(output.out, (*IMAGES, *(ending for ending in VECTORS if ending not in IMAGES)), output.overwrite)
    method = load_method(run)
    check_new(output.out, *((IMAGES, True, "images") if len(method.shape_) > 1 else (VECTORS, True, "vectors")))
    return method


def open_beside(method: Method, run: Path, beside: Sequence[Path], block: str) -> dict[str, Method]:
    """Return the run and those beside it by the name of their method, or of their folder where methods are the same.

    All must have samples of one shape, and the block beside others.
    """
    from untwine.manipulate import other_block
    from untwine.methods import load_method

    methods = [method, *map(load_method, beside)]
    for path, one in zip(beside, methods[1:], strict=True):
        other_block(one, block)
        if one.shape_ != method.shape_:
            raise ValueError(
                f"--beside must have samples of the shape of {run}, {method.shape_}; those of {path} have {one.shape_}; fit "
                "it on the same data."
            )
        if one.feature_names != method.feature_names:
            raise ValueError(
                f"--beside must have the features of {run} in the same order; those of {path} have other names or another "
                "order; fit it on the same data."
            )
    names = [one.name for one in methods]
    if len(set(names)) < len(names):
        names = [path.resolve().name for path in (run, *beside)]
    if len(set(names)) < len(names):
        raise ValueError(f"--beside must be other runs, in folders of different names; got {', '.join(names)}; leave one out.")
    return dict(zip(names, methods, strict=True))


def load_inputs(
    paths: Sequence[Path | None], method: Method, test: Callable[[], Samples], source: DataFlags, n: int | None = None
) -> tuple[list[Array], list[str]]:
    """Return the samples of each file and, for each path that is None, test targets of different classes in turn.

    Also return notes on how images were converted to the shape of the run.

    Parameters
    ----------
    paths
        Files or folders, which are read like the data of the run.
    method
        The run, which says the shape of a sample and the order of features.
    test
        Returns the test split; only called if a path is None.
    source
        Its seed decides which test samples are taken, and its `samples` how many; by default all of a file, and at most
        `DEFAULT_SAMPLES` of the test split.
    n
        How many samples, where the command has no flag for it.
    """
    from untwine.registry.checks import check_int

    check_int("--seed", source.seed, 0)
    n = source.samples if isinstance(source, SampleFlags) and n is None else n
    if n is not None:
        check_int("--samples", n, 1)
    files = [None if path is None else read_input(path, method) for path in paths]
    drawn: Iterator[Array] = iter(())
    if None in files:
        samples = test()
        drawn = (samples.dense(indices) for indices in choose_targets(samples, source.seed, n, len(paths)))
    inputs = [next(drawn) if file is None else file[0].dense(slice(n)) for file in files]
    return inputs, [file[1] for file in files if file is not None and file[1]]


def choose_targets(samples: Samples, seed: int, n: int | None, inputs: int = 1) -> list[Array]:
    """Return the indices of n targets of different classes in turn for each input; `DEFAULT_SAMPLES` where n is not given."""
    import numpy as np

    from untwine.metrics.scored_samples import class_balanced_order

    order = class_balanced_order(samples.labels, target_indices(samples), np.random.default_rng(seed))
    many = n or min(DEFAULT_SAMPLES, max(1, len(order)))
    if len(order) < many:
        raise ValueError(f"--samples must be at most {len(order)}, the targets of the test split; got {many}; take fewer.")
    # The second input takes other samples than the first, as long as there are enough.
    return [order[np.arange(k * many, (k + 1) * many) % len(order)] for k in range(inputs)]


def target_indices(samples: Samples) -> Array:
    """Return the indices of the targets; of all samples where there are no groups."""
    import numpy as np

    from untwine.metrics.scored_samples import target_mask

    return np.flatnonzero(target_mask(samples.groups, len(samples)))


def read_input(path: Path, method: Method, **options: Any) -> tuple[Samples, str]:
    """Read samples with the features of a run in their order, or images converted to its shape; also return a note on that.

    Parameters
    ----------
    path
        A file or a folder, which is read like the data of the run.
    method
        The run.
    **options
        Options of reading in place of those of the run.
    """
    from contextlib import suppress
    from dataclasses import replace

    import numpy as np

    from untwine.data.imaging.again import read_scans_like
    from untwine.data.imaging.layout import holds_volumes
    from untwine.data.own import read_like
    from untwine.data.readers.formats import IMAGE_FILES, format_of
    from untwine.data.reading import existing
    from untwine.method.feature_order import arrange_samples

    path, names = existing(path), tuple(method.feature_names)
    if holds_volumes(path):
        return read_scans_like(method.data_, method.shape_, path, {}).samples, ""
    shape = method.image_shape or method.shape_
    if len(shape) != 3 or format_of(path) is not IMAGE_FILES:
        return arrange_samples(read_like(method.data_, path, names, **options), method), ""
    channels, height, width = shape
    done, samples = [], None
    with suppress(ValueError):  # too large or of several sizes, which resizing solves; or unreadable, which is raised below
        samples = read_like(method.data_, path, (), **{**options, "size": None, "fit": "crop"})
    if samples is None or samples.shape[1:] != (height, width):
        side = max(height, width)
        top, left = (side - height) // 2, (side - width) // 2
        samples = read_like(method.data_, path, (), **{**options, "size": side})
        samples = replace(samples, x=samples.x[:, :, top : top + height, left : left + width])
        fit = {"fit": "crop", **method.data_.get("options", {}), **options}["fit"]
        done.append(f"resized to {width} x {height} pixels ({HOW[fit]} where the aspect ratio differs)")
    x = samples.x
    if x.shape[1] == 3 and channels == 1:
        x = np.rint(np.tensordot(x, LUMA, ([1], [0])))[:, None].astype(np.uint8)
        done.append("converted to grayscale")
    if x.shape[1] == 1 and channels == 3:
        x = np.repeat(x, 3, axis=1)
        done.append("converted to RGB")
    samples = arrange_samples(replace(samples, x=x), method)
    return samples, f"{path} was {' and '.join(done)}, the shape of the run." if done else ""
