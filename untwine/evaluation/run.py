"""Evaluate a run folder: what `untwine evaluate` does, from Python.

Galleries and diagnostics are imported when a run is evaluated, so that `import untwine` is quick.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from untwine.data import Splits, load, load_again
from untwine.data.own import others_options
from untwine.evaluation.scoring import evaluate, find_metrics
from untwine.method.contract import Method
from untwine.method.feature_order import arrange_samples
from untwine.methods import load_method
from untwine.registry.blocks import members
from untwine.registry.checks import check_choice, listed
from untwine.runs.features import features_path, write_features
from untwine.runs.gallery import write_gallery
from untwine.runs.model_card import write_model_card
from untwine.runs.names import is_run
from untwine.runs.saving import read_card
from untwine.runs.scores import Score, merge_scores, read_scores, write_scores
from untwine.samples import Samples

if TYPE_CHECKING:
    from untwine.evaluation.scoring import AnyMetric

LearnFrom = Literal["folds", "train"]
DIGITS = 16  # of a fingerprint, beside a score
ELEMENTS = 20_000_000  # of the samples whose features are compared


def evaluate_run(
    folder: str | os.PathLike[str],
    *,
    data: str | Path | Splits | None = None,
    data_options: Mapping[str, Any] | None = None,
    method: Method | None = None,
    metrics: Sequence[AnyMetric] | None = None,
    seeds: int = 5,
    train: Samples | None = None,
    learn_from: LearnFrom = "folds",
    skip_inapplicable: bool = False,
    gallery: bool = True,
    keep: bool = True,
    epoch: int | None = None,
    progress: bool = False,
) -> dict[str, Score]:
    """Score a saved run on the test split of its data, and write all that its report needs into the run folder.

    Scores that were measured before on the same samples stay in scores.json unless they are measured anew; those of other
    samples are dropped, with a warning.

    Writes scores.json, gallery.npz, the model card (README.md) and, for methods with a common and a salient block,
    contrast.json, codes.json and, where features have names, features.csv.

    Parameters
    ----------
    folder
        A run folder, as `Method.save` or `untwine fit --out` writes it.
    data, data_options
        Other data to score on than the run was fitted on: a name or a path, and its options (see `untwine.load`), or `Splits`
        in memory.
    method
        The fitted method, where it is in memory already; by default it is loaded from the folder.
    metrics, seeds, train, skip_inapplicable, progress
        As for `evaluate`.
    learn_from
        What classifiers and regressions of metrics are fitted on: "folds" of the test split, or "train", the training split of
        the data, which is `train` of `evaluate`.
    gallery
        Whether to write images and diagnostics beside the scores.
    keep
        Whether scores of other metrics that the folder has, of the same samples, stay.
    epoch
        The number of epochs done, for scores in the middle of training: they are written under it, and no gallery is.

    Returns
    -------
    scores
        The scores by name, such as "probe.salient".
    """
    find_metrics(metrics)  # an unknown one is refused before any data is read, and so is a wrong option
    if check_choice("learn_from", learn_from, get_args(LearnFrom)) == "train" and train is not None:
        raise ValueError("learn_from='train' takes the training split of the data; got train too; leave one of them out.")
    if method is None:
        method = load_method(folder)
    if isinstance(data, Splits):
        if data_options:
            raise ValueError(f"data_options must be empty for data in memory; got {dict(data_options)}; leave them out.")
        splits = _arrange(data, method)
    else:
        splits = checked_run_data(method, folder, data, data_options)
    train = splits.train if learn_from == "train" else train
    scores = evaluate(method, splits.test, metrics, seeds, progress, train, skip_inapplicable)
    scores = _write_scores(folder, scores, method, splits, train, epoch, keep)
    if gallery and epoch is None:
        _write_images(folder, method, splits)
    if epoch is None and is_run(folder):
        write_model_card(folder, read_card(folder), method.citation(), read_scores(folder))
    return scores


def _write_scores(
    folder: str | os.PathLike[str],
    scores: Mapping[str, Score],
    method: Method,
    splits: Splits,
    train: Samples | None,
    epoch: int | None,
    keep: bool,
) -> dict[str, Score]:
    """Write scores beside those of the same samples, and return them with the samples that they are of."""
    of, learned = splits.test.fingerprint()[:DIGITS], "" if train is None else train.fingerprint()[:DIGITS]
    scores = {name: replace(score, samples=of, train=learned) for name, score in scores.items()}
    known = (read_scores(folder) or {}) if keep and epoch is None else {}
    merged, dropped = merge_scores(known, scores, of, lambda: splits.train.fingerprint() == method.data_.get("fingerprint"))
    if dropped:
        warnings.warn(
            f"{folder} had scores of other samples, which are dropped: {listed(dropped)}; evaluate them again.",
            stacklevel=3,
        )
    write_scores(folder, merged, epoch)
    return scores


def _write_images(folder: str | os.PathLike[str], method: Method, splits: Splits) -> None:
    """Write the gallery and the diagnostics of a run."""
    from untwine.evaluation.diagnostics import diagnose
    from untwine.evaluation.gallery import gallery

    write_gallery(folder, gallery(method, splits.test))
    diagnose(folder, method, *splits)
    test = splits.test
    is_contrastive = members("salient", method.blocks) and "common" in method.blocks
    if is_contrastive and test.feature_names and test.groups is not None and len(np.unique(test.groups > 0)) == 2:
        from untwine.evaluation.features import salient_features

        most = max(200, ELEMENTS // test.shape[0])
        chosen = np.sort(np.random.default_rng(0).permutation(len(test))[:most])
        write_features(features_path(folder), salient_features(method, test[chosen], "salient", bootstraps=200))


def run_data(method: Method, data: str | Path | None = None, options: Mapping[str, Any] | None = None) -> Splits:
    """Return the data that is named, or else that of the run, with its options and those given here.

    Other files than the run's own are read as those were, where both are of one format, unless the options say otherwise.
    """
    options = options or {}
    if "target" in options:
        return _arrange(load(None, **options), method)
    if data is not None:
        return _arrange(load(data, **{**others_options(method.data_, data), **options}), method)
    name = method.data_.get("name")
    if name is None:
        raise ValueError(
            "the run must name the data that it was fitted on; it was fitted from Python on arrays; pass --data "
            "(data in Python)."
        )
    return _arrange(load_again(method.data_, **options), method)


def _arrange(splits: Splits, method: Method) -> Splits:
    """Return splits with the features in the order of the fit, where both have names; a warning is given once."""
    train = arrange_samples(splits.train, method)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Splits(train, arrange_samples(splits.test, method))


def checked_run_data(
    method: Method,
    folder: str | os.PathLike[str],
    data: str | Path | None = None,
    options: Mapping[str, Any] | None = None,
) -> Splits:
    """Return the data that is named, or that of the run if it still has the fingerprint of the fit."""
    splits = run_data(method, data, options)
    if data is None and not options and splits.train.fingerprint() != method.data_["fingerprint"]:
        raise ValueError(
            f"{folder} must be used with the data that it was fitted on; {method.data_['name']!r} has changed since; "
            "restore it, or name other data with --data (data in Python)."
        )
    return splits
