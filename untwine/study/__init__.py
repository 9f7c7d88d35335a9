"""Studies: many runs (data set x method x seed) described by one file, and the long table of their scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from untwine.study.study import RunSummary, Study, Table

__all__ = ["RunSummary", "Study", "Table"]


def __getattr__(name: str) -> Any:
    # Imported when first used: a worker process sets its threads before torch is there.
    if name not in __all__:
        raise AttributeError(f"module 'untwine.study' has no attribute {name!r}")
    import untwine.study.study as module

    return getattr(module, name)
