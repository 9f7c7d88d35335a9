r"""PCA: Pearson, *On Lines and Planes of Closest Fit to Systems of Points in Space*, 1901: the linear baseline.

$$z = C (x - m), \quad \hat x = C^T z + m$$

Letters: m the mean of all samples, whatever their group; C the leading eigenvectors of their covariance, one in each row.
Solved in closed form by scikit-learn; vectors keep their units.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from untwine.method.fields import Count
from untwine.method.kinds import Solved
from untwine.methods.shared.own_networks import refuse_own_networks
from untwine.registry.sparse_vectors import is_sparse
from untwine.samples import Samples

MAX_COVARIANCE = 2_000  # features of sparse samples whose covariance is computed; of more, the leading directions alone


class Projection(nn.Module):
    """The mean, the components and the standard deviation along each."""

    mean: Tensor
    components: Tensor
    deviation: Tensor

    def __init__(self, columns: int, n: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(columns))
        self.register_buffer("components", torch.zeros(n, columns))
        self.register_buffer("deviation", torch.zeros(n))


@dataclass(eq=False, kw_only=True)
class PCA(Solved):
    """Principal components of all samples: one latent block, no supervision, in closed form.

    Parameters
    ----------
    n_latent
        The number of components, at most the number of samples and of columns.
    """

    n_latent: Count = 10
    name: ClassVar[str] = "pca"
    standardises: ClassVar[bool] = False
    takes_volumes: ClassVar[bool] = True

    @property
    def blocks(self) -> dict[str, int]:
        """One block, z."""
        return {"z": self.n_latent}

    def build(self, shape: tuple[int, ...], own: Mapping[str, nn.Module]) -> nn.ModuleDict:
        """Return buffers for the solution."""
        refuse_own_networks(self, own, "it has a closed form")
        return nn.ModuleDict({"projection": Projection(int(np.prod(shape)), self.n_latent)})

    def solve(self, samples: Samples) -> None:
        """Compute the components."""
        from sklearn import decomposition

        x = samples.x if is_sparse(samples.x) else samples.x.reshape(len(samples), -1)
        x = x / np.float32(255) if samples.x.dtype == np.uint8 else x
        if self.n_latent > min(x.shape):
            raise ValueError(f"PCA: n_latent must be <= {min(x.shape)} for data of shape {x.shape}; got {self.n_latent}.")
        with np.errstate(invalid="ignore"):  # equal samples have no variance to explain
            solver = _solver(x.shape, self.n_latent) if is_sparse(x) else "auto"
            double = is_sparse(x) or x.size < 1e7
            solved = decomposition.PCA(self.n_latent, svd_solver=solver, random_state=self.seed).fit(
                x.astype(np.float64) if double else x
            )
        nets = self.nets_["projection"]
        nets.mean.copy_(torch.from_numpy(solved.mean_))
        nets.components.copy_(torch.from_numpy(solved.components_))
        nets.deviation.copy_(torch.from_numpy(np.sqrt(solved.explained_variance_)))

    def codes(self, x: Tensor) -> dict[str, Tensor]:
        """Return the projections."""
        nets = self.nets_["projection"]
        return {"z": (x.flatten(1) - nets.mean) @ nets.components.T}

    def generate(self, codes: Mapping[str, Tensor]) -> Tensor:
        """Return the points of the subspace; images are clipped to [0, 1]."""
        nets = self.nets_["projection"]
        x: Tensor = (codes["z"] @ nets.components + nets.mean).view(-1, *self.shape_)
        return x.clamp(0, 1) if len(self.shape_) > 1 else x

    def prior(self, n: int, generator: torch.Generator) -> dict[str, Tensor]:
        """Draw codes with the standard deviation of each component."""
        return {"z": torch.randn((n, self.n_latent), generator=generator) * self.nets_["projection"].deviation.float().cpu()}


def _solver(shape: tuple[int, ...], n: int) -> str:
    """Return the solver of scikit-learn for sparse samples: neither makes all of them dense."""
    return "covariance_eigh" if shape[1] <= MAX_COVARIANCE or n == min(shape) else "arpack"
