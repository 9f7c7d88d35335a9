"""What an encoder says of each dimension: its mean, and how sure it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from untwine.plots.latents import centres_and_spreads
from untwine.plots.style import BLOCKS, GREY, INK, RULE, open_frame, plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NEAR = 0.1  # so near to mean 0 and deviation 1 a dimension tells nothing that its prior does not


def posterior(means: ArrayLike, deviations: ArrayLike, title: str = "") -> Figure:
    """Draw mean and deviation of each dimension's Gaussian; those that fell back on N(0, 1) are grey (figure 6 of paper 004).

    A divergence from the prior often leaves nearly all dimensions at it, and a few with a large mean and a small deviation:
    these hold as much as a code of so few dimensions without any noise.

    Parameters
    ----------
    means, deviations
        One for each dimension (d,), averaged over the data, such as the mean of `abs(method.encode(x).content)` and that of
        `method.deviations(x)["content"]`.
    title
        What stands above.
    """
    from matplotlib.figure import Figure

    centre, spread = centres_and_spreads(means, deviations, "posterior")
    fallen = (np.abs(centre) < NEAR) & (np.abs(spread - 1) < NEAR)
    figure = Figure(figsize=(max(3.6, min(14.0, 0.3 * len(centre) + 1.4)), 3.6), layout="constrained")
    places = np.arange(len(centre))
    for number, (values, prior, name) in enumerate(((centre, 0.0, "mean"), (spread, 1.0, "deviation"))):
        axes = figure.add_subplot(2, 1, number + 1)
        open_frame(axes)
        axes.axhline(prior, color=RULE, linewidth=0.8)
        axes.bar(places, values - prior, bottom=prior, width=0.8, color=np.where(fallen, GREY, BLOCKS["content"]).tolist())
        axes.set_xlim(-0.6, len(centre) - 0.4)
        axes.set_ylabel(name, fontsize=9)
    told = f"{int(fallen.sum())} of {len(fallen)} dimensions at the prior"
    figure.axes[0].set_title(plain(f"{title}: {told}" if title else told, 60), fontsize=11, color=INK, loc="left")
    return figure
