"""`untwine sample`: draw latent blocks and decode them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Literal

from untwine.cli.flags import FROM_SAMPLES, Block, File, FromSamples, Output, OutputFlags, Run
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
    output: Output,
    n: int = 8,
    block: Block = "salient",
    draw: Literal["prior", "data"] = "prior",
    generated: int | None = None,
    source: FromSamples = FROM_SAMPLES,
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
        Generate this number of samples from the prior in place of X: one per row, first without the block, then with each draw.
    """
    from untwine import manipulate, plots
    from untwine.registry.checks import check_int

    method = open_run(run, output)
    check_int("--n", n, 1)
    if generated is not None:
        given_too = [
            name for name, value in (("X", x), ("--samples", source.samples), ("--data", source.data)) if value is not None
        ]
        if given_too or draw != "prior":
            raise ValueError(f"--generated takes no other samples; got {(given_too or ['--draw data'])[0]} too; leave one out.")
        _sample_generated(method, output, generated, n, block, source.seed)
        return
    test = cache(lambda: test_samples(method, run, source))
    if x is None and source.samples is None and source.data is None and draw == "prior":
        _sample_all(method, output, n, source.seed)
        return
    rest = manipulate.other_block(method, block)
    (given,), notes = load_inputs((x,), method.shape_, test, source)
    check_size(output.out, len(given), n)
    like = test().x[target_indices(test())] if draw == "data" else None
    sampled = manipulate.sample(method, given, n, block, seed=source.seed, from_samples=like)
    titles = "original", f"its {rest} block with new {block} codes", ""
    write_generated(output, {"x": given}, "sampled", sampled, lambda: plots.strips(sampled, given, titles=titles))
    origin = "from the prior (--draw data: near those of targets)" if draw == "prior" else "near those of targets"
    summary = f"{count(sampled)}, {rest} block by row, new {block} codes by column {origin}"
    print_written(output, "sample", block, sampled, summary, notes)


def _sample_generated(method: Method, output: OutputFlags, generated: int, n: int, block: str, seed: int) -> None:
    """Draw the other blocks, and decode each without the block and with `n` draws of it."""
    from untwine import manipulate, plots
    from untwine.registry.checks import check_int

    rest = manipulate.other_block(method, block)
    check_int("--generated", generated, 1)
    check_int("--seed", seed, 0)
    check_size(output.out, generated, n + 1)
    sampled = manipulate.sample_grid(method, generated, n, block, seed=seed)
    titles = f"no {block} block", f"generated {rest} block with generated {block} blocks", ""
    write_generated(output, {}, "sampled", sampled, lambda: plots.strips(sampled[:, 1:], sampled[:, 0], titles=titles))
    summary = f"{count(sampled)}, generated {rest} block by row, without a {block} block and with {n} generated ones by column"
    print_written(output, "sample", block, sampled, summary, [])


def _sample_all(method: Method, output: OutputFlags, n: int, seed: int) -> None:
    """Draw all blocks."""
    from untwine import plots
    from untwine.registry.checks import check_int

    check_size(output.out, -(-n // COLUMNS), COLUMNS)
    check_int("--seed", seed, 0)
    sampled = method.sample(n, seed)
    write_generated(output, {}, "sampled", sampled, lambda: plots.strips(as_grid(sampled)))
    print_written(output, "sample", "all", sampled, f"{count(sampled)} with all blocks from the prior", [])
