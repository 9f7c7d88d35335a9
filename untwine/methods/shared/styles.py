"""Styles within domains (Gabbay and Hoshen 2020, section 4): clusters of early features, so that every style can be a class.

Where a domain (all edges, all shoes) varies in more than content, one class code is too few. Its images are first clustered by
style: k-means on the mean and the standard deviation of every channel of a network's first layer, the statistics that style
transfer matches (Li et al. 2017). `LORD` then takes the clusters as classes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.data.splits import Splits
from untwine.method.fields import Seed
from untwine.networks.pretrained import weights
from untwine.networks.pretrained.images import image_tensor
from untwine.networks.pretrained.perceptual import LOSS_NETWORKS, layer_features
from untwine.registry.checks import check_choice, check_int, suggestion
from untwine.samples import Samples
from untwine.training.threads import one_thread

FIRST = (1,)  # the first layer's ReLU, in both networks
BATCH = 100
INITIALISATIONS = 4  # of k-means, of which the best is used
SEPARATOR = "/"  # between the name of a domain and the number of a style


def cluster_styles(
    samples: Samples,
    clusters: int | Mapping[str, int] = 100,
    *,
    features: str = "vgg16",
    path: str | Path | None = None,
    seed: Seed = 0,
) -> Samples:
    """Return the samples with styles in place of domains as labels, and the domain as one more factor.

    Parameters
    ----------
    samples
        Images, grey or RGB, whose labels are their domains.
    clusters
        The number of styles of each domain, or a number for every domain by name.
    features
        `vgg16` or `squeezenet`, whose weights must be in the data folder; or `pixels`: the mean and the standard deviation of
        each colour channel.
    path
        The file of weights; by default the one in `weights/` of the data folder.
    seed
        The seed of k-means.

    Returns
    -------
    styled
        Labels are numbered domain by domain and named as `shoes/3`; `untwine.plots.class_samples(styled.x, styled.labels)`
        shows them (figure 12 of the paper).
    """
    labels, names = _cluster([samples], clusters, features, path, seed)
    return _with_styles(samples, labels[0], names)


def cluster_split_styles(
    splits: Splits,
    clusters: int | Mapping[str, int] = 100,
    *,
    features: str = "vgg16",
    path: str | Path | None = None,
    seed: Seed = 0,
) -> Splits:
    """Return both splits with styles as labels, as `cluster_styles` does: those of the training split.

    A test sample gets the nearest style of its domain. A domain that only the test split has is clustered there.

    Parameters
    ----------
    splits
        Training and test split, whose labels are the domains.
    clusters, features, path, seed
        As for `cluster_styles`.
    """
    labels, names = _cluster(list(splits), clusters, features, path, seed)
    return Splits(*(_with_styles(samples, own, names) for samples, own in zip(splits, labels, strict=True)))


def _cluster(
    splits: Sequence[Samples], clusters: int | Mapping[str, int], features: str, path: str | Path | None, seed: int
) -> tuple[list[Array], tuple[str, ...]]:
    """Return the style of each sample of each split and the names of all styles; each domain by the first split that has it."""
    from sklearn.cluster import KMeans

    for samples in splits:
        if samples.labels is None or (samples.labels < 0).any():
            raise ValueError(
                "cluster_styles needs the domain of every sample as its label; got samples without one; pass labels."
            )
    statistics = [style_features(samples.x, features, path) for samples in splits]
    domains = [np.array([samples.label_names[label] for label in np.asarray(samples.labels)]) for samples in splits]
    labels, names = [np.empty(len(samples), dtype=int) for samples in splits], list[str]()
    occurring = [name for i, samples in enumerate(splits) for name in samples.label_names if name in domains[i]]
    for name in dict.fromkeys(occurring):
        members = [np.flatnonzero(own == name) for own in domains]
        first = next(i for i, own in enumerate(members) if len(own))
        k = clusters.get(name) if isinstance(clusters, Mapping) else clusters
        most = len(np.unique(statistics[first][members[first]].round(5), axis=0))  # rounding errors are not a style
        k = check_int(f"clusters of {name!r}", k, 1, most)  # no more than it has different images
        with one_thread():
            model = KMeans(k, n_init=INITIALISATIONS, random_state=seed).fit(statistics[first][members[first]])
            for i, own in enumerate(members):
                if len(own):
                    labels[i][own] = len(names) + (model.labels_ if i == first else model.predict(statistics[i][own]))
        names += [f"{name}{SEPARATOR}{style}" for style in range(k)]
    return labels, tuple(names)


def _with_styles(samples: Samples, labels: Array, names: tuple[str, ...]) -> Samples:
    domains = np.asarray(samples.labels)[:, None].astype(float)
    known = domains if samples.factors is None else np.hstack([samples.factors, domains])
    return replace(samples, labels=labels, label_names=names, factors=known, factor_names=(*samples.factor_names, "domain"))


def style_features(x: ArrayLike, features: str = "vgg16", path: str | Path | None = None) -> Array:
    """Return the mean and the standard deviation of every channel, (n, 2 channels), of images or of their first features."""
    images = np.asarray(x)
    if images.ndim != 4 or images.shape[1] not in (1, 3):
        raise ValueError(f"x must be images (n, C, H, W), grey or RGB; got shape {images.shape}; move the channels first.")
    check_choice("features", features, (*LOSS_NETWORKS, "pixels"))
    network: Any = None if features == "pixels" else weights.load_perceptual_loss(features, path).float().network
    batches = []
    with torch.no_grad():
        for start in range(0, len(images), BATCH):
            x_batch = image_tensor(images[start : start + BATCH])
            layer = x_batch if network is None else next(layer_features(network, x_batch, FIRST))
            std, mean = torch.std_mean(layer, (2, 3), correction=0)
            batches.append(torch.cat([mean, std], 1).cpu().numpy())
    return np.concatenate(batches)


def domain_mask(samples: Samples, domain: str) -> Array:
    """Return the mask of the samples of a domain, whatever their style; or of a class, where labels are not styles."""
    names = [name.rsplit(SEPARATOR, 1)[0] if SEPARATOR in name else name for name in samples.label_names]
    if samples.labels is None or domain not in names:
        raise ValueError(f"the domain must be one of the data; got {domain!r}; {suggestion(domain, dict.fromkeys(names))}")
    return np.isin(samples.labels, [number for number, name in enumerate(names) if name == domain])
