"""Which block of a method changes, and what stays."""

from __future__ import annotations

from untwine.method.contract import Method
from untwine.registry.blocks import members, names_of
from untwine.registry.checks import check_choice


def block_or_default(method: Method, block: str | None) -> str:
    """Return the block or, for None, the one that the method's kind changes: salient, class, or the only one."""
    default = next((name for name in ("salient", "class") if members(name, method.blocks)), next(iter(method.blocks)))
    return check_choice("block", default if block is None else block, names_of(method.blocks))


def changed_block(method: Method, block: str | None) -> str:
    """Return the block that changes while others stay, or refuse it as `other_block` does."""
    other_block(method, block)
    return block_or_default(method, block)


def other_block(method: Method, block: str | None) -> str:
    """Name what stays when the block changes; refuse a block that the method lacks, or that is its only one."""
    if len(method.blocks) < 2:
        raise ValueError(
            f"the method must have several blocks, so that one can change; {method.name} has only "
            f"{next(iter(method.blocks))}; fit a contrastive or class-supervised method."
        )
    changed = members(block_or_default(method, block), method.blocks)
    rest = [name for name in method.blocks if name not in changed]
    return rest[0] if len(rest) == 1 else "other"
