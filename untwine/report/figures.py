"""What several sections draw alike: samples in rows, and the note in place of images that are not there yet."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from untwine import plots
from untwine._typing import Array
from untwine.report.markup import Markup, image, tag
from untwine.runs.reading import Run

MOST = 10  # images in a row
VECTORS = 6  # vectors that are drawn as lines


def are_images(samples: Array) -> bool:
    """Whether samples (n, ...) are images, or volumes, of which the middle slices are shown."""
    return samples.ndim > 2


def sample_rows(rows: Mapping[str, Array], alt: str, caption: str = "") -> Markup:
    """Return named rows of samples: images below each other, or vectors as lines over the features."""
    draw, most = (plots.image_rows, MOST) if are_images(next(iter(rows.values()))) else (plots.feature_profiles, VECTORS)
    return image(draw({name: row[:most] for name, row in rows.items()}), alt, caption, wide=True)


def missing(run: Run, what: str, needs_salient: bool = False) -> Markup:
    """Return a note with the command that computes the images; nothing where this kind of method cannot have them."""
    if needs_salient and run.blocks and not run.has_salient:
        return Markup("")
    targets = run.gallery.targets
    if needs_salient and targets is not None and not are_images(targets.originals):
        return tag("p", f"Images of {what} need samples that are images; these are vectors.")
    return tag("p", f"There are no images of {what} yet. Compute them with ", evaluate_command(run), ".")


def evaluate_command(run: Run) -> Markup:
    """Return the command that evaluates the run."""
    return tag("code", f"untwine evaluate {shlex.quote(str(run.path))}")
