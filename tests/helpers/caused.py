"""Small data sets that are made to have a known cause of blocks that do not come apart, and ones that separate.

Vectors of ten features, or images of 8 x 8 pixels, with three common factors and one salient, drawn at a seed. `SETTINGS` is a
setting with which both separate; each cause changes the data or the setting in one way.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import untwine as un
from untwine.evaluation.diagnostics import diagnose
from untwine.evaluation.ranking import METRICS
from untwine.evaluation.run import evaluate_run
from untwine.report.advice import Finding, findings
from untwine.runs.reading import read_runs

FEATURES, SIDE = 10, 8
MISLABELLED = 0.3
SETTINGS: dict[str, Any] = {"n_common": 4, "n_salient": 3, "width": 64, "batch": 64, "lr": 4e-3, "networks": "mlp"}
SETTINGS |= {"beta_common": 2.0}
OF_KIND: dict[str, dict[str, Any]] = {"vectors": {"epochs": 100}, "images": {"epochs": 125, "scale": 0.1}}
SIZES = {"vectors": 300, "images": 600}  # of each group of each split
KINDS = ("vectors", "images")


class Case(NamedTuple):
    """What has a cause: the splits, and the method that is fitted to them."""

    splits: un.data.Splits
    method: un.PrincipledVAE


def vectors(rng: np.random.Generator, n: int, directions: np.ndarray, salient: bool) -> np.ndarray:
    """Return a linear model: three common factors and, where `salient`, one of random strength that backgrounds have not."""
    x = 2 * rng.standard_normal((n, 3)) @ directions[:3] + 0.3 * rng.standard_normal((n, FEATURES))
    strength = rng.uniform(2, 4, (n, 1)) * salient
    return (x + strength * directions[3]).astype(np.float32)


def images(rng: np.random.Generator, n: int, _: np.ndarray, salient: bool) -> np.ndarray:
    """Return smooth shades and, where `salient`, a bright spot on the left or the right of them."""
    y, x = np.mgrid[:SIDE, :SIDE] / SIDE
    a, b, c = rng.uniform(-1, 1, (3, n, 1, 1))
    shade = 0.4 + 0.2 * a * x + 0.2 * b * y + 0.1 * c * np.cos(2 * np.pi * x) + 0.02 * rng.standard_normal((n, SIDE, SIDE))
    centre = np.where(rng.integers(0, 2, (n, 1, 1)), 0.3, 0.65)
    spot = rng.uniform(0.25, 0.5, (n, 1, 1)) * np.exp(-((x - centre) ** 2 + (y - 0.5) ** 2) / 0.03)
    return np.clip(shade + salient * spot, 0, 1)[:, None].astype(np.float32)


def splits_of(kind: str, seed: int, salient: bool = True, mislabelled: float = 0.0) -> un.data.Splits:
    """Return a training and a test split; `mislabelled` is the share of targets that are backgrounds in truth."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    directions = np.linalg.qr(rng.standard_normal((FEATURES, 4)))[0].T
    draw: Callable[..., np.ndarray] = vectors if kind == "vectors" else images
    parts, n = [], SIZES[kind]
    for _ in range(2):
        background, target = draw(rng, n, directions, False), draw(rng, n, directions, salient)
        wrong = round(mislabelled * n)
        target[:wrong] = draw(rng, wrong, directions, False) if wrong else target[:wrong]
        parts.append(un.Samples(np.concatenate([background, target]), groups=np.repeat([0, 1], n)))
    return un.data.Splits(*parts)


def separates(kind: str, seed: int) -> Case:
    """Return data that come apart under the setting."""
    return Case(splits_of(kind, seed), setting(kind, seed))


def setting(kind: str, seed: int, **changes: Any) -> un.PrincipledVAE:
    """Return the method with a setting under which both kinds of data come apart, but for what is changed."""
    return un.PrincipledVAE(**{**SETTINGS, **OF_KIND[kind], "seed": seed, **changes})


def nothing_salient(kind: str, seed: int) -> Case:
    """Return targets that are drawn as the backgrounds are."""
    return Case(splits_of(kind, seed, salient=False), setting(kind, seed))


def group_readable(kind: str, seed: int) -> Case:
    """Return a fit in which the common block is lightly penalised and not matched: it holds what is salient too."""
    return Case(splits_of(kind, seed), setting(kind, seed, beta_common=0.05, beta_salient=5.0, lambda_z=0.0))


def background_not_quiet(kind: str, seed: int) -> Case:
    """Return a fit without the background salient penalty, and with a lightly penalised salient block."""
    return Case(splits_of(kind, seed), setting(kind, seed, lambda_s=0.0, beta_salient=0.02))


def under_trained(kind: str, seed: int) -> Case:
    """Return a fit of few steps."""
    return Case(splits_of(kind, seed), setting(kind, seed, epochs=3))


def poor_reconstruction(kind: str, seed: int) -> Case:
    """Return a fit that decodes little: the likelihood says that nearly all is noise."""
    own = {"scale": 1.0} if kind == "images" else {"likelihood": "gaussian", "scale": 6.0}
    return Case(splits_of(kind, seed), setting(kind, seed, **own))


def mislabelled(kind: str, seed: int) -> Case:
    """Return targets of which three in ten are backgrounds."""
    return Case(splits_of(kind, seed, mislabelled=MISLABELLED), setting(kind, seed))


CAUSES: dict[str, Callable[[str, int], Case]] = {
    "There may be nothing to disentangle.": nothing_salient,
    "The common block says which group a sample is of.": group_readable,
    "The salient block changes backgrounds.": background_not_quiet,
    "It is trained too little.": under_trained,
    "The reconstruction is too poor to hold what is salient.": poor_reconstruction,
    "Some targets look like background.": mislabelled,
}


def findings_of(case: Case, folder: Path) -> list[Finding]:
    """Fit, score and diagnose as `untwine fit` and `untwine evaluate` do, and return what the page finds."""
    method = case.method.fit(case.splits.train, out=folder)
    evaluate_run(folder, data=case.splits, method=method, metrics=METRICS, gallery=False)
    diagnose(folder, method, *case.splits)
    (run,) = read_runs(folder)
    return list(findings(run))
