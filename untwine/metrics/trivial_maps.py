"""Maps that need no method, against masks: what a salient map must beat."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from untwine._typing import Array
from untwine.metrics.directions import INFO
from untwine.metrics.encoded import Encoded
from untwine.metrics.metric import Measurement, Metric, ScoreInfo
from untwine.metrics.salient_map import MASKS, TRAIN, measure_maps, pixel_maps
from untwine.samples import Samples, unit_range
from untwine.training.threads import one_thread

COMPONENTS = 32


def baseline_maps(target: Array, background: Array) -> dict[str, Array]:
    """Return maps (n, H, W) of target images (n, H, W) by name, learned from background images (m, H, W) of the train split.

    With m the mean background image and p(x) the reconstruction of x by the 32 leading principal components of the background:
    `brightness` x; `mean` m; `mean_minus_image` m - x; `mean_distance` |m - x|; `pca` |p(x) - x|; `pca_minus_image` p(x) - x;
    and `brain`, which is 1 everywhere: its Dice is that of the whole brain.
    """
    from sklearn.decomposition import PCA

    flat, mean = background.reshape(len(background), -1), background.mean(axis=0)
    with one_thread():
        pca = PCA(min(COMPONENTS, *flat.shape), random_state=0).fit(flat)
        healthy = pca.inverse_transform(pca.transform(target.reshape(len(target), -1))).reshape(target.shape)
    return {
        "brightness": target,
        "mean": np.broadcast_to(mean, target.shape),
        "mean_minus_image": mean - target,
        "mean_distance": np.abs(mean - target),
        "pca": np.abs(healthy - target),
        "pca_minus_image": healthy - target,
        "brain": np.ones_like(target),
    }


def _grey(samples: Samples) -> Array:
    return np.asarray(unit_range(samples.x).mean(axis=1, dtype=np.float64))


def _measure(data: Encoded) -> Iterator[Measurement]:
    train = data.train
    if train is None:
        raise ValueError("the trivial maps need samples to learn from; got none; pass train=....")
    background = _grey(train.samples)[~train.is_target]
    scored, learned = (
        {
            f"_{name}": pixel_maps(one, maps)
            for name, maps in baseline_maps(_grey(one.samples)[one.is_target], background).items()
        }
        for one in (data, train)
    )
    yield from measure_maps(scored, learned)


METRIC = Metric(
    name="trivial_maps",
    function=_measure,
    description="AUC and Dice of maps that need no method, such as mean background image minus image; see salient_map.",
    scores={
        "map_auc_*": ScoreInfo("The AUC of a map that needs no method: what a salient map must exceed.", INFO),
        "map_dice_*": ScoreInfo("The Dice coefficient of a map that needs no method.", INFO),
    },
    requires=(MASKS, TRAIN),
)
