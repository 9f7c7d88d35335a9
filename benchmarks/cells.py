"""`python -m benchmarks.cells`: scvi-tools' ContrastiveVI beside the methods of `studies/cells.toml`, on the same cells.

The peer runs in an environment of its own, `--peer PYTHON`; each finished fit is a few lines of `benchmarks/cells.csv`, which
`docs/results.md` shows. `--speed` trains both in turns for a few epochs and adds the ratio. Without either it prints the table.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import mean, median, stdev
from typing import Any

import numpy as np

import untwine as un
from benchmarks.figures import interleaved, medians
from untwine.data.splits import Splits
from untwine.methods import find_method
from untwine.study.cells import Cell
from untwine.study.study import Study

HERE = Path(__file__).parent
STUDY = HERE.parent / "studies" / "cells.toml"
RESULTS = HERE / "cells.csv"
# Our rows on each of the study's data sets that the peer is fitted on; the first is timed, and has the peer's epochs.
OURS = {
    "counts and batches": ("Eq. 8 of counts",),
    "silent genes in a fresh draw": ("Eq. 8 at a lower rate",),
    "silent genes": ("recombining VAE of counts", "Eq. 8 with 256 hidden units", "Eq. 8 with 128 hidden units"),
}
ROWS: Mapping[str, Any] = {"ContrastiveVI": {}, "ContrastiveVI, equal epochs": {"train_size": 1.0}}
NAMES = ("data", "row", "seed", "score", "value")
EPOCHS_TIMED, ROUNDS = 6, 7


class Precomputed:
    """Codes and decoded samples that another program has made of the test cells, in the place of a fitted method."""

    def __init__(self, arrays: Mapping[str, np.ndarray]) -> None:
        self.latents = un.Latents({"common": arrays["common"], "salient": arrays["salient"]})
        self.decoded, self.without = arrays["decoded"], arrays["without"]
        self.places = {row.tobytes(): i for i, row in enumerate(self.latents["common"])}

    def encode(self, x: np.ndarray) -> un.Latents:
        """Return the codes of all test cells."""
        if len(x) != self.latents.n_samples:
            raise ValueError(f"the codes are of {self.latents.n_samples} cells; got {len(x)}.")
        return self.latents

    def decode(self, latents: un.Latents) -> np.ndarray:
        """Return what was decoded of these cells: from both blocks, or without the salient one where that is 0."""
        places = [self.places[row.tobytes()] for row in latents["common"]]
        return (self.decoded if latents["salient"].any() else self.without)[places]


def main(arguments: Sequence[str] | None = None) -> int:
    """Fit what is asked for and is not in the table yet, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cells", description=__doc__)
    parser.add_argument("--peer", help="the Python of an environment with scvi-tools")
    parser.add_argument("--row", choices=list(ROWS), help="with --peer: this row alone")
    parser.add_argument("--seed", type=int, help="with --peer: this seed alone")
    parser.add_argument("--speed", action="store_true", help="with --peer: also train both in turns, and time it")
    options = parser.parse_args(arguments)
    if options.peer:
        for data in OURS:
            cells = ours(data)
            splits = un.load(cells[0].name, **cells[0].options)
            for row, seed in missing(cells):
                if options.row in (None, row) and options.seed in (None, seed):
                    run_peer(options.peer, cells, splits, row, seed)
            if options.speed:
                speed(options.peer, cells[0], splits)
    elif options.speed:
        print("--speed needs --peer PYTHON, with scvi-tools.", file=sys.stderr)
        return 2
    print("\n\n".join(map(table, OURS)))
    return 0


def ours(data: str) -> list[Cell]:
    """Return the cells of our first row on one of the study's data sets, one for each seed."""
    return [cell for cell in Study.read(STUDY).cells() if (cell.data, cell.row) == (data, OURS[data][0])]


def read_rows() -> list[dict[str, str]]:
    """Return the lines of the stored table."""
    if not RESULTS.exists():
        return []
    with RESULTS.open(newline="") as file:
        return list(csv.DictReader(file))


def write_rows(rows: Sequence[Mapping[str, Any]]) -> None:
    """Append lines to the stored table."""
    new = not RESULTS.exists()
    with RESULTS.open("a", newline="") as file:
        table = csv.DictWriter(file, NAMES, lineterminator="\n")
        if new:
            table.writeheader()
        table.writerows(rows)


def missing(cells: Sequence[Cell]) -> Iterator[tuple[str, int]]:
    """Yield the rows and seeds that are not in the stored table."""
    known = {(line["data"], line["row"], line["seed"]) for line in read_rows()}
    yield from ((row, cell.seed) for row in ROWS for cell in cells if (cell.data, row, str(cell.seed)) not in known)


def run_peer(python: str, cells: Sequence[Cell], splits: Splits, row: str, seed: int) -> None:
    """Fit the peer, score its codes as the study scores ours, and store its lines."""
    train = dict(ROWS[row])
    if "train_size" in train:
        train["max_epochs"] = cells[0].params["epochs"]
    arrays, facts = fit_peer(python, splits, {"seed": seed, "train": train})
    began = time.perf_counter()
    scores = un.evaluate(Precomputed(arrays), splits.test, list(cells[0].metrics), seeds=cells[0].resamples)
    print(f"{row}, seed {seed}: fitted in {facts['wall']:.0f} s, scored in {time.perf_counter() - began:.0f} s", flush=True)
    values = {name: score.value for name, score in scores.items()} | {name: float(facts[name]) for name in ("epochs", "cpu")}
    place = {"data": cells[0].data, "row": row, "seed": seed}
    write_rows([{**place, "score": name, "value": f"{value:.6g}"} for name, value in values.items()])


@contextmanager
def peer_command(python: str, splits: Splits, options: Mapping[str, Any], out: str) -> Iterator[list[str]]:
    """Write the cells to a folder for a while, and yield the command that fits the peer; `out` is a name in it, or -."""
    with tempfile.TemporaryDirectory() as folder:
        given, (train, test) = Path(folder) / "in.npz", splits
        batches = [one.covariates.values[:, 0].astype(int) for one in splits if one.covariates is not None]
        np.savez(given, x=train.x, groups=np.asarray(train.groups), batch=batches[0], test_x=test.x, test_batch=batches[1])
        place = out if out == "-" else str(Path(folder) / out)
        yield [python, str(HERE / "contrastive_vi.py"), str(given), place, json.dumps(options)]


def peer_environment() -> dict[str, str]:
    """Return the environment of the peer: ours without this checkout, and one thread."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {"OMP_NUM_THREADS": "1"}


def fit_peer(python: str, splits: Splits, options: Mapping[str, Any]) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Return what the peer made of the test cells, and its seconds and epochs."""
    with peer_command(python, splits, options, "out.npz") as command:
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=peer_environment())
        if done.returncode:
            raise RuntimeError(f"the peer failed:\n{done.stderr[-2000:]}")
        with np.load(command[3]) as arrays:
            return dict(arrays), json.loads(done.stdout.splitlines()[-1])


def speed(python: str, cell: Cell, splits: Splits) -> None:
    """Train ours and the peer in turns, for a few epochs, and store the median ratio of the seconds of the processor."""

    def mine() -> float:
        method = find_method(cell.method)(**{**cell.params, "epochs": EPOCHS_TIMED})
        began = time.process_time()
        method.fit(splits.train)
        return time.process_time() - began

    options = {"seed": 0, "train": {"max_epochs": EPOCHS_TIMED, "train_size": 1.0}}
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    with (
        peer_command(python, splits, options, "-") as command,
        subprocess.Popen(command, **pipes, env=peer_environment()) as peer,
    ):

        def theirs() -> float:
            peer.stdin.write("\n")  # type: ignore[union-attr]
            peer.stdin.flush()  # type: ignore[union-attr]
            return float(json.loads(peer.stdout.readline())["cpu"])  # type: ignore[union-attr]

        rounds = interleaved({"ours": mine, "theirs": theirs}, ROUNDS)
        peer.stdin.close()  # type: ignore[union-attr]
    ratios = sorted(one["theirs"] / one["ours"] for one in rounds)
    print(
        f"seconds of {EPOCHS_TIMED} epochs: {medians(rounds)}; ratios {', '.join(f'{one:.2f}' for one in ratios)}", flush=True
    )
    values = {"speed": ratios[len(ratios) // 2], "speed_low": ratios[0], "speed_high": ratios[-1]}
    values["cpu"] = median(one["ours"] for one in rounds) / EPOCHS_TIMED * cell.params["epochs"]
    place = {"data": cell.data, "row": "speed", "seed": ""}
    rest = [line for line in read_rows() if (line["data"], line["row"]) != (cell.data, "speed")]
    RESULTS.unlink(missing_ok=True)
    write_rows([*rest, *({**place, "score": name, "value": f"{v:.4g}"} for name, v in values.items())])


def scores(data: str) -> dict[tuple[str, str], list[float]]:
    """Return the values over seeds of each row, ours and the peer's, and score on one data set."""
    known: dict[tuple[str, str], list[float]] = {}
    for line in read_rows():
        if line["data"] == data:
            known.setdefault((line["row"], line["score"]), []).append(float(line["value"]))
    for one in Study.read(STUDY).results():
        if one["data"] == data and one["row"] in OURS[data]:
            known.setdefault((one["row"], one["score"]), []).append(float(one["value"]))
            known[one["row"], "epochs"] = [float(one["epoch"])]
    return known


def table(data: str) -> str:
    """Return the table of ours and the peer's rows on one data set in Markdown: mean and standard deviation over seeds."""
    known, columns = scores(data), Study.read(STUDY).spec["column"]
    lines = [f"| {data} | {' | '.join(column['title'] for column in columns)} | epochs |"]
    lines.append(f"|{' --- |' * (len(columns) + 2)}")
    for row in (*OURS[data], *ROWS):
        values = [next((known[row, score] for score in column["scores"] if (row, score) in known), []) for column in columns]
        lines.append(f"| {row} | {' | '.join(map(cell_text, values))} | {known.get((row, 'epochs'), [0])[0]:.0f} |")
    if ("speed", "speed") in known:
        low, middle, high = (known["speed", name][0] for name in ("speed_low", "speed", "speed_high"))
        lines += ["", f"An epoch of ContrastiveVI takes {middle:.1f} times as long as one of ours ({low:.1f} to {high:.1f})."]
        if ("speed", "cpu") in known:
            whole = mean(known["ContrastiveVI", "cpu"]) / known["speed", "cpu"][0]
            lines[-1] += f" Its fit at its defaults takes {whole:.1f} times as long as ours."
    return "\n".join(lines)


def cell_text(values: Sequence[float]) -> str:
    """Return mean and standard deviation over seeds."""
    if not values:
        return "-"
    return f"{mean(values):.2f}" + (f" ± {stdev(values):.2f}" if len(values) > 1 else "")


if __name__ == "__main__":
    sys.exit(main())
