"""Where the documentation is: the built site beside the code, else the Markdown that every copy has."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

PACKAGED = Path(__file__).parents[1] / "pages"
REPOSITORY = Path(__file__).parents[2]


class Places(NamedTuple):
    """The folder of the Markdown, and that of the built site, which may not exist."""

    markdown: Path
    site: Path


def places() -> Places:
    """Return where the pages are: in the repository, or in the installed package, which has a copy of them."""
    if PACKAGED.is_dir():
        return Places(PACKAGED, PACKAGED / "site")
    return Places(REPOSITORY / "docs", REPOSITORY / "site")


def is_built() -> bool:
    """Return whether there is a built site."""
    return (places().site / "index.html").is_file()


def names() -> list[str]:
    """Return the names of all pages, such as `methods/lord`; a folder's first page has the folder's name."""
    markdown = places().markdown
    every = (path.relative_to(markdown).with_suffix("").as_posix() for path in markdown.rglob("*.md"))
    return sorted(name.removesuffix("/README") for name in every)


def find(name: str) -> Path:
    """Return the file of a page: built, or else its Markdown; neither need exist."""
    markdown, site = places()
    folder = (markdown / name).is_dir()
    if is_built():
        return site / (f"{name}/index.html" if folder else f"{name}.html")
    return markdown / (f"{name}/README.md" if folder else f"{name}.md")


def command_page(name: str) -> str:
    """Return the line that ends a command's help: the address of its page."""
    return f"Documentation: `{find(f'commands/{name}' if name else 'commands')}`"  # quoted, or Markdown would read its signs
