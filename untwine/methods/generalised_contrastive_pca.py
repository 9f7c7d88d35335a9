r"""gcPCA: de Oliveira, Garg, Hjerling-Leffler, Batista-Brito and Sjulson, PLOS Computational Biology, 2025.

*Identifying patterns differing between high-dimensional datasets with generalized contrastive PCA.*

$$\max_w \frac{w^T (A - B) w}{w^T (A + B) w}, \quad s = W^T (x - m)$$

Letters: A and B the covariances of target and background, each about its own mean; W the eigenvectors of (A + B)^-1 (A - B)
with the largest eigenvalues, each of unit length and not orthogonal; m the mean of the background.
This is the paper's version 4. Versions 2, w'Aw / w'Bw, and 3, w'(A - B)w / w'Bw, are increasing functions of it: they have the
same directions in the same order, and only fail where the background does not vary. Version 1 is cPCA with alpha = 1.
Deviations: no orthogonal versions. Units are kept. Directions in which only the target varies all have the value 1; they are
ordered by the target's variance. Directions without variance in both are left out, and of more than 500 columns the 500 leading
principal components of A + B are used. The common block and the mean m are ours (see `linear_subspaces`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from untwine._typing import Array
from untwine.linear.covariances import GroupCovariances
from untwine.methods.shared.linear_subspaces import LinearContrastive, SalientSubspace

TIE = 1e-6


@dataclass(eq=False, kw_only=True)
class GeneralisedContrastivePCA(LinearContrastive):
    """Generalised contrastive PCA: the largest contrast of variances, with no alpha to choose."""

    name: ClassVar[str] = "generalised_contrastive_pca"

    def salient_subspace(self, covariances: GroupCovariances) -> SalientSubspace:
        """Return the directions of largest contrast."""
        W = contrasts(covariances.A, covariances.B)[1][:, : self.blocks["salient"]]
        return SalientSubspace(W, W)


def contrasts(A: Array, B: Array) -> tuple[Array, Array]:
    """Return the eigenvalues of (A + B)^-1 (A - B), largest first, and the eigenvectors as columns of unit length."""
    variances, axes = np.linalg.eigh(A + B)
    white = axes / np.sqrt(variances)
    values, vectors = np.linalg.eigh(white.T @ (A - B) @ white)
    values, W = values[::-1], (white @ vectors)[:, ::-1]
    W = W / np.linalg.norm(W, axis=0)
    tied = int((values > 1 - TIE).sum())
    if tied > 1:
        T = np.linalg.qr(W[:, :tied])[0]
        W[:, :tied] = T @ np.linalg.eigh(T.T @ A @ T)[1][:, ::-1]
    return values, W
