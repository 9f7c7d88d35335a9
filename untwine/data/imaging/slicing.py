"""Which slices of a volume become samples, and at which size; or the whole volume."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from untwine._typing import Array
from untwine.data.imaging.grid import Frame, extent, frame
from untwine.data.imaging.scan import VIEWS, Scan
from untwine.registry.checks import check_choice, check_float, check_int
from untwine.registry.observations import SIDES, VOLUME_SIDES

Slices = str | Sequence[int] | Sequence[float]
UNEQUAL_FOV = 0.05


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """How volumes become samples; see `read_volumes` for the options."""

    axis: str = "axial"
    slices: Slices = "middle"
    every: int = 1
    size: int | None = None
    volumes: bool = False
    fov: float | None = None
    percentiles: tuple[float, float] = (1.0, 99.5)

    @classmethod
    def of(cls, **options: Any) -> Sampling:
        """Check the options before any file is read."""
        check_choice("axis", options["axis"], tuple(VIEWS))
        check_int("every", options["every"], 1)
        if not isinstance(options["volumes"], bool):
            raise TypeError(f"volumes must be True or False; got {options['volumes']!r}.")
        sides = VOLUME_SIDES if options["volumes"] else SIDES
        if options["size"] is not None:
            check_int("size", options["size"], sides[0], sides[-1])
        if options["fov"] is not None:
            check_float("fov", options["fov"], 1, 10_000)
            if options["size"] is None:
                raise ValueError("fov is the millimetres that size pixels cover; got fov without size; pass size too.")
        percentiles = _pair("percentiles", options["percentiles"])
        if not 0 <= percentiles[0] < percentiles[1] <= 100:
            raise ValueError(f"percentiles must be two numbers from 0 to 100, the lower first; got {percentiles}.")
        if not isinstance(options["slices"], str):
            _pair("slices", options["slices"])
        elif options["slices"] not in ("middle", "all"):
            raise ValueError(
                f"slices must be 'middle', 'all', or a range such as (60, 90) or (0.4, 0.6); got {options['slices']!r}."
            )
        return cls(**{**options, "percentiles": percentiles})

    def axes(self) -> int:
        """Return how many axes a sample has besides that of channels."""
        return 3 if self.volumes else 2

    def indices(self, scan: Scan) -> Array:
        """Return the numbers of the chosen slices along the axis, from the lowest, hindmost or leftmost; -1 for the volume."""
        if self.volumes:
            return np.array([-1])
        n = scan.view_shape(self.axis)[0]
        if isinstance(self.slices, str):
            chosen = np.array([n // 2]) if self.slices == "middle" else np.arange(n)
            return chosen[:: self.every]
        low, high = self.slices
        if any(isinstance(one, float) for one in self.slices):
            if not 0 <= low < high <= 1:
                raise ValueError(f"slices must be fractions of the volume from 0 to 1, the lower first; got {(low, high)}.")
            low, high = int(np.floor(low * n)), int(np.ceil(high * n))
        if not 0 <= low < high <= n:
            raise ValueError(
                f"{scan.path} must have the slices {low} to {high}; along the {self.axis} axis it has {n}; choose a range "
                "within 0 and that, or fractions such as slices=(0.4, 0.6)."
            )
        return np.arange(int(low), int(high), self.every)

    def frame(self, scan: Scan) -> Frame:
        """Return how voxels of the last axes become pixels and back."""
        shape = scan.view_shape(self.axis)[-self.axes() :]
        return frame(shape, scan.spacing(self.axis)[-self.axes() :], self.size, self.fov)

    def check_sizes(self, scans: Sequence[Scan]) -> None:
        """Refuse scans whose samples would differ in shape, or in the millimetres that a pixel covers."""
        views = [scan.view_shape(self.axis)[-self.axes() :] for scan in scans]
        what, sides = ("whole volumes", VOLUME_SIDES) if self.volumes else ("slices", SIDES)
        if self.size is None:
            for scan, shape in zip(scans, views, strict=True):
                if not all(side in sides for side in shape) or shape != views[0]:
                    reason = f"{scans[0].path.name} has {views[0]}" if shape != views[0] else f"from {sides[0]} to {sides[-1]}"
                    raise ValueError(
                        f"{what} must have equal sides from {sides[0]} to {sides[-1]}; those of {scan.path} have {shape}"
                        f"{', ' + reason if shape != views[0] else ''}; pass size, such as size={32 if self.volumes else 64}."
                    )
        elif self.fov is None:
            spacings = [scan.spacing(self.axis)[-self.axes() :] for scan in scans]
            fovs = [extent(*one) for one in zip(views, spacings, strict=True)]
            low, high = int(np.argmin(fovs)), int(np.argmax(fovs))
            if fovs[high] > (1 + UNEQUAL_FOV) * fovs[low]:
                raise ValueError(
                    f"{what} must cover as many millimetres, so that a pixel is equally large in all; {scans[low].path} covers "
                    f"{fovs[low]:.4g} mm and {scans[high].path} {fovs[high]:.4g} mm; pass fov={fovs[high]:.4g}, what all of "
                    "them are brought to."
                )


def _pair(name: str, given: object) -> tuple[Any, Any]:
    if (
        not isinstance(given, (tuple, list))
        or len(given) != 2
        or not all(isinstance(one, (int, float, np.number)) and not isinstance(one, bool) for one in given)
    ):
        raise ValueError(f"{name} must be two numbers, the lower first; got {given!r}.")
    return given[0], given[1]
