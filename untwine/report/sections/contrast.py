"""The first question about a run, whether there is anything salient in its data at all."""

from __future__ import annotations

from untwine import plots
from untwine.report.markup import Markup, image, join, tag
from untwine.runs.measured import Contrast
from untwine.runs.reading import Run

LEVEL = 0.05


def contrast(run: Run) -> Markup:
    """Return the outcome of the contrast test in words and as an image; nothing for methods without a salient part."""
    if not run.is_contrastive:
        return Markup("")
    if run.contrast is None:
        command = tag("code", f"untwine evaluate {run.path}")
        return tag(
            "p", "It was not tested yet whether the target varies where the background does not. Test it with ", command, "."
        )
    said = sentences(run.contrast, run.width("salient"), run.has_images)
    words = tag("div", *(tag("p", sentence) for sentence in said), tag("p", _how(run.contrast), class_="note"))
    return tag("div", words, _spectrum(run.contrast), class_="pair")


def is_salient(found: Contrast) -> bool:
    """Say whether the target varies where the background does not, more than chance allows."""
    return found.p_value <= LEVEL


def sentences(found: Contrast, width: int | None, images: bool) -> list[Markup]:
    """Say what the test found, and what it means for a salient part of that width."""
    p = f"permutation test, p\u00a0=\u00a0{found.p_value:.3f}"
    first = join(
        tag("b", "Yes."),
        f" Targets vary in ways in which the background does not, by more than chance allows ({p}: significant at 5 %).",
    )
    if not is_salient(found):
        first = join(
            tag("b", "No sign of it."),
            f" Targets vary in no way that chance does not explain ({p}: not significant at 5 %). "
            "What a salient part shows here may be chance.",
        )
    count = f"Estimated number of salient dimensions: {found.n_salient}."
    return [first, join(count, f" This run has {width}{_meaning(found.n_salient, width, images)}" if width else "")]


def _meaning(estimate: int, width: int, images: bool) -> str:
    """Return what follows from both numbers."""
    if estimate in (0, width):
        return "."
    if width > estimate:
        return ", more than that: the others should stay unused."
    if images:
        return ". That may do: what is one curved factor, such as a shape, takes several straight directions of pixels."
    return ', fewer than that: something may be left out. n_salient="auto" takes as many as were found.'


def _spectrum(found: Contrast) -> Markup:
    if not found.contrasts:
        return tag("p", "There is no direction to show: the data does not vary.")
    figure = plots.contrast_spectrum(found.contrasts, found.chance, found.n_salient)
    alt = (
        f"The contrast of {len(found.contrasts)} directions, from {found.contrasts[0]:.2f} to {found.contrasts[-1]:.2f}; "
        f"{found.n_salient} are beyond chance."
    )
    return image(figure, alt)


def _how(found: Contrast) -> str:
    return (
        "Each point is a direction in the data: the higher, the more the target varies there than the background does. Shaded "
        f"is what chance reaches when the labels target and background are shuffled, {found.permutations} times. Tested on the "
        f"training part, {found.target} rows of target and {found.background} of background. A difference of means alone does "
        "not count."
    )
