"""Styles inside domains (paper 004, section 4): clusters of early features, so that every style can be a class.

Where a domain (all edges, all shoes) varies in more than content, one code for it is too few. Its images are first put into
clusters by how they look, whatever they show: k-means on the mean and the deviation of every channel of a network's first
layer, which are what style transfer matches (Li et al. 2017). `LORD` then takes the clusters as classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.networks.pretrained import weights
from untwine.networks.pretrained.images import image_tensor
from untwine.networks.pretrained.perceptual import FEATURE_NETWORKS, layer_features
from untwine.samples import Samples
from untwine.training.threads import one_thread

FIRST = (1,)  # the first layer's ReLU, in both networks
AT_ONCE = 100
STARTS = 4  # of k-means, of which the best counts
APART = "/"  # between the name of a domain and the number of a style


def cluster_styles(
    samples: Samples,
    clusters: int | Mapping[str, int] = 100,
    *,
    features: str = "vgg16",
    path: str | Path | None = None,
    seed: int = 0,
) -> Samples:
    """Return the samples with styles in place of domains as labels, and the domain as one more factor.

    Parameters
    ----------
    samples
        Images, grey or RGB, whose labels are their domains.
    clusters
        How many styles each domain has, or a number for every domain's name.
    features
        `vgg16` or `squeezenet`, whose weights must be there; or `pixels`: the mean and the deviation of each colour.
    path
        The file of weights; without it the one in `weights/` of the data folder.
    seed
        Where k-means begins.

    Returns
    -------
    styled
        Labels are numbered domain by domain and named as `shoes/3`; `untwine.plots.class_samples(styled.x, styled.labels)`
        shows them (figure 12 of the paper).
    """
    from sklearn.cluster import KMeans

    if samples.labels is None or (samples.labels < 0).any():
        raise ValueError("cluster_styles expected the domain of every row as its label, but some are unknown; pass labels.")
    looks = style_features(samples.x, features, path)
    labels, names = np.empty(len(samples), dtype=int), list[str]()
    for domain in np.unique(samples.labels).tolist():
        rows, name = np.flatnonzero(samples.labels == domain), samples.label_names[domain]
        many = clusters.get(name) if isinstance(clusters, Mapping) else clusters
        most = len(np.unique(looks[rows].round(5), axis=0))  # rounding errors are no style
        if not isinstance(many, int) or isinstance(many, bool) or not 1 <= many <= most:
            raise ValueError(
                f"clusters must be a whole number from 1 to the {most} different images of {name!r}; got {many!r}."
            )
        with one_thread():
            found = KMeans(many, n_init=STARTS, random_state=seed).fit_predict(looks[rows])
        labels[rows] = len(names) + found
        names += [f"{name}{APART}{style}" for style in range(many)]
    domains = samples.labels[:, None].astype(float)
    known = domains if samples.factors is None else np.hstack([samples.factors, domains])
    return replace(
        samples, labels=labels, label_names=tuple(names), factors=known, factor_names=(*samples.factor_names, "domain")
    )


def style_features(x: ArrayLike, features: str = "vgg16", path: str | Path | None = None) -> Array:
    """Return the mean and the deviation of every channel, (n, 2 channels), of images or of their first features."""
    images = np.asarray(x)
    if images.ndim != 4 or images.shape[1] not in (1, 3):
        raise ValueError(f"styles must be images (n, C, H, W), grey or RGB; got the shape {images.shape}.")
    if features not in (*FEATURE_NETWORKS, "pixels"):
        raise ValueError(f"features must be one of {', '.join(FEATURE_NETWORKS)}, pixels; got {features!r}.")
    network: Any = None if features == "pixels" else weights.load_perceptual_loss(features, path).float().network
    found = []
    with torch.no_grad():
        for start in range(0, len(images), AT_ONCE):
            rows = image_tensor(images[start : start + AT_ONCE])
            layer = rows if network is None else next(layer_features(network, rows, FIRST))
            deviation, mean = torch.std_mean(layer, (2, 3), correction=0)
            found.append(torch.cat([mean, deviation], 1).cpu().numpy())
    return np.concatenate(found)


def domain_rows(samples: Samples, domain: str) -> Array:
    """Return the mask of rows of a domain, all of whose styles count; or of a class, where labels are no styles."""
    names = [name.rsplit(APART, 1)[0] if APART in name else name for name in samples.label_names]
    if samples.labels is None or domain not in names:
        known = ", ".join(dict.fromkeys(names)) or "none"
        raise ValueError(f"the domain must be one of the data's ({known}); got {domain!r}.")
    return np.isin(samples.labels, [number for number, name in enumerate(names) if name == domain])
