"""`untwine docs`: open the documentation."""

from __future__ import annotations

import sys
from typing import Annotated

from cyclopts import Parameter

ORDER = 155


def command(
    page: str = "index",
    *,
    no_browser: Annotated[bool, Parameter(help="Only print the address, and open no browser.")] = False,
) -> None:
    """Open the documentation in the browser, from this machine; nothing is loaded from the network.

    For example:

    - where to begin: `untwine docs start`
    - a method, a data set, a metric or a command by its name: `untwine docs lord`, `untwine docs probe`, `untwine docs fit`

    Parameters
    ----------
    page
        A page: its path, such as methods/lord, or the end of it, such as lord.
    """
    from untwine.cli.pages import find, is_built, places
    from untwine.registry.checks import suggestion

    known = _known()
    if page not in known:
        raise ValueError(f"PAGE must be a page of the documentation; got {page!r}; {suggestion(page, known)}")
    path = find(known[page])
    if not is_built():
        print(
            f"The pages are not built: run `make docs` in a copy of the repository; their text is in {places().markdown}.",
            file=sys.stderr,
        )
        print(path)
        return
    print(path.as_uri())
    if not no_browser:
        import webbrowser

        webbrowser.open(path.as_uri())


def _known() -> dict[str, str]:
    """Return the pages by their paths, and by their last names where these are different."""
    from untwine.cli.pages import names

    paths = names()
    short: dict[str, str] = {}
    # A command and a method, or a data set, may have one name: the earlier folder counts.
    folders = ("", "methods", "metrics", "data", "commands", "tutorials", "howto")
    for path in sorted(paths, key=lambda path: folders.index(f) if (f := path.rpartition("/")[0]) in folders else len(folders)):
        short.setdefault(path.rpartition("/")[2], path)
    return {**short, **{path: path for path in paths}}
