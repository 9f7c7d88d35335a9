"""What a metric is: how it scores, what it requires, what its scores mean and in which direction they are good."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple, get_args

from untwine.metrics.directions import Direction, Directions
from untwine.metrics.encoded import Encoded
from untwine.metrics.options import Options, set_options, spell


class Measurement(NamedTuple):
    """One measured score.

    Attributes
    ----------
    name
        "<score>.<block>", such as "probe.salient"; the block is "x" for a score of decoded samples.
    value, interval
        The score and its 95 % interval.
    n
        How many samples it is about.
    direction
        "higher" or "lower", whichever is better, or "info"; the metric's own where not given.
    """

    name: str
    value: float
    interval: tuple[float, float]
    n: int
    direction: Direction | None = None


@dataclass(frozen=True)
class ScoreInfo:
    """What one score means.

    Parameters
    ----------
    explanation
        A sentence for someone who does not know the score.
    directions
        Which direction is better in each block.
    reader
        What predicts from the codes, and how they are scaled for it, where the score is that of a predictor: codes encode
        more for a strong one than for a linear one, so tables name it.
    """

    explanation: str
    directions: Directions
    reader: str = ""


LOGISTIC = "logistic regression, each block scaled by one number"
LINEAR = "linear regression"
MLP = "a small MLP on standardised columns"


@dataclass(frozen=True)
class Requirement:
    """Something that a metric needs of the method or the samples.

    Parameters
    ----------
    name
        A short name.
    check
        Whether the encoded samples have it.
    needs, got, advice
        The parts of the sentence where they do not: "the metric 'w2' needs <needs>; got <got>; <advice>, or leave it out.". In
        `got`, "{blocks}" stands for the method's blocks; it may be a function of the encoded samples.
    """

    name: str
    check: Callable[[Encoded], bool]
    needs: str
    got: str | Callable[[Encoded], str]
    advice: str


@dataclass(frozen=True)
class Metric:
    """A metric that `evaluate` can score a fitted method with.

    Parameters
    ----------
    name
        Its name in the catalogue.
    function
        From encoded samples, and the options where the metric has some, to measurements, one for each score and block.
    description
        One line for `untwine list metrics`.
    scores
        What it measures: the name of each score without its block, and what it means. A "*" in a name stands for the name of a
        class, factor or network; of several that fit the first counts, and names without "*" come before all others.
    requires
        What the method and the samples must have; checked in this order.
    version
        Raised by one whenever the same codes would get another value.
    default
        Whether `evaluate` scores it by default.
    options
        Its options, an instance of a frozen dataclass that extends `Options`. Scores with other values than the default ones
        have them in their names, as in "z_diff(pairs=256).z".
    """

    name: str
    function: Callable[..., Iterable[Measurement]]
    description: str
    scores: Mapping[str, ScoreInfo] = field(default_factory=dict)
    requires: Sequence[Requirement] = ()
    version: int = 1
    default: bool = False
    options: Options = Options()  # noqa: RUF009 (frozen)

    @property
    def spelling(self) -> str:
        """The name, with the options that do not have their default value: "z_diff(pairs=256)"."""
        return self.name + spell(self.options)

    def with_options(self, **values: Any) -> Metric:
        """Return the metric with other options, or refuse those that it does not have or that have a wrong value."""
        return replace(self, options=set_options(self.name, self.options, values))

    def missing(self, data: Encoded) -> str:
        """Return the sentence of the first requirement that is not met; empty if all are."""
        for requirement in (*self.requires, *self.options.requires()):
            if not requirement.check(data):
                got = requirement.got if isinstance(requirement.got, str) else requirement.got(data)
                got = got.replace("{blocks}", ", ".join(data.latents))
                needs, advice = requirement.needs, requirement.advice
                return f"the metric {self.spelling!r} needs {needs}; got {got}; {advice}, or leave it out."
        return ""

    def measure(self, data: Encoded) -> Iterator[Measurement]:
        """Yield the measurements, each with its direction."""
        measured = self.function(data, self.options) if fields(self.options) else self.function(data)
        several = isinstance(measured, Iterable) and not isinstance(measured, Measurement)
        for one in measured if several else (measured,):
            if not isinstance(one, Measurement):
                raise TypeError(
                    f"the metric {self.name!r} must yield untwine.metrics.Measurement; got {type(one).__name__}; "
                    "yield Measurement('<score>.<block>', value, (low, high), n)."
                )
            score, _, block = one.name.rpartition(".")
            if not (score and block) or one.direction not in (None, *get_args(Direction)):
                raise ValueError(
                    f"the metric {self.name!r} must name its scores '<score>.<block>', and a direction 'higher', 'lower' or "
                    f"'info' if any; got {one.name!r} and {one.direction!r}."
                )
            info, direction = self.info(score), one.direction
            if direction is None:
                direction = "info" if info is None else info.directions[block]
            yield one._replace(name=f"{score}{spell(self.options)}.{block}", direction=direction)

    def info(self, score: str) -> ScoreInfo | None:
        """Return what is known of a score by its name without the block; None for a score of another metric."""
        if score in self.scores:
            return self.scores[score]
        return next((info for pattern, info in self.scores.items() if "*" in pattern and fits(pattern, score)), None)


def fits(pattern: str, score: str) -> bool:
    """Return whether the name of a score fits a pattern with one "*"."""
    start, _, end = pattern.partition("*")
    return score.startswith(start) and score.endswith(end)


def score_names(names: Sequence[str]) -> list[str]:
    """Return names as they may appear in a score's name: without dots and blanks, and all different."""
    words = [re.sub(r"[.\s]+", "_", name) for name in names]
    return [f"{word}_{i}" if words.count(word) > 1 else word for i, word in enumerate(words)]
