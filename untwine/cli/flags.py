"""The arguments and flags that several commands share, each with its help."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter


def _shown_default(value: object) -> str | None:
    return None if value is None or value is False or value == () else str(value)


# Of every parameter: no flags of the form --no-..., and only defaults that say something are shown.
EVERY = Parameter(negative=(), show_default=_shown_default)

Run = Annotated[Path, Parameter(help="A run folder, as written by `untwine fit --out`.")]
File = Annotated[
    Path | None,
    Parameter(help="A file or folder, read like the data of the run: images, a table, arrays; by default, test samples."),
]
Out = Annotated[
    Path,
    Parameter(
        help="The file to write: .png (a labelled figure), .npz (named arrays), .npy (the generated array alone) or, for runs "
        "on vectors, .csv."
    ),
]
Block = Annotated[
    str | None,
    Parameter(help="A latent block of the run, such as salient, common, class or content; by default salient, or class."),
]
SampleCount = Annotated[int | None, Parameter(help="How many samples to take; by default 6 of the data, and all of a file.")]
OtherData = Annotated[
    str | None,
    Parameter(help="Other data than the run was fitted on: a name that `untwine list data` shows, or a path."),
]
Settings = Annotated[
    tuple[str, ...], Parameter(consume_multiple=False, help="An option of the method as name=value; may be repeated.")
]
DataSettings = Annotated[
    tuple[str, ...], Parameter(consume_multiple=False, help="An option of the data as name=value; may be repeated.")
]
Seed = Annotated[int, Parameter(help="The random seed: which test samples are taken, and which codes are drawn.")]
Beside = Annotated[
    tuple[Path, ...],
    Parameter(consume_multiple=False, help="Another run folder, for the same samples beside those of RUN; may be repeated."),
]
Plain = Annotated[bool, Parameter(help="Write a .png of the generated images alone, pixel by pixel, without labels.")]
Overwrite = Annotated[bool, Parameter(help="Replace an existing file.")]
Threads = Annotated[
    int | None, Parameter(help="Threads of the computation; by default one per core. Fewer may be faster on a busy machine.")
]
Quiet = Annotated[bool, Parameter(help="Show no progress.")]
Json = Annotated[bool, Parameter(help="Print the result as JSON.")]


@dataclass(frozen=True, kw_only=True)
class ColumnFlags:
    """Your own data: a path for each of several sets, or which columns of a table say what is known of a sample."""

    target: Annotated[
        tuple[str, ...],
        Parameter(
            consume_multiple=False,
            help="In place of --data, a file or folder of targets, as PATH or NAME=PATH; may be repeated, with --background.",
        ),
    ] = ()
    background: Annotated[
        tuple[str, ...],
        Parameter(
            consume_multiple=False,
            help="With --target, the file or folder of the background; with --group-column, the value of that column that is "
            "the background, which may be repeated.",
        ),
    ] = ()
    group_column: Annotated[str | None, Parameter(help="The column that says which group a sample belongs to.")] = None
    label_column: Annotated[str | None, Parameter(help="The column of classes.")] = None
    covariate: Annotated[
        tuple[str, ...], Parameter(consume_multiple=False, help="A column of a known nuisance, such as batch; may be repeated.")
    ] = ()
    source_column: Annotated[
        str | None, Parameter(help="The column of what a sample belongs to, such as patient: splits never cut through one.")
    ] = None
    factor_column: Annotated[
        tuple[str, ...], Parameter(consume_multiple=False, help="A column of a factor, for evaluation only; may be repeated.")
    ] = ()
    id_column: Annotated[str | None, Parameter(help="The column with a name for each sample.")] = None
    file_column: Annotated[str | None, Parameter(help="The column that lists files of images, for a table that does.")] = None


@dataclass(frozen=True, kw_only=True)
class DataFlags(ColumnFlags):
    """The data whose test split gives samples, and which of them."""

    data: OtherData = None
    data_set: DataSettings = ()
    seed: Seed = 0


@dataclass(frozen=True, kw_only=True)
class SampleFlags(DataFlags):
    """The same, and how many samples."""

    samples: SampleCount = None


@dataclass(frozen=True, kw_only=True)
class OutputFlags:
    """The file that is written, and what is printed about it."""

    out: Out
    plain: Plain = False
    overwrite: Overwrite = False
    json: Json = False


# Arguments of commands whose fields are flags of their own.
Columns = Annotated[ColumnFlags, Parameter(name="*")]
FromData = Annotated[DataFlags, Parameter(name="*")]
FromSamples = Annotated[SampleFlags, Parameter(name="*")]
Output = Annotated[OutputFlags, Parameter(name="*")]
NO_COLUMNS, FROM_DATA, FROM_SAMPLES = ColumnFlags(), DataFlags(), SampleFlags()
