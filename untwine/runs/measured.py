"""Read `contrast.json` and `codes.json`, what the data has and what the codes do; nothing in them is trusted."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from untwine.runs.files import read_json

GROUPS = ("target", "background")


@dataclass(frozen=True)
class Contrast:
    """The outcome of a contrast test: see `untwine.ContrastTest`; `target` and `background` count the rows of each."""

    p_value: float
    n_salient: int
    contrasts: tuple[float, ...]
    chance: tuple[float, ...]
    permutations: int
    target: int
    background: int


@dataclass(frozen=True)
class Codes:
    """What the codes of one block do in one group: see `untwine.evaluation.diagnostics.code_record`."""

    variance: tuple[float, ...]
    energy: float
    effect: float
    varies: bool = True  # the rows themselves; older files do not say


def read_contrast(path: Path) -> Contrast | None:
    """Read the outcome of a contrast test; None where there is no file."""
    if not path.exists():
        return None
    content = read_json(path)
    numbers = {key: content.get(key) for key in ("p_value", "n_salient", "permutations", "target", "background")}
    rows = {key: content.get(key) for key in ("contrasts", "chance")}
    found = Contrast(
        **{key: _number(path, value) for key, value in numbers.items()} | {k: _row(path, v) for k, v in rows.items()}
    )
    if not 0 <= found.n_salient <= len(found.contrasts) or len(found.chance) > len(found.contrasts):
        raise _refused(path)
    if found.contrasts and not found.chance:
        raise _refused(path)
    return found


def read_codes(path: Path) -> dict[tuple[str, str], Codes] | None:
    """Read what codes do, by block and group; None where there is no file."""
    if not path.exists():
        return None
    found = {}
    for block, groups in read_json(path).items():
        if not isinstance(groups, Mapping):
            raise _refused(path)
        for group, numbers in groups.items() if block != "rows" else ():
            if not isinstance(numbers, Mapping):
                raise _refused(path)
            energy, effect = (float(_number(path, numbers.get(key))) for key in ("energy", "effect"))
            varies = numbers.get("varies", True)
            if not isinstance(varies, bool):
                raise _refused(path)
            found[block, group] = Codes(_row(path, numbers.get("variance")), energy, effect, varies)
    return found


def _number(path: Path, value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise _refused(path)
    return value


def _row(path: Path, values: Any) -> tuple[float, ...]:
    if not isinstance(values, list):
        raise _refused(path)
    return tuple(float(_number(path, value)) for value in values)


def _refused(path: Path) -> ValueError:
    return ValueError(
        f"{path} expected the numbers that untwine evaluate keeps there, but holds others; run untwine evaluate again."
    )
