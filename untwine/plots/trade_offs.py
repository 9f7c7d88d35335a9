"""The trade-off of disentanglement and reconstruction: a score against the error, for each method."""

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
    """Draw a score against an error, with a line for each method over the values of a swept field.

    The upper left is best: more disentangled, at a lower reconstruction error.

    Parameters
    ----------
    error
        The errors (k,) or (seeds, k) of each method at k values of the field; the mean over seeds is drawn.
    score
        The scores, in the same form; a vertical line from the minimum to the maximum over seeds.
    values
        Annotations of the k points of a method, such as the values of beta.
    x, y, title
        The axis labels and the title.
    """
    if not score:
        raise ValueError("trade_off needs the scores of at least one method; got none.")
    lines = {}
    for name in score:
        if name not in error:
            raise ValueError(f"trade_off needs an error for every score; got none for {name!r}.")
        scores, errors = (np.atleast_2d(np.asarray(given, float)) for given in (score[name], error[name]))
        labels = tuple(map(str, (values or {}).get(name, ())))
        if scores.shape[1] != errors.shape[1] or (labels and len(labels) != scores.shape[1]):
            raise ValueError(
                f"trade_off needs as many errors as scores and values of {name!r}; got {errors.shape[1]}, {scores.shape[1]} "
                f"and {len(labels)}."
            )
        if not scores.size or not errors.size:
            raise ValueError(f"trade_off needs at least one error and score of {name!r}; got none; leave it out.")
        lines[name] = Line(errors.mean(axis=0), scores, labels)
    return study_figure([Panel(title, x, y, lines)])
