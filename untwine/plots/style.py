"""The colours and the lettering that all figures share."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK = "#22262b"
FAINT = "#5b636b"
RULE = "#c9ced3"
GREY = "#a9b1b8"

# Hues that stay apart for people with any common colour deficiency: they differ in lightness as well.
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
    """Return a name as it may be drawn: one line, not too long, and never taken for mathematics."""
    line = "".join(letter if letter.isprintable() else " " for letter in str(text))
    line = line if len(line) <= most else line[: most - 1] + "…"
    return line.replace("$", r"\$")


def open_frame(axes: Axes) -> None:
    """Leave only the left and lower edge of a panel, thin, and letter it in the shared ink."""
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(RULE)
    axes.tick_params(colors=FAINT, labelsize=9, length=3)
    axes.xaxis.label.set_color(FAINT)
    axes.yaxis.label.set_color(FAINT)
