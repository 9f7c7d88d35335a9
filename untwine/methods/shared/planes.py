r"""What the linear contrastive methods share: a salient plane, a common plane orthogonal to it, and maps in and out.

$$s = E^T (x - m), \quad z = C^T (x - m), \quad \hat x = m + E^{+T} s + C z$$

Letters: m the mean of the background; E the maps of the salient codes, which each method finds; C the leading principal
components of the background once the salient plane is taken out. Both planes are orthogonal, so decode after encode is the
orthogonal projection on them.
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
from untwine.method.inputs import Needs
from untwine.method.kinds import Solved
from untwine.samples import Samples


@dataclass(frozen=True, eq=False)
class Plane:
    """A method's salient solution: its components (r, k), the maps (r, k) to codes, and numbers that were found with it."""

    components: Array
    maps: Array
    numbers: Mapping[str, float] = field(default_factory=dict)


class Planes(nn.Module):
    """Room for the solution, flattened: the origin, both planes, and a root of the covariance of each block of codes."""

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

    def keep(self, name: str, value: ArrayLike) -> None:
        """Store one array in the first rows and columns of its room; what the data cannot fill stays 0."""
        room, value = self.get_buffer(name), torch.from_numpy(np.asarray(value, dtype=np.float64))
        room[tuple(slice(size) for size in value.shape)] = value.to(room)


@dataclass(eq=False, kw_only=True)
class LinearContrastive(Solved):
    """A linear contrastive method but for its salient directions."""

    n_common: int = 5
    n_salient: int | str = 2
    needs: ClassVar[Needs] = "groups"
    standardises: ClassVar[bool] = False
    numbers: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def salient_plane(self, both: GroupCovariances) -> Plane:
        """Find the salient directions, at most as many as the block has, in the coordinates of the comparison."""

    @property
    def blocks(self) -> dict[str, int]:
        """Common and salient."""
        return {"common": self.n_common, "salient": self.chosen("n_salient")}

    @property
    def components_(self) -> Array:
        """The salient components (n_salient, d), in the units of the data."""
        return np.asarray(self._planes().components.cpu())

    def build(self, shape: tuple[int, ...], own: Mapping[str, nn.Module]) -> nn.ModuleDict:
        """Return room for the solution."""
        if own:
            title = type(self).__name__
            raise ValueError(f"{title} expected no networks of your own; got {', '.join(sorted(own))}; it has none.")
        return nn.ModuleDict({"planes": Planes(int(np.prod(shape)), self.blocks, self.numbers)})

    def solve(self, samples: Samples) -> None:
        """Find both planes."""
        both, planes = group_covariances(samples), self._planes()
        found = self.salient_plane(both)
        common = common_plane(both.B, found.maps, self.n_common)
        sign = signs(both.axes @ found.components)
        maps = found.maps * sign
        planes.keep("origin", both.origin)
        planes.keep("components", (both.axes @ (found.components * sign)).T)
        planes.keep("maps", (both.axes @ maps).T)
        planes.keep("outward", (both.axes @ np.linalg.pinv(maps, rcond=RANK_TOLERANCE).T).T)
        planes.keep("common", (both.axes @ common).T * signs(both.axes @ common)[:, None])
        planes.keep("salient_spread", root(maps.T @ both.A @ maps))
        planes.keep("common_spread", root(common.T @ both.B @ common))
        for name, value in found.numbers.items():
            planes.keep(name, value)

    def codes(self, x: Tensor) -> dict[str, Tensor]:
        """Return the projections."""
        planes = self._planes()
        x = x.flatten(1) - planes.origin
        return {"common": x @ planes.common.T, "salient": x @ planes.maps.T}

    def generate(self, codes: Mapping[str, Tensor]) -> Tensor:
        """Return the points of both planes; images are cut to [0, 1]."""
        planes = self._planes()
        x: Tensor = (planes.origin + codes["common"] @ planes.common + codes["salient"] @ planes.outward).view(-1, *self.shape_)
        return x.clamp(0, 1) if len(self.shape_) == 3 else x

    def prior(self, n: int, generator: torch.Generator) -> dict[str, Tensor]:
        """Draw codes with the covariance that they have: the common ones in the background, the salient ones in the target."""
        return {
            name: torch.randn((n, width), generator=generator) @ self._planes().get_buffer(f"{name}_spread").float().cpu()
            for name, width in self.blocks.items()
        }

    def inverse_transform(self, codes: ArrayLike) -> Array:
        """Return rows from the array of codes that `transform` gives."""
        self._fitted()
        codes = np.asarray(codes, dtype=np.float32)
        if codes.ndim != 2 or codes.shape[1] != sum(self.blocks.values()):
            wanted = sum(self.blocks.values())
            raise ValueError(f"inverse_transform expected codes of shape (n, {wanted}); got {codes.shape}.")
        return self.decode(Latents({"common": codes[:, : self.n_common], "salient": codes[:, self.n_common :]}))

    def _planes(self) -> Any:
        self._fitted()
        return self.nets_["planes"]


def leading(S: Array, k: int) -> tuple[Array, Array]:
    """Return the k largest eigenvalues of a symmetric matrix, or as many as it has, and their eigenvectors as columns."""
    from scipy import linalg

    r = len(S)
    if not min(k, r):
        return np.zeros(0), np.zeros((r, 0))
    values, vectors = linalg.eigh(S, subset_by_index=(r - min(k, r), r - 1))
    return values[::-1], vectors[:, ::-1]


def common_plane(B: Array, maps: Array, k: int) -> Array:
    """Return the k leading principal components of the background, or as many as it has, orthogonal to the salient maps."""
    left, sizes, _ = np.linalg.svd(maps, full_matrices=False)
    q = left[:, sizes > RANK_TOLERANCE * sizes.max(initial=0.0)]
    rest = np.eye(len(B)) - q @ q.T
    values, vectors = leading(rest @ B @ rest, k)
    return vectors[:, values > RANK_TOLERANCE * np.abs(B).max(initial=0.0)]


def signs(columns: Array) -> Array:
    """Return the sign of the entry of largest size in each column, so that an eigenvector has one sign everywhere."""
    if not len(columns):
        return np.ones(columns.shape[1])
    return np.where(np.take_along_axis(columns, np.abs(columns).argmax(0)[None], 0)[0] < 0, -1.0, 1.0)


def root(S: Array) -> Array:
    """Return the symmetric root of a covariance."""
    values, vectors = np.linalg.eigh(S)
    return np.asarray((vectors * np.sqrt(np.clip(values, 0, None))) @ vectors.T)
