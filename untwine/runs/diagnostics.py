"""Diagnostics of a run: the contrast test of its data and statistics of its codes, and the files that hold them.

Nothing in the files is trusted when they are read.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from untwine.runs import files
from untwine.runs.names import CODES, CONTRAST

COUNTS = "rows"  # in the file beside the blocks: how many samples of each group the statistics are of


@dataclass(frozen=True)
class Contrast:
    """The result of a contrast test: see `untwine.ContrastTest`; `target` and `background` count the samples of each."""

    p_value: float
    n_salient: int
    contrasts: tuple[float, ...]
    chance: tuple[float, ...]
    permutations: int
    target: int
    background: int
    targets: tuple[TargetContrast, ...] = ()  # of several targets, each against the background


@dataclass(frozen=True)
class TargetContrast:
    """The result of a contrast test for one of several targets, by name."""

    name: str
    p_value: float
    n_salient: int
    samples: int


@dataclass(frozen=True)
class Codes:
    """Statistics of the codes of one block in one group: see `untwine.evaluation.diagnostics.code_statistics`."""

    variance: tuple[float, ...]
    energy: float
    effect: float
    varies: bool = True  # the samples themselves; older files do not say


def write_codes(folder: str | os.PathLike[str], statistics: Mapping[str, Any]) -> None:
    """Write the statistics of the codes of a run, by block and group."""
    files.write_json(Path(folder) / CODES, statistics)


def write_contrast(folder: str | os.PathLike[str], result: Mapping[str, Any] | None) -> None:
    """Write the result of the contrast test of a run's data; None removes an earlier one."""
    if result is None:
        (Path(folder) / CONTRAST).unlink(missing_ok=True)
    else:
        files.write_json(Path(folder) / CONTRAST, result)


def read_contrast(folder: str | os.PathLike[str]) -> Contrast | None:
    """Read the result of the contrast test; None where there is no file."""
    path = Path(folder) / CONTRAST
    if not path.exists():
        return None
    content = files.read_json(path)
    numbers = {key: content.get(key) for key in ("p_value", "n_salient", "permutations", "target", "background")}
    lists = {key: content.get(key) for key in ("contrasts", "chance")}
    contrast = Contrast(
        **{key: _number(path, value) for key, value in numbers.items()} | {k: _numbers(path, v) for k, v in lists.items()},
        targets=_targets(path, content.get("targets", {})),
    )
    if not 0 <= contrast.n_salient <= len(contrast.contrasts) or len(contrast.chance) > len(contrast.contrasts):
        raise _refuse(path)
    if contrast.contrasts and not contrast.chance:
        raise _refuse(path)
    return contrast


def read_codes(folder: str | os.PathLike[str]) -> dict[tuple[str, str], Codes] | None:
    """Read the statistics of the codes, by block and group; None where there is no file."""
    path = Path(folder) / CODES
    if not path.exists():
        return None
    codes = {}
    for block, groups in files.read_json(path).items():
        if not isinstance(groups, Mapping):
            raise _refuse(path)
        for group, numbers in groups.items() if block != COUNTS else ():
            if not isinstance(numbers, Mapping):
                raise _refuse(path)
            energy, effect = (float(_number(path, numbers.get(key))) for key in ("energy", "effect"))
            varies = numbers.get("varies", True)
            if not isinstance(varies, bool):
                raise _refuse(path)
            codes[block, group] = Codes(_numbers(path, numbers.get("variance")), energy, effect, varies)
    return codes


def _targets(path: Path, content: object) -> tuple[TargetContrast, ...]:
    if not isinstance(content, Mapping) or not all(isinstance(numbers, Mapping) for numbers in content.values()):
        raise _refuse(path)
    fields = ("p_value", "n_salient", "samples")
    return tuple(
        TargetContrast(str(name), *(_number(path, numbers.get(field)) for field in fields)) for name, numbers in content.items()
    )


def _number(path: Path, value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise _refuse(path)
    return value


def _numbers(path: Path, values: Any) -> tuple[float, ...]:
    if not isinstance(values, list):
        raise _refuse(path)
    return tuple(float(_number(path, value)) for value in values)


def _refuse(path: Path) -> ValueError:
    return ValueError(
        f"{path} must hold the numbers that untwine evaluate writes there; it holds others; run untwine evaluate again."
    )
