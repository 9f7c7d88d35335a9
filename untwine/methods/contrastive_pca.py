r"""cPCA: Abid, Zhang, Bagaria and Zou, *Exploring Patterns Enriched in a Dataset with Contrastive PCA*, 2018.

$$V = \arg\max_{V^T V = I} \mathrm{tr}\, V^T (C_X - \alpha C_Y) V, \quad s = V^T (x - m)$$

Letters: C_X (here A) and C_Y (here B) the covariances of target and background, each about its own mean; V the leading
eigenvectors of their difference; alpha what a unit of the background's variance costs.
Automatic alpha: as in the paper's algorithm for it, 0 and 40 values from 0.1 to 1000 are swept, the affinity of two is the
product of the cosines of principal angles, and spectral clustering leaves one alpha for each of four clusters. As in the
authors' code, the angles are those between the target's codes, not between the planes themselves.
Deviations: the paper then shows all four to a person; here the one is taken whose plane has the largest share of the target's
variance less its share of the background's. Their code multiplies two cosines whatever the width; here all are. It also
standardises each set alone; here units are kept. Directions without variance in both are left out, and of more than 500 columns
the 500 leading principal components are used. The common block is ours (see `planes`), as is the one mean m, the background's:
whose group a row is of is not known when it is encoded.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from untwine._typing import Array
from untwine.linear.covariances import GroupCovariances
from untwine.methods.shared.planes import LinearContrastive, Plane, leading, root

ALPHAS = (0.0, *np.logspace(-1, 3, 40).tolist())
CLUSTERS = 4


@dataclass(eq=False, kw_only=True)
class ContrastivePCA(LinearContrastive):
    """Contrastive PCA: directions in which the target varies more than alpha times the background.

    Parameters
    ----------
    n_common, n_salient
        The number of codes of each part; where the data has fewer directions, the last codes are 0. `n_salient="auto"`
        takes as many as `contrast_test` finds.
    alpha
        The weight of the background's variance; 0 is the PCA of the target. None chooses by a sweep, see `alpha_`.
    """

    alpha: float | None = None
    name: ClassVar[str] = "contrastive_pca"
    numbers: ClassVar[tuple[str, ...]] = ("alpha",)

    @property
    def alpha_(self) -> float:
        """The weight that was used."""
        return float(self._planes().alpha)

    def salient_plane(self, both: GroupCovariances) -> Plane:
        """Return the leading eigenvectors of A - alpha B."""
        k = self.blocks["salient"]
        alpha = self.alpha if self.alpha is not None else choose_alpha(both, k, self.seed)
        V = leading(both.A - alpha * both.B, k)[1]
        return Plane(V, V, {"alpha": alpha})


def choose_alpha(both: GroupCovariances, k: int, seed: int) -> float:
    """Return one alpha of those that stand for a cluster: the one whose plane has most of the target and least of the rest."""
    if not len(both.A):
        return 0.0
    planes = [leading(both.A - alpha * both.B, k)[1] for alpha in ALPHAS]
    kept = representatives(affinity(both.A, planes), seed)
    shares = [share(both.A, planes[i], both.target_variance) - share(both.B, planes[i], both.background_variance) for i in kept]
    return float(ALPHAS[kept[int(np.argmax(shares))]])


def share(S: Array, V: Array, total: float) -> float:
    """Return the part of the whole variance that lies in a plane."""
    return float(np.trace(V.T @ S @ V) / total) if total > 0 else 0.0


def affinity(A: Array, planes: list[Array]) -> Array:
    """Return, for every two planes (r, k), the product of the cosines of the principal angles between their codes."""
    half = root(A)  # codes of rows with the covariance A have the angles of half @ V
    Q = np.stack([np.linalg.qr(half @ V)[0] for V in planes])
    cosines = np.linalg.svd(np.einsum("irk,jrl->ijkl", Q, Q, optimize=True), compute_uv=False)
    return np.asarray(np.clip(cosines, 0, 1).prod(axis=-1))


def representatives(affinity: Array, seed: int) -> list[int]:
    """Return 0 and, for each cluster without it, the one closest to all others of its cluster."""
    from sklearn import cluster, exceptions

    spectral = cluster.SpectralClustering(CLUSTERS, affinity="precomputed", random_state=seed)
    with warnings.catch_warnings():  # planes that are all alike make fewer clusters, and that is fine
        warnings.simplefilter("ignore", exceptions.ConvergenceWarning)
        labels = spectral.fit(np.clip(affinity, 1e-12, None)).labels_
    others = [np.flatnonzero(labels == label) for label in np.unique(labels) if label != labels[0]]
    return [0, *sorted(int(one[affinity[np.ix_(one, one)].sum(0).argmax()]) for one in others)]
