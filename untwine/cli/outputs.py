"""What commands write and print: files of generated samples, tables, JSON, hints."""

from __future__ import annotations

import csv
import io
import json
import os
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from untwine.cli.flags import OutputFlags

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from untwine._typing import Array

MAX_GENERATED, MAX_DRAWN = 100_000, 40  # samples in all; images along one side of a .png
COLUMNS = 8  # of a grid of images that has no rows of its own


def check_new(out: Path, endings: Sequence[str], overwrite: bool, kind: str = "") -> None:
    """Refuse to write a file of another format, or over an existing one."""
    if out.suffix not in endings:
        known = f"{', '.join(endings[:-1])} or {endings[-1]}" if len(endings) > 1 else endings[0]
        reason = f", since the samples of this run are {kind}" if kind else ""
        raise ValueError(f"--out must end in {known}{reason}; got {str(out)!r}.")
    if out.is_dir():
        raise ValueError(f"--out must be a file; {out} is a folder; name a file in it.")
    if out.exists() and not overwrite:
        raise ValueError(f"--out must be a new file; {out} exists; choose another or pass --overwrite.")


def check_size(out: Path, rows: int, columns: int) -> None:
    """Refuse to generate more samples than fit in memory, or in a figure."""
    if rows * columns > MAX_GENERATED:
        raise ValueError(
            f"at most {MAX_GENERATED:,} samples can be generated at once; got {rows:,} x {columns:,}; take fewer samples."
        )
    if out.suffix == ".png" and max(rows, columns) > MAX_DRAWN:
        raise ValueError(
            f"a .png can hold at most {MAX_DRAWN} x {MAX_DRAWN} images; got {rows:,} x {columns:,}; take fewer samples, "
            "or write an .npz."
        )


def write_generated(
    output: OutputFlags,
    inputs: Mapping[str, Array],
    name: str,
    generated: Array,
    draw: Callable[[], Figure],
    features: Sequence[str] = (),
) -> None:
    """Write generated samples: as a figure beside their inputs, as arrays, or as a table; with names of features, if any."""
    import numpy as np

    from untwine.runs import files

    out = output.out
    if out.suffix == ".png":
        files.write(out, _tiles(generated) if output.plain else _figure(draw(), generated))
    elif out.suffix == ".npz":
        write_arrays(out, {**inputs, name: generated} | ({"feature_names": np.array(features)} if features else {}))
    elif out.suffix == ".npy":
        files.write(out, _array(generated))
    else:
        rows = generated.reshape(-1, generated.shape[-1])
        write_csv(out, features or [f"x{i}" for i in range(rows.shape[1])], rows.tolist())


def write_arrays(out: Path, arrays: Mapping[str, Array]) -> None:
    """Write an .npz of named arrays."""
    from untwine.runs import files

    files.write_arrays(out, arrays)


def write_parquet(out: Path, columns: Mapping[str, Sequence[object] | Array]) -> None:
    """Write a .parquet of named columns."""
    from untwine.registry.extras import optional
    from untwine.runs import files

    arrow, parquet = (optional(name, "writing a .parquet file") for name in ("pyarrow", "pyarrow.parquet"))
    content = io.BytesIO()
    parquet.write_table(arrow.table(dict(columns)), content)
    files.write(out, content.getvalue())


def write_figure(out: Path, figure: Figure) -> None:
    """Write a figure as .png."""
    from untwine.runs import files

    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=120, facecolor="white")
    files.write(out, content.getvalue())


def write_csv(out: Path, names: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Write a .csv with a header."""
    from untwine.runs import files

    content = io.StringIO()
    table = csv.writer(content, lineterminator="\n")
    table.writerow(names)
    table.writerows(rows)
    files.write(out, content.getvalue())


def print_written(output: OutputFlags, task: str, block: str, generated: Array, summary: str, notes: Sequence[str]) -> None:
    """Print what a command wrote, in words or as JSON."""
    for note in notes:
        print(f"untwine: note: {note}", file=sys.stderr)
    if output.json:
        shape = list(generated.shape)
        print_json({"task": task, "block": block, "shape": shape, "out": str(output.out), "notes": list(notes)})
    else:
        print(f"{summary}: {output.out}")


def print_json(content: Any) -> None:
    """Print standard JSON; a path becomes text."""
    print(json.dumps(content, indent=2, allow_nan=False, default=os.fspath))


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]], title: str = "") -> None:
    """Print a table: wrapped to the width of a terminal, or as plain aligned columns of full length where piped."""
    if title:
        print(title)
    if not sys.stdout.isatty():
        print("\n".join(align([header, *rows])))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for i, name in enumerate(header):
        table.add_column(Text(name), no_wrap=i == 0, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    Console().print(table)


def align(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield rows of text as lines with aligned columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()


def next_command(*words: str | Path) -> str:
    """Return a hint at the command that usually comes next, quoted so that it can be pasted into a shell."""
    return f"(next: {shlex.join(('untwine', *map(str, words)))})"


def count(generated: Array) -> str:
    """Return the number of samples: "3", or "3 x 8" in a grid."""
    axes = 3 if generated.ndim > 3 else 1
    return " x ".join(map(str, generated.shape[: generated.ndim - axes]))


def as_grid(images: Array) -> Array:
    """Return images (n, C, H, W) as (rows, columns, C, H, W), the last row filled up with white images."""
    import numpy as np

    columns = min(len(images), COLUMNS)
    white = np.ones((-len(images) % columns, *images.shape[1:]), images.dtype)
    return np.concatenate([images, white]).reshape(-1, columns, *images.shape[1:])


def _array(generated: Array) -> bytes:
    import numpy as np

    content = io.BytesIO()
    np.save(content, generated, allow_pickle=False)
    return content.getvalue()


def write_image_figure(out: Path, figure: Figure, images: Array) -> None:
    """Write a figure of images as .png."""
    from untwine.runs import files

    files.write(out, _figure(figure, images))


def _figure(figure: Figure, generated: Array) -> bytes:
    # Every pixel of an image becomes the same number of dots, about 120 for the image's side.
    from untwine.plots.images import CELL

    side = max(generated.shape[-2:])
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=side * max(1, round(120 / side)) / CELL, facecolor="white")
    return content.getvalue()


def _tiles(generated: Array) -> bytes:
    """Return images (n, C, H, W) or (rows, columns, C, H, W) side by side, pixel by pixel."""
    import numpy as np
    from PIL import Image

    cells = as_grid(generated) if generated.ndim == 4 else generated
    cells = cells[:, :, :3] if cells.shape[2] >= 3 else cells[:, :, :1]
    rows, columns, channels, height, width = cells.shape
    tiled = cells.transpose(0, 3, 1, 4, 2).reshape(rows * height, columns * width, channels)
    whole = np.rint(np.clip(tiled, 0, 1) * 255).astype(np.uint8)
    content = io.BytesIO()
    Image.fromarray(whole if channels == 3 else whole[:, :, 0]).save(content, format="png")
    return content.getvalue()
