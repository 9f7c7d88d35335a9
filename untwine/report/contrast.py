"""The first question about a run: whether targets vary in ways in which the background does not."""

from __future__ import annotations

from untwine import plots
from untwine.report.figures import evaluate_command
from untwine.report.markup import Markup, image, join, tag
from untwine.runs.diagnostics import Contrast, TargetContrast
from untwine.runs.reading import Run

LEVEL = 0.05


def contrast(run: Run) -> Markup:
    """Return the result of the contrast test in words and as an image; nothing for methods without a salient block."""
    if not run.is_contrastive:
        return Markup("")
    if run.contrast is None:
        text = "It has not been tested yet whether the target varies in ways in which the background does not. Test it with "
        return tag("p", text, evaluate_command(run), ".")
    paragraphs = sentences(run.contrast, run.width("salient"), run.has_images)
    paragraphs += [tag("ul", *map(_target, run.contrast.targets))] if run.contrast.targets else []
    words = tag("div", *(tag("p", sentence) for sentence in paragraphs), tag("p", _explanation(run.contrast), class_="note"))
    return tag("div", words, _spectrum(run.contrast), class_="pair")


def _target(one: TargetContrast) -> Markup:
    """Return what the test of one of several targets against the background found."""
    text = (
        f"{one.n_salient} salient dimension{'s' * (one.n_salient != 1)}"
        if one.p_value <= LEVEL
        else "no evidence of salient variation"
    )
    return tag("li", tag("b", one.name), f": {text} (p\u00a0=\u00a0{one.p_value:.3f}, {one.samples} samples).")


def is_salient(result: Contrast) -> bool:
    """Whether the target varies in ways in which the background does not, significantly."""
    return result.p_value <= LEVEL


def sentences(result: Contrast, width: int | None, images: bool) -> list[Markup]:
    """Return what the test found, and what it means for a salient block of that width."""
    p = f"permutation test, p\u00a0=\u00a0{result.p_value:.3f}"
    first = join(
        tag("b", "Yes."),
        f" Targets vary in directions in which the background does not, more than by chance ({p}: significant at 5 %).",
    )
    if not is_salient(result):
        first = join(
            tag("b", "No evidence of it."),
            f" There is no direction in which targets vary more than expected by chance ({p}: not significant at 5 %). "
            "What the salient block shows here may be noise.",
        )
    count = f"Estimated number of salient dimensions: {result.n_salient}."
    return [first, join(count, f" This run has {width}{_meaning(result.n_salient, width, images)}" if width else "")]


def _meaning(estimate: int, width: int, images: bool) -> str:
    """Return what follows from both numbers."""
    if estimate in (0, width):
        return "."
    if width > estimate:
        return ", more than estimated: the rest should stay unused."
    if images:
        return (
            ". For images that can suffice: one nonlinear factor, such as a shape, spans several linear directions of pixels."
        )
    return ', fewer than estimated: some salient variation may be missed. n_salient="auto" uses the estimate.'


def _spectrum(result: Contrast) -> Markup:
    if not result.contrasts:
        return tag("p", "There is no direction to show: the data does not vary.")
    figure = plots.contrast_spectrum(result.contrasts, result.chance, result.n_salient)
    alt = (
        f"The contrast of {len(result.contrasts)} directions, from {result.contrasts[0]:.2f} to {result.contrasts[-1]:.2f}; "
        f"{result.n_salient} are beyond chance."
    )
    return image(figure, alt)


def _explanation(result: Contrast) -> str:
    return (
        "Each point is a direction of the data: the higher, the more the target varies along it relative to the background. "
        f"The shaded range is reached by chance: target and background were permuted {result.permutations} times. "
        f"Tested on the training split, {result.target} samples of target and {result.background} of background. A difference "
        "of means alone does not count."
    )
