"""The known causes of blocks that did not come apart, as far as scores without labels show them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from untwine.report.rules import COMMON_LEAKS, EPOCHS, PRESENT_IN_BACKGROUND, Rule
from untwine.runs.scores import Score

READABLE = 0.6  # of how well the salient block predicts the group: from here on the common block predicts it too well
LOUD = 0.25  # of what the salient block changes in targets: from here on that of backgrounds is not empty
INVALID = 0.5  # of the step between the groups: counterparts that take less do not pass for background
SEPARABLE = 0.3  # of mean probabilities: from here on real groups can be told apart, so that counterparts should be
POOR = 0.5  # of the variance: with less decoded, what is salient may be among what is lost
ALIKE = 0.2  # of the targets: from here on those that look like background are many; three in ten are seen as 0.24 to 0.31
MIXED = 0.15  # as SEPARABLE, where mislabelled targets keep the probabilities together

POOR_RULES: tuple[Rule, ...] = (("lower", "scale"), ("raise", "n_common"), EPOCHS)


@dataclass(frozen=True)
class Cause:
    """A known cause: its name, what failed in a sentence, the numbers that show it, and what to try.

    `rules` are the options to change; where none applies, `command` is the command to try, with {run} for the run folder.
    """

    name: str
    failure: str
    evidence: str
    rules: tuple[Rule, ...] = ()
    command: str = ""


def find_causes(scores: Mapping[str, Score], improving: bool) -> Iterator[Cause]:
    """Yield the causes that the scores of a run show; `improving` is whether its reconstruction error was still falling.

    Where counterparts pass for background, the common block does not predict the group and the background is quiet, nothing
    failed, and neither a short training nor a poor reconstruction is a cause of anything.
    """

    def score(name: str) -> float:
        return scores[name].value if name in scores else math.nan

    gap, valid = score("counterfactual_gap.x"), score("counterfactual_removed.x")
    leak, loud = score("leakage_group.common"), score("background_change.x")
    invalid = gap >= SEPARABLE and valid < INVALID
    failed = invalid or leak > READABLE or loud > LOUD
    if failed and improving:
        evidence = "The reconstruction error was still falling when the training ended."
        yield Cause("under-trained", "It is trained too little.", evidence, (EPOCHS,))
    if invalid and score("explained.x") < POOR:
        yield Cause(
            "poor reconstruction",
            "The reconstruction is too poor to hold what is salient.",
            f"Decoded samples have {100 * score('explained.x'):.0f} % of the variance, and counterparts without the "
            f"salient block "
            f"take {100 * valid:.0f} % of the step to the background.",
            POOR_RULES,
        )
    if leak > READABLE:
        yield Cause(
            "group readable",
            "The common block says which group a sample is of.",
            f"A small network predicts target or background from it {100 * leak:.0f} % as well as from the salient "
            f"block; a linear "
            "reader may see nothing of it. Where groups differ in more than what is salient, this is right.",
            COMMON_LEAKS,
        )
    if loud > LOUD:
        yield Cause(
            "background not quiet",
            "The salient block changes backgrounds.",
            f"Removing it changes a background by {100 * loud:.0f} % of what it changes a target by; it should be near 0 %.",
            PRESENT_IN_BACKGROUND,
        )
    alike = score("targets_like_background.x")
    if gap >= MIXED and alike > ALIKE:
        yield Cause(
            "mislabelled",
            "Some targets look like background.",
            f"Up to {100 * alike:.0f} % of the targets look like background to a network that sees the samples "
            f"themselves: they may be "
            "mislabelled, or what is salient may be weak in them. Look at the targets with the smallest salient codes.",
            (),
            "untwine encode {run} --out codes.csv",
        )
