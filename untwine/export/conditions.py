"""What the graphs of a run take beside samples and codes: the covariates of each sample, and library sizes of counts."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from untwine._typing import Array
from untwine.method.contract import Method
from untwine.method.covariates import LIBRARY
from untwine.registry.covariates import Covariates
from untwine.training.conditions import Conditions

COVARIATES = "covariates"


class Ports(NamedTuple):
    """The names of inputs and outputs of a graph, in order."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


def ports(method: Method) -> dict[str, Ports]:
    """Return what `encoder` and `decoder` take and return.

    Both take covariates where the fit had some. Library sizes of counts come out of the encoder and go into the decoder.
    """
    blocks, covariates = tuple(method.blocks), (COVARIATES,) if method.columns.names else ()
    library = (LIBRARY,) if method.counts else ()
    return {
        "encoder": Ports(("x", *covariates), (*blocks, *library)),
        "decoder": Ports((*blocks, *covariates, *library), ("x",)),
    }


def conditions_among(inputs: dict[str, Tensor]) -> Conditions:
    """Return the conditions among the inputs of a graph."""
    return Conditions(inputs.get(COVARIATES), inputs.get(LIBRARY))


def random_covariates(method: Method, n: int, seed: int) -> Covariates | None:
    """Return covariates for n samples: any level of a category, numbers with the mean and std of the training samples."""
    columns = method.columns
    if not columns.names:
        return None
    rng, units = np.random.default_rng(seed), method.nets_["covariates"]
    pairs = zip(units.centre.double().cpu().numpy(), units.spread.double().cpu().numpy(), strict=True)
    values = [
        rng.integers(0, len(levels), n).astype(np.float64) if levels else centre + spread * rng.normal(size=n)
        for levels, (centre, spread) in zip(columns.levels, pairs, strict=True)
    ]
    return Covariates(np.stack(values, axis=1), columns.names, columns.levels)


def as_input(method: Method, covariates: Covariates) -> Array:
    """Return covariates (n, k) as the graphs take them."""
    with torch.no_grad():
        table: Array = method.nets_["covariates"].float()(torch.from_numpy(covariates.values).float()).numpy()
    return table


def describe(method: Method) -> dict[str, Any]:
    """Return what a program must know to make these inputs, as plain JSON; nothing where there are none.

    A category has a column of `covariates` for each of its levels, 1 at that of the sample and else 0; a number has one column,
    (value - mean) / std. `usual` is what `decode` takes where nothing is said.
    """
    description: dict[str, Any] = {}
    if method.columns.names:
        units, start, covariates = method.nets_["covariates"], 0, []
        for k, (name, levels) in enumerate(zip(method.columns.names, method.columns.levels, strict=True)):
            one: dict[str, Any] = {"name": name, "columns": list(range(start, start := start + (len(levels) or 1)))}
            usual = float(units.usual[k])
            if levels:
                one |= {"levels": list(levels), "usual": levels[int(usual)]}
            else:
                one |= {"mean": float(units.centre[k]), "std": float(units.spread[k]), "usual": usual}
            covariates.append(one)
        description[COVARIATES] = covariates
    if method.counts:
        description[LIBRARY] = {"usual": method.usual_library_size()}
    return description
