"""The names of features: checked, and brought into the order of others."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence

import numpy as np

from untwine._typing import Array
from untwine.registry.checks import listed
from untwine.registry.sparse_vectors import is_sparse, to_csr


def check_feature_names(names: Sequence[str], x: Array) -> tuple[str, ...]:
    """Return a different name for each feature of vectors x (n, d), or none; refuse others."""
    if isinstance(names, str):
        raise TypeError(f"feature_names must be a sequence of names; got the single string {names!r}; wrap it in a tuple.")
    names = tuple(map(str, names))
    if not names:
        return ()
    if x.ndim != 2:
        raise ValueError(f"feature_names must go with vectors (n, d); got images of shape {x.shape[1:]}; leave them out.")
    if len(names) != x.shape[1]:
        raise ValueError(f"feature_names must be one name for each of the {x.shape[1]} features; got {len(names)}.")
    if len(set(names)) != len(names):
        repeated = [name for name, times in Counter(names).items() if times > 1]
        raise ValueError(f"feature_names must be different; got {listed(repeated)} more than once; rename them.")
    return names


def in_order(x: Array, names: Sequence[str], wanted: Sequence[str], whose: str = "the fit") -> Array:
    """Return vectors x (n, d), whose features have names, with the wanted features in their order.

    Where either has no names, x is returned as it is. Missing features are refused; those that are not wanted are left out,
    with a warning.
    """
    if not len(names) or not len(wanted) or tuple(names) == tuple(wanted):
        return x
    places = {name: i for i, name in enumerate(names)}
    if missing := [name for name in wanted if name not in places]:
        raise ValueError(
            f"x must have the {len(wanted)} features of {whose}; it lacks {len(missing)}: {listed(missing)}; add or rename "
            "columns."
        )
    if len(names) > len(wanted):
        known = set(wanted)
        others = [name for name in names if name not in known]
        warnings.warn(f"x has features that {whose} does not have, which are left out: {listed(others)}.", stacklevel=3)
    chosen = x[:, [places[name] for name in wanted]]
    return to_csr(chosen) if is_sparse(chosen) else np.ascontiguousarray(chosen)
