"""Scores of codes: functions from arrays to floats, and the metrics that `evaluate` makes of them."""

from __future__ import annotations

from untwine.metrics.agreement import cluster_agreement
from untwine.metrics.attributes import attribute_accuracy
from untwine.metrics.background_quiet import background_change
from untwine.metrics.clustering import clustering_accuracy, matching_accuracy, tsne
from untwine.metrics.content_pairs import landmark_pairs, transfer_pairs
from untwine.metrics.counterfactual import counterfactual_validity
from untwine.metrics.dci import dci_scores
from untwine.metrics.directions import Directions
from untwine.metrics.encoded import Encoded
from untwine.metrics.explained import explained_variance
from untwine.metrics.explicitness import explicitness_score
from untwine.metrics.factor_information import best_factors, information_matrix
from untwine.metrics.factor_vae import factor_vae_score, factor_vae_score_from_draws
from untwine.metrics.factors import factor_r2
from untwine.metrics.groups import group_silhouette
from untwine.metrics.landmarks import landmark_error
from untwine.metrics.leakage import leakage_score
from untwine.metrics.leakage_covariates import covariate_leakage
from untwine.metrics.metric import Measurement, Metric, Requirement, ScoreInfo
from untwine.metrics.mig import mig_score
from untwine.metrics.minimality import minimality_score
from untwine.metrics.modularity import modularity_score
from untwine.metrics.options import Options
from untwine.metrics.per_class import per_class_accuracy
from untwine.metrics.per_target import per_target_accuracy
from untwine.metrics.probe import probe_accuracy
from untwine.metrics.probe_strong import strong_factor_r2, strong_probe_accuracy
from untwine.metrics.reading import mlp_probe_accuracy
from untwine.metrics.realism import class_score, frechet, realism_scores
from untwine.metrics.reconstruction import reconstruction_error
from untwine.metrics.regression import regression_error
from untwine.metrics.salient_map import best_threshold, map_auc, map_dice
from untwine.metrics.sap import sap_score
from untwine.metrics.stability import stability_score
from untwine.metrics.subspace import canonical_correlation
from untwine.metrics.swap import swap_accuracy, swap_preservation
from untwine.metrics.transfer import transfer_errors
from untwine.metrics.trivial_maps import baseline_maps
from untwine.metrics.udr import udr_score
from untwine.metrics.unsupervised import unsupervised_scores
from untwine.metrics.w2 import w2_distance
from untwine.metrics.z_diff import z_diff_score, z_diff_score_from_draws

__all__ = [
    "Directions",
    "Encoded",
    "Measurement",
    "Metric",
    "Options",
    "Requirement",
    "ScoreInfo",
    "attribute_accuracy",
    "background_change",
    "baseline_maps",
    "best_factors",
    "best_threshold",
    "canonical_correlation",
    "class_score",
    "cluster_agreement",
    "clustering_accuracy",
    "counterfactual_validity",
    "covariate_leakage",
    "dci_scores",
    "explained_variance",
    "explicitness_score",
    "factor_r2",
    "factor_vae_score",
    "factor_vae_score_from_draws",
    "frechet",
    "group_silhouette",
    "information_matrix",
    "landmark_error",
    "landmark_pairs",
    "leakage_score",
    "map_auc",
    "map_dice",
    "matching_accuracy",
    "mig_score",
    "minimality_score",
    "mlp_probe_accuracy",
    "modularity_score",
    "per_class_accuracy",
    "per_target_accuracy",
    "probe_accuracy",
    "realism_scores",
    "reconstruction_error",
    "regression_error",
    "sap_score",
    "stability_score",
    "strong_factor_r2",
    "strong_probe_accuracy",
    "swap_accuracy",
    "swap_preservation",
    "transfer_errors",
    "transfer_pairs",
    "tsne",
    "udr_score",
    "unsupervised_scores",
    "w2_distance",
    "z_diff_score",
    "z_diff_score_from_draws",
]
