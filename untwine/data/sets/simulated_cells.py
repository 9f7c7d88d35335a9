"""Counts of simulated cells with known truth: cell types in both groups, responses in treated cells alone, two batches."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np

from untwine._typing import Array
from untwine.data.data_card import DataCard, described
from untwine.data.data_set import DataSet
from untwine.data.splits import Splits
from untwine.registry.checks import check_choice, check_float, check_int
from untwine.registry.covariates import Covariates
from untwine.samples import Samples

TYPES = 5
RESPONSES = ("none", "a", "b", "c")
# Which share of its cells each group has of every type, and in the second batch.
TYPE_SHARES = {"control": (0.30, 0.25, 0.20, 0.15, 0.10), "treated": (0.10, 0.15, 0.20, 0.25, 0.30)}
SECOND_BATCH = {"control": 0.3, "treated": 0.7}
# By how much the logarithm of expression is lower where a gene is silent.
SILENCE = 4.0

CARD = DataCard(
    source="drawn here.",
    licence="none.",
    size="3,000 cells of 1,000 genes in each group of the training split, 1,500 of the test split.",
    files="none.",
    groups="control (background) and treated.",
    labels="the response of a treated cell: none, a, b or c; unknown in controls, which have none.",
    factors="`cell_type`, from 0 to 4, and `depth`, the logarithm of the expected total count.",
    sources="none: cells are independent.",
    masks="the genes that the response of a treated cell changes.",
    studies={
        "cells": "Simulated cells: what responds, beside what cell types and batches",
        "ranking": "Ranking of runs without labels, beside their labelled scores",
    },
)


class Programs(NamedTuple):
    """What decides how much of each gene a cell expresses, as natural logarithms of expression.

    `base` (genes,), `types` (types, genes), `responses` (types, responses, genes), and `batch` (genes,), of the second batch.
    """

    base: Array
    types: Array
    responses: Array
    batch: Array


@described(CARD)
def simulated_cells(
    *,
    n_target: int = 3000,
    n_background: int = 3000,
    n_test: int = 1500,
    n_genes: int = 1000,
    effect: float = 1.0,
    batch: float = 0.5,
    silent: float = 0.0,
    dispersion: float = 4.0,
    values: Literal["counts", "log"] = "counts",
    seed: int = 0,
) -> Splits:
    """Cells as counts, of which treated ones respond; controls differ in cell types, batches and depth as well.

    A count is drawn from a negative binomial distribution, whose mean is the depth of the cell times the share of the gene in
    its expression exp(base + type + batch + response). A response changes 5 % of the genes, none of the quarter that is
    expressed least, and the more, the more the cell's type expresses them. A gene that is silent in a type does not respond
    there, so that with `silent` a response changes other genes in other types. Treated cells are more often of rare types, of
    the second batch, and of smaller depth, so that the directions in which their variance is larger are not those of the
    responses alone.

    Parameters
    ----------
    n_target, n_background
        Number of cells of each group in the training split.
    n_test
        Number of cells of each group in the test split.
    n_genes
        Number of genes.
    effect
        Standard deviation of the logarithm by which a response changes a gene.
    batch
        Standard deviation of the logarithm by which the second batch changes a gene.
    silent
        Share of the genes that a cell type hardly expresses, drawn for each type: the logarithm of their expression is 4 lower
        in both groups, and no response changes them. Then the direction of a response in log counts depends on the type.
    dispersion
        Inverse dispersion of the counts; larger is closer to Poisson.
    values
        Raw `counts`, or `log`: brought to the same total in every cell, and then log(1 + x). Then the training split has no
        covariates, for methods with a closed form, which take none; the test split has them, for scores.
    seed
        Decides the programs of types, responses and batches, which both splits share, and all cells.
    """
    n_target, n_background = check_int("n_target", n_target, 10), check_int("n_background", n_background, 10)
    n_test, n_genes = check_int("n_test", n_test, 10), check_int("n_genes", n_genes, 100)
    effect, batch = check_float("effect", effect, 0), check_float("batch", batch, 0)
    dispersion, seed = check_float("dispersion", dispersion, 0.01), check_int("seed", seed, 0)
    check_choice("values", values, ("counts", "log"))
    silent = check_float("silent", silent, 0, 1)
    programs = _programs(n_genes, effect, batch, silent, seed)

    def draw(stream: int, sizes: tuple[int, int]) -> Samples:
        rng = np.random.default_rng([seed, stream])
        control = _cells(rng, "control", sizes[0], programs, dispersion)
        treated = _cells(rng, "treated", sizes[1], programs, dispersion)
        return Samples.contrast(target={"treated": treated}, background=control)

    train, test = draw(1, (n_background, n_target)), draw(2, (n_test, n_test))
    if values == "log":
        train, test = replace(train, x=log_shares(train.x), covariates=None), replace(test, x=log_shares(test.x))
    return Splits(train, test)


def log_shares(counts: Array) -> Array:
    """Return log(1 + x) of counts (n, genes) that are brought to a total of 2,000 in every cell."""
    shares: Array = np.log1p(counts * (2000 / np.maximum(counts.sum(axis=1, keepdims=True), 1)))
    return shares


def responding_genes(*, n_genes: int = 1000, effect: float = 1.0, silent: float = 0.0, seed: int = 0) -> Array:
    """Return which genes (n_genes,) some response changes, in the data that `simulated_cells` draws with these options."""
    return np.asarray((_programs(n_genes, effect, 0.0, silent, seed).responses != 0).any(axis=(0, 1)))


def _programs(n_genes: int, effect: float, batch: float, silent: float, seed: int) -> Programs:
    rng = np.random.default_rng([seed, 0])
    base = rng.normal(0, 1.2, n_genes)
    types = rng.normal(0, 1.2, (TYPES, n_genes)) * (rng.random((TYPES, n_genes)) < 0.15)
    responses, expressed = np.zeros((len(RESPONSES), n_genes)), np.argsort(base)[n_genes // 4 :]
    for number in range(1, len(RESPONSES)):
        chosen = rng.choice(expressed, n_genes // 20, replace=False)
        responses[number, chosen] = effect * (1 + 0.3 * rng.standard_normal(len(chosen))) * rng.choice([-1, 1], len(chosen))
    # A stream of its own, so that everything else is drawn as it is without silent genes.
    is_silent = np.random.default_rng([seed, 3]).random((TYPES, n_genes)) < silent
    types = np.where(is_silent, types - SILENCE, types)
    # A type expresses a gene the more, the larger its program; a response works through what is expressed.
    activity = ~is_silent / (1 + np.exp(-2 * types - 1))
    return Programs(base, types, responses * activity[:, None], batch * rng.standard_normal(n_genes))


def _cells(rng: np.random.Generator, group: str, n: int, programs: Programs, dispersion: float) -> Samples:
    kind = rng.choice(TYPES, n, p=TYPE_SHARES[group])
    second = rng.random(n) < SECOND_BATCH[group]
    response = rng.integers(0, len(RESPONSES), n) if group == "treated" else np.zeros(n, int)
    depth = rng.normal(np.log(2500) - 0.3 * (group == "treated") - 0.2 * second, 0.35)
    responses = programs.responses[kind, response]
    log_rate = programs.base + programs.types[kind] + responses + second[:, None] * programs.batch
    share = np.exp(log_rate)
    mean = np.exp(depth)[:, None] * share / share.sum(axis=1, keepdims=True)
    counts = rng.poisson(rng.gamma(dispersion, mean / dispersion)).astype(np.float32)
    return Samples(
        counts,
        masks=responses != 0,
        labels=response if group == "treated" else None,
        label_names=RESPONSES if group == "treated" else (),
        factors=np.stack([kind, depth], axis=1),
        factor_names=("cell_type", "depth"),
        covariates=Covariates.of({"batch": np.where(second, "second", "first")}, n),
        feature_names=tuple(f"gene {i}" for i in range(counts.shape[1])),
    )


ENTRIES = {"simulated_cells": DataSet(simulated_cells)}
