"""The commands that use the parts of a run: swap, remove, sample, interpolate."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from untwine._typing import Array
from untwine.cli.arguments import test_samples
from untwine.cli.rows import IN_A_ROW, check_few, in_rows, open_run, rows_from, targets, tell, write_made

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from untwine.method.contract import Method

File = Annotated[Path | None, Parameter(help="An image, a folder of images, or an .npz, .npy or .csv file of rows.")]
Out = Annotated[
    Path,
    Parameter(
        help="The file to write: .png (a labelled image), .npz (arrays by name), .npy (what was made alone), and for runs on "
        "vectors .csv."
    ),
]
Part = Annotated[str, Parameter(help="A block of the run by its name, such as salient, common, class or content.")]
Rows = Annotated[int | None, Parameter(help="How many rows to take: of the data 6, and of a file all, where not given.")]
Data = Annotated[str | None, Parameter(help="Other data than the run's, a name or a path, whose test part gives the rows.")]
Settings = Annotated[
    tuple[str, ...], Parameter(consume_multiple=False, help="An option of that data as name=value; may be repeated.")
]
Plain = Annotated[bool, Parameter(help="In a .png only what was made, in its own pixels, without words and originals.")]
Overwrite = Annotated[bool, Parameter(help="Replace a file that is already there.")]
Json = Annotated[bool, Parameter(help="Print what was written as JSON.")]


def swap(
    run: Path,
    a: File = None,
    b: File = None,
    /,
    *,
    out: Out,
    part: Part = "salient",
    pairs: bool = False,
    rows: Rows = None,
    data: Data = None,
    data_set: Settings = (),
    seed: int = 0,
    plain: Plain = False,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Give each row of A the part of each row of B: one A a row, one B a column.

    Where A or B is not given, targets of different classes are taken from the test part of the run's data.
    Examples: `untwine swap runs/x a.png b.png --out swapped.png`; `untwine swap runs/x --rows 6 --out grid.png`;
    arrays a, b and swapped: `untwine swap runs/x a.npy b.npy --pairs --out swapped.npz`.

    Parameters
    ----------
    run
        A run folder.
    pairs
        Row by row, the first of A with the first of B and so on, in place of every A with every B.
    seed
        Which rows of the data.
    """
    from untwine import manipulate, plots

    method = open_run(run, out, overwrite)
    rest = manipulate.other_block(method, part)
    (x, y), notes = rows_from((a, b), method.shape_, lambda: test_samples(method, run, data, data_set), rows, seed)
    check_few(out, *((1, max(len(x), len(y))) if pairs else (len(x), len(y))))
    made = (manipulate.swap if pairs else manipulate.grid)(method, x, y, part)
    names = f"{rest} part from", f"{part} part from"

    def draw() -> Figure:
        if pairs:
            return plots.image_rows({names[0]: x, names[1]: y, "joined": made})
        return plots.swap_grid(x, y, made, (rest, part))

    write_made(out, {"a": x, "b": y}, "swapped", made, draw, plain)
    words = "pair by pair" if pairs else f"{rest} part by row, {part} part by column"
    tell(out, "swap", part, made, f"{_size(made)} swapped, {words}", notes, json)


def remove(
    run: Path,
    x: File = None,
    /,
    *,
    out: Out,
    part: Part = "salient",
    rows: Rows = None,
    data: Data = None,
    data_set: Settings = (),
    seed: int = 0,
    plain: Plain = False,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Take a part out of rows; without its salient part, a target becomes its background counterpart.

    Where X is not given, targets of different classes are taken from the test part of the run's data.
    Examples: `untwine remove runs/x patient.png --out healthy.png`; the image alone, in its own pixels:
    `untwine remove runs/x patient.png --plain --out healthy.png`; a table: `untwine remove runs/x rows.csv --out healthy.csv`.

    Parameters
    ----------
    run
        A run folder.
    seed
        Which rows of the data.
    """
    from untwine import manipulate, plots

    method = open_run(run, out, overwrite)
    manipulate.other_block(method, part)
    (given,), notes = rows_from((x,), method.shape_, lambda: test_samples(method, run, data, data_set), rows, seed)
    check_few(out, 1, len(given))
    made = manipulate.remove(method, given, part)

    def draw() -> Figure:
        return plots.image_rows({"original": given, "all parts": method.reconstruct(given), f"without {part}": made})

    write_made(out, {"x": given}, "removed", made, draw, plain)
    tell(out, "remove", part, made, f"{_size(made)} without the {part} part", notes, json)


def sample(
    run: Path,
    x: File = None,
    /,
    *,
    out: Out,
    n: int = 8,
    part: Part = "salient",
    draw: Literal["prior", "data"] = "prior",
    drawn: int | None = None,
    rows: Rows = None,
    data: Data = None,
    data_set: Settings = (),
    seed: int = 0,
    plain: Plain = False,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Give each row of X new parts, the same ones for all: one X a row, one new part a column.

    Without X and without `--rows`, all parts are drawn and nothing is given.
    Examples: `untwine sample runs/x a.png --n 8 --out new.png`; rows of the test data, and parts like those of real targets:
    `untwine sample runs/x --rows 6 --draw data --out new.png`; nothing given: `untwine sample runs/x --n 16 --out new.png`;
    drawn common parts, each without a salient part and with 5: `untwine sample runs/x --drawn 6 --n 5 --out made.png`.

    Parameters
    ----------
    run
        A run folder.
    n
        How many new parts.
    draw
        From the method's `prior`; or near the codes of the targets in the test part of the run's `data`, for a method whose
        codes are far from its prior.
    drawn
        So many drawn rows in place of X: one a row of the image, first without the part and then with the new ones.
    seed
        Which parts, and which rows of the data.
    """
    from untwine import manipulate, plots
    from untwine.registry.checks import check_int

    method = open_run(run, out, overwrite)
    check_int("--n", n, 1)
    if drawn is not None:
        given_too = [name for name, there in (("X", x), ("--rows", rows), ("--data", data)) if there is not None]
        if given_too or draw != "prior":
            raise ValueError(f"--drawn expected nothing given; got {(given_too or ['--draw data'])[0]}; leave one out.")
        _sample_drawn(method, out, drawn, n, part, seed, plain, json)
        return
    test = cache(lambda: test_samples(method, run, data, data_set))
    if x is None and rows is None and data is None and draw == "prior":
        _sample_all(method, out, n, seed, plain, json)
        return
    rest = manipulate.other_block(method, part)
    (given,), notes = rows_from((x,), method.shape_, test, rows, seed)
    check_few(out, len(given), n)
    like = test().x[targets(test())] if draw == "data" else None
    made = manipulate.sample(method, given, n, part, seed=seed, from_rows=like)
    titles = "original", f"its {rest} part with new {part} parts", ""
    write_made(out, {"x": given}, "sampled", made, lambda: plots.strips(made, given, titles=titles), plain)
    origin = "from the prior (--draw data: near those of targets)" if draw == "prior" else "near those of targets"
    tell(out, "sample", part, made, f"{_size(made)}, {rest} part by row, new {part} parts by column {origin}", notes, json)


def _sample_drawn(method: Method, out: Path, drawn: int, n: int, part: str, seed: int, plain: bool, json: bool) -> None:
    """Draw the other parts, each without the part and with `n` new ones."""
    from untwine import manipulate, plots
    from untwine.registry.checks import check_int

    rest = manipulate.other_block(method, part)
    check_int("--drawn", drawn, 1)
    check_int("--seed", seed, 0)
    check_few(out, drawn, n + 1)
    made = manipulate.made(method, drawn, n, part, seed=seed)
    titles = f"no {part} part", f"a drawn {rest} part with drawn {part} parts", ""
    write_made(out, {}, "sampled", made, lambda: plots.strips(made[:, 1:], made[:, 0], titles=titles), plain)
    words = f"{_size(made)}, drawn {rest} part by row, without a {part} part and with {n} drawn ones by column"
    tell(out, "sample", part, made, words, [], json)


def _sample_all(method: Method, out: Path, n: int, seed: int, plain: bool, json: bool) -> None:
    """Draw all parts."""
    from untwine import plots
    from untwine.registry.checks import check_int

    check_few(out, -(-n // IN_A_ROW), IN_A_ROW)
    check_int("--seed", seed, 0)
    made = method.sample(n, seed)
    write_made(out, {}, "sampled", made, lambda: plots.strips(in_rows(made)), plain)
    tell(out, "sample", "all", made, f"{_size(made)} with all parts from the prior", [], json)


def interpolate(
    run: Path,
    a: File = None,
    b: File = None,
    /,
    *,
    out: Out,
    part: Part = "salient",
    steps: int = 8,
    rows: Rows = None,
    data: Data = None,
    data_set: Settings = (),
    seed: int = 0,
    plain: Plain = False,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Move a part from A to B in equal steps while all else stays; one pair a row.

    Where A or B is not given, targets of different classes are taken from the test part of the run's data.
    Examples: `untwine interpolate runs/x a.png b.png --steps 8 --out between.png`; every part moves:
    `untwine interpolate runs/x a.png b.png --part all --out between.png`.

    Parameters
    ----------
    run
        A run folder.
    part
        A block of the run by its name; `all` moves all of them.
    steps
        How many, both ends included.
    seed
        Which rows of the data.
    """
    from untwine import manipulate, plots
    from untwine.registry.checks import check_int

    method = open_run(run, out, overwrite)
    moving = None if part == "all" else manipulate.known_block(method, part)
    check_int("--steps", steps, 2)
    (x, y), notes = rows_from((a, b), method.shape_, lambda: test_samples(method, run, data, data_set), rows, seed)
    check_few(out, max(len(x), len(y)), steps)
    made = manipulate.interpolate(method, x, y, moving, steps)
    words = "all parts move" if moving is None else f"the {part} part moves, all else stays"
    ends = [one if len(one) == len(made) else one.repeat(len(made), axis=0) for one in (x, y)]
    write_made(
        out, {"a": x, "b": y}, "interpolated", made, lambda: plots.strips(made, ends[0], ends[1], ("A", words, "B")), plain
    )
    tell(out, "interpolate", part, made, f"{_size(made)} interpolated, {words}", notes, json)


def _size(made: Array) -> str:
    """Count rows: "3", or "3 x 8" in a grid."""
    axes = 3 if made.ndim > 3 else 1
    return " x ".join(map(str, made.shape[: made.ndim - axes]))
