"""Scores of codes: arrays in, floats out."""

from __future__ import annotations

from untwine.metrics.agreement import agreement
from untwine.metrics.attributes import attributes
from untwine.metrics.class_content import landmark_pairs, reading, transfer_errors, transfer_pairs
from untwine.metrics.clustering import clustering, matching_accuracy, tsne
from untwine.metrics.dci import dci
from untwine.metrics.explicitness import explicitness
from untwine.metrics.factor_information import information_matrix
from untwine.metrics.factor_vae_score import factor_vae_score, factor_vae_score_drawn
from untwine.metrics.factors import factors
from untwine.metrics.groups import groups
from untwine.metrics.landmarks import landmarks
from untwine.metrics.leakage import leakage
from untwine.metrics.mig import mig
from untwine.metrics.modularity import modularity
from untwine.metrics.per_class import per_class
from untwine.metrics.probe import probe
from untwine.metrics.realism import class_score, frechet
from untwine.metrics.reconstruction import reconstruction
from untwine.metrics.regression import regression
from untwine.metrics.sap import sap
from untwine.metrics.subspace import canonical_correlation
from untwine.metrics.swap import swap_accuracy, swap_preservation
from untwine.metrics.transport import w2
from untwine.metrics.udr import udr
from untwine.metrics.unsupervised import unsupervised
from untwine.metrics.z_diff import z_diff, z_diff_drawn

__all__ = [
    "agreement",
    "attributes",
    "canonical_correlation",
    "class_score",
    "clustering",
    "dci",
    "explicitness",
    "factor_vae_score",
    "factor_vae_score_drawn",
    "factors",
    "frechet",
    "groups",
    "information_matrix",
    "landmark_pairs",
    "landmarks",
    "leakage",
    "matching_accuracy",
    "mig",
    "modularity",
    "per_class",
    "probe",
    "reading",
    "reconstruction",
    "regression",
    "sap",
    "swap_accuracy",
    "swap_preservation",
    "transfer_errors",
    "transfer_pairs",
    "tsne",
    "udr",
    "unsupervised",
    "w2",
    "z_diff",
    "z_diff_drawn",
]
