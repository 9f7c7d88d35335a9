"""`untwine data show` and `get`: what is read from your own data, and what a data set of the catalogue needs."""

from __future__ import annotations

import sys
import textwrap
import warnings
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter

from untwine.cli.flags import EVERY, NO_COLUMNS, Columns, DataSettings, Json, Overwrite, Quiet
from untwine.cli.outputs import check_new, print_json, write_figure
from untwine.cli.own_data import named_data

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from untwine.data.placement import Obtained
    from untwine.samples import Samples
    from untwine.training.progress import Advance

ORDER = 25
MOST_ROWS, PER_ROW = 8, 8  # of images
WIDTH = 80  # of text in paragraphs
command = App(
    name="data",
    help="Look at your own data before a method is fitted to them; get a data set of the catalogue.",
    help_format="markdown",
    default_parameter=EVERY,
)


@command.command
def show(
    path: str | None = None,
    /,
    *,
    data_set: DataSettings = (),
    columns: Columns = NO_COLUMNS,
    out: Annotated[Path | None, Parameter(help="A .png to draw: some images, or histograms of features.")] = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Sum up what is read from your own data: samples, groups, columns and their roles, ranges, and what was left out.

    The flags are those of `untwine fit`, which reads the same.

    For example:

    - a folder of images: `untwine data show people/ --data-set size=64 --out people.png`
    - two sets: `untwine data show --target patients/ --background controls/ --data-set size=64`
    - a table: `untwine data show cells.csv --group-column condition --background control --label-column cluster`

    Parameters
    ----------
    path
        A file or a folder of your own; left out with --target and --background.
    """
    from untwine.data import data_sets, read
    from untwine.data.readers import notes
    from untwine.data.summary import summarise

    if out is not None:
        check_new(out, (".png",), overwrite)
    if path in data_sets() and not Path(str(path)).exists():
        raise ValueError(f"path must be a file or a folder of your own; {path} is a data set; see `untwine list data {path}`.")
    name, options = named_data(path, columns, data_set)
    for option in ("test", "seed"):  # of the split that `fit` makes
        options.pop(option, None)
    with notes.collect() as sentences, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        samples = read(name, **options)
    content = summarise(samples)
    content |= {"notes": [*(str(one.message) for one in caught if one.category is UserWarning), *sentences]}
    if json:
        print_json({"path": name, "options": options, **content, "out": out})
    else:
        print("\n".join(_lines(content)))
    if out is not None:
        write_figure(out, _figure(samples))
        if not json:
            print(f"drawn: {out}")


def _lines(content: Mapping[str, Any]) -> Iterator[str]:
    """Yield the summary, a line for each kind of column."""
    from untwine.registry.checks import listed

    shape, (low, high) = " x ".join(map(str, content["shape"])), content["range"]
    what = f"images of {shape} (channels, height, width)" if content["kind"] == "images" else f"vectors of {shape} features"
    yield f"samples     {content['samples']} {what}, {content['type']} from {low:.4g} to {high:.4g}"
    if "features" in content:
        yield f"features    {listed(content['features'], 90)}"
    for kind in ("groups", "labels"):
        if kind in content:
            counts = content[kind]
            yield f"{kind:<11} {listed((f'{name} ({many})' for name, many in counts.items()), 90)}"
    for kind in ("covariates", "factors"):
        for name, values in content.get(kind, {}).items():
            yield f"{kind[:-1]:<11} {name}: {_values(values)}"
    if "sources" in content:
        yield f"sources     {content['sources']} different"
    if "ids" in content:
        yield f"ids         {content['ids']['different']} different, the first is {content['ids']['first']}"
    if "masks" in content:
        yield f"masks       {content['masks']} samples with something salient"
    for note in content["notes"]:
        yield f"note        {note}"


def _values(values: Mapping[str, Any]) -> str:
    from untwine.registry.checks import listed

    if "from" in values:
        unknown = f", {values['unknown']} unknown" if "unknown" in values else ""
        return f"{values['from']:.4g} to {values['to']:.4g}{unknown}"
    return listed((f"{level} ({many})" for level, many in values.items()), 90)


def _figure(samples: Samples) -> Figure:
    """Draw some images of each group or class in a row, or histograms of features."""
    import numpy as np

    from untwine import plots
    from untwine.metrics.scored_samples import affordable

    if not samples.is_image:
        names, some = samples.feature_names, affordable(samples, np.arange(len(samples)))
        groups = None if samples.groups is None else samples.groups[some]
        return plots.feature_histograms(samples.dense(some), names, groups, samples.group_names)
    numbers, names = samples.groups, samples.group_names
    if numbers is None:
        numbers, names = samples.labels, samples.label_names
    if numbers is None:
        some = samples.x[: MOST_ROWS * PER_ROW // 2]
        return plots.image_rows(
            {f"{i + 1} to {min(i + PER_ROW, len(samples))}": some[i : i + PER_ROW] for i in range(0, len(some), PER_ROW)}
        )
    rows = {name: samples.x[numbers == i][:PER_ROW] for i, name in enumerate(names) if (numbers == i).any()}
    if len(rows) > MOST_ROWS:
        print(f"untwine: note: {MOST_ROWS} of {len(rows)} rows are drawn.", file=sys.stderr)
    return plots.image_rows(dict(list(rows.items())[:MOST_ROWS]))


@command.command
def get(
    name: Annotated[str, Parameter(help="A data set that `untwine list data` shows; or `mnist` or `cifar10`.")],
    *,
    data_set: DataSettings = (),
    folder: Path | None = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Download what a data set needs to where its loader looks for it; the same command continues an interrupted download.

    For example:

    - `untwine data get dsprites`
    - another kind of a data set that has several: `untwine data get mpi3d --data-set kind=real`
    - into a folder of your choice, for which UNTWINE_DATA must be set afterwards: `untwine data get mnist --folder /data`

    What a licence lets no program download is described instead. The exit code is 0 if everything is in place, and 1 if
    something must be placed by hand. Proxies are taken from the environment (HTTPS_PROXY).

    Parameters
    ----------
    folder
        The data folder; by default the environment variable UNTWINE_DATA, then ~/.cache/untwine.
    """
    from untwine.cli.settings import parse_settings
    from untwine.data.placement import find_downloads, obtain

    needs = find_downloads(name, parse_settings(data_set, "--data-set"))
    try:
        obtained = []
        for need in needs:
            if not json:
                print(f"{need.name}: licence {need.licence}")
            with _Bars(not quiet) as bars:
                obtained.append(obtain(need, folder, bars.watch))
            if not json:
                _print(obtained[-1])
    except KeyboardInterrupt:
        print("untwine: stopped; the same command continues the download.", file=sys.stderr)
        sys.exit(130)
    if json:
        print_json([_as_json(one) for one in obtained])
    elif not needs:
        print(f"{name} needs no files.")
    if any(one.by_hand for one in obtained):
        sys.exit(1)


def _print(one: Obtained) -> None:
    if one.by_hand:
        text = f"to place by hand in {one.folder}: {one.by_hand}"
        print(textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False))
    elif not one.files:
        print(f"in place before: {one.folder}")
    for file in one.files:
        print(f"{file.url}\n  {file.size:,} bytes  SHA-256 {file.sha256}")
    if one.files:
        print(f"in place now: {one.folder}")


def _as_json(one: Obtained) -> dict[str, Any]:
    files = [{"url": file.url, "size": file.size, "sha256": file.sha256} for file in one.files]
    return {"name": one.name, "folder": str(one.folder), "files": files, "by_hand": one.by_hand}


class _Bars:
    """Progress of several files, one after the other; of a file whose size no server said, none is shown."""

    def __init__(self, show: bool) -> None:
        self.show, self.stack, self.name = show, ExitStack(), ""
        self.advance: Advance | None = None

    def __enter__(self) -> _Bars:
        return self

    def __exit__(self, *_: object) -> None:
        self.stack.close()

    def watch(self, name: str, done: int, total: int | None) -> None:
        from untwine.training.progress import bar

        if total is None:
            return
        if self.advance is None or name != self.name:
            self.stack.close()
            self.name, self.advance = name, self.stack.enter_context(bar(name, total, self.show))
        self.advance(done, lambda: f"{done / 1e6:.1f} of {total / 1e6:.1f} MB")
