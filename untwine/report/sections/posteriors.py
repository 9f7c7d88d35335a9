"""The posterior of each dimension of class and content, where it is Gaussian."""

from __future__ import annotations

from untwine import plots
from untwine.report.markup import Markup, image, join, tag
from untwine.report.section import Section
from untwine.runs.reading import Run

BLOCKS = ("class", "content")
NOTE = (
    "Absolute mean and standard deviation of the posterior of each dimension, averaged over the samples. Grey dimensions have "
    "collapsed to the prior, mean 0 and standard deviation 1, and encode nothing. If a few remain with a large mean and a "
    "small standard deviation, the KL term is no tight bottleneck: the content block may still encode the class."
)


def posteriors(run: Run) -> Markup:
    """Return the posterior of each dimension of each block; nothing where codes have none."""
    posteriors = {block: run.gallery.posteriors[block] for block in BLOCKS if block in run.gallery.posteriors}
    figures = [
        image(
            plots.posterior_statistics(one.mean_size, one.std, block),
            f"Posterior mean and standard deviation of each dimension of {block}.",
        )
        for block, one in posteriors.items()
        if block in run.blocks
    ]
    return join(tag("p", NOTE, class_="note"), tag("div", *figures, class_="pair")) if figures else Markup("")


SECTION = Section("Posterior per dimension", 100, posteriors)
