"""What disentanglement costs: a score against the error of reconstruction, method by method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from untwine.plots.studies import Line, Panel, study_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def trade_off(
    error: Mapping[str, ArrayLike],
    score: Mapping[str, ArrayLike],
    values: Mapping[str, Sequence[object]] | None = None,
    x: str = "reconstruction error",
    y: str = "score",
    title: str = "",
) -> Figure:
    """Draw a score against an error, a line for each method along the values of the field that was swept.

    Up and to the left is better: more disentangled, at less cost.

    Parameters
    ----------
    error
        For each method the error (k,) at each of k values, or (seeds, k); of the seeds the mean is drawn.
    score
        The same for the score; of several seeds the band is from the lowest to the highest.
    values
        For each method what stands beside its k points, such as the values of beta.
    x, y, title
        What is written at the axes and above.
    """
    if not score:
        raise ValueError("trade_off expected the scores of at least one method; got none; pass some.")
    lines = {}
    for name, given in score.items():
        if name not in error:
            raise ValueError(f"trade_off must be an error for every score, but {name!r} has none.")
        found, cost = np.atleast_2d(np.asarray(given, float)), np.atleast_2d(np.asarray(error[name], float))
        beside = tuple(map(str, (values or {}).get(name, ())))
        if found.shape[1] != cost.shape[1] or (beside and len(beside) != found.shape[1]):
            raise ValueError(
                f"trade_off expected as many errors, scores and values of {name!r}; got {cost.shape[1]}, "
                f"{found.shape[1]} and {len(beside)}."
            )
        if not found.size or not cost.size:
            raise ValueError(f"trade_off expected at least one error and score of {name!r}; got none; leave it out.")
        lines[name] = Line(cost.mean(axis=0), found, beside)
    return study_figure([Panel(title, x, y, lines)])
