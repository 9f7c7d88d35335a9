"""A catalogue of named things: ours, those that a script registers, and those of installed packages.

An installed package adds to a catalogue by an entry point of its group, such as `untwine.methods`; nothing that a *file* names
is ever imported.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import entry_points
from threading import RLock
from typing import Generic, TypeVar

from untwine.registry.checks import suggestion

Thing = TypeVar("Thing")


class Catalogue(Mapping[str, Thing], Generic[Thing]):
    """Things of one kind by name.

    Parameters
    ----------
    kind
        What one entry is called in a sentence, such as "method".
    group
        The group of entry points that adds to it, such as "untwine.methods".
    built_in
        Returns our own entries; called at the first look-up, so that importing the catalogue is quick.
    check
        Refuses a thing that is no entry, given its name and the thing.
    """

    def __init__(
        self, kind: str, group: str, built_in: Callable[[], Mapping[str, Thing]], check: Callable[[str, object], None]
    ) -> None:
        self.kind, self.group, self._built_in, self._check = kind, group, built_in, check
        self._entries: dict[str, Thing] | None = None
        self._registered: dict[str, Thing] = {}
        self._lock = RLock()

    def register(self, name: str, thing: Thing) -> None:
        """Add an entry for this process; our own names and those of packages that were loaded cannot be taken."""
        self._check(name, thing)
        # Packages are not loaded for this: one of them may be what registers something while it is imported.
        known = self._built_in() if self._entries is None else self._entries
        if known.get(name, thing) is not thing and name not in self._registered:
            raise ValueError(f"the name of a {self.kind} must be new; {name!r} is taken; choose another.")
        self._registered[name] = thing

    def find(self, name: str) -> Thing:
        """Return the entry of that name, or say which is close."""
        known = self._known()
        if not isinstance(name, str) or name not in known:
            raise ValueError(f"{self.kind} must be a name from the catalogue; got {name!r}; {suggestion(name, known)}")
        return known[name]

    def __getitem__(self, name: str) -> Thing:
        return self._known()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known())

    def __len__(self) -> int:
        return len(self._known())

    def _known(self) -> dict[str, Thing]:
        problems: list[str] = []
        with self._lock:  # other threads wait; a package that looks something up while it is imported finds our own
            if self._entries is None:
                self._entries = {**self._built_in()}
                problems = self._add_installed(self._entries)
            known = {**self._entries, **self._registered}
        for problem in problems:  # once all entries are there, for a warning may be an error
            warnings.warn(problem, UserWarning, stacklevel=3)
        return known

    def _add_installed(self, entries: dict[str, Thing]) -> list[str]:
        """Add the entries of installed packages; return a sentence for each that cannot be used and is left out."""
        problems = []
        for point in sorted(entry_points(group=self.group), key=lambda point: point.name):
            try:
                thing = point.load()
                self._check(point.name, thing)
                if point.name in entries or self._registered.get(point.name, thing) is not thing:
                    raise ValueError("the name is taken")
                entries[point.name] = thing
            except Exception as error:
                package = point.dist.name if point.dist is not None else point.value
                problems.append(f"the {self.kind} {point.name!r} of the installed package {package} is left out: {error}")
        return problems
