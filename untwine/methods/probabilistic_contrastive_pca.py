r"""PCPCA: Li, Jones and Engelhardt, *Probabilistic Contrastive Principal Component Analysis*, 2020.

$$\max_{W, \sigma^2} \sum_i \log N(x_i; 0, W W^T + \sigma^2 I) - \gamma \sum_j \log N(y_j; 0, W W^T + \sigma^2 I)$$

Solution: with C = sum x x' - gamma sum y y', its eigenvalues l_1 >= l_2 ... and the leading k eigenvectors U,

$$\sigma^2 = \frac{\sum_{j > k} l_j}{(n - \gamma m)(d - k)}, \quad W = U (\Lambda_k / (n - \gamma m) - \sigma^2 I)^{1/2}$$

and the codes are the posterior means s = (W'W + sigma^2 I)^-1 W' (x - m_y).
Letters: x (target) and y (background) are centred by their own mean, n and m their numbers of samples, d the number
of columns, m_y the mean of the background.
The likelihoods are summed, not averaged, over samples, so gamma must stay below n / m, and below where sigma^2 turns negative.
Deviations: the paper leaves gamma to the user; None takes the largest of 0.95, 0.9, 0.8, ... 0 times n / m that has a
solution. Decoding inverts the codes by least squares, so decode after encode is a projection and does not shrink. Directions
without variance in both are left out, and of more than 500 columns U lies in the 500 leading principal components. The common
block is ours (see `linear_subspaces`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from untwine._typing import Array
from untwine.linear.covariances import RANK_TOLERANCE, GroupCovariances
from untwine.method.fields import Weight
from untwine.methods.shared.linear_subspaces import LinearContrastive, SalientSubspace, leading

SHARES = (0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0)


@dataclass(eq=False, kw_only=True)
class ProbabilisticContrastivePCA(LinearContrastive):
    """Probabilistic contrastive PCA: a Gaussian model that fits the target well and the background badly.

    Parameters
    ----------
    gamma
        The weight of the background's likelihood, below n / m; 0 is probabilistic PCA of the target. None chooses it, see
        `gamma_`.
    """

    gamma: Weight | None = None
    name: ClassVar[str] = "probabilistic_contrastive_pca"
    numbers: ClassVar[tuple[str, ...]] = ("gamma", "sigma2")

    @property
    def gamma_(self) -> float:
        """The weight that was used."""
        return float(self._subspaces().gamma)

    @property
    def sigma2_(self) -> float:
        """The variance of the noise."""
        return float(self._subspaces().sigma2)

    def salient_subspace(self, covariances: GroupCovariances) -> SalientSubspace:
        """Return W and the maps to the posterior means."""
        candidates = [self.gamma] if self.gamma is not None else [share * covariances.n / covariances.m for share in SHARES]
        for gamma in candidates:
            solved = maximum_likelihood(covariances, gamma, self.blocks["salient"])
            if solved is not None:
                W, sigma2 = solved
                M = W.T @ W + sigma2 * np.eye(W.shape[1])
                # A direction with neither signal nor noise gets the code 0.
                maps = W @ np.linalg.pinv(M, rcond=RANK_TOLERANCE, hermitian=True)
                return SalientSubspace(W, maps, {"gamma": gamma, "sigma2": sigma2})
        raise ValueError(
            f"gamma must be below {covariances.n / covariances.m:.3g} here, and low enough that the noise variance is above 0; "
            f"got {self.gamma}; lower it, or pass gamma=None to choose it automatically."
        )


def maximum_likelihood(covariances: GroupCovariances, gamma: float, k: int) -> tuple[Array, float] | None:
    """Return W (r, k) and sigma^2, or None where there is no maximum."""
    n, m, d = covariances.n, covariances.m, len(covariances.origin)
    weight, a, b = n - gamma * m, n - 1, gamma * (m - 1)
    if weight <= 0:
        return None
    values, U = leading(a * covariances.A - b * covariances.B, k)
    left = a * covariances.target_variance - b * covariances.background_variance - values.sum()
    if left < -RANK_TOLERANCE * a * covariances.target_variance:
        return None
    sigma2 = max(left, 0.0) / (weight * (d - len(values))) if d > len(values) else 0.0
    return U * np.sqrt(np.clip(values / weight - sigma2, 0, None)), sigma2
