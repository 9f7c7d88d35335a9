"""The features that a block is about, as bars with intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from untwine.plots.style import BLOCKS, FAINT, GREY, INK, open_frame, plain
from untwine.runs.features import Feature

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEVEL = 0.05


def feature_effects(features: Sequence[Feature], most: int = 20, block: str = "salient", title: str = "") -> Figure:
    """Draw the effect of a block on the features that it changes most, with 95 % intervals, the largest change at the top.

    Features with q below 0.05, or without one, are coloured; the others are grey. Where there are several levels each has its
    own axes, with a common scale.

    Parameters
    ----------
    features
        What `untwine.salient_features` returns.
    most
        How many features of each level to draw.
    block
        The block, for colour and title.
    title
        A title in place of the usual one.
    """
    from matplotlib.figure import Figure

    levels: dict[str, list[Feature]] = {}
    for one in features:
        levels.setdefault(one.by, []).append(one)
    if not levels or most < 1:
        raise ValueError("feature_effects needs at least one feature; got none; pass what salient_features returns.")
    levels = {level: sorted(own, key=lambda one: -one.change)[:most] for level, own in levels.items()}
    rows = max(map(len, levels.values()))
    figure = Figure(figsize=(1.6 + 3.6 * len(levels), 1.1 + 0.24 * rows), layout="constrained")
    all_axes = figure.subplots(1, len(levels), squeeze=False, sharex=True)[0]
    for axes, (level, own) in zip(all_axes, levels.items(), strict=True):
        open_frame(axes)
        significant = [math.isnan(one.q) or one.q < LEVEL for one in own]
        places = range(len(own))
        axes.barh(places, [one.effect for one in own], height=0.62, color=[_colour(block, yes) for yes in significant])
        axes.hlines(places, [one.low for one in own], [one.high for one in own], color=INK, linewidth=1.3)
        axes.set_yticks(places, [plain(one.name, 24) for one in own], fontsize=8, color=INK)
        axes.tick_params(axis="y", length=0)
        axes.set_ylim(rows - 0.4, -0.6)
        axes.axvline(0, color=FAINT, linewidth=0.8)
        axes.set_xlabel("change by the block, in standard deviations", fontsize=9)
        axes.set_title(plain(level, 40), fontsize=10, color=INK, loc="left")
    usual = f"Features that the {block} block changes most (grey: q ≥ {LEVEL})"
    figure.suptitle(plain(title or usual, 80), fontsize=11, color=INK, x=0.01, ha="left")
    return figure


def _colour(block: str, significant: bool) -> str:
    return BLOCKS.get(block, BLOCKS["salient"]) if significant else GREY
