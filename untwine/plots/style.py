"""Colours, text and axes that all figures share."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK = "#22262b"
FAINT = "#5b636b"
RULE = "#c9ced3"
GREY = "#a9b1b8"

# Distinguishable with any common colour vision deficiency: the colours differ in lightness as well as in hue.
CLASSES = (
    "#0072b2",
    "#e69f00",
    "#009e73",
    "#d55e00",
    "#cc79a7",
    "#56b4e9",
    "#332288",
    "#999933",
    "#882255",
    "#6b4a2b",
)
BLOCKS = {"common": "#0072b2", "salient": "#d55e00", "class": "#d55e00", "content": "#0072b2"}


def plain(text: object, most: int = 32) -> str:
    """Return text that is safe to draw: one line of at most `most` characters, without mathtext."""
    line = "".join(letter if letter.isprintable() else " " for letter in str(text))
    line = line if len(line) <= most else line[: most - 1] + "…"
    return line.replace("$", r"\$")


def open_frame(axes: Axes) -> None:
    """Show only the left and bottom spines of the axes, with ticks and labels in the shared colours."""
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(RULE)
    axes.tick_params(colors=FAINT, labelsize=9, length=3)
    axes.xaxis.label.set_color(FAINT)
    axes.yaxis.label.set_color(FAINT)
