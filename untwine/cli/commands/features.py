"""`untwine features`: the features that a latent block is about."""

from __future__ import annotations

from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from untwine.cli.flags import NO_COLUMNS, Beside, Block, ColumnFlags, Columns, DataSettings, Json, Overwrite, Run, Seed
from untwine.cli.outputs import check_new, print_json, print_table

if TYPE_CHECKING:
    from untwine.method.contract import Method
    from untwine.samples import Samples

ORDER = 65
PRINTED = 10


def command(
    run: Run,
    data: str | None = None,
    *,
    out: Path,
    block: Block = None,
    by: Annotated[str | None, Parameter(help="Also split the samples: label, group, or a categorical covariate.")] = None,
    split: Literal["test", "all"] = "test",
    data_set: DataSettings = (),
    columns: Columns = NO_COLUMNS,
    beside: Beside = (),
    draws: int = 0,
    permutations: int = 200,
    top: int = 20,
    plot: Path | None = None,
    seed: Seed = 0,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Write the features (genes) that removing a block changes most, with intervals and false-discovery rates.

    A row per feature, the largest change first: the mean change over targets in standard deviations of the feature and in the
    units of the data, its 95 % interval, and p and q against random permutations of the groups. Samples must be ones that the
    fit has not seen: by default the test split.

    For example:

    - the genes of a run: `untwine features runs/x --out genes.csv --plot genes.png`
    - another file, by cell type: `untwine features runs/x other.csv --split all --by label --out genes.csv`
    - over three seeds: `untwine features runs/s0 --beside runs/s1 --beside runs/s2 --out genes.csv`

    Parameters
    ----------
    data
        A name that `untwine list data` shows, or a path; by default, the data that the run was fitted on.
    out
        The .csv file to write.
    split
        The test split of the data, or all samples of data that the fit has not seen.
    draws
        Draws from the posterior, so that intervals include its width; 0 for its mean alone.
    permutations
        Permutations of the groups behind the p-values.
    top
        How many features the figure shows.
    plot
        A .png of the features with the largest change.
    """
    from untwine import plots
    from untwine.cli.inputs import open_beside
    from untwine.evaluation.features import salient_features
    from untwine.manipulate import changed_block
    from untwine.methods import load_method
    from untwine.runs import files
    from untwine.runs.features import write_features

    check_new(out, (".csv",), overwrite)
    if plot is not None:
        check_new(plot, (".png",), overwrite)
    method = load_method(run)
    block = changed_block(method, block)
    methods = list(open_beside(method, run, beside, block).values()) if beside else [method]
    samples = _samples(method, run, data, columns, data_set, split)
    features = salient_features(methods, samples, block, by, draws=draws, permutations=permutations, seed=seed)
    write_features(out, features)
    if plot is not None:
        files.write(plot, _png(plots.feature_effects(features, top, block)))
    if json:
        untested = {"p": None, "q": None}
        print_json([one._asdict() | (untested if isnan(one.q) else {}) for one in features])
        return
    rows = [
        (one.name, one.by, f"{one.effect:.3f}", f"{one.low:.3f} .. {one.high:.3f}", f"{one.change:.3f}", f"{one.q:.2g}")
        for one in features[:PRINTED]
    ]
    print_table(("feature", "by", "effect", "95 % interval", "change", "q"), rows)
    print(f"{len(features)} rows, {sum(one.q < 0.05 for one in features)} with q below 0.05: {out}")


def _samples(
    method: Method, run: Path, data: str | None, columns: ColumnFlags, settings: tuple[str, ...], split: str
) -> Samples:
    from untwine.cli.inputs import read_input
    from untwine.cli.own_data import named_data
    from untwine.evaluation.run import checked_run_data

    named, options = named_data(data, columns, settings)
    if split == "test":
        return checked_run_data(method, run, named, options).test
    if named is None or not Path(named).expanduser().exists():
        raise ValueError(f"--split all needs a file of samples that the fit has not seen; got {named!r}; name one.")
    return read_input(Path(named), method, **options)[0]


def _png(figure: object) -> bytes:
    import io

    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=150, facecolor="white")  # type: ignore[attr-defined]
    return content.getvalue()
