"""The contract of every method: fit, encode, decode, transform, sample, save.

A method is a dataclass: its constructor only stores, and its fields are its configuration. It is `Trained` (and defines
`stages`) or `Solved` (and defines `solve`), both in `untwine.method.kinds`; it also defines `blocks`, `build`, `codes` and
`generate`. Everything else is written once: here, and scikit-learn's interface in `untwine.method.estimator`.
"""

from __future__ import annotations

import time
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
from untwine.method import fields
from untwine.method.estimator import Estimator
from untwine.method.fields import Device, Precision, Seed
from untwine.method.finished import shorter_epochs
from untwine.method.inputs import Needs, as_samples, check_networks, choose_device, describe_type, require, warn_of_counts
from untwine.method.presets import Presets
from untwine.registry.checks import check_int
from untwine.runs import saving
from untwine.runs.history import Row, read_history
from untwine.runs.names import checkpoint_path, final_checkpoint_path, finish_checkpoint, is_finished
from untwine.samples import Samples
from untwine.training import distributed
from untwine.training.batches import as_float
from untwine.training.errors import TrainingError

PRECISIONS = {"float32": torch.float32, "float64": torch.float64, "bfloat16": torch.float32}
SAMPLES_AT_ONCE = 1024


class NotFittedError(ValueError, AttributeError):
    """A method was used before it was fitted."""


@dataclass(eq=False, kw_only=True)
class Method(Presets, Estimator):
    """What all methods share; see each method for what it adds.

    Parameters
    ----------
    seed
        Seeds all random numbers of a fit: the same seed, data and threads give the same weights.
    device
        Where the networks run: `cpu`, `cuda`, `mps`, or `auto`, a GPU if there is one.
    precision
        `float32`, `bfloat16` (the networks run in it, weights stay float32) or `float64`.
    """

    seed: Seed = 0
    device: Device = "auto"
    precision: Precision = "float32"

    name: ClassVar[str]
    needs: ClassVar[Needs] = "nothing"
    standardises: ClassVar[bool] = True  # vectors go to the networks with mean 0 and standard deviation 1 in every feature

    # What a method defines

    @property
    @abstractmethod
    def blocks(self) -> dict[str, int]:
        """The width of each block of codes, by name."""

    @abstractmethod
    def build(self, shape: tuple[int, ...], own: Mapping[str, nn.Module]) -> nn.ModuleDict:
        """Return the networks for samples of that shape, with the user's own modules where given."""

    @abstractmethod
    def learn(self, samples: Samples, checkpointing: Checkpointing, progress: bool) -> list[Row]:
        """Fit the networks to samples and return the history; `Trained` and `Solved` say how."""

    @abstractmethod
    def codes(self, x: Tensor) -> dict[str, Tensor]:
        """Return the codes of each block, from samples as the networks see them."""

    @abstractmethod
    def generate(self, codes: Mapping[str, Tensor]) -> Tensor:
        """Return samples, as the networks see them, from the codes of all blocks."""

    def prior(self, n: int, generator: torch.Generator) -> dict[str, Tensor]:
        """Draw codes from the prior: standard normal unless a method has another."""
        return {name: torch.randn((n, width), generator=generator) for name, width in self.blocks.items()}

    def code_std(self, x: Tensor) -> dict[str, Tensor]:
        """Return the posterior standard deviations that go with the means of `codes`, of blocks with a Gaussian posterior."""
        return {}

    def infer(self, samples: Samples) -> dict[str, int]:
        """Return what `blocks` and `build` must know of the training samples, such as a width that is left to the data."""
        return {}

    def known_classes(self) -> Tensor | None:
        """Return the code (classes, width) of every training class, where a method has one."""
        return None

    # What every method does

    def resolve(self, field: str) -> int:
        """Return a width: the value of the field or, where it is "auto", what `infer` returned."""
        value = getattr(self, field)
        if value != "auto":
            return int(value)
        if field not in self.__dict__.get("inferred_", {}):
            raise NotFittedError(f"{field}='auto' is chosen from the data by fit and not known before; call fit first.")
        return int(self.inferred_[field])

    def fit(
        self,
        x: Samples | ArrayLike,
        y: ArrayLike | None = None,
        *,
        networks: Mapping[str, nn.Module] | None = None,
        out: str | Path | None = None,
        resume: bool = False,
        every: float = 60.0,
        keep_checkpoint: bool = False,
        origin: Mapping[str, Any] | None = None,
        watch: Callable[[Self, int], None] | None = None,
        progress: bool = False,
    ) -> Self:
        """Train on samples and return the method itself.

        A method made by `paper` or `authors` warns where the samples differ from the preset's in shape or number, and every
        method where vectors look like raw counts: non-negative integers, 30 % of them or more 0, the largest 50 or more.

        Parameters
        ----------
        x, y
            `Samples`; or an array, data frame or AnnData, with `y` the supervision that the method needs: groups (0 is the
            background) or classes. The names of features are kept, and features of other samples brought into their order.
        networks
            Own modules in place of the named ones; they are never written as code, only their weights.
        out
            A run folder. Training keeps a checkpoint there and, at the end, the method is saved in it.
        resume
            Continue from the checkpoint in `out`, if there is one; resuming is bit-exact. A finished run of the same
            configuration and data is loaded; with more epochs it is trained longer, if it has kept its checkpoint.
        every
            Seconds between checkpoints; 0 writes one after every step.
        keep_checkpoint
            Keep the last checkpoint in `out`, so that the run can be trained longer, bit-exact to more epochs at once.
            Methods whose learning rate or weights depend on the number of epochs refuse it; closed forms have none.
        origin
            The data set's name and options, for the run folder.
        watch
            Called with the method and the number of epochs done after each epoch, the networks in evaluation mode; never for a
            method with a closed form. It must not change the method.
        progress
            Show a progress bar with the time left.
        """
        if resume and out is None:
            raise ValueError("resume needs the run folder to continue; got no out; pass out=folder.")
        if keep_checkpoint and out is None:
            raise ValueError("keep_checkpoint needs a run folder to keep it in; got no out; pass out=folder.")
        self.check()
        samples = as_samples(x, y, self.needs)
        require(samples, self.needs, type(self).__name__)
        self.warn_of_other_data(samples)
        warn_of_counts(samples)
        start = time.monotonic()
        own = check_networks(networks)
        shorter = None
        if resume and out is not None and is_finished(out):
            card = saving.read_sealed_card(out)
            epochs = shorter_epochs(Path(out), card, self.name, self.get_params(), samples.fingerprint())
            if epochs is None:
                return self.restore(card, Path(out), own)
            shorter = final_checkpoint_path(out), epochs
        self._prepare(samples, own)
        self.data_ = {**(origin or {}), "fingerprint": samples.fingerprint(), "rows": len(samples)}
        keep = out is not None and (keep_checkpoint or (resume and final_checkpoint_path(out).exists()))
        path = None if out is None else checkpoint_path(out)
        checkpointing = Checkpointing(path, resume, every, watch and partial(watch, self), keep, shorter)
        try:
            self.history_ = self.learn(samples, checkpointing, progress)
        except TrainingError as error:
            self.history_ = error.history
            raise
        finally:
            self.nets_.eval()
            self.seconds_ = round(time.monotonic() - start, 3)
        if out is not None:
            self.save(out)
            if distributed.rank() == 0:
                finish_checkpoint(out, keep)
            distributed.barrier()
        return self

    def encode(self, x: Samples | ArrayLike) -> Latents:
        """Infer the codes of samples: the posterior mean of each block, with the networks in evaluation mode."""
        return Latents(self._infer_codes(self.codes, x), self.neutral())

    def posterior_std(self, x: Samples | ArrayLike) -> dict[str, Array]:
        """Return the posterior standard deviations (n, width) of each block whose posterior is Gaussian."""
        return self._infer_codes(self.code_std, x)

    def class_codes(self, labels: ArrayLike) -> Array:
        """Return the codes (n, width) of the block `class` for training classes, given by their numbers (n,)."""
        self._check_fitted()
        known, wanted = self.known_classes(), np.asarray(labels)
        if known is None:
            raise ValueError(f"class_codes needs a method with a code for every class; {self.name} has none; encode samples.")
        if wanted.ndim != 1 or wanted.dtype.kind not in "ui" or not np.isin(wanted, np.arange(len(known))).all():
            raise ValueError(
                f"labels must be training classes as integers (n,) below {len(known)}; got {describe_type(labels)}; "
                "encode samples of other classes."
            )
        codes: Array = known.float().cpu().numpy()
        return np.asarray(codes[wanted])

    def _infer_codes(self, infer: Callable[[Tensor], dict[str, Tensor]], x: Samples | ArrayLike) -> dict[str, Array]:
        samples = self._network_input(x)
        batches = []
        with torch.no_grad():
            for start in range(0, len(samples), SAMPLES_AT_ONCE):
                codes = infer(as_float(samples[start : start + SAMPLES_AT_ONCE].to(self.device_), self._dtype))
                batches.append({name: code.float().cpu().numpy() for name, code in codes.items()})
        return {name: np.concatenate([batch[name] for batch in batches]) for name in batches[0]}

    def decode(self, latents: Latents) -> Array:
        """Return samples from codes: images in [0, 1], vectors in the units of the data."""
        self._check_fitted()
        if not isinstance(latents, Latents):
            raise TypeError(
                f"decode needs Latents; got {describe_type(latents)}; encode samples first, or make Latents(blocks)."
            )
        if {name: latents[name].shape[1] for name in latents} != self.blocks:
            raise ValueError(f"decode needs the blocks {self.blocks}; got {latents}; encode with the same method.")
        codes = {name: torch.from_numpy(latents[name]) for name in self.blocks}
        batches = []
        with torch.no_grad():
            for start in range(0, latents.n_samples, SAMPLES_AT_ONCE):
                some = {n: c[start : start + SAMPLES_AT_ONCE].to(self.device_, self._dtype) for n, c in codes.items()}
                batches.append(self.generate(some).float().cpu())
        x = torch.cat(batches)
        if len(self.shape_) == 1:
            x = x * self.nets_["units"].spread.float().cpu() + self.nets_["units"].centre.float().cpu()
        return x.contiguous().numpy()

    def reconstruct(self, x: Samples | ArrayLike) -> Array:
        """Encode and decode."""
        return self.decode(self.encode(x))

    def sample(self, n: int, seed: int = 0) -> Array:
        """Return new samples, decoded from codes drawn from the prior."""
        self._check_fitted()
        check_int("n", n, 1)
        codes = self.prior(n, torch.Generator().manual_seed(seed))
        return self.decode(Latents({name: code.numpy() for name, code in codes.items()}))

    def neutral(self) -> dict[str, Array]:
        """Return the neutral code of each block, which `remove` writes; 0 where a method names none."""
        return {}

    # Run folders

    def save(self, folder: str | Path) -> None:
        """Write the method as a run folder: JSON and safetensors, never code."""
        self._check_fitted()
        if distributed.rank():
            return
        card = {
            "method": self.name,
            "params": self.get_params(),
            "shape": list(self.shape_),
            "blocks": self.blocks,
            "found": self.inferred_,
            "own_networks": self.own_,
            "data": self.data_,
            "seconds": {"fit": self.seconds_},
            **({"feature_names": list(self.feature_names)} if self.feature_names else {}),
        }
        saving.write(Path(folder), card, self.nets_.state_dict(), self.history_)

    def restore(self, card: Mapping[str, Any], folder: Path, own: Mapping[str, nn.Module]) -> Self:
        """Load the fitted state from a run folder whose card was read and checked."""
        if set(own) != set(card["own_networks"]):
            needed = ", ".join(card["own_networks"]) or "none"
            raise ValueError(
                f"networks must be the modules that {folder} was fitted with: {needed}; got "
                f"{', '.join(sorted(own)) or 'none'}; pass load_method(path, networks={{...}})."
            )
        tensors = saving.read_weights(folder, card)
        self.inferred_ = dict(card.get("found", {}))
        self.keep_feature_names(card.get("feature_names", ()))
        self._assemble(tuple(card["shape"]), own)
        try:
            self.nets_.load_state_dict(tensors)
        except RuntimeError:
            raise ValueError(
                f"{folder} must hold the weights of {self.name!r} as configured; got those of other networks; restore the file."
            ) from None
        self.data_, self.seconds_ = dict(card["data"]), float(card["seconds"]["fit"])
        self.history_ = read_history(folder) or []
        self.nets_.eval()
        return self

    # Inside

    def check(self) -> None:
        """Raise an error for a configuration that cannot work."""
        fields.check(type(self), self.get_params())

    def _prepare(self, samples: Samples, own: Mapping[str, nn.Module]) -> None:
        self.inferred_ = self.infer(samples)
        self.keep_feature_names(samples.feature_names)
        self._assemble(samples.shape, own)
        if not samples.is_image:
            self.n_features_in_ = samples.shape[0]
            if self.standardises:
                centre, spread = samples.x.mean(0, dtype=np.float64), samples.x.std(0, dtype=np.float64)
                # A feature that only varies by rounding is constant: it keeps its units.
                constant = spread <= 1e-6 * np.abs(centre) + 1e-30
                self.nets_["units"].centre.copy_(torch.from_numpy(centre))
                self.nets_["units"].spread.copy_(torch.from_numpy(np.where(constant, 1.0, spread)))

    def _assemble(self, shape: tuple[int, ...], own: Mapping[str, nn.Module]) -> None:
        """Build the networks from the seed alone, leaving the caller's random state as it was."""
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
        return len(self.shape_) == 3 and any(isinstance(module, nn.Conv2d) for module in self.nets_.modules())

    def _standard(self, x: Tensor) -> Tensor:
        if len(self.shape_) == 3:
            # Convolutions are faster with the channels last. All samples are converted at once: batch by batch it costs more
            # than all else that the loop adds to a step, and fully connected layers would only have to copy them back.
            return x.contiguous(memory_format=torch.channels_last) if self._convolves else x
        standard: Tensor = (x - self.nets_["units"].centre.cpu()) / self.nets_["units"].spread.cpu()
        return standard

    def _network_input(self, x: Samples | ArrayLike) -> Tensor:
        self._check_fitted()
        samples = self.arrange(x)
        if (shape := tuple(samples.shape[1:])) != self.shape_:
            title, got = type(self).__name__, f"got {shape}"
            if len(shape) == len(self.shape_) == 1:  # scikit-learn's own sentence
                got = f"X has {shape[0]} features, but {title} is expecting {self.shape_[0]} features as input"
            raise ValueError(f"{title} needs samples of shape {self.shape_}, as in fit; {got}.")
        return self._standard(torch.from_numpy(samples))

    @property
    def _dtype(self) -> torch.dtype:
        return PRECISIONS[self.precision]

    def _check_fitted(self) -> None:
        if not hasattr(self, "nets_"):
            raise NotFittedError(f"this {type(self).__name__} is not fitted; call fit, or load one with load_method.")


class Checkpointing(NamedTuple):
    """The checkpoint file, whether to resume from it, the seconds between two, and what is called after each epoch.

    Then whether to keep the last one, and that of a finished run with its epochs, to train it longer.
    """

    checkpoint: Path | None
    resume: bool
    every: float
    watch: Callable[[int], None] | None = None
    keep: bool = False
    shorter: tuple[Path, int] | None = None


class Units(nn.Module):
    """The mean and the standard deviation of each feature in training: vectors go to the networks standardised by them."""

    centre: Tensor
    spread: Tensor

    def __init__(self, features: int) -> None:
        super().__init__()
        self.register_buffer("centre", torch.zeros(features))
        self.register_buffer("spread", torch.ones(features))
