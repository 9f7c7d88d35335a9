"""HTML that is balanced and escaped by the way it is built."""

from __future__ import annotations

import base64
import html
import io
import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

VOID = frozenset({"img", "meta", "br"})
DOTS = 190  # per inch, twice what the page shows, for dense screens


class Markup(str):
    """Text that is HTML already. Every other string is taken as plain text and escaped."""

    __slots__ = ()


def tag(name: str, /, *children: str, **attributes: str | int) -> Markup:
    """Return an element. Plain strings among the children and all attributes are escaped.

    Examples
    --------
    >>> tag("p", "a < b", tag("br"), class_="note")
    '<p class="note">a &lt; b<br></p>'
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html.escape(str(value))}"' for key, value in attributes.items() if value != ""
    )
    if name in VOID:
        return Markup(f"<{name}{written}>")
    return Markup(f"<{name}{written}>{join(*children)}</{name}>")


def join(*children: str) -> Markup:
    """Return several pieces as one, escaping those that are plain text."""
    return Markup("".join(child if isinstance(child, Markup) else html.escape(child) for child in children))


def image(figure: Figure, alt: str, caption: str = "", wide: bool = False) -> Markup:
    """Return a figure as a PNG inside the page; a wide one may be scrolled sideways on a phone."""
    file = io.BytesIO()
    with warnings.catch_warnings():
        # A name in a script that the font lacks is drawn as boxes; the page's own text still has it.
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        figure.savefig(file, format="png", dpi=DOTS, facecolor="white", metadata={"Software": None})
    data = base64.b64encode(file.getvalue()).decode()
    width, height = (round(float(side) * 96) for side in figure.get_size_inches())
    image = tag("img", src=f"data:image/png;base64,{data}", alt=alt, width=width, height=height)
    plate = tag("div", image, class_="plate wide" if wide else "plate")
    return tag("figure", plate, *([tag("figcaption", caption)] if caption else []))
