"""One self-contained page about run folders; it reads files only, never a live method."""

from __future__ import annotations

from untwine.report.page import report

__all__ = ["report"]
