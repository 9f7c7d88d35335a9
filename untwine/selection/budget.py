"""A budget of time: how it is shared, and how long a method may be trained in its share."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from untwine.method.contract import Method
from untwine.method.kinds import Trained
from untwine.registry.checks import check_float
from untwine.samples import Samples

STEPS = 16  # that are timed
USUAL_BATCH = 64
LEAST_STEPS = 4_000  # that every method may take where there is time: defaults in epochs are few steps on small data
MARGIN = 0.85  # of the time is planned, as timings of a few steps are rough


class Clock:
    """A budget in minutes, from the moment that it is made."""

    def __init__(self, minutes: float) -> None:
        self.seconds = 60 * check_float("minutes", minutes, 0.001, 100_000)
        self.began = time.monotonic()

    @property
    def spent(self) -> float:
        """Return the seconds since the beginning."""
        return time.monotonic() - self.began

    @property
    def left(self) -> float:
        """Return the seconds that are left, at least 0."""
        return max(0.0, self.seconds - self.spent)


@dataclass(frozen=True)
class Speed:
    """How long a method takes: seconds of an epoch of each of its stages' fields together, and the steps in an epoch."""

    epoch: float
    steps: int


def shares(needs: Sequence[float], total: float) -> list[float]:
    """Return how much of a total each gets: what it needs, or an even share of what the others leave.

    Examples
    --------
    >>> shares([1.0, 10.0, 20.0], 13.0)
    [1.0, 6.0, 6.0]
    """
    given, rest = [0.0] * len(needs), total
    order = sorted(range(len(needs)), key=lambda i: needs[i])
    for done, i in enumerate(order):
        given[i] = min(needs[i], rest / (len(needs) - done))
        rest -= given[i]
    return given


def speed(method: Method, samples: Samples) -> Speed:
    """Time a few steps of a method on the first samples of each group; a closed form has no epochs, and takes 0 s."""
    if not isinstance(method, Trained):
        return Speed(0.0, 0)
    fewest, few = (few_samples(samples, steps * batch_of(method)) for steps in (1, STEPS))
    trial = type(method)(**{**method.get_params(), **dict.fromkeys(lengths(method), 1)})
    seconds = []
    for some in (fewest, fewest, few):  # the first fit of a process also sets up what later ones find
        began = time.monotonic()
        trial.fit(some)
        seconds.append(time.monotonic() - began)
    more = (epoch_size(few) - epoch_size(fewest)) / epoch_size(samples)
    # Where all samples are few, what a fit takes besides its steps is counted in: there is no telling them apart.
    epoch = max(0.0, seconds[2] - seconds[1]) / more if more > 0 else seconds[2]
    return Speed(epoch, -(-epoch_size(samples) // batch_of(method)))


def batch_of(method: Method) -> int:
    """Return the batch of a method, as far as it is known before a fit; where a fit chooses it, a usual one."""
    batch = getattr(method, "batch", USUAL_BATCH)
    return batch if isinstance(batch, int) else USUAL_BATCH


def few_samples(samples: Samples, n: int) -> Samples:
    """Return the first n samples of every group, or every sample of the first classes, in order."""
    if samples.groups is not None:
        chosen = [np.flatnonzero(samples.groups == group)[:n] for group in np.unique(samples.groups)]
        return samples[np.sort(np.concatenate(chosen))]
    if samples.labels is None:
        return samples[: min(n, len(samples))]
    order = np.argsort(samples.labels, kind="stable")  # whole classes: pairs are drawn within one
    return samples[np.sort(order[: min(n, len(order))])]


def epoch_size(samples: Samples) -> int:
    """Return how many samples an epoch has: those of the larger of target and background, where there are groups."""
    if samples.groups is None:
        return len(samples)
    targets = int((samples.groups != 0).sum())
    return max(targets, len(samples) - targets)


def lengths(method: Method) -> dict[str, int]:
    """Return the fields that say how long a method is trained, with their values; 1 for what is chosen by the fit."""
    fields = {name: value for name, value in method.get_params().items() if name.split("_")[0] == "epochs"}
    return {name: value if isinstance(value, int) else 1 for name, value in fields.items() if value != 0}


def wanted_epochs(method: Method, at: Speed) -> dict[str, int]:
    """Return the epochs that a method would have without a budget: its own, or more where these are few steps."""
    own = lengths(method)
    least = max(1.0, LEAST_STEPS / max(1, at.steps * max(1, sum(own.values())))) if own else 1.0
    return {name: max(1, round(value * least)) for name, value in own.items()}


def within(wanted: Mapping[str, int], at: Speed, seconds: float) -> dict[str, int]:
    """Return the epochs, all stages shortened alike, that fit into some seconds; at least one each."""
    whole = at.epoch * sum(wanted.values()) / max(1, len(wanted))
    share = min(1.0, seconds / whole) if whole > 0 else 1.0
    return {name: max(1, int(value * share)) for name, value in wanted.items()}


def needed(wanted: Mapping[str, int], at: Speed) -> float:
    """Return the seconds that these epochs take."""
    return at.epoch * sum(wanted.values()) / max(1, len(wanted))
