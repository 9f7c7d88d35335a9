"""`untwine translate`: domain translation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from untwine.cli.flags import FROM_SAMPLES, File, FromSamples, Output, Run
from untwine.cli.inputs import DEFAULT_SAMPLES, load_inputs, open_run
from untwine.cli.outputs import check_size, count, print_written, write_generated
from untwine.cli.run_data import test_samples

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ORDER = 120


def command(
    run: Run,
    a: File = None,
    /,
    *,
    output: Output,
    to: str | None = None,
    style: File = None,
    n: int = DEFAULT_SAMPLES,
    source: FromSamples = FROM_SAMPLES,
) -> None:
    """Decode the content of each sample of A with the class of others: styles of a domain, or images of your own.

    The run is one of a method with the blocks class and content, such as `lord`.

    For example:

    - to several styles of a domain: `untwine translate runs/x edge.png --to shoes --n 6 --out shoes.png`
    - to the style of an image: `untwine translate runs/x edge.png --style red_shoe.png --out red.png`

    Parameters
    ----------
    to
        A domain or a class of the run's data, whose test split gives images of different styles.
    style
        Images that give the class, in place of a domain's.
    n
        How many styles of the domain.
    """
    import numpy as np

    from untwine import manipulate, plots
    from untwine.methods.shared.styles import domain_mask
    from untwine.metrics.scored_samples import class_balanced_order
    from untwine.registry.checks import check_int

    if (to is None) == (style is None):
        raise ValueError(f"translate needs either --to or --style; got {'neither' if to is None else 'both'}; pass one.")
    method = open_run(run, output)
    rest = manipulate.other_block(method, "class")
    check_int("--n", n, 1)
    if to is None:
        (x, y), notes = load_inputs((a, style), method, lambda: test_samples(method, run, source), source)
    else:
        test = test_samples(method, run, source)
        inside = domain_mask(test, to)
        order = class_balanced_order(test.labels, np.flatnonzero(inside), np.random.default_rng(source.seed))
        # Samples to translate come from the other domains, where there are any.
        (x,), notes = load_inputs((a,), method, lambda: test if inside.all() else test[~inside], source)
        y = test.x[order[:n]]
    check_size(output.out, len(x), len(y))
    translated = manipulate.swap_grid(method, x, y, "class")

    def draw() -> Figure:
        return plots.swap_grid(x, y, translated, (rest, "class"))

    write_generated(output, {"a": x, "styles": y}, "translated", translated, draw, method.feature_names)
    summary = f"{count(translated)} translated, {rest} block by row, class block by column"
    print_written(output, "translate", "class", translated, summary, notes)
