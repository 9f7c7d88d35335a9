r"""Which features (genes) a block is about: how much each changes where the block is removed, and whether the data bear it out.

For sample i and feature j let $\hat x_{ij}$ be decoded from all blocks and $\hat x^-_{ij}$ without the block; all of it in
units of the feature's standard deviation.

- **Change.** $\delta_{ij} = \hat x_{ij} - \hat x^-_{ij}$. `effect` is its mean over the targets, `change` its root mean square.
- **Interval** of the effect: 95 % over bootstrap samples of the targets (of whole sources, where there are some), each with
  one of the draws from the posterior and one of the methods.
- **Test.** A decoder changes every feature a little, so $\delta \ne 0$ shows nothing. The data must bear out two things, and p
  is the larger of their p-values, each against random permutations of the groups, pooled over features.

  *The block explains the feature*: it brings the reconstruction nearer to what was observed,
  $g_{ij} = (x_{ij} - \hat x^-_{ij})^2 - (x_{ij} - \hat x_{ij})^2$, and in the targets more so than in the background, where an
  autoencoder copies as much of the noise. The statistic is Welch's t of g, one-sided.

  *The feature differs*: what was observed has another mean or variance in the targets than in the background, by the sum of the
  squares of Welch's t of x and of its squared deviation from the mean. Without it, a block that only takes back what a
  contaminated common block decodes wrongly would be found in features that do not respond.
- **q** is the false-discovery rate of Benjamini and Hochberg, over all features and levels.

Permutations are exact where the fit has not seen the samples: pass held-out ones. That a feature differs is put down to what
is salient: where target and background also differ in other ways, such as batch, this shows in the table. Features that
respond by their variance alone, up in one sample and down in another, are found less often than shifted ones.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.latents import Latents
from untwine.method.blocks import changed_block
from untwine.method.contract import Method
from untwine.method.feature_order import arrange_samples
from untwine.registry.blocks import members
from untwine.registry.checks import check_int, suggestion
from untwine.runs.features import Feature
from untwine.samples import Samples

LEVEL = 0.05
LEAST = 4  # units (samples, or sources) of each group: with fewer there is no variance to speak of
ELEMENTS = 2_000_000  # of a matrix at a time


class _Decoded(NamedTuple):
    """Of each sample and feature, in units of the feature: changes (methods and draws, n, d) and the gain (n, d)."""

    changes: Array
    gain: Array


def salient_features(
    method: Method | Sequence[Method],
    samples: Samples,
    block: str | None = None,
    by: str | ArrayLike | None = None,
    *,
    draws: int = 0,
    bootstraps: int = 500,
    permutations: int = 200,
    seed: int = 0,
) -> list[Feature]:
    """Return the features that removing a block changes most, the largest change first; `pandas.DataFrame` takes the list.

    Parameters
    ----------
    method
        A fitted method on vectors, or several, such as fits with other seeds: effects are means over them, and intervals
        include the variation between them.
    samples
        Samples that the fit has not seen. With groups, the features are of the targets, and get p-values.
    block
        The block that is removed; by default salient, or class.
    by
        Also split the samples: "label" by class, "group" by target, the name of a categorical covariate, or a value for each
        sample, such as a cluster. The background of a level is that of the level if it has some, else all of it.
    draws
        Draws from the posterior, so that intervals include its width; 0 for its mean alone. Of blocks with a Gaussian
        posterior.
    bootstraps, permutations
        How many are taken for intervals and for p-values; the smallest p-value is 1 / (1 + permutations x features).
    seed
        Seeds draws, bootstraps and permutations.

    Returns
    -------
    features
        `Feature`s with `name`, `by`, `change`, `effect`, `low`, `high`, `effect_units` (in the units of the data), `p` and `q`
        (NaN without groups, or with fewer than 4 samples or sources of one).
    """
    methods = [method] if isinstance(method, Method) else list(method)
    block = _check(methods, samples, block, draws, bootstraps, permutations, seed)
    samples = arrange_samples(samples, methods[0])
    names = samples.feature_names or methods[0].feature_names or tuple(f"x{i}" for i in range(samples.shape[0]))
    x = samples.dense()
    spread = _spread(x)
    rng = np.random.default_rng(seed)
    decoded = _decode(methods, samples, x, block, spread, draws, rng)
    target = np.ones(len(samples), bool) if samples.groups is None else samples.groups > 0
    units = np.arange(len(samples)) if samples.sources is None else np.unique(samples.sources, return_inverse=True)[1]
    features: list[Feature] = []
    for level, mine in _levels(samples, target, by):
        chosen = target & mine
        delta = decoded.changes[:, chosen]
        change, effect = np.sqrt(np.square(delta).mean((0, 1), dtype=np.float64)), delta.mean((0, 1), dtype=np.float64)
        low, high = _bootstrap(delta, units[chosen], bootstraps, rng)
        sides = chosen, _background(target, mine)
        p = _p_values(decoded.gain, x / spread, sides, units, permutations, rng)
        columns = np.stack([change, effect, low, high, effect * spread, p, np.full(len(p), np.nan)], axis=1)
        features += [Feature(name, level, *numbers) for name, numbers in zip(names, columns.tolist(), strict=True)]
    return _ordered(features)


def _check(
    methods: list[Method], samples: Samples, block: str | None, draws: int, bootstraps: int, permutations: int, seed: int
) -> str:
    for name, value, least in (
        ("draws", draws, 0),
        ("bootstraps", bootstraps, 10),
        ("permutations", permutations, 10),
        ("seed", seed, 0),
    ):
        check_int(name, value, least)
    if not methods:
        raise ValueError("salient_features needs a fitted method; got none.")
    if len(samples.shape) != 1:
        raise ValueError("salient_features needs vectors with features; got images; draw them with plots.salient_maps.")
    blocks = {changed_block(one, block) for one in methods}
    if len(blocks) > 1 or len({one.feature_names for one in methods}) > 1:
        raise ValueError("the methods must have the same block and the same features; got several; fit them on the same data.")
    if any(one.data_.get("fingerprint") == samples.fingerprint() for one in methods):
        warnings.warn(
            "samples are those that the method was fitted on: p-values are too small then; pass the test split.", stacklevel=3
        )
    return blocks.pop()


def _spread(x: Array) -> Array:
    """Return the standard deviation of each feature; 1 where it does not vary."""
    spread = x.std(axis=0, dtype=np.float64)
    return np.where(spread > 1e-6 * np.abs(x).mean(axis=0) + 1e-30, spread, 1.0)


def _decode(
    methods: list[Method], samples: Samples, x: Array, block: str, spread: Array, draws: int, rng: np.random.Generator
) -> _Decoded:
    changes, gain = [], np.zeros(x.shape)
    for method in methods:
        z, posterior = method.encode(samples), method.posterior_std(samples) if draws else {}
        if draws and not set(members(block, method.blocks)) <= set(posterior):
            raise ValueError(
                f"draws need a block with a Gaussian posterior; {block!r} of {method.name} has none; pass draws=0."
            )
        without = method.decode(z.remove(block))
        change = method.decode(z) - without
        left = x - without
        gain += (np.square(left) - np.square(left - change)) / spread**2 / len(methods)
        for _ in range(draws):
            drawn = z
            for name, std in posterior.items():
                drawn = drawn.swap(Latents({name: z[name] + std * rng.standard_normal(std.shape, dtype=np.float32)}), name)
            changes.append(((method.decode(drawn) - method.decode(drawn.remove(block))) / spread).astype(np.float32))
        if not draws:
            changes.append((change / spread).astype(np.float32))
    return _Decoded(np.stack(changes), gain)


def _levels(samples: Samples, target: Array, by: str | ArrayLike | None) -> Iterator[tuple[str, Array]]:
    """Yield each level with the mask of its samples; levels without targets are left out."""
    if by is None:
        yield "", np.ones(len(samples), bool)
        return
    values = _values(samples, by) if isinstance(by, str) else np.asarray(by)
    if values.shape != (len(samples),):
        raise ValueError(f"by must be one value for each of the {len(samples)} samples; got shape {values.shape}.")
    for level in np.unique(values[target]).tolist():
        if level != "":
            yield str(level), values == level


def _values(samples: Samples, by: str) -> Array:
    known: dict[str, Array] = {}
    if samples.labels is not None:
        known["label"] = np.array([*samples.label_names, ""])[samples.labels]  # -1, unknown, is the last
    if samples.groups is not None:
        known["group"] = np.array(samples.group_names)[samples.groups]
    if samples.covariates is not None:
        for k, (name, levels) in enumerate(zip(samples.covariates.names, samples.covariates.levels, strict=True)):
            if levels:
                known.setdefault(name, np.array(levels)[samples.covariates.values[:, k].astype(int)])
    if by not in known:
        raise ValueError(
            f"by must be label, group or a categorical covariate that the samples have; got {by!r}; {suggestion(by, known)}"
        )
    return known[by]


def _background(target: Array, mine: Array) -> Array:
    """Return the mask of the background of a level, or of all of it where the level has none."""
    own: Array = ~target & mine
    return own if own.any() else ~target


def _bootstrap(delta: Array, units: Array, bootstraps: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return the 95 % interval of the mean change (d,) over whole units, and over methods and draws (k, n, d)."""
    _, units = np.unique(units, return_inverse=True)
    many, size = int(units.max()) + 1, np.bincount(units)
    sums = np.stack([_sum_by(one, units) for one in delta])
    means = np.empty((bootstraps, delta.shape[2]))
    for row in means:
        drawn = np.bincount(rng.integers(many, size=many), minlength=many)
        row[:] = drawn @ sums[rng.integers(len(sums))] / (drawn @ size)
    low, high = np.quantile(means, [0.025, 0.975], axis=0)
    return low, high


def _sum_by(values: Array, units: Array) -> Array:
    sums = np.zeros((int(units.max()) + 1, values.shape[1]))
    np.add.at(sums, units, values)
    return sums


def _p_values(
    gain: Array, x: Array, sides: tuple[Array, Array], units: Array, permutations: int, rng: np.random.Generator
) -> Array:
    """Return the p-value (d,) of each feature: that the block explains it, and that it differs, in targets and background."""
    target, background = sides
    centred = x - x[target | background].mean(0)
    tables = [_unit_means(values, target, background, units) for values in (gain, centred, np.square(centred))]
    is_target, sources = tables[0][1:]
    if min(is_target.sum(), (~is_target).sum()) < LEAST:
        return np.full(x.shape[1], np.nan)
    permuted = np.stack([is_target, *(_permute(is_target, sources, rng) for _ in range(permutations))])
    explained, differs = np.empty((2, len(permuted), x.shape[1]), np.float32)
    at_once = max(1, ELEMENTS // x.shape[1])
    for start in range(0, len(permuted), at_once):
        some = slice(start, start + at_once)
        gained, mean, variance = (_welch(means, permuted[some]) for means, *_ in tables)
        explained[some], differs[some] = gained, mean**2 + variance**2
    return np.maximum(_pooled_p(explained), _pooled_p(differs))


def _pooled_p(statistics: Array) -> Array:
    """Return p-values (d,) of the first row of statistics (1 + permutations, d) against all others, pooled over features."""
    null = np.sort(statistics[1:].ravel())
    p: Array = (1 + len(null) - np.searchsorted(null, statistics[0], side="left")) / (1 + len(null))
    return p


def _unit_means(values: Array, target: Array, background: Array, units: Array) -> tuple[Array, Array, Array]:
    """Return the mean of values (n, d) over every source in every group, whether that is of targets, and the source."""
    chosen = target | background
    pairs, index = np.unique(2 * units[chosen] + target[chosen], return_inverse=True)
    means = _sum_by(values[chosen], index) / np.bincount(index)[:, None]
    return means, pairs % 2 == 1, pairs // 2


def _permute(is_target: Array, sources: Array, rng: np.random.Generator) -> Array:
    """Return the groups permuted: exchanged within sources that have both, shuffled over all other ones."""
    _, index, counts = np.unique(sources, return_inverse=True, return_counts=True)
    paired = counts[index] == 2
    permuted = is_target.copy()
    permuted[~paired] = rng.permutation(is_target[~paired])
    flips = rng.random(len(counts)) < 0.5
    permuted[paired] ^= flips[index[paired]]
    return permuted


def _welch(g: Array, groups: Array) -> Array:
    """Return Welch's t (k, d) of g (n, d) in the targets of each of k groupings (k, n); 0 where nothing varies."""
    total, squares = g.sum(0), np.square(g).sum(0)
    weights = groups.astype(np.float64)
    n = weights.sum(1, keepdims=True)
    m = g.shape[0] - n
    a, a2 = weights @ g, weights @ np.square(g)
    mean_t, mean_b = a / n, (total - a) / m
    error = (a2 / n - mean_t**2) / (n - 1) + ((squares - a2) / m - mean_b**2) / (m - 1)
    scale = np.sqrt(np.maximum(error, 0))
    varies = scale > 1e-12 * np.sqrt(squares / g.shape[0] + 1e-300)
    t: Array = np.divide(mean_t - mean_b, scale, out=np.zeros_like(a), where=varies)
    return t


def _ordered(features: list[Feature]) -> list[Feature]:
    """Return features with q, level by level, the largest change first."""
    p = np.array([one.p for one in features])
    q = np.full(len(p), np.nan)
    tested = np.isfinite(p)
    q[tested] = benjamini_hochberg(p[tested])
    features = [one._replace(q=float(value)) for one, value in zip(features, q, strict=True)]
    levels = list(dict.fromkeys(one.by for one in features))
    return sorted(features, key=lambda one: (levels.index(one.by), -one.change))


def benjamini_hochberg(p: Array) -> Array:
    """Return the false-discovery rate at which each of the p-values (n,) is a discovery: the least p n / rank from it on."""
    order = np.argsort(p)
    ranks = np.arange(1, len(p) + 1)
    q = np.empty(len(p))
    q[order] = np.minimum(np.minimum.accumulate((p[order] * len(p) / ranks)[::-1])[::-1], 1.0)
    return q
