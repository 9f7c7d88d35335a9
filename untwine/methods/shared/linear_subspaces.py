r"""What the linear contrastive methods share: a salient subspace, a common subspace orthogonal to it, and the projections.

$$s = E^T (x - m), \quad z = C^T (x - m), \quad \hat x = m + E^{+T} s + C z$$

Letters: m the mean of the background; E the maps of the salient codes, which each method finds; C the leading principal
components of the background after the salient subspace is projected out. The two subspaces are orthogonal, so decode after
encode is the orthogonal projection onto their sum.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn

from untwine._typing import Array
from untwine.latents import Latents
from untwine.linear.covariances import RANK_TOLERANCE, GroupCovariances, group_covariances
from untwine.method.fields import Count, Width
from untwine.method.inputs import Needs
from untwine.method.kinds import Solved
from untwine.methods.shared.inferred import salient_width
from untwine.methods.shared.own_networks import refuse_own_networks
from untwine.samples import Samples


@dataclass(frozen=True, eq=False)
class SalientSubspace:
    """A method's salient solution: its components (r, k), the maps (r, k) to codes, and the numbers estimated with it."""

    components: Array
    maps: Array
    numbers: Mapping[str, float] = field(default_factory=dict)


class Subspaces(nn.Module):
    """The solution as buffers: the origin, both subspaces, and a square root of the covariance of each block."""

    def __init__(self, columns: int, blocks: Mapping[str, int], numbers: tuple[str, ...]) -> None:
        super().__init__()
        self.register_buffer("origin", torch.zeros(columns))
        for name in ("components", "maps", "outward"):
            self.register_buffer(name, torch.zeros(blocks["salient"], columns))
        self.register_buffer("common", torch.zeros(blocks["common"], columns))
        for name, width in blocks.items():
            self.register_buffer(f"{name}_spread", torch.zeros(width, width))
        for name in numbers:
            self.register_buffer(name, torch.zeros(()))

    def store(self, name: str, value: ArrayLike) -> None:
        """Store an array in the leading entries of its buffer; what the data cannot fill stays 0."""
        buffer, value = self.get_buffer(name), torch.from_numpy(np.asarray(value, dtype=np.float64))
        buffer[tuple(slice(size) for size in value.shape)] = value.to(buffer)


@dataclass(eq=False, kw_only=True)
class LinearContrastive(Solved):
    """A linear contrastive method but for its salient directions.

    Parameters
    ----------
    n_common
        The number of dimensions of the common block; where the data has fewer directions, the last codes are 0.
    n_salient
        The number of dimensions of the salient block; where the data has fewer directions, the last codes are 0. `auto` takes
        as many as `contrast_test` finds.
    """

    n_common: Count = 5
    n_salient: Width = 2
    needs: ClassVar[Needs] = "groups"
    standardises: ClassVar[bool] = False
    takes_volumes: ClassVar[bool] = True
    numbers: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def salient_subspace(self, covariances: GroupCovariances) -> SalientSubspace:
        """Return the salient directions, at most as many as the block has, in the coordinates of the covariances."""

    @property
    def blocks(self) -> dict[str, int]:
        """Common and salient."""
        return {"common": self.n_common, "salient": self.resolve("n_salient")}

    def infer(self, samples: Samples) -> dict[str, int]:
        """Return the number of salient dimensions where it is left to the data."""
        return salient_width(self.n_salient, samples)

    @property
    def components_(self) -> Array:
        """The salient components (n_salient, d), in the units of the data."""
        return np.asarray(self._subspaces().components.cpu())

    def build(self, shape: tuple[int, ...], own: Mapping[str, nn.Module]) -> nn.ModuleDict:
        """Return buffers for the solution."""
        refuse_own_networks(self, own, "it has a closed form")
        return nn.ModuleDict({"planes": Subspaces(int(np.prod(shape)), self.blocks, self.numbers)})

    def solve(self, samples: Samples) -> None:
        """Compute both subspaces."""
        self.solve_covariances(group_covariances(samples, self.seed))

    def solve_covariances(self, covariances: GroupCovariances) -> None:
        """Compute both subspaces from the covariances of the samples."""
        subspaces, salient = self._subspaces(), self.salient_subspace(covariances)
        common = common_subspace(covariances.B, salient.maps, self.n_common)
        sign = signs(covariances.axes @ salient.components)
        maps = salient.maps * sign
        subspaces.store("origin", covariances.origin)
        subspaces.store("components", (covariances.axes @ (salient.components * sign)).T)
        subspaces.store("maps", (covariances.axes @ maps).T)
        subspaces.store("outward", (covariances.axes @ np.linalg.pinv(maps, rcond=RANK_TOLERANCE).T).T)
        subspaces.store("common", (covariances.axes @ common).T * signs(covariances.axes @ common)[:, None])
        subspaces.store("salient_spread", square_root(maps.T @ covariances.A @ maps))
        subspaces.store("common_spread", square_root(common.T @ covariances.B @ common))
        for name, value in salient.numbers.items():
            subspaces.store(name, value)

    def codes(self, x: Tensor) -> dict[str, Tensor]:
        """Return the projections."""
        subspaces = self._subspaces()
        x = x.flatten(1) - subspaces.origin
        return {"common": x @ subspaces.common.T, "salient": x @ subspaces.maps.T}

    def generate(self, codes: Mapping[str, Tensor]) -> Tensor:
        """Return the points of both subspaces; images are clipped to [0, 1]."""
        subspaces = self._subspaces()
        x: Tensor = subspaces.origin + codes["common"] @ subspaces.common + codes["salient"] @ subspaces.outward
        x = x.view(-1, *self.shape_)
        return x.clamp(0, 1) if len(self.shape_) > 1 else x

    def prior(self, n: int, generator: torch.Generator) -> dict[str, Tensor]:
        """Draw codes with the covariance that they have: the common ones in the background, the salient ones in the target."""
        return {
            name: torch.randn((n, width), generator=generator) @ self._subspaces().get_buffer(f"{name}_spread").float().cpu()
            for name, width in self.blocks.items()
        }

    def inverse_transform(self, codes: ArrayLike) -> Array:
        """Return samples from the array of codes that `transform` returns."""
        self._check_fitted()
        codes = np.asarray(codes, dtype=np.float32)
        if codes.ndim != 2 or codes.shape[1] != sum(self.blocks.values()):
            width = sum(self.blocks.values())
            raise ValueError(f"codes must have the shape (n, {width}); got {codes.shape}; pass what transform returns.")
        return self.decode(Latents({"common": codes[:, : self.n_common], "salient": codes[:, self.n_common :]}))

    def _subspaces(self) -> Any:
        self._check_fitted()
        return self.nets_["planes"]


def leading(S: Array, k: int) -> tuple[Array, Array]:
    """Return the k largest eigenvalues of a symmetric matrix, or as many as it has, and their eigenvectors as columns."""
    from scipy import linalg

    r = len(S)
    if not min(k, r):
        return np.zeros(0), np.zeros((r, 0))
    values, vectors = linalg.eigh(S, subset_by_index=(r - min(k, r), r - 1))
    return values[::-1], vectors[:, ::-1]


def common_subspace(B: Array, maps: Array, k: int) -> Array:
    """Return the k leading principal components of the background, or as many as it has, orthogonal to the salient maps."""
    left, sizes, _ = np.linalg.svd(maps, full_matrices=False)
    q = left[:, sizes > RANK_TOLERANCE * sizes.max(initial=0.0)]
    rest = np.eye(len(B)) - q @ q.T
    values, vectors = leading(rest @ B @ rest, k)
    return vectors[:, values > RANK_TOLERANCE * np.abs(B).max(initial=0.0)]


def signs(columns: Array) -> Array:
    """Return the sign of the entry of largest magnitude in each column, which makes the sign of eigenvectors deterministic."""
    if not len(columns):
        return np.ones(columns.shape[1])
    return np.where(np.take_along_axis(columns, np.abs(columns).argmax(0)[None], 0)[0] < 0, -1.0, 1.0)


def square_root(S: Array) -> Array:
    """Return the symmetric square root of a covariance."""
    values, vectors = np.linalg.eigh(S)
    return np.asarray((vectors * np.sqrt(np.clip(values, 0, None))) @ vectors.T)
