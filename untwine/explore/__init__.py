"""A local web app on run folders: maps of the blocks, single samples, recombined ones, and runs side by side.

`untwine.explore(runs)` opens it. The package is callable, so that the call and the modules inside share the name.
"""

from __future__ import annotations

import os
import sys
from types import ModuleType


class _CallablePackage(ModuleType):
    def __call__(self, runs: str | os.PathLike[str], *, port: int = 0, browser: bool = True) -> None:
        """Open a run folder, or all run folders in a folder, in a browser; see `untwine.explore.server.explore`."""
        from untwine.explore.server import explore

        explore(runs, port=port, browser=browser)


sys.modules[__name__].__class__ = _CallablePackage
