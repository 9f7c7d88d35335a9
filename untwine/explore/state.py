"""The runs that are explored, those of them that are open, and what was computed of them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock

from untwine.explore.columns import Column, columns_of
from untwine.explore.maps import Maps
from untwine.explore.opened import Opened, SharedData, open_run
from untwine.explore.security import RefusedError
from untwine.explore.workers import Worker
from untwine.runs.names import is_run
from untwine.runs.reading import Run

MAX_OPEN = 6  # runs in memory; the one that was used longest ago goes first


@dataclass(eq=False)
class Ready:
    """An open run with what was computed of it."""

    opened: Opened
    maps: Maps

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """What the points of a map can be coloured by, codes left out."""
        return columns_of(self.opened.samples)


@dataclass(eq=False)
class Opening:
    """A run that is being opened, is open, or could not be: how many samples of how many are encoded, or why not."""

    done: int = 0
    total: int = 0
    ready: Ready | None = None
    error: str = ""


@dataclass(eq=False)
class Explorer:
    """All runs by number, which never changes while the server runs; each is opened when it is first asked for.

    Parameters
    ----------
    runs
        The runs, as they were found when the server started.
    damaged
        Why by name for runs that could not be read, and are left out.
    """

    runs: Sequence[Run]
    damaged: Mapping[str, str] = field(default_factory=dict)
    openings: OrderedDict[int, Opening] = field(default_factory=OrderedDict)
    shared: SharedData = field(default_factory=SharedData)
    lock: Lock = field(default_factory=Lock)
    saving: Lock = field(default_factory=Lock)
    opener: Worker = field(default_factory=lambda: Worker("opening runs"))
    mapper: Worker = field(default_factory=lambda: Worker("t-SNE", yields=True))

    def run(self, number: int) -> Run:
        """Return the run of that number, or refuse a number that there is not and a run that is no longer there."""
        if not 0 <= number < len(self.runs):
            raise RefusedError(404, f"A run must be a number from 0 to {len(self.runs) - 1}; got {number}.")
        if not is_run(self.runs[number].path):
            raise RefusedError(410, f"The run {self.runs[number].name!r} is no longer there; its folder was deleted or moved.")
        return self.runs[number]

    def opening(self, number: int) -> Opening:
        """Return the state of a run, which is opened in the background if it is not yet."""
        run = self.run(number)
        with self.lock:
            opening = self.openings.get(number)
            if opening is None:
                opening = self.openings[number] = Opening()
                self.opener.submit(lambda: self._open(run, opening))
                while len(self.openings) > MAX_OPEN:
                    self.openings.popitem(last=False)
            self.openings.move_to_end(number)
        return opening

    def ready(self, number: int) -> Ready:
        """Return an open run; refuse one that is not open yet, which is then opened, or that cannot be."""
        opening = self.opening(number)
        if opening.error:
            raise RefusedError(422, opening.error)
        if opening.ready is None:
            raise RefusedError(409, f"The run {self.runs[number].name!r} is being opened; ask again in a moment.")
        return opening.ready

    def _open(self, run: Run, opening: Opening) -> None:
        def progress(done: int, total: int) -> None:
            opening.done, opening.total = done, total

        try:
            opened = open_run(run.path, self.shared, progress)
            opening.ready = Ready(opened, Maps(opened.codes, self.mapper))
        except Exception as error:  # whatever is wrong with one run, the others can be explored: the page shows it
            opening.error = f"{error}"[:2_000] or type(error).__name__
