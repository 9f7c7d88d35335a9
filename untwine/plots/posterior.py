"""Mean and standard deviation of the posterior in each latent dimension."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from untwine.plots.latents import check_statistics
from untwine.plots.style import BLOCKS, GREY, INK, RULE, open_frame, plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TOLERANCE = 0.1  # a dimension within this of mean 0 and std 1 has collapsed to the prior


def posterior_statistics(means: ArrayLike, stds: ArrayLike, title: str = "") -> Figure:
    """Draw posterior mean and std of each dimension; those that collapsed to N(0, 1) are grey.

    As in figure 6 of Gabbay and Hoshen 2020.

    A KL term often leaves most dimensions at the prior, and a few with a large mean and a small std: the code then has the
    capacity of a noiseless code of those few dimensions.

    Parameters
    ----------
    means, stds
        One for each dimension (d,), averaged over the data, such as the mean of `abs(method.encode(x).content)` and that of
        the posterior standard deviations.
    title
        The title.
    """
    from matplotlib.figure import Figure

    mean, std = check_statistics(means, stds)
    collapsed = (np.abs(mean) < TOLERANCE) & (np.abs(std - 1) < TOLERANCE)
    figure = Figure(figsize=(max(3.6, min(14.0, 0.3 * len(mean) + 1.4)), 3.6), layout="constrained")
    places = np.arange(len(mean))
    for number, (values, prior, name) in enumerate(((mean, 0.0, "mean"), (std, 1.0, "std"))):
        axes = figure.add_subplot(2, 1, number + 1)
        open_frame(axes)
        axes.axhline(prior, color=RULE, linewidth=0.8)
        axes.bar(places, values - prior, bottom=prior, width=0.8, color=np.where(collapsed, GREY, BLOCKS["content"]).tolist())
        axes.set_xlim(-0.6, len(mean) - 0.4)
        axes.set_ylabel(name, fontsize=9)
    count = f"{int(collapsed.sum())} of {len(collapsed)} dimensions at the prior"
    figure.axes[0].set_title(plain(f"{title}: {count}" if title else count, 60), fontsize=11, color=INK, loc="left")
    return figure
