"""What single latents hold and whether they are used: a matrix of latents and factors, and the spread of each latent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.metrics.ground_truth import DEAD
from untwine.plots.ink import BLOCKS, FAINT, GREY, INK, RULE, open_frame, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TOLD = 0.05  # of the largest score: what tells less of a factor is not framed as its latent
NAMED = 32  # latents with a name below each; of more, some have one
WRITTEN = 400  # cells with a number in each; more would be too small to read


def factor_matrix(
    matrix: ArrayLike,
    factor_names: Sequence[str] | None = None,
    latent_names: Sequence[str] | None = None,
    title: str = "",
    largest: float | None = 1.0,
) -> Figure:
    """Draw how much each latent (a row) tells of each factor (a column); the latent that tells most of a factor is framed.

    Where the factors came apart, every column has one dark cell, and no two of them share a row.

    Parameters
    ----------
    matrix
        Scores (d, k) from 0 on, such as `metrics.information_matrix(codes, factors)`,
        `metrics.sap_score(codes, factors).matrix` or `metrics.dci_scores(codes, factors).importances`.
    factor_names, latent_names
        Names of columns and of rows; numbered where not given.
    title
        What stands above.
    largest
        The score that is darkest; None takes the largest there is.
    """
    from matplotlib.figure import Figure

    scores = np.asarray(matrix, dtype=float)
    if scores.ndim != 2 or 0 in scores.shape or not np.isfinite(scores).all():
        raise ValueError(f"factor_matrix must be finite scores (latents, factors); got shape {scores.shape}.")
    rows, columns = scores.shape
    beside = _names("latent_names", latent_names, rows)
    above = _names("factor_names", factor_names, columns)
    letters = max(len(plain(name, 22)) for name in beside)
    size = (max(2.6, 0.5 * columns + 0.09 * letters + 1.0), 0.34 * rows + 1.35)
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.add_subplot()
    top = float(largest if largest is not None else scores.max()) or 1.0
    axes.imshow(np.clip(scores, 0, top), cmap="Blues", vmin=0, vmax=top, aspect="auto")
    for side in axes.spines.values():
        side.set_visible(False)
    axes.set_xticks(range(columns), [plain(name, 22) for name in above], rotation=40, ha="right", fontsize=9, color=INK)
    axes.set_yticks(range(rows), [plain(name, 22) for name in beside], fontsize=9, color=INK)
    axes.tick_params(length=0)
    if scores.size <= WRITTEN:
        for i, j in np.ndindex(scores.shape):
            colour = "white" if scores[i, j] > 0.55 * top else INK
            axes.text(j, i, f"{scores[i, j]:.2f}", ha="center", va="center", fontsize=8, color=colour)
    _frame_best(axes, scores, top)
    axes.set_title(plain(title, 60), fontsize=11, color=INK, loc="left")
    return figure


def latent_spread(
    means: ArrayLike, deviations: ArrayLike, latent_names: Sequence[str] | None = None, dead: float = DEAD, title: str = ""
) -> Figure:
    """Draw mean and deviation of each latent over the data; those that hardly vary are grey and, if few, named as dead.

    Parameters
    ----------
    means, deviations
        One for each latent (d,), such as `codes.mean(0)` and `codes.std(0)`.
    latent_names
        Numbered where not given.
    dead
        Latents with less than this share of the largest deviation are dead, as for `metrics.sap_score`.
    title
        What stands above.
    """
    from matplotlib.figure import Figure

    centre, spread = centres_and_spreads(means, deviations, "latent_spread")
    names = _names("latent_names", latent_names, len(centre))
    alive = (spread > 0) & (spread >= dead * spread.max())
    many = len(centre)
    figure = Figure(figsize=(max(3.2, 0.42 * min(many, NAMED) + 1.2), 2.7), layout="constrained")
    axes = figure.add_subplot()
    open_frame(axes)
    axes.axhline(0, color=RULE, linewidth=0.8)
    places = np.arange(len(centre))
    for mask, colour in ((alive, BLOCKS["common"]), (~alive, GREY)):
        axes.errorbar(
            places[mask],
            centre[mask],
            spread[mask],
            fmt="o",
            color=colour,
            markersize=5 if many <= NAMED else 2,
            capsize=4 if many <= NAMED else 0,
            linewidth=1.8 if many <= NAMED else 1.0,
            capthick=1.8,
        )
    high = float(np.abs(centre).max() + spread.max()) or 1.0
    for i in np.flatnonzero(~alive) if many <= NAMED else ():
        axes.text(float(i), centre[i] + 0.06 * high, "dead", ha="center", va="bottom", fontsize=8, color=FAINT, rotation=90)
    axes.set_ylim(-1.15 * high, 1.15 * high)
    shown = places[:: -(-many // NAMED)]
    words = [plain(names[i], 12) for i in shown]
    axes.set_xticks(shown, words, rotation=40 if max(map(len, words)) > 4 else 0, fontsize=9)
    axes.set_xlim(-0.6, len(centre) - 0.4)
    axes.set_ylabel("mean ± deviation", fontsize=9)
    axes.set_title(plain(title, 60), fontsize=11, color=INK, loc="left")
    return figure


def centres_and_spreads(means: ArrayLike, deviations: ArrayLike, drawing: str) -> tuple[Array, Array]:
    """Return a mean and a deviation for each latent, or say why they cannot be drawn."""
    centre, spread = np.asarray(means, dtype=float), np.asarray(deviations, dtype=float)
    fits = centre.ndim == 1 and len(centre) > 0 and centre.shape == spread.shape
    if not fits or not np.isfinite([centre, spread]).all() or (spread < 0).any():
        raise ValueError(
            f"{drawing} must be a finite mean and deviation for each latent; got others, of shapes "
            f"{centre.shape} and {spread.shape}."
        )
    return centre, spread


def _names(what: str, names: Sequence[str] | None, many: int) -> list[str]:
    known = [str(i) for i in range(many)] if names is None else [str(name) for name in names]
    if len(known) != many:
        raise ValueError(f"{what} must be a name for each of {many}; got {len(known)}.")
    return known


def _frame_best(axes: Axes, scores: Array, top: float) -> None:
    from matplotlib.patches import Rectangle

    for j, i in enumerate(scores.argmax(axis=0)):
        if scores[i, j] > TOLD * top:
            axes.add_patch(Rectangle((j - 0.48, i - 0.46), 0.96, 0.92, fill=False, edgecolor=INK, linewidth=1.4))
