"""One self-contained page about run folders; it reads files only, never a live method.

`untwine.report(runs, out)` writes the page. The package is callable, so that the call and the modules inside share the name.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import ModuleType


class _CallablePackage(ModuleType):
    def __call__(self, runs: str | os.PathLike[str], out: str | os.PathLike[str]) -> Path:
        """Write one page about a run folder, or about all run folders in a folder; see `untwine.report.page.report`."""
        from untwine.report.page import report

        return report(runs, out)


sys.modules[__name__].__class__ = _CallablePackage
