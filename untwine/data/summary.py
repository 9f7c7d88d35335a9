"""What samples hold, in numbers: for a look at data before a method is fitted to them."""

from __future__ import annotations

from typing import Any

import numpy as np

from untwine._typing import Array
from untwine.samples import Samples


def summarise(samples: Samples) -> dict[str, Any]:
    """Return counts, shapes and ranges of samples and of the columns that describe them, as JSON can hold them."""
    low, high = float(samples.x.min()), float(samples.x.max())
    content: dict[str, Any] = {
        "samples": len(samples),
        "kind": "images" if samples.is_image else "vectors",
        "shape": list(samples.shape),
        "type": str(samples.x.dtype),
        "range": [low, high],
    }
    if samples.feature_names:
        content["features"] = list(samples.feature_names)
    if samples.groups is not None:
        content["groups"] = _counts(samples.groups, samples.group_names)
    if samples.labels is not None:
        content["labels"] = _counts(samples.labels, samples.label_names)
    if samples.covariates is not None:
        columns = zip(samples.covariates.names, samples.covariates.levels, samples.covariates.values.T, strict=True)
        content["covariates"] = {
            name: _counts(values.astype(int), levels) if levels else _range(values) for name, levels, values in columns
        }
    if samples.factors is not None:
        content["factors"] = {
            name: _range(values) for name, values in zip(samples.factor_names, samples.factors.T, strict=True)
        }
    if samples.sources is not None:
        content["sources"] = len(np.unique(samples.sources))
    if samples.ids is not None:
        content["ids"] = {"first": str(samples.ids[0]), "different": len(np.unique(samples.ids))}
    if samples.masks is not None:
        content["masks"] = int(samples.masks.reshape(len(samples), -1).any(axis=1).sum())
    return content


def _counts(numbers: Array, names: tuple[str, ...]) -> dict[str, int]:
    """Return how many samples each group, class or level has, and how many are unknown."""
    counts = {name: int((numbers == i).sum()) for i, name in enumerate(names)}
    # Classes may be numbered with gaps: those that no sample has are left out.
    counts = {name: many for name, many in counts.items() if many}
    unknown = int((numbers < 0).sum())
    return counts | ({"(unknown)": unknown} if unknown else {})


def _range(values: Array) -> dict[str, float | int]:
    known = values[~np.isnan(values)]
    unknown = len(values) - len(known)
    content: dict[str, float | int] = {"from": float(known.min()), "to": float(known.max())} if len(known) else {}
    return content | ({"unknown": unknown} if unknown else {})
