"""The command that moves one latent at a time: traverse."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from untwine.cli.arguments import test_samples
from untwine.cli.rows import check_few, open_run, rows_from, targets, tell, write_made
from untwine.cli.tasks import Data, File, Json, Out, Overwrite, Plain, Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROWS = 10_000  # of the data, behind the range of each latent
SHOWN = 20  # latents in an image, where nobody says how many


def traverse(
    run: Path,
    x: File = None,
    /,
    *,
    out: Out,
    part: Annotated[str | None, Parameter(help="A block by its name; the only one, or salient, where not given.")] = None,
    steps: int = 8,
    latents: int | None = None,
    ends: tuple[float, float] | None = None,
    data: Data = None,
    data_set: Settings = (),
    seed: int = 0,
    plain: Plain = False,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Move each latent of a part through its range while all else stays: one latent a row, the one that changes most first.

    The range is the middle 98 % of the latent's codes in the test part of the run's data, or what `--ends` says. Where X is not
    given, one target is taken from there to start from.
    Examples: `untwine traverse runs/x --out latents.png`; from your own image, the five latents that change it most:
    `untwine traverse runs/x a.png --latents 5 --out latents.png`; every latent from -1.5 to 1.5:
    `untwine traverse runs/x --ends -1.5 1.5 --out latents.png`; arrays: `untwine traverse runs/x --out latents.npz`.

    Parameters
    ----------
    run
        A run folder.
    steps
        How many, both ends included.
    latents
        How many latents to show, those that change most; where not given all, and in a .png 20 at most.
    ends
        The first and the last value of every latent, in place of its range in the data.
    seed
        Which row of the data.
    """
    from untwine import manipulate, plots
    from untwine.registry.checks import check_int

    method = open_run(run, out, overwrite)
    part = manipulate.traversed_block(method, part)
    check_int("--steps", steps, 2)
    if latents is not None:
        check_int("--latents", latents, 1)
    test = cache(lambda: test_samples(method, run, data, data_set))
    (start,), notes = rows_from((x,), method.shape_, test, 1, seed)
    width = method.blocks[part]
    if latents is None and out.suffix == ".png" and width > SHOWN:
        latents, said = SHOWN, f"the {SHOWN} of {width} latents of {part} that change most are shown; --latents takes more."
        notes = [*notes, said]
    check_few(out, width if latents is None else min(latents, width), steps)
    like = test().x[targets(test())[:ROWS]] if ends is None else None
    found = manipulate.traverse(method, start, like, part, steps, latents, ends=ends)
    names = [f"{part} {i}" for i in found.latents]

    def draw() -> Figure:
        return plots.traversal_grid(found.rows, found.values, names, found.change)

    sources = {"x": start, "values": found.values, "latents": found.latents, "change": found.change}
    write_made(out, sources, "traversed", found.rows, draw, plain)
    words = f"{len(names)} latents of {part} x {steps} steps, the one that changes most first"
    tell(out, "traverse", part, found.rows, words, notes, json)
