"""Single latent dimensions: which factors they encode, and whether they are active."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.metrics.ground_truth import DEAD
from untwine.plots.style import BLOCKS, FAINT, GREY, INK, RULE, open_frame, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MIN_FRAMED = 0.05  # of the largest score: the best latent of a factor is framed above this
MAX_LABELLED = 32  # latents; with more of them only some have a tick label
MAX_ANNOTATED = 400  # cells; with more of them the numbers would be too small to read


def factor_matrix(
    matrix: ArrayLike,
    factor_names: Sequence[str] | None = None,
    latent_names: Sequence[str] | None = None,
    title: str = "",
    largest: float | None = 1.0,
) -> Figure:
    """Draw a matrix of latents (rows) by factors (columns), with a frame around the best latent of each factor.

    For disentangled latents every column has one dark cell, and no two of them share a row.

    Parameters
    ----------
    matrix
        Scores (d, k) from 0 on, such as `metrics.information_matrix(codes, factors)`,
        `metrics.sap_score(codes, factors).matrix` or `metrics.dci_scores(codes, factors).importances`.
    factor_names, latent_names
        Names of columns and rows; numbered where not given.
    title
        The title.
    largest
        The score of the darkest colour; None takes the largest of the matrix.
    """
    from matplotlib.figure import Figure

    scores = np.asarray(matrix, dtype=float)
    if scores.ndim != 2 or 0 in scores.shape or not np.isfinite(scores).all():
        raise ValueError(f"matrix must be finite scores (latents, factors); got shape {scores.shape}.")
    rows, columns = scores.shape
    row_names = _names("latent_names", latent_names, rows)
    column_names = _names("factor_names", factor_names, columns)
    letters = max(len(plain(name, 22)) for name in row_names)
    size = (max(2.6, 0.5 * columns + 0.09 * letters + 1.0), 0.34 * rows + 1.35)
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.add_subplot()
    top = float(largest if largest is not None else scores.max()) or 1.0
    axes.imshow(np.clip(scores, 0, top), cmap="Blues", vmin=0, vmax=top, aspect="auto")
    for side in axes.spines.values():
        side.set_visible(False)
    axes.set_xticks(range(columns), [plain(name, 22) for name in column_names], rotation=40, ha="right", fontsize=9, color=INK)
    axes.set_yticks(range(rows), [plain(name, 22) for name in row_names], fontsize=9, color=INK)
    axes.tick_params(length=0)
    if scores.size <= MAX_ANNOTATED:
        for i, j in np.ndindex(scores.shape):
            colour = "white" if scores[i, j] > 0.55 * top else INK
            axes.text(j, i, f"{scores[i, j]:.2f}", ha="center", va="center", fontsize=8, color=colour)
    _frame_best(axes, scores, top)
    axes.set_title(plain(title, 60), fontsize=11, color=INK, loc="left")
    return figure


def latent_statistics(
    means: ArrayLike, stds: ArrayLike, latent_names: Sequence[str] | None = None, dead: float = DEAD, title: str = ""
) -> Figure:
    """Draw mean and standard deviation of each latent over the data; dead latents are grey and, if there is space, labelled.

    Parameters
    ----------
    means, stds
        One for each latent (d,), such as `codes.mean(0)` and `codes.std(0)`.
    latent_names
        Names of the latents; numbered where not given.
    dead
        Latents whose std is below this fraction of the largest are dead, as in `metrics.sap_score`.
    title
        The title.
    """
    from matplotlib.figure import Figure

    mean, std = check_statistics(means, stds)
    names = _names("latent_names", latent_names, len(mean))
    active = (std > 0) & (std >= dead * std.max())
    n_latents = len(mean)
    figure = Figure(figsize=(max(3.2, 0.42 * min(n_latents, MAX_LABELLED) + 1.2), 2.7), layout="constrained")
    axes = figure.add_subplot()
    open_frame(axes)
    axes.axhline(0, color=RULE, linewidth=0.8)
    places = np.arange(len(mean))
    for mask, colour in ((active, BLOCKS["common"]), (~active, GREY)):
        axes.errorbar(
            places[mask],
            mean[mask],
            std[mask],
            fmt="o",
            color=colour,
            markersize=5 if n_latents <= MAX_LABELLED else 2,
            capsize=4 if n_latents <= MAX_LABELLED else 0,
            linewidth=1.8 if n_latents <= MAX_LABELLED else 1.0,
            capthick=1.8,
        )
    high = float(np.abs(mean).max() + std.max()) or 1.0
    for i in np.flatnonzero(~active) if n_latents <= MAX_LABELLED else ():
        axes.text(float(i), mean[i] + 0.06 * high, "dead", ha="center", va="bottom", fontsize=8, color=FAINT, rotation=90)
    axes.set_ylim(-1.15 * high, 1.15 * high)
    labelled = places[:: -(-n_latents // MAX_LABELLED)]
    tick_labels = [plain(names[i], 12) for i in labelled]
    axes.set_xticks(labelled, tick_labels, rotation=40 if max(map(len, tick_labels)) > 4 else 0, fontsize=9)
    axes.set_xlim(-0.6, len(mean) - 0.4)
    axes.set_ylabel("mean ± std", fontsize=9)
    axes.set_title(plain(title, 60), fontsize=11, color=INK, loc="left")
    return figure


def check_statistics(means: ArrayLike, stds: ArrayLike) -> tuple[Array, Array]:
    """Return mean and standard deviation (d,) of each latent as float arrays, or refuse them."""
    mean, std = np.asarray(means, dtype=float), np.asarray(stds, dtype=float)
    fits = mean.ndim == 1 and len(mean) > 0 and mean.shape == std.shape
    if not fits or not np.isfinite([mean, std]).all() or (std < 0).any():
        raise ValueError(
            f"means and stds must be finite, one each per latent, and stds at least 0; got shapes {mean.shape} and {std.shape}."
        )
    return mean, std


def _names(what: str, names: Sequence[str] | None, n: int) -> list[str]:
    labels = [str(i) for i in range(n)] if names is None else [str(name) for name in names]
    if len(labels) != n:
        raise ValueError(f"{what} must have {n} names; got {len(labels)}.")
    return labels


def _frame_best(axes: Axes, scores: Array, top: float) -> None:
    from matplotlib.patches import Rectangle

    for j, i in enumerate(scores.argmax(axis=0)):
        if scores[i, j] > MIN_FRAMED * top:
            axes.add_patch(Rectangle((j - 0.48, i - 0.46), 0.96, 0.92, fill=False, edgecolor=INK, linewidth=1.4))
