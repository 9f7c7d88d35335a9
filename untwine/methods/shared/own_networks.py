"""Methods that take no modules of the user's own."""

from __future__ import annotations

from collections.abc import Mapping

from torch import nn

from untwine.method.contract import Method


def refuse_own_networks(method: Method, own: Mapping[str, nn.Module], hint: str) -> None:
    """Refuse modules of the user's own; the hint says what to do instead."""
    if own:
        raise ValueError(f"{type(method).__name__} takes no networks of your own; got {', '.join(sorted(own))}; {hint}.")
