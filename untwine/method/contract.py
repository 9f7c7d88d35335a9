"""The contract of every method: fit, encode, decode, transform, sample, save.

A method is a dataclass: its constructor only stores, and its fields are its configuration. It is `Trained` (and defines
`stages`) or `Solved` (and defines `solve`), both in `untwine.method.kinds`; besides it defines `blocks`, `build`, `codes` and
`generate`. Everything else is written once: here, and what scikit-learn asks for in `untwine.method.estimator`.
"""

from __future__ import annotations

import time
import typing
import warnings
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn

from untwine._typing import Array
from untwine.latents import Latents
from untwine.linear.contrast import contrast_test
from untwine.method import fields
from untwine.method.estimator import Estimator
from untwine.method.inputs import Needs, as_samples, check_networks, choose_device, describe_type, require
from untwine.runs import saving
from untwine.runs.history import Row
from untwine.runs.saving import CHECKPOINT
from untwine.samples import Samples, observations
from untwine.training import distributed
from untwine.training.batches import units
from untwine.training.errors import TrainingError

PRECISIONS = {"float32": torch.float32, "float64": torch.float64, "bfloat16": torch.float32}
ROWS_AT_ONCE = 1024


class NotFittedError(ValueError, AttributeError):
    """A method was asked for what only a fitted one can tell."""


@dataclass(eq=False, kw_only=True)
class Method(Estimator):
    """What all methods share; see each method for what it adds.

    Parameters
    ----------
    seed
        All chance of a fit comes from it: the same seed, data and threads give the same weights.
    device
        `auto` takes a graphics card where there is one; or `cpu`, `cuda`, `mps`.
    precision
        `float32`, `bfloat16` (networks run in it, weights stay single) or `float64`.
    """

    seed: int = 0
    device: str = "auto"
    precision: str = "float32"

    name: ClassVar[str]
    needs: ClassVar[Needs] = "nothing"
    standardises: ClassVar[bool] = True  # vectors go to the networks with mean 0 and deviation 1 in every column
    papers: ClassVar[Mapping[str, Mapping[str, Any]]] = {}  # a paper's setting, by data set

    # What a method defines

    @property
    @abstractmethod
    def blocks(self) -> dict[str, int]:
        """The width of each block of codes, by name."""

    @abstractmethod
    def build(self, shape: tuple[int, ...], own: Mapping[str, nn.Module]) -> nn.ModuleDict:
        """Return the networks for rows of that shape, with the user's own modules where given."""

    @abstractmethod
    def learn(self, samples: Samples, kept: Checkpointing, progress: bool) -> list[Row]:
        """Fit the networks to samples and return the history; `Trained` and `Solved` say how."""

    @abstractmethod
    def codes(self, x: Tensor) -> dict[str, Tensor]:
        """Return each block's codes of rows in the networks' units."""

    @abstractmethod
    def generate(self, codes: Mapping[str, Tensor]) -> Tensor:
        """Return rows, in the networks' units, from all blocks."""

    def prior(self, n: int, generator: torch.Generator) -> dict[str, Tensor]:
        """Draw codes; standard normal unless a method has another prior."""
        return {name: torch.randn((n, width), generator=generator) for name, width in self.blocks.items()}

    def spreads(self, x: Tensor) -> dict[str, Tensor]:
        """Return the deviations of the Gaussians whose means `codes` returns, of blocks that have some."""
        return {}

    def known_classes(self) -> Tensor | None:
        """Return the code (classes, width) of every class of training, where a method has one."""
        return None

    # What every method does

    def chosen(self, field: str) -> int:
        """Return a width: the number that the field holds or, where it says "auto", what was found in the data."""
        value = getattr(self, field)
        if value != "auto":
            return int(value)
        if field not in self.__dict__.get("found_", {}):
            raise NotFittedError(f"{field}='auto' expected to be fitted first, for the data decides it; call fit.")
        return int(self.found_[field])

    @classmethod
    def paper(cls, data: str, **changes: Any) -> Self:
        """Return the method as its paper set it for one of its data sets."""
        if data not in cls.papers:
            known = ", ".join(cls.papers) or "none"
            raise ValueError(f"{cls.__name__}.paper must be one of its paper's data sets ({known}); got {data!r}.")
        return cls(**{**cls.papers[data], **changes})

    def fit(
        self,
        x: Samples | ArrayLike,
        y: ArrayLike | None = None,
        *,
        networks: Mapping[str, nn.Module] | None = None,
        out: str | Path | None = None,
        resume: bool = False,
        every: float = 60.0,
        origin: Mapping[str, Any] | None = None,
        watch: Callable[[Self, int], None] | None = None,
        progress: bool = False,
    ) -> Self:
        """Train on samples and return the method itself.

        Parameters
        ----------
        x, y
            `Samples`; or an array, with `y` the weak label that the method needs: groups (0 is the background) or classes.
        networks
            Own modules in place of the named ones; they are never written as code, only their weights.
        out
            A run folder. Training keeps a checkpoint there and, at the end, the method is saved in it.
        resume
            Go on from the checkpoint in `out`, if there is one; the result has the bits of a run that never stopped. A finished
            run of the same configuration and data is read back.
        every
            Seconds between checkpoints; 0 writes one after every step.
        origin
            Where the data came from, for the run folder: its name and options.
        watch
            Called with the method and the number of epochs done after each of them, the networks in evaluation mode; a method
            with a closed form has none. It changes nothing of the training, and must not.
        progress
            Show how far training is and the time left.
        """
        if resume and out is None:
            raise ValueError("resume must be a run folder to go on from, but out is not given; pass out=folder.")
        samples = as_samples(x, y, self.needs)
        self.check()
        require(samples, self.needs, type(self).__name__)
        start = time.monotonic()
        own = check_networks(networks)
        if resume and out is not None and saving.is_finished(Path(out)):
            return self._take_finished(Path(out), samples, own)
        self._prepare(samples, own)
        self.data_ = {**(origin or {}), "fingerprint": samples.fingerprint(), "rows": len(samples)}
        kept = Checkpointing(None if out is None else Path(out) / CHECKPOINT, resume, every, watch and partial(watch, self))
        try:
            self.history_ = self.learn(samples, kept, progress)
        except TrainingError as error:
            self.history_ = error.history
            raise
        finally:
            self.nets_.eval()
            self.seconds_ = round(time.monotonic() - start, 3)
        if out is not None:
            self.save(out)
            if distributed.rank() == 0:
                (Path(out) / CHECKPOINT).unlink(missing_ok=True)
            distributed.barrier()
        return self

    def encode(self, x: Samples | ArrayLike) -> Latents:
        """Infer the codes of rows: the mean of each block, with the networks in evaluation mode."""
        return Latents(self._inferred(self.codes, x), self.neutral())

    def deviations(self, x: Samples | ArrayLike) -> dict[str, Array]:
        """Return for each block how unsure its codes of rows are, (n, width), where they are inferred as Gaussians."""
        return self._inferred(self.spreads, x)

    def class_codes(self, labels: ArrayLike) -> Array:
        """Return the codes (n, width) of the block `class` that stand for classes of training, given by their numbers (n,)."""
        self._fitted()
        known, wanted = self.known_classes(), np.asarray(labels)
        if known is None:
            raise ValueError(
                f"class_codes must be a method with a code for every class, but {self.name} has none; encode rows of one."
            )
        if wanted.ndim != 1 or wanted.dtype.kind not in "ui" or not np.isin(wanted, np.arange(len(known))).all():
            raise ValueError(
                f"class_codes needs classes of training as whole numbers (n,) below {len(known)}; got {describe_type(labels)}; "
                "for other classes, encode rows of them."
            )
        codes: Array = known.float().cpu().numpy()
        return np.asarray(codes[wanted])

    def _inferred(self, infer: Callable[[Tensor], dict[str, Tensor]], x: Samples | ArrayLike) -> dict[str, Array]:
        rows = self._rows(x)
        parts = []
        with torch.no_grad():
            for start in range(0, len(rows), ROWS_AT_ONCE):
                codes = infer(units(rows[start : start + ROWS_AT_ONCE].to(self.device_), self._dtype))
                parts.append({name: code.float().cpu().numpy() for name, code in codes.items()})
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def decode(self, latents: Latents) -> Array:
        """Return rows from codes: images in [0, 1], vectors in the units of the data."""
        self._fitted()
        if not isinstance(latents, Latents):
            raise TypeError(
                f"decode must be Latents; got {describe_type(latents)}; encode rows first, or make Latents(blocks)."
            )
        if {name: latents[name].shape[1] for name in latents} != self.blocks:
            raise ValueError(f"decode expected the blocks {self.blocks}; got {latents}; encode with the same method.")
        codes = {name: torch.from_numpy(latents[name]) for name in self.blocks}
        parts = []
        with torch.no_grad():
            for start in range(0, latents.n_samples, ROWS_AT_ONCE):
                some = {n: c[start : start + ROWS_AT_ONCE].to(self.device_, self._dtype) for n, c in codes.items()}
                parts.append(self.generate(some).float().cpu())
        rows = torch.cat(parts)
        if len(self.shape_) == 1:
            rows = rows * self.nets_["units"].spread.float().cpu() + self.nets_["units"].centre.float().cpu()
        return rows.contiguous().numpy()

    def reconstruct(self, x: Samples | ArrayLike) -> Array:
        """Encode and decode."""
        return self.decode(self.encode(x))

    def sample(self, n: int, seed: int = 0) -> Array:
        """Return new rows, from codes drawn from the prior."""
        self._fitted()
        if not isinstance(n, (int, np.integer)) or n < 1:
            raise ValueError(f"sample must be a number of rows of at least 1; got {n!r}.")
        codes = self.prior(n, torch.Generator().manual_seed(seed))
        return self.decode(Latents({name: code.numpy() for name, code in codes.items()}))

    def neutral(self) -> dict[str, Array]:
        """Return the code of each block that means "nothing there"; 0 where a method names none."""
        return {}

    # Run folders

    def save(self, folder: str | Path) -> None:
        """Write the method as a run folder: JSON and safetensors, never code. `method.json` comes last, and only whole."""
        self._fitted()
        if distributed.rank():
            return
        card = {
            "method": self.name,
            "params": self.get_params(),
            "shape": list(self.shape_),
            "blocks": self.blocks,
            "found": self.found_,
            "own_networks": self.own_,
            "data": self.data_,
            "seconds": {"fit": self.seconds_},
        }
        saving.write(Path(folder), card, self.nets_.state_dict(), self.history_)

    def restore(self, card: Mapping[str, Any], folder: Path, own: Mapping[str, nn.Module]) -> Self:
        """Take the fitted state from a run folder whose `method.json` was read and found whole."""
        if set(own) != set(card["own_networks"]):
            raise ValueError(
                f"{folder} expected own networks for {card['own_networks'] or 'nothing'}; got {sorted(own) or 'none'}; "
                "pass the modules it was fitted with as load_method(path, networks={...})."
            )
        tensors = saving.read_weights(folder, card)
        self.found_ = dict(card.get("found", {}))
        self._assemble(tuple(card["shape"]), own)
        try:
            self.nets_.load_state_dict(tensors)
        except RuntimeError:
            raise ValueError(
                f"{folder} expected the weights of {self.name!r} as configured, but they belong to other networks."
            ) from None
        self.data_, self.seconds_ = dict(card["data"]), float(card["seconds"]["fit"])
        self.history_ = saving.read_history(folder)
        self.nets_.eval()
        return self

    # Inside

    def _take_finished(self, folder: Path, samples: Samples, own: Mapping[str, nn.Module]) -> Self:
        card = saving.read_card(folder)
        mine = (self.name, self.get_params(), samples.fingerprint())
        if (card["method"], card["params"], card["data"].get("fingerprint")) != mine:
            raise ValueError(
                f"{folder} must be the same method, options and data as the finished run in it, but they differ; "
                "repeat them exactly, or choose another folder."
            )
        return self.restore(card, folder, own)

    def check(self) -> None:
        """Refuse a configuration that cannot work, in one sentence."""
        fields.check(self.get_params(), typing.get_type_hints(type(self)))
        if self.precision not in PRECISIONS:
            raise ValueError(f"precision must be one of {', '.join(PRECISIONS)}; got {self.precision!r}.")

    def _look_for(self, samples: Samples) -> dict[str, int]:
        """Return what the networks must know of the data: widths that are left to it, and how many rows and classes it has."""
        if self.needs == "labels" and samples.labels is not None:
            return {"rows": len(samples), "classes": len(np.unique(samples.labels))}
        asked = [name for name, value in self.get_params().items() if name == "n_salient" and value == "auto"]
        if not asked:
            return {}
        found = contrast_test(samples).n_salient
        if not found:
            sentence = (
                "n_salient='auto' found nothing salient: the target varies no more than chance allows; it gets 1 dimension."
            )
            warnings.warn(sentence, UserWarning, stacklevel=3)
        return dict.fromkeys(asked, max(1, found))

    def _prepare(self, samples: Samples, own: Mapping[str, nn.Module]) -> None:
        self.found_ = self._look_for(samples)
        self._assemble(samples.shape, own)
        if not samples.is_image:
            self.n_features_in_ = samples.shape[0]
            if self.standardises:
                centre, spread = samples.x.mean(0, dtype=np.float64), samples.x.std(0, dtype=np.float64)
                # A column that only varies by rounding is constant: it keeps its units.
                constant = spread <= 1e-6 * np.abs(centre) + 1e-30
                self.nets_["units"].centre.copy_(torch.from_numpy(centre))
                self.nets_["units"].spread.copy_(torch.from_numpy(np.where(constant, 1.0, spread)))

    def _assemble(self, shape: tuple[int, ...], own: Mapping[str, nn.Module]) -> None:
        """Build the networks from the seed alone, leaving the caller's chance as it was."""
        self.shape_, self.own_, self.device_ = shape, sorted(own), choose_device(self.device)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            nets: Any = self.build(shape, own)
        if len(shape) == 1:
            nets["units"] = Units(shape[0])
        self.nets_: Any = nets.to(self.device_, self._dtype)
        if self._convolves:
            self.nets_.to(memory_format=torch.channels_last)

    @property
    def _convolves(self) -> bool:
        return len(self.shape_) == 3 and any(isinstance(part, nn.Conv2d) for part in self.nets_.modules())

    def _standard(self, x: Tensor) -> Tensor:
        if len(self.shape_) == 3:
            # Convolutions are faster with the channels last. All rows are laid out at once: to do it batch by batch costs more
            # than all else that the loop adds to a step, and fully connected layers would only have to copy them back.
            return x.contiguous(memory_format=torch.channels_last) if self._convolves else x
        standard: Tensor = (x - self.nets_["units"].centre.cpu()) / self.nets_["units"].spread.cpu()
        return standard

    def _rows(self, x: Samples | ArrayLike) -> Tensor:
        self._fitted()
        rows = x.x if isinstance(x, Samples) else observations(x)
        if (shape := tuple(rows.shape[1:])) != self.shape_:
            title, came = type(self).__name__, f"but got {shape}"
            if len(shape) == len(self.shape_) == 1:  # in the words that scikit-learn has for it
                came = f"for X has {shape[0]} features, but {title} is expecting {self.shape_[0]} features as input"
            raise ValueError(f"{title} expected rows of shape {self.shape_}, as in fit, {came}.")
        return self._standard(torch.from_numpy(rows))

    @property
    def _dtype(self) -> torch.dtype:
        return PRECISIONS[self.precision]

    def _fitted(self) -> None:
        if not hasattr(self, "nets_"):
            raise NotFittedError(
                f"this {type(self).__name__} expected to be fitted first; call fit, or load it with load_method."
            )


class Checkpointing(NamedTuple):
    """Where a run keeps its checkpoint, whether to go on from it, the seconds between two, and who watches."""

    checkpoint: Path | None
    resume: bool
    every: float
    watch: Callable[[int], None] | None = None


class Units(nn.Module):
    """The mean and the deviation of each column in training: vectors go to the networks in these units."""

    centre: Tensor
    spread: Tensor

    def __init__(self, columns: int) -> None:
        super().__init__()
        self.register_buffer("centre", torch.zeros(columns))
        self.register_buffer("spread", torch.ones(columns))
