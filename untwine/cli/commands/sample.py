"""`untwine sample`: draw latent blocks and decode them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Literal

from untwine.cli.flags import FROM_SAMPLES, Beside, Block, File, FromSamples, Output, OutputFlags, Run, SampleFlags
from untwine.cli.inputs import load_inputs, open_beside, open_run, target_indices
from untwine.cli.outputs import COLUMNS, as_grid, check_size, count, print_written, write_generated
from untwine.cli.run_data import test_samples

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from matplotlib.figure import Figure

    from untwine._typing import Array
    from untwine.method.contract import Method

ORDER = 70


def command(
    run: Run,
    x: File = None,
    /,
    *,
    output: Output,
    n: int = 8,
    block: Block = None,
    draw: Literal["prior", "data"] = "prior",
    generated: int | None = None,
    reference: bool = False,
    beside: Beside = (),
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
    - two methods on the same samples, with the reference first:
      `untwine sample runs/x --samples 6 --reference --beside runs/y --out synthesis.png`

    Parameters
    ----------
    n
        How many codes to draw.
    draw
        Draw from the method's `prior`, or near the codes of targets in the test split (`data`), for methods whose codes fill
        only a small region of the prior.
    generated
        Generate this number of samples from the prior in place of X: one per row, first without the block, then with each draw.
    reference
        Decode each sample with the block at its neutral value too, 0 or the reference that the method has learned: one column
        before the draws.
    """
    from untwine.manipulate import changed_block
    from untwine.registry.checks import check_int

    method = open_run(run, output)
    check_int("--n", n, 1)
    given = {"X": x, "--samples": source.samples, "--data": source.data, "--reference": reference, "--beside": beside}
    too = [name for name, value in given.items() if value not in (None, False, ())]
    if generated is not None:
        if too or draw != "prior":
            raise ValueError(f"--generated takes no other samples; got {(too or ['--draw data'])[0]} too; leave one out.")
        _sample_generated(method, output, generated, n, changed_block(method, block), source.seed)
    elif too or draw != "prior":
        block = changed_block(method, block)
        methods = open_beside(method, run, beside, block)
        _sample_given(methods, run, x, output, n, block, draw == "data", reference, source)
    else:
        _sample_all(method, output, n, source.seed)


def _sample_given(
    methods: Mapping[str, Method],
    run: Path,
    x: Path | None,
    output: OutputFlags,
    n: int,
    block: str,
    like_targets: bool,
    reference: bool,
    source: SampleFlags,
) -> None:
    """Decode samples with `n` draws of the block, and with the reference if asked for, by each of the methods."""
    from untwine import manipulate

    method = next(iter(methods.values()))
    rest = manipulate.other_block(method, block)
    test = cache(lambda: test_samples(method, run, source))
    (given,), notes = load_inputs((x,), method, test, source)
    check_size(output.out, len(given), len(methods) * (n + reference))
    like = test().x[target_indices(test())] if like_targets else None
    drawn = {
        name: manipulate.sample(one, given, n, block, seed=source.seed, from_samples=like) for name, one in methods.items()
    }
    first = {name: manipulate.remove(one, given, block) for name, one in methods.items()} if reference else None
    sampled = _in_columns(drawn, first)
    write_generated(
        output, {"x": given}, "sampled", sampled, lambda: _draw(given, drawn, first, (rest, block)), method.feature_names
    )
    origin = "near those of targets" if like_targets else "from the prior (--draw data: near those of targets)"
    of = f"{', '.join(methods)} in turn: " * (len(methods) > 1) + "the reference and " * reference
    summary = f"{count(sampled)}, {rest} block by row, {of}new {block} codes by column {origin}"
    print_written(output, "sample", block, sampled, summary, notes)


def _in_columns(drawn: Mapping[str, Array], first: Mapping[str, Array] | None) -> Array:
    """Return the samples of all methods side by side (m, columns, ...), for each the reference, if any, and the draws."""
    import numpy as np

    sides = {name: [] if first is None else [first[name][:, None]] for name in drawn}
    return np.concatenate([cells for name, grid in drawn.items() for cells in (*sides[name], grid)], axis=1)


def _draw(given: Array, drawn: Mapping[str, Array], first: Mapping[str, Array] | None, blocks: tuple[str, str]) -> Figure:
    from untwine import plots

    if len(drawn) > 1 or first is not None:
        return plots.conditional_synthesis(given, drawn, first)
    titles = "original", f"its {blocks[0]} block with new {blocks[1]} codes", ""
    return plots.strips(next(iter(drawn.values())), given, titles=titles)


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
    write_generated(
        output, {}, "sampled", sampled, lambda: plots.strips(sampled[:, 1:], sampled[:, 0], titles=titles), method.feature_names
    )
    summary = f"{count(sampled)}, generated {rest} block by row, without a {block} block and with {n} generated ones by column"
    print_written(output, "sample", block, sampled, summary, [])


def _sample_all(method: Method, output: OutputFlags, n: int, seed: int) -> None:
    """Draw all blocks."""
    from untwine import plots
    from untwine.registry.checks import check_int

    check_size(output.out, -(-n // COLUMNS), COLUMNS)
    check_int("--seed", seed, 0)
    sampled = method.sample(n, seed)
    write_generated(output, {}, "sampled", sampled, lambda: plots.strips(as_grid(sampled)), method.feature_names)
    print_written(output, "sample", "all", sampled, f"{count(sampled)} with all blocks from the prior", [])
