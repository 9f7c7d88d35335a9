r"""cPCA: Abid, Zhang, Bagaria and Zou, *Exploring Patterns Enriched in a Dataset with Contrastive PCA*, 2018.

$$V = \arg\max_{V^T V = I} \mathrm{tr}\, V^T (C_X - \alpha C_Y) V, \quad s = V^T (x - m)$$

Letters: C_X (here A) and C_Y (here B) the covariances of target and background, each about its own mean; V the leading
eigenvectors of their difference; alpha the weight of the background's variance.
Automatic alpha: as in the paper's algorithm for it, 0 and 40 values from 0.1 to 1000 are swept, the affinity of two is the
product of the cosines of principal angles, and spectral clustering leaves one alpha for each of four clusters. As in the
authors' code, the angles are those between the target's codes, not between the subspaces themselves.
Deviations: the paper then shows all four to the user; here the one is chosen whose subspace explains the largest share of the
target's variance minus its share of the background's. Their code multiplies two cosines whatever the number of dimensions; here
all are. It also standardises each set separately; here units are kept. Directions without variance in both are left out, and of
more than 500 columns the 500 leading principal components are used; of more than 2,500 columns and samples a randomised method
finds them. `sweep` returns all four. The common block is ours (see `linear_subspaces`), as is the single mean m, that of the
background: the group of a sample is not known when it is encoded.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.linear.covariances import GroupCovariances, group_covariances
from untwine.linear.spectral import spectral_clusters
from untwine.method.features import Features
from untwine.method.fields import Weight
from untwine.methods.shared.linear_subspaces import LinearContrastive, SalientSubspace, leading, square_root
from untwine.samples import Samples

ALPHAS = (0.0, *np.logspace(-1, 3, 40).tolist())
CLUSTERS = 4


@dataclass(eq=False, kw_only=True)
class ContrastivePCA(LinearContrastive):
    """Contrastive PCA: directions in which the target varies more than alpha times the background.

    Parameters
    ----------
    alpha
        The weight of the background's variance; 0 is the PCA of the target. None chooses it by a sweep and
        stores it in `alpha_`.
    """

    alpha: Weight | None = None
    name: ClassVar[str] = "contrastive_pca"
    numbers: ClassVar[tuple[str, ...]] = ("alpha",)

    def sweep(
        self,
        x: Samples | ArrayLike,
        y: ArrayLike | None = None,
        *,
        alphas: Iterable[float] | None = None,
        features: Features | None = None,
    ) -> list[Self]:
        """Return a fitted method for each of several alphas; all of them take one decomposition of the data.

        Parameters
        ----------
        x, y, features
            As in `fit`.
        alphas
            The weights of the background's variance, in the order in which the methods are returned. None takes the
            representatives of the paper's sweep, 0 and at most three more, among which a fit with `alpha=None` chooses.
        """
        given = None if alphas is None else [float(alpha) for alpha in alphas]
        if given is not None and not given:
            raise ValueError(
                "alphas must have at least one number; got none; leave it out for the representatives of the sweep."
            )
        for alpha in given or ():
            self._with_alpha(alpha).check()  # before the data are decomposed
        first = self._with_alpha(given[0] if given else 0.0)
        first.__dict__["_decomposed"] = None
        first.fit(x, y, features=features)
        covariances = first.__dict__.pop("_decomposed")
        if given is None:
            subspaces = solutions(covariances, first.blocks["salient"])
            given = [ALPHAS[i] for i in candidates(covariances, subspaces, self.seed)]
        return [first, *(first._solved_again(alpha, covariances) for alpha in given[1:])]

    def solve(self, samples: Samples) -> None:
        """Compute both subspaces, and keep the covariances where others are to be computed from them."""
        covariances = group_covariances(samples, self.seed)
        self.solve_covariances(covariances)
        if "_decomposed" in self.__dict__:
            self.__dict__["_decomposed"] = covariances

    def _with_alpha(self, alpha: float) -> Self:
        return type(self)(**{**self.get_params(), "alpha": alpha})

    def _solved_again(self, alpha: float, covariances: GroupCovariances) -> Self:
        """Return a fitted method with another alpha."""
        other = copy.copy(self)
        other.alpha, other.nets_ = alpha, copy.deepcopy(self.nets_)
        other.solve_covariances(covariances)
        return other

    @property
    def alpha_(self) -> float:
        """The weight that was used."""
        return float(self._subspaces().alpha)

    def salient_subspace(self, covariances: GroupCovariances) -> SalientSubspace:
        """Return the leading eigenvectors of A - alpha B."""
        k = self.blocks["salient"]
        alpha = self.alpha if self.alpha is not None else choose_alpha(covariances, k, self.seed)
        V = leading(covariances.A - alpha * covariances.B, k)[1]
        return SalientSubspace(V, V, {"alpha": alpha})


def choose_alpha(covariances: GroupCovariances, k: int, seed: int) -> float:
    """Return the alpha, of the clusters' representatives, whose subspace explains most target and least background variance."""
    if not len(covariances.A):
        return 0.0
    subspaces = solutions(covariances, k)
    chosen = candidates(covariances, subspaces, seed)
    target, background = covariances.target_variance, covariances.background_variance
    shares = [share(covariances.A, subspaces[i], target) - share(covariances.B, subspaces[i], background) for i in chosen]
    return float(ALPHAS[chosen[int(np.argmax(shares))]])


def solutions(covariances: GroupCovariances, k: int) -> list[Array]:
    """Return the salient subspace (r, k) of each alpha of the sweep."""
    return [leading(covariances.A - alpha * covariances.B, k)[1] for alpha in ALPHAS]


def candidates(covariances: GroupCovariances, subspaces: list[Array], seed: int) -> list[int]:
    """Return which alphas of the sweep represent the clusters of its subspaces, 0 first; 0 alone where nothing varies."""
    return representatives(affinity(covariances.A, subspaces), seed) if len(covariances.A) else [0]


def share(S: Array, V: Array, total: float) -> float:
    """Return the share of the total variance that a subspace explains."""
    return float(np.trace(V.T @ S @ V) / total) if total > 0 else 0.0


def affinity(A: Array, subspaces: list[Array]) -> Array:
    """Return, for every two subspaces (r, k), the product of the cosines of the principal angles between their codes."""
    half = square_root(A)  # codes of samples with the covariance A have the angles of half @ V
    Q = np.stack([np.linalg.qr(half @ V)[0] for V in subspaces])
    cosines = np.linalg.svd(np.einsum("irk,jrl->ijkl", Q, Q, optimize=True), compute_uv=False)
    return np.asarray(np.clip(cosines, 0, 1).prod(axis=-1))


def representatives(affinity: Array, seed: int) -> list[int]:
    """Return 0 and the medoid of each cluster that does not contain it."""
    labels = spectral_clusters(np.clip(affinity, 1e-12, None), CLUSTERS, seed)
    others = [np.flatnonzero(labels == label) for label in np.unique(labels) if label != labels[0]]
    return [0, *sorted(int(one[affinity[np.ix_(one, one)].sum(0).argmax()]) for one in others)]
