"""Which direction of a score is better in which block.

Labels, groups and factors named "salient ..." belong in the blocks `salient` and `class`, all other factors in `common` and
`content`. A single block `z` should encode everything. The block `salient_<target>` of one target is a salient block: what is
better in `salient` is better there, but for scores that name a target, which give the direction of each block themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from untwine.registry.blocks import kind

Direction = Literal["higher", "lower", "info"]


@dataclass(frozen=True)
class Directions:
    """Which direction is better in each block.

    Parameters
    ----------
    other
        The direction in every block that is not named in `blocks`.
    blocks
        The direction by the name of the block.
    """

    other: Direction
    blocks: Mapping[str, Direction] = field(default_factory=dict)

    def __getitem__(self, block: str) -> Direction:
        return self.blocks.get(kind(block), self.other)


WITHOUT_LABELS = ("common", "content")  # the blocks that should encode neither labels nor salient factors
WITHOUT_FACTORS = ("salient", "class")  # the blocks that should not encode any other factor

HIGHER, LOWER, INFO = Directions("higher"), Directions("lower"), Directions("info")
# Accuracy or R2 of labels and salient factors, and of all other factors.
LABELS_HIGHER = Directions("higher", dict.fromkeys(WITHOUT_LABELS, "lower"))
FACTORS_HIGHER = Directions("higher", dict.fromkeys(WITHOUT_FACTORS, "lower"))
# Errors of the same.
LABELS_LOWER = Directions("lower", dict.fromkeys(WITHOUT_LABELS, "higher"))
FACTORS_LOWER = Directions("lower", dict.fromkeys(WITHOUT_FACTORS, "higher"))
# Separation of target and background.
GROUPS_HIGHER = Directions("info", {**dict.fromkeys(WITHOUT_LABELS, "lower"), **dict.fromkeys(WITHOUT_FACTORS, "higher")})


def encodes_factors(block: str, salient: bool) -> bool:
    """Return whether a block should encode the factors named "salient ...", or all others."""
    return kind(block) not in (WITHOUT_LABELS if salient else WITHOUT_FACTORS)
