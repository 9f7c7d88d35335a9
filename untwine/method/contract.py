"""The contract of every method: fit, encode, decode, transform, sample, save.

A method is a dataclass: its constructor only stores, and its fields are its configuration. It is `Trained` (and defines
`stages`) or `Solved` (and defines `solve`), both in `untwine.method.kinds`; it also defines `blocks`, `build`, `codes` and
`generate`. Everything else is written once: here, and scikit-learn's interface in `untwine.method.estimator`.
"""

from __future__ import annotations

import copy
import sys
import time
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn

from untwine._typing import Array
from untwine.method import automatic, fields
from untwine.method.covariates import Columns
from untwine.method.estimator import Estimator
from untwine.method.features import Features
from untwine.method.fields import Device, Precision, Seed
from untwine.method.finished import shorter_epochs
from untwine.method.inference import Inference
from untwine.method.inputs import Needs, as_samples, check_networks, choose_device, require
from untwine.method.presets import Presets
from untwine.method.units import Units
from untwine.registry.sparse_vectors import is_sparse
from untwine.runs import saving
from untwine.runs.history import Row, read_history
from untwine.runs.names import checkpoint_path, final_checkpoint_path, finish_checkpoint, is_finished
from untwine.samples import Samples
from untwine.training import distributed
from untwine.training.errors import TrainingError
from untwine.training.sparse_samples import SparseSamples

PRECISIONS = {"float32": torch.float32, "float64": torch.float64, "bfloat16": torch.float32}


class NotFittedError(ValueError, AttributeError):
    """A method was used before it was fitted."""


@dataclass(eq=False, kw_only=True)
class Method(Presets, Inference, Estimator):
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
    takes_volumes: ClassVar[bool] = False
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

    def block_prior(self, block: str, n: int, generator: torch.Generator) -> Tensor:
        """Draw codes (n, width) of one block from its prior."""
        return self.prior(n, generator)[block]

    def code_std(self, x: Tensor) -> dict[str, Tensor]:
        """Return the posterior standard deviations that go with the means of `codes`, of blocks with a Gaussian posterior."""
        return {}

    def infer(self, samples: Samples) -> dict[str, Any]:
        """Return what `blocks` and `build` must know of the training samples, such as names of targets, as plain JSON."""
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

    def automatic(self, samples: Samples) -> dict[str, Any]:
        """Return the chosen value of every field of training that is left to the data."""
        return {}

    def settled(self) -> Self:
        """Return this method with the chosen value in every field that is left to the data; networks and all else are shared.

        What builds networks and what trains them runs on it.
        """
        view = copy.copy(self)
        for name, value in self.by_hand().items():
            setattr(view, name, value)
        return view

    def take_over(self, view: Self, before: Mapping[str, Any]) -> None:
        """Keep the attributes that stages and steps have set on what `settled` returned, which had those of `before`."""
        self.__dict__.update({name: value for name, value in vars(view).items() if value is not before.get(name)})

    def by_hand(self) -> dict[str, Any]:
        """Return the fields that fit chose from the data: given by hand, they repeat the fit exactly."""
        params, inferred = self.get_params(), self.__dict__.get("inferred_", {})
        return {name: value for name, value in inferred.items() if name in params and params[name] in ("auto", None)}

    def choices(
        self, x: Samples | ArrayLike, y: ArrayLike | None = None, *, features: Features | None = None
    ) -> dict[str, Any]:
        """Return the options that fit would choose from training samples; given by hand, they repeat it. Nothing is trained.

        Parameters
        ----------
        x, y, features
            As in `fit`.
        """
        view = copy.copy(self)
        view.check()
        samples = view.extract(as_samples(x, y, self.needs), features)
        require(samples, self.needs, type(self).__name__, self.takes_volumes)
        view.inferred_ = {**view.automatic(samples), **view.infer(samples)}
        return view.by_hand()

    def fit(
        self,
        x: Samples | ArrayLike,
        y: ArrayLike | None = None,
        *,
        networks: Mapping[str, nn.Module] | None = None,
        features: Features | None = None,
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
            `Samples`; or an array, sparse matrix, data frame or AnnData, with `y` the supervision that the method needs: groups
            (0 is the background) or classes. The names of features are kept, and features of other samples brought into their
            order. What is sparse stays sparse but for the samples of a batch; the fit is bit-exactly that of the dense array.
        networks
            Own modules in place of the named ones; they are never written as code, only their weights.
        features
            A frozen network that makes vectors of images, of these and of all later ones; see `frozen_features`.
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
            Called with the method, whose `history_` is that of the epochs so far, and the number of epochs done after each
            epoch, the networks in evaluation mode; never for a method with a closed form. It must not change the method.
        progress
            Show what was chosen from the data, and a progress bar with the time left.
        """
        if resume and out is None:
            raise ValueError("resume needs the run folder to continue; got no out; pass out=folder.")
        if keep_checkpoint and out is None:
            raise ValueError("keep_checkpoint needs a run folder to keep it in; got no out; pass out=folder.")
        self.check()
        samples = self.extract(as_samples(x, y, self.needs), features)
        require(samples, self.needs, type(self).__name__, self.takes_volumes)
        self.warn_of_other_data(samples)
        self.check_conditions(samples)
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
        self.data_ = {**(origin or {}), **self.about_data(samples)}
        keep = out is not None and (keep_checkpoint or (resume and final_checkpoint_path(out).exists()))
        path = None if out is None else checkpoint_path(out)
        checkpointing = Checkpointing(path, resume, every, watch and partial(watch, self), keep, shorter)
        if progress and distributed.rank() == 0:
            for line in automatic.explain(samples, self.by_hand()):
                print(line, file=sys.stderr, flush=True)
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
            **({"covariates": self.columns.to_json()} if self.columns.names else {}),
        }
        saving.write(Path(folder), card, self.nets_.state_dict(), self.history_, self.citation())

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
        self.columns_ = Columns.from_json(card["covariates"]) if "covariates" in card else Columns()
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
        self.inferred_ = {**self.automatic(samples), **self.infer(samples)}
        self.keep_feature_names(samples.feature_names)
        self.columns_ = Columns.of(samples.covariates)
        self._assemble(samples.shape, own)
        self.calibrate(samples)
        if samples.x.ndim == 2:
            self.n_features_in_ = samples.shape[0]
            if self.standardises and not self.counts:
                self.nets_["units"].measure(samples.x)

    def _assemble(self, shape: tuple[int, ...], own: Mapping[str, nn.Module]) -> None:
        """Build the networks from the seed alone, leaving the caller's random state as it was."""
        self.shape_, self.own_, self.device_ = shape, sorted(own), choose_device(self.device)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            nets: Any = self.settled().build(shape, own)
        if len(shape) == 1:
            nets["units"] = Units(shape[0])
        self.add_covariates(nets)
        self.nets_: Any = nets.to(self.device_, self._dtype)
        if self._convolves:  # the faster layout of every named network (decision 0028)
            self.nets_.to(memory_format=torch.channels_last)

    @property
    def _convolves(self) -> bool:
        return len(self.shape_) == 3 and any(isinstance(module, nn.Conv2d) for module in self.nets_.modules())

    def _standard(self, x: Tensor) -> Tensor:
        if len(self.shape_) > 1:
            # Convolutions are faster with the channels last. All samples are converted at once: batch by batch it costs more
            # than all else that the loop adds to a step, and fully connected layers would only have to copy them back.
            return x.contiguous(memory_format=torch.channels_last) if self._convolves else x
        standard: Tensor = self.nets_["units"].standardise(x)
        return standard

    def _as_input(self, x: Array) -> Tensor | SparseSamples:
        """Return samples as the networks see them; sparse ones stay sparse until a batch of them is taken."""
        if not is_sparse(x):
            return self._standard(torch.from_numpy(x))
        sparse: SparseSamples = self.nets_["units"].standardise(x)
        return sparse

    def _network_input(self, x: Samples | ArrayLike) -> Tensor | SparseSamples:
        self._check_fitted()
        samples = self.arrange(x)
        if (shape := tuple(samples.shape[1:])) != self.shape_:
            title, got = type(self).__name__, f"got {shape}"
            if len(shape) == len(self.shape_) == 1:  # scikit-learn's own sentence
                got = f"X has {shape[0]} features, but {title} is expecting {self.shape_[0]} features as input"
            raise ValueError(f"{title} needs samples of shape {self.shape_}, as in fit; {got}.")
        self.check_not_negative(samples)
        return self._as_input(samples)

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
