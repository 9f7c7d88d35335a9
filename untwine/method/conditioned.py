"""What a method knows of each sample beside its values: covariates, and library sizes of counts.

Networks are given it in one place. `given` returns a view of the method whose networks have the conditions of the samples that
come next, with the same parameters; steps of training, `encode` and `decode` all run on such a view.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from untwine._typing import Array
from untwine.latents import Latents
from untwine.method.covariates import LIBRARY, Columns, CovariateUnits, as_columns, from_columns
from untwine.method.inputs import check_counts, warn_of_counts
from untwine.networks.conditional import given
from untwine.registry.checks import listed
from untwine.samples import Samples
from untwine.training.conditions import Conditions


class Conditioned:
    """The conditions of samples, for all methods."""

    takes_covariates: ClassVar[bool] = False  # whether the networks are given the covariates of samples
    nets_: Any

    @property
    def counts(self) -> bool:
        """Whether x are counts, which the networks see as they are."""
        return False

    @property
    def columns(self) -> Columns:
        """The covariates of the fit, by name; none before it."""
        columns: Columns = self.__dict__.get("columns_", Columns())
        return columns

    @property
    def n_covariates(self) -> int:
        """How many columns of covariates the networks see."""
        return self.columns.width

    def given(self, conditions: Conditions) -> Self:
        """Return this method with networks that are given what is known of the samples that come next; all else is shared."""
        if not conditions:
            return self
        view = copy.copy(self)
        view.nets_ = given(self.nets_, conditions)
        return view

    def library_sizes(self, x: Tensor) -> dict[str, Tensor]:
        """Return the library sizes (n, 1) of counts, by the name that latents carry them under; nothing for other samples."""
        return {}

    def usual_library_size(self) -> float:
        """Return the library size that counts are decoded at where none is given, the median of the training samples."""
        return 1.0

    def check_conditions(self, samples: Samples) -> None:
        """Refuse covariates that the networks could not be given and x that are no counts where counts are asked for."""
        if samples.covariates is not None and not self.takes_covariates:
            raise ValueError(
                f"{type(self).__name__} takes no covariates; got {listed(samples.covariates.names)}; fit a trained method, "
                "such as principled_vae, vae or lord, or leave them out: dataclasses.replace(samples, covariates=None)."
            )
        if not self.counts:
            warn_of_counts(samples)
            return
        check_counts(samples.x)
        if samples.covariates is not None and LIBRARY in samples.covariates.names:
            raise ValueError(f"a covariate of counts must not be named {LIBRARY!r}, which latents carry; rename it.")

    def check_not_negative(self, x: Array) -> None:
        """Refuse negative numbers where x are counts; decoded samples, which are no integers, may be encoded again."""
        if self.counts and x.min() < 0:
            raise ValueError(f"{type(self).__name__} needs counts; got negative numbers; pass x as in fit.")

    def calibrate(self, samples: Samples) -> None:
        """Give the networks the statistics of the training samples that they need: of covariates, and what a method adds."""
        if samples.covariates is not None:
            self.nets_["covariates"].fit(samples.covariates)

    def add_covariates(self, nets: Any) -> None:
        """Add the statistics of covariates to the networks, where the fit has some."""
        if self.columns.names:
            nets["covariates"] = CovariateUnits(self.columns)

    def conditions_of(self, x: Samples | ArrayLike) -> tuple[Tensor | None, dict[str, Array]]:
        """Return the covariates of samples as the networks see them (n, k), and as latents carry them; none without a fit's."""
        if not self.columns.names:
            return None, {}
        own = x.covariates if isinstance(x, Samples) else None
        covariates = self.columns.select(own, type(self).__name__)
        return self._network_covariates(covariates.values), as_columns(covariates)

    def conditions_to_decode(
        self, latents: Latents, covariates: Mapping[str, ArrayLike] | None, library_size: ArrayLike | None
    ) -> Conditions:
        """Return what samples are decoded with: what is said here, else what the latents carry, else the usual values."""
        n, known = latents.n_samples, latents.conditions
        units, table = self.nets_["covariates"] if self.columns.names else None, None
        if units is not None or covariates:
            usual = np.zeros(0) if units is None else units.usual.float().cpu().numpy()
            chosen = from_columns(self.columns, usual, n, known, covariates or {})
            table = self._network_covariates(chosen.values)
        if library_size is not None and not self.counts:
            raise ValueError("library_size is of counts; got one for other samples; choose a likelihood of counts in fit.")
        sizes = known.get(LIBRARY) if library_size is None else library_size
        return Conditions(table, self._sizes(sizes, n) if self.counts and sizes is not None else None)

    def _sizes(self, sizes: ArrayLike, n: int) -> Tensor:
        try:
            sizes = np.broadcast_to(np.asarray(sizes, dtype=np.float64).ravel(), (n,))
        except ValueError:
            sizes = np.zeros(1)
        if not (np.isfinite(sizes) & (np.asarray(sizes) > 0)).all():
            raise ValueError(f"library_size must be a positive number, or one for each of the {n} samples; correct it.")
        return self._as_networks(np.array(sizes)[:, None])

    def _network_covariates(self, values: Array) -> Tensor:
        with torch.no_grad():
            table: Tensor = self.nets_["covariates"](self._as_networks(values))
        return table

    def _as_networks(self, values: Array) -> Tensor:
        """Return an array on the device of the networks and in their type."""
        like = next(self.nets_.parameters())
        return torch.from_numpy(values).to(like.device, like.dtype)
