"""What was inferred: named blocks of codes, and the ways to recombine them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.registry import blocks as names


class Latents(Mapping[str, Array]):
    """Named blocks of codes, one row a sample: `z["class"]`, or `z.common`, `z.salient`, `z.content`, `z.class_`.

    A `Latents` never changes: every action returns a new one. Where every target has a salient block of its own, `salient`
    stands for all of them, side by side (`untwine.registry.blocks`).

    Parameters
    ----------
    blocks
        Codes by name, each (n, width).
    neutral
        The value of a block that stands for "nothing there", by name; 0 where it is not given.
    conditions
        What was known of each sample beside its codes, (n,) by name: covariates, and the library size of counts. They go along
        with the samples whatever is done with their codes, and `decode` uses them.

    Examples
    --------
    >>> import numpy as np
    >>> a = Latents({"common": np.zeros((2, 3)), "salient": np.ones((2, 1))})
    >>> a.remove("salient").salient.ravel()
    array([0., 0.])
    """

    def __init__(
        self,
        blocks: Mapping[str, ArrayLike],
        neutral: Mapping[str, ArrayLike] | None = None,
        conditions: Mapping[str, ArrayLike] | None = None,
    ) -> None:
        self._blocks = {name: _block(name, codes) for name, codes in blocks.items()}
        if not self._blocks:
            raise ValueError("Latents must have at least one block of codes; got none.")
        counts = {name: len(codes) for name, codes in self._blocks.items()}
        if len(set(counts.values())) > 1:
            raise ValueError(f"Latents must have as many samples in every block; got {counts}.")
        self._neutral = {name: np.zeros(codes.shape[1], codes.dtype) for name, codes in self._blocks.items()}
        for name, value in (neutral or {}).items():
            self._neutral[name] = _neutral(name, value, self._blocks[self._known(name)])
        self._conditions = {name: np.array(values) for name, values in (conditions or {}).items()}
        for name, values in self._conditions.items():
            if values.shape != (self.n_samples,):
                raise ValueError(
                    f"the condition {name!r} must have one value for each of the {self.n_samples} samples; got {values.shape}."
                )

    def __getitem__(self, name: str) -> Array:
        if name not in self._blocks and not self.members(name):
            raise KeyError(self._unknown(name))
        return self._joined(self._blocks, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._blocks)

    def __len__(self) -> int:
        """Return how many blocks there are; `n_samples` counts the samples."""
        return len(self._blocks)

    def __getattr__(self, name: str) -> Array:
        blocks = self.__dict__.get("_blocks", {})
        key = name.removesuffix("_")
        if names.members(key, blocks):
            return self._joined(blocks, key)
        raise AttributeError(self._unknown(name))

    def __eq__(self, other: object) -> bool:
        """Whether the other has the same blocks with the same codes."""
        if not isinstance(other, Latents):
            return NotImplemented
        return self._blocks.keys() == other._blocks.keys() and all(np.array_equal(self[name], other[name]) for name in self)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return (
            f"Latents({self.n_samples} samples: "
            + ", ".join(f"{name} {codes.shape[1]}" for name, codes in self._blocks.items())
            + ")"
        )

    @property
    def n_samples(self) -> int:
        """How many samples were encoded."""
        return len(next(iter(self._blocks.values())))

    def members(self, name: str) -> tuple[str, ...]:
        """Return the blocks that a name stands for: itself or, for `salient`, those of all targets."""
        return names.members(name, self._blocks)

    @property
    def neutral(self) -> Mapping[str, Array]:
        """For each block the code that `remove` writes."""
        return dict(self._neutral)

    @property
    def conditions(self) -> Mapping[str, Array]:
        """What was known of each sample beside its codes, (n,) by name; empty where nothing was."""
        return dict(self._conditions)

    def take(self, index: Any) -> Latents:
        """Return the codes of the chosen samples (a slice, a mask or indices)."""
        chosen = np.atleast_1d(np.arange(self.n_samples)[index])
        return self._with({name: codes[chosen] for name, codes in self._blocks.items()}, chosen)

    def array(self) -> Array:
        """Return all blocks side by side as one 2-D array."""
        return np.concatenate(list(self._blocks.values()), axis=1)

    def swap(self, other: Latents, block: str) -> Latents:
        """Return these codes with the block `block` of `other`: sample by sample, or its single sample for all."""
        if not isinstance(other, Latents):
            raise TypeError(f"swap needs the Latents of other samples; got a {type(other).__name__}; encode them first.")
        mine, theirs = self[self._known(block)], other[other._known(block)]
        if theirs.shape[1] != mine.shape[1] or len(theirs) not in (1, len(mine)):
            raise ValueError(
                f"swap needs {block!r} codes of shape {mine.shape}, or of a single sample; got {theirs.shape}; "
                "take as many samples of both, from one method."
            )
        return self._change(block, np.broadcast_to(theirs, mine.shape).copy())

    def cross(self, other: Latents, block: str) -> Latents:
        """Return every sample with the block of every sample of `other`, the samples of `other` varying fastest."""
        i, j = np.divmod(np.arange(self.n_samples * other.n_samples), other.n_samples)
        return self.take(i).swap(other.take(j), block)

    def remove(self, block: str) -> Latents:
        """Return these codes with the block `block` at its neutral value."""
        neutral = self._joined(self._neutral, self._known(block))
        return self._change(block, np.broadcast_to(neutral, self[block].shape).copy())

    def traverse(self, block: str, dimension: int, values: ArrayLike) -> Latents:
        """Return one sample's codes repeated, with one dimension of `block` going through `values`."""
        values = np.asarray(values, dtype=float).ravel()
        if self.n_samples != 1:
            raise ValueError(f"traverse needs the codes of one sample; got {self.n_samples}; choose one with z.take([i]).")
        width = self[self._known(block)].shape[1]
        if not -width <= dimension < width:
            raise ValueError(f"traverse needs a dimension of {block!r} below {width}; got {dimension}.")
        repeated = self.take(np.zeros(len(values), dtype=int))
        codes = repeated[block].copy()
        codes[:, dimension] = values
        return repeated._change(block, codes)

    def interpolate(self, other: Latents, steps: int, block: str | None = None) -> Latents:
        """Return `steps` codes on the straight line from one sample to another, ends included.

        With `block`, only that block moves and the others stay those of this sample.
        """
        if self.n_samples != 1 or other.n_samples != 1:
            raise ValueError(
                f"interpolate needs one sample on each side; got {self.n_samples} and {other.n_samples}; use z.take([i])."
            )
        if steps < 2:
            raise ValueError(f"interpolate needs at least 2 steps, the two ends; got {steps}.")
        t = np.linspace(0.0, 1.0, steps)[:, None]
        moving = tuple(self) if block is None else self.members(self._known(block))
        for name in moving:
            if other[other._known(name)].shape != self[name].shape:
                raise ValueError(
                    f"interpolate needs {name!r} codes of one width; got {self[name].shape[1]} "
                    f"and {other[name].shape[1]}; take both from one method."
                )
        return self._with(
            {
                name: ((1 - t) * codes + t * other[name] if name in moving else np.repeat(codes, steps, axis=0)).astype(
                    codes.dtype
                )
                for name, codes in self._blocks.items()
            },
            np.zeros(steps, dtype=int),
        )

    def _with(self, blocks: Mapping[str, Array], index: Any = slice(None)) -> Latents:
        """Return other codes of the chosen samples, with what is known of these."""
        return Latents(blocks, self._neutral, {name: values[index] for name, values in self._conditions.items()})

    def _change(self, block: str, codes: Array) -> Latents:
        """Return these codes with those of a block, or of all blocks that the name stands for, side by side."""
        changed = self.members(block)
        ends = np.cumsum([self._blocks[name].shape[1] for name in changed])
        return self._with({**self._blocks, **dict(zip(changed, np.split(codes, ends[:-1], axis=1), strict=True))})

    def _joined(self, blocks: Mapping[str, Array], name: str) -> Array:
        """Return what a name stands for, several blocks side by side."""
        return blocks[name] if name in blocks else np.concatenate([blocks[one] for one in names.members(name, blocks)], axis=-1)

    def _known(self, name: str) -> str:
        if not self.members(name):
            raise ValueError(self._unknown(name))
        return name

    def _unknown(self, name: str) -> str:
        return f"these latents have the blocks {', '.join(names.names_of(self.__dict__.get('_blocks', {})))}, but not {name!r}."


def bilinear(corners: Latents, steps: int, block: str | None) -> Latents:
    """Return codes bilinear between those of four samples, row by row; all blocks but the one named stay those of the first."""
    down, right = (t.ravel()[:, None] for t in np.meshgrid(*[np.linspace(0, 1, steps)] * 2, indexing="ij"))
    weights = np.hstack([(1 - down) * (1 - right), (1 - down) * right, down * (1 - right), down * right])
    mixed = corners.take(np.zeros(steps**2, dtype=int))
    for name in corners if block is None else corners.members(block):
        mixed = mixed.swap(Latents({name: (weights @ corners[name]).astype(corners[name].dtype)}), name)
    return mixed


def _block(name: str, codes: ArrayLike) -> Array:
    try:
        codes = np.array(codes)
    except ValueError:
        raise ValueError(f"the block {name!r} must be one rectangular array; its codes differ in width.") from None
    if codes.ndim != 2 or codes.dtype.kind not in "uif":
        raise ValueError(f"the block {name!r} must be numbers of shape (n, width); got {codes.dtype} of shape {codes.shape}.")
    codes = codes if codes.dtype.kind == "f" else codes.astype(np.float64)
    if not np.isfinite(codes).all():
        raise ValueError(f"the block {name!r} must be finite codes; got NaN or infinity.")
    return codes


def _neutral(name: str, value: ArrayLike, codes: Array) -> Array:
    value = np.asarray(value, dtype=codes.dtype)
    if value.shape not in ((), codes.shape[1:]) or not np.isfinite(value).all():
        raise ValueError(
            f"the neutral value of {name!r} must be a finite number, or {codes.shape[1]} of them; got shape {value.shape}."
        )
    return np.broadcast_to(value, codes.shape[1:])
