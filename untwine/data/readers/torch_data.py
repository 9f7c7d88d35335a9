"""Reader of PyTorch data: a Dataset, a DataLoader, or any iterable of batches, collected into samples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from untwine._typing import Array
from untwine.data.readers.roles import Roles
from untwine.registry.checks import check_choice, check_float
from untwine.registry.columns import kind_of
from untwine.samples import Samples

GIGABYTE = 2**30


def read_torch(
    dataset: Any,
    *,
    y: Literal["groups", "labels"] | None = None,
    background: str | int | None = None,
    keys: Sequence[str] = (),
    label_names: Sequence[str] = (),
    gigabytes: float = 4.0,
    progress: bool = False,
) -> Samples:
    """Collect a Dataset, a DataLoader or any iterable of batches into samples; uint8 is kept.

    A batch, or a sample of a Dataset, is `x` or `(x, y)`; x may be a tensor, an array or an image of Pillow. An order that
    changes, as that of a shuffling DataLoader, is the order of the samples; what augments at random is read once.

    Parameters
    ----------
    dataset
        A `Dataset` or anything else with a length and items, which are single samples; or a `DataLoader`, a list or another
        iterable, whose items are batches.
    y
        What the second of `(x, y)` is: the groups (0 is the background), or the class. None leaves it out.
    background
        The value of y that is the background, where groups are not numbered from it.
    keys
        The names of x and y where the items are mappings, as those of Hugging Face datasets: `("image", "label")`.
    label_names
        A name for each class; by default the `classes` of the dataset, as those of torchvision have.
    gigabytes
        How much memory x may take, and as much again while its batches are joined; more is refused as soon as it is known.
    progress
        Whether to show a progress bar.

    Examples
    --------
    >>> import numpy as np
    >>> batches = ((np.ones((4, 3)), np.array([0, 1, 1, 0])) for _ in range(5))
    >>> read_torch(batches, y="groups")
    Samples(20 vectors of 3: background 10, target 10)
    """
    if y is not None:
        check_choice("y", y, ("groups", "labels"))
    if background is not None and y != "groups":
        raise ValueError(f"background is a value of the groups; got it with y={y!r}; pass y='groups', or leave it out.")
    limit = check_float("gigabytes", gigabytes, 1e-9, 1e6) * GIGABYTE
    single = _holds_single_samples(dataset)
    total = _length(dataset)
    xs: list[Array] = []
    ys: list[Array] = []
    for item in _shown(_items(dataset), total, progress):
        x, values = _pair(item, keys, y is not None)
        xs.append(_sample(x)[None] if single else _array(x))
        _check_next(xs, total, limit)
        if y is not None:
            ys.append(np.atleast_1d(_array(values)))
            if len(ys[-1]) != len(xs[-1]):
                raise ValueError(f"y must have a value for each of the {len(xs[-1])} samples of its batch; got {len(ys[-1])}.")
    if not xs:
        raise ValueError("dataset must yield at least one sample; it yielded none; an iterator can be read only once.")
    known = tuple(label_names) or _class_names(dataset)
    x = xs[0] if len(xs) == 1 else np.concatenate(xs)
    return Samples(x, **_columns(np.concatenate(ys), str(y), background, known) if ys else {})


def _holds_single_samples(dataset: Any) -> bool:
    """Whether the items are single samples: those of a Dataset, and of a DataLoader that makes no batches."""
    if not isinstance(dataset, Iterable) and not hasattr(dataset, "__getitem__"):
        raise TypeError(
            f"dataset must be a Dataset, a DataLoader or an iterable of batches; got {type(dataset).__name__}; pass one."
        )
    if hasattr(dataset, "batch_sampler"):  # a DataLoader
        return dataset.batch_sampler is None and getattr(dataset, "batch_size", None) is None
    kinds = {f"{kind.__module__}.{kind.__name__}" for kind in type(dataset).__mro__}
    if any(kind.startswith("torch.utils.data") and kind.endswith("Dataset") for kind in kinds):
        return True
    return hasattr(dataset, "__getitem__") and not isinstance(dataset, list | tuple)


def _length(dataset: Any) -> int | None:
    """Return the number of items; None where it is not known, as for the DataLoader of a stream."""
    try:
        return len(dataset)
    except TypeError:
        return None


def _items(dataset: Any) -> Iterator[Any]:
    """Yield the items in their order; by number where there is a length, as not every Dataset stops by itself."""
    if hasattr(dataset, "__getitem__") and hasattr(dataset, "__len__") and not hasattr(dataset, "batch_sampler"):
        yield from (dataset[i] for i in range(len(dataset)))
    else:
        yield from dataset


def _shown(items: Iterator[Any], total: int | None, progress: bool) -> Iterator[Any]:
    if not progress:
        yield from items
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(items, "reading", total=total, console=Console(stderr=True))


def _pair(item: Any, keys: Sequence[str], needs_y: bool) -> tuple[Any, Any]:
    """Return x and y of an item; y is None where it is not needed."""
    if isinstance(item, Mapping):
        if missing := [key for key in keys if key not in item]:
            raise ValueError(f"keys must be names of the items, {', '.join(map(str, item))}; got {missing[0]!r}; correct it.")
        item = tuple(item[key] for key in keys)
        if not item:
            raise ValueError("items that are mappings need the names of x and y; got no keys; pass keys=('image', 'label').")
    if not isinstance(item, list | tuple):
        item = (item,)
    if needs_y and len(item) < 2:
        raise ValueError("items must be (x, y) where y is asked for; got x alone; leave y out, or yield both.")
    return item[0], item[1] if needs_y else None


def _array(value: Any) -> Array:
    """Return a tensor, wherever it is, or an array-like as an array."""
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        value = value.float() if str(value.dtype) == "torch.bfloat16" else value
    array = np.asarray(value)
    if array.dtype.kind not in "uifbUS":
        raise TypeError(f"items must be tensors, arrays or images; got {kind_of(array)}; convert them, as with ToTensor.")
    return array


def _sample(x: Any) -> Array:
    """Return a single sample; an image of Pillow gets its channels first."""
    array = _array(x)
    if not hasattr(x, "getbands"):
        return array
    return array[None] if array.ndim == 2 else np.moveaxis(array, -1, 0)


def _check_next(xs: list[Array], total: int | None, limit: float) -> None:
    """Refuse an item of another shape, and more than the memory that is given: as soon as it is known."""
    first, last = xs[0], xs[-1]
    if last.shape[1:] != first.shape[1:] or last.dtype != first.dtype:
        raise ValueError(
            f"samples must have one shape and type; item 0 has {first.shape[1:]} {first.dtype}, item {len(xs) - 1} has "
            f"{last.shape[1:]} {last.dtype}; resize or convert them."
        )
    if len(xs) > 1 and total is not None:
        return  # known from the first
    bytes_of_all = first.nbytes * total if total is not None else first.nbytes // len(first) * sum(map(len, xs))
    if bytes_of_all > limit:
        raise ValueError(
            f"x must fit in {limit / GIGABYTE:.3g} gigabytes; it takes {bytes_of_all / GIGABYTE:.3g}; take fewer or smaller "
            "samples, or raise gigabytes."
        )


def _class_names(dataset: Any) -> tuple[str, ...]:
    """Return the names of classes that a dataset, or the one of a DataLoader, has; none where it has none."""
    inner = getattr(dataset, "dataset", dataset)
    names = getattr(inner, "classes", ())
    return tuple(map(str, names)) if isinstance(names, list | tuple) else ()


def _columns(values: Array, y: str, background: str | int | None, names: tuple[str, ...]) -> dict[str, Any]:
    """Return y as arguments of `Samples`."""
    if values.ndim != 1:
        raise ValueError(f"y must be one value for each sample; got shape {values.shape[1:]} for each; choose one of them.")
    if background is not None:
        known = values.dtype.kind in "uib" and names and len(names) > values.max()
        table = {"y": np.array(names)[values] if known else values}
        wanted = names[background] if known and isinstance(background, int) else str(background)
        return Roles(group="y", background=(wanted,)).columns(table, "the dataset")
    if y == "groups":
        return {"groups": values}
    if values.dtype.kind in "US" or not names or int(values.max()) >= len(names):
        return {"labels": values}
    return {"labels": values, "label_names": names}
