"""Samples above their reconstructions."""

from __future__ import annotations

from untwine.report.figures import are_images, missing, sample_rows
from untwine.report.markup import Markup, join
from untwine.report.section import Section
from untwine.runs.reading import Run


def reconstructions(run: Run) -> Markup:
    """Return originals above their reconstructions, for targets and for the background."""
    targets, background = run.gallery.targets, run.gallery.background
    if targets is None:
        return missing(run, "reconstructions")
    rows = {"original": targets.originals, "reconstruction": targets.reconstructions}
    back = {}
    if background is not None:
        back = {"background": background.originals, "its reconstruction": background.reconstructions}
    if are_images(targets.originals):
        return sample_rows({**rows, **back}, "Originals, and below them their reconstructions.")
    figures = [sample_rows(rows, "Samples and their reconstructions as lines over the features.")]
    figures += [sample_rows(back, "Background and its reconstructions as lines over the features.")] if back else []
    return join(*figures)


SECTION = Section("Reconstructions", 50, reconstructions, decodes=True)
