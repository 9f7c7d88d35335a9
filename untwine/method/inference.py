"""From samples to codes and back, a batch at a time, with what is known of each sample."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from untwine._typing import Array
from untwine.latents import Latents
from untwine.method.conditioned import Conditioned
from untwine.method.inputs import describe_type, samples_at_once
from untwine.registry.checks import check_int
from untwine.samples import Samples
from untwine.training.batches import as_float
from untwine.training.conditions import Conditions
from untwine.training.sparse_samples import SparseSamples


class Inference(Conditioned):
    """`encode`, `decode` and `sample`, from what a method defines: `codes`, `generate` and its prior."""

    name: ClassVar[str]
    shape_: tuple[int, ...]
    device_: torch.device

    @property
    @abstractmethod
    def blocks(self) -> dict[str, int]:
        """The width of each block of codes, by name."""

    @abstractmethod
    def generate(self, codes: Mapping[str, Tensor]) -> Tensor:
        """Return samples, as the networks see them, from the codes of all blocks."""

    @abstractmethod
    def prior(self, n: int, generator: torch.Generator) -> dict[str, Tensor]:
        """Draw codes from the prior."""

    @abstractmethod
    def known_classes(self) -> Tensor | None:
        """Return the code (classes, width) of every training class, where a method has one."""

    @property
    @abstractmethod
    def _dtype(self) -> torch.dtype:
        """The type of the networks' numbers."""

    @abstractmethod
    def _network_input(self, x: Samples | ArrayLike) -> Tensor | SparseSamples:
        """Return samples as the networks see them."""

    @abstractmethod
    def _check_fitted(self) -> None:
        """Refuse a method that is not fitted."""

    @abstractmethod
    def neutral(self) -> dict[str, Array]:
        """Return the neutral code of each block."""

    def encode(self, x: Samples | ArrayLike) -> Latents:
        """Infer the codes of samples: the posterior mean of each block, with the networks in evaluation mode."""
        codes, (_, known) = self._infer_codes("codes", x), self.conditions_of(x)
        sizes = {name: size[:, 0] for name, size in self._infer_codes("library_sizes", x).items()} if self.counts else {}
        return Latents(codes, self.neutral(), {**known, **sizes})

    def posterior_std(self, x: Samples | ArrayLike) -> dict[str, Array]:
        """Return the posterior standard deviations (n, width) of each block whose posterior is Gaussian."""
        return self._infer_codes("code_std", x)

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

    def _infer_codes(self, what: str, x: Samples | ArrayLike) -> dict[str, Array]:
        """Return what a function of the method (`codes`, `code_std`) infers from samples, with their covariates."""
        samples = self._network_input(x)
        covariates, _ = self.conditions_of(x)
        batches = []
        with torch.no_grad():
            for start in range(0, len(samples), at_once := samples_at_once(self.shape_)):
                some = slice(start, start + at_once)
                view = self.given(Conditions(None if covariates is None else covariates[some]))
                codes = getattr(view, what)(as_float(samples[some].to(self.device_), self._dtype))
                batches.append({name: code.float().cpu().numpy() for name, code in codes.items()})
        return {name: np.concatenate([batch[name] for batch in batches]) for name in batches[0]}

    def decode(
        self,
        latents: Latents,
        *,
        covariates: Mapping[str, ArrayLike] | None = None,
        library_size: ArrayLike | None = None,
    ) -> Array:
        """Return samples from codes: images in [0, 1], vectors in the units of the data, expected counts.

        Parameters
        ----------
        latents
            Codes, with what `encode` knew of each sample: its covariates and library size, which are used unless others are
            given. Codes without any get the most frequent level of each category, the mean of each continuous covariate, and
            the median library size, all of the training samples.
        covariates
            Decode as if samples had these: a value for all, such as {"batch": "1"}, or one for each, by name. Others stay.
        library_size
            The library size of counts: one for all, or one for each sample.
        """
        self._check_fitted()
        if not isinstance(latents, Latents):
            raise TypeError(
                f"decode needs Latents; got {describe_type(latents)}; encode samples first, or make Latents(blocks)."
            )
        if {name: latents[name].shape[1] for name in latents} != self.blocks:
            raise ValueError(f"decode needs the blocks {self.blocks}; got {latents}; encode with the same method.")
        codes = {name: torch.from_numpy(latents[name]) for name in self.blocks}
        conditions = self.conditions_to_decode(latents, covariates, library_size)
        batches = []
        with torch.no_grad():
            for start in range(0, latents.n_samples, at_once := samples_at_once(self.shape_)):
                some = slice(start, start + at_once)
                view = self.given(conditions.map(lambda known, some=some: known[some]))  # type: ignore[misc]
                batches.append(
                    view.generate({n: c[some].to(self.device_, self._dtype) for n, c in codes.items()}).float().cpu()
                )
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
