"""`untwine sample`: draw latent blocks and decode them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from untwine.cli.flags import (
    Block,
    DataSettings,
    File,
    Json,
    OtherData,
    Out,
    Overwrite,
    Plain,
    Run,
    SampleCount,
    Seed,
)
from untwine.cli.inputs import load_inputs, open_run, target_indices
from untwine.cli.outputs import COLUMNS, as_grid, check_size, count, print_written, write_generated
from untwine.cli.run_data import test_samples

if TYPE_CHECKING:
    from untwine.method.contract import Method

ORDER = 70


def command(
    run: Run,
    x: File = None,
    /,
    *,
    out: Out,
    n: int = 8,
    block: Block = "salient",
    draw: Literal["prior", "data"] = "prior",
    generated: int | None = None,
    samples: SampleCount = None,
    data: OtherData = None,
    data_set: DataSettings = (),
    seed: Seed = 0,
    plain: Plain = False,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Decode each sample of X with newly drawn codes of a block, the same for all: one row per X, one column per draw.

    Without X and without `--samples`, all blocks are drawn from the prior.

    For example:

    - new salient codes for an image: `untwine sample runs/x a.png --n 8 --out new.png`
    - test samples with codes like those of real targets: `untwine sample runs/x --samples 6 --draw data --out new.png`
    - everything from the prior: `untwine sample runs/x --n 16 --out new.png`
    - generated backgrounds, each without and with 5 salient codes:
      `untwine sample runs/x --generated 6 --n 5 --out generated.png`

    Parameters
    ----------
    n
        How many codes to draw.
    draw
        Draw from the method's `prior`, or near the codes of targets in the test split (`data`), for methods whose codes fill
        only a small region of the prior.
    generated
        Generate so many samples from the prior in place of X: one per row, first without the block and then with each draw.
    """
    from untwine import manipulate, plots
    from untwine.registry.checks import check_int

    method = open_run(run, out, overwrite)
    check_int("--n", n, 1)
    if generated is not None:
        given_too = [name for name, value in (("X", x), ("--samples", samples), ("--data", data)) if value is not None]
        if given_too or draw != "prior":
            raise ValueError(f"--generated takes no other samples; got {(given_too or ['--draw data'])[0]} too; leave one out.")
        _sample_generated(method, out, generated, n, block, seed, plain, json)
        return
    test = cache(lambda: test_samples(method, run, data, data_set))
    if x is None and samples is None and data is None and draw == "prior":
        _sample_all(method, out, n, seed, plain, json)
        return
    rest = manipulate.other_block(method, block)
    (given,), notes = load_inputs((x,), method.shape_, test, samples, seed)
    check_size(out, len(given), n)
    like = test().x[target_indices(test())] if draw == "data" else None
    sampled = manipulate.sample(method, given, n, block, seed=seed, from_samples=like)
    titles = "original", f"its {rest} block with new {block} codes", ""
    write_generated(out, {"x": given}, "sampled", sampled, lambda: plots.strips(sampled, given, titles=titles), plain)
    source = "from the prior (--draw data: near those of targets)" if draw == "prior" else "near those of targets"
    summary = f"{count(sampled)}, {rest} block by row, new {block} codes by column {source}"
    print_written(out, "sample", block, sampled, summary, notes, json)


def _sample_generated(
    method: Method, out: Path, generated: int, n: int, block: str, seed: int, plain: bool, json: bool
) -> None:
    """Draw the other blocks, and decode each without the block and with `n` draws of it."""
    from untwine import manipulate, plots
    from untwine.registry.checks import check_int

    rest = manipulate.other_block(method, block)
    check_int("--generated", generated, 1)
    check_int("--seed", seed, 0)
    check_size(out, generated, n + 1)
    sampled = manipulate.sample_grid(method, generated, n, block, seed=seed)
    titles = f"no {block} block", f"generated {rest} block with generated {block} blocks", ""
    write_generated(out, {}, "sampled", sampled, lambda: plots.strips(sampled[:, 1:], sampled[:, 0], titles=titles), plain)
    summary = f"{count(sampled)}, generated {rest} block by row, without a {block} block and with {n} generated ones by column"
    print_written(out, "sample", block, sampled, summary, [], json)


def _sample_all(method: Method, out: Path, n: int, seed: int, plain: bool, json: bool) -> None:
    """Draw all blocks."""
    from untwine import plots
    from untwine.registry.checks import check_int

    check_size(out, -(-n // COLUMNS), COLUMNS)
    check_int("--seed", seed, 0)
    sampled = method.sample(n, seed)
    write_generated(out, {}, "sampled", sampled, lambda: plots.strips(as_grid(sampled)), plain)
    print_written(out, "sample", "all", sampled, f"{count(sampled)} with all blocks from the prior", [], json)
