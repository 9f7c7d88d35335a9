"""The names of latent blocks, and what the name `salient` stands for where every target has a block of its own.

One rule, here alone: where a method has the blocks `salient_<target>` and no block `salient`, the name `salient` stands for all
of them side by side, in their order. So `remove("salient")` removes every one of them, `swap` exchanges all of them, and the
default block of commands and functions is all of them; a name such as `salient_drug_a` stands for that block alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

SALIENT = "salient"
OF_TARGET = f"{SALIENT}_"


def salient_blocks(group_names: Sequence[str]) -> tuple[str, ...]:
    """Return the name of each target's block, from the names of all groups, the background's first: `salient_<name>`.

    What is no letter, digit or underscore becomes an underscore, so that a name is an attribute, a part of a score's name and
    of a file's; names that this makes equal get the number of their group.
    """
    words = [re.sub(r"\W+", "_", str(name)).strip("_") or "target" for name in group_names[1:]]
    taken = {word for word in words if words.count(word) == 1}
    names = []
    for number, word in enumerate(words, 1):
        name = word
        while words.count(word) > 1 and (name == word or name in taken):
            name = f"{name}_{number}"
        taken.add(name)
        names.append(OF_TARGET + name)
    return tuple(names)


def members(block: str, blocks: Iterable[str]) -> tuple[str, ...]:
    """Return the blocks that a name stands for: itself or, for `salient`, those of all targets; none where there are none."""
    known = tuple(blocks)
    if block in known:
        return (block,)
    return tuple(name for name in known if name.startswith(OF_TARGET)) if block == SALIENT else ()


def kind(block: str) -> str:
    """Return `salient` for the block of a target, and the name itself for every other block."""
    return SALIENT if block.startswith(OF_TARGET) else block


def width(block: str, blocks: Mapping[str, int]) -> int:
    """Return the number of dimensions of all blocks that a name stands for."""
    return sum(blocks[name] for name in members(block, blocks))


def names_of(blocks: Iterable[str]) -> tuple[str, ...]:
    """Return the names that can be asked for: those of the blocks and, where it stands for several of them, `salient`."""
    known = tuple(blocks)
    return (*known, SALIENT) if SALIENT not in known and members(SALIENT, known) else known
