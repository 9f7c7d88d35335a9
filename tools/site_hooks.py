"""What mkdocs calls while it builds the site (mkdocs.yml): pages that are no file of docs/, links, outputs of code, equations.

- A page of the navigation written `folder/*` stands for all pages of that folder that are named nowhere else.
- CONTRIBUTING.md and CHANGELOG.md are pages, and so is the reference of the API, which is made from the package's public names.
- Links are written for the repository: those to files outside of docs/ and to folders lead to the page that the site has.
- Below the Python of a page stands what it printed and drew, from the page's notebook, which can be downloaded.
- TeX becomes MathML, which browsers draw without a script.
"""

from __future__ import annotations

import base64
import logging
import posixpath
import re
from collections.abc import Iterable, Iterator
from html import unescape
from pathlib import Path
from typing import Any

import notebooks
import site_pages
from latex2mathml.converter import convert
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)([^)]*)\)")
FENCED = re.compile(r"(^```.*?^```[^\n]*$)", re.MULTILINE | re.DOTALL)
INDENT = re.compile(r"^ {2,3}(?=\S)", re.MULTILINE)  # of what is inside a list; Python-Markdown wants four spaces, others two
MATH = re.compile(r'<(span|div) class="arithmatex">(.*?)</\1>', re.DOTALL)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages and images that are no files of docs/, and fill the navigation."""
    for name, source in site_pages.ROOT_PAGES.items():
        files.append(File.generated(config, name, content=(ROOT / source).read_text(encoding="utf-8")))
    for name, text in site_pages.api_pages().items():
        files.append(File.generated(config, name, content=text))
    for path in sorted(notebooks.FOLDER.glob("*.ipynb")):
        for name, content in _images(path):
            files.append(File.generated(config, name, content=content))
    config.nav = fill_navigation(config.nav, [file.src_uri for file in files.documentation_pages()])
    return files


def fill_navigation(nav: Any, pages: Iterable[str]) -> list[Any]:
    """Return the navigation with titles, and with the pages of a folder in place of `folder/*`."""
    known = sorted(pages)
    named = set(_named(nav))

    def entries(items: Iterable[Any]) -> Iterator[Any]:
        for item in items:
            if isinstance(item, dict):
                yield {title: list(entries(inside)) for title, inside in item.items()}
            elif item.endswith("/*"):
                folder = item.removesuffix("/*").removeprefix(".")  # "./*" is docs/ itself
                yield from (_titled(page) for page in known if posixpath.dirname(page) == folder and page not in named)
            else:
                yield _titled(item)

    return list(entries(nav))


def _named(items: Any) -> Iterator[str]:
    for item in items:
        if isinstance(item, dict):
            for inside in item.values():
                yield from _named(inside)
        else:
            yield item


def _titled(page: str) -> Any:
    """Return a page with a short title: its heading up to a colon."""
    path = ROOT / "docs" / page
    if not path.exists() or path.name in ("README.md", "index.md"):
        return page
    found = re.search(r"^# (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return page if found is None else {re.sub(r"^\d+\. ", "", found[1]).split(": ")[0].replace("`", ""): page}


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Return the text of a page with the site's links and the outputs of its code."""
    uri = page.file.src_uri
    source = site_pages.ROOT_PAGES.get(uri, f"docs/{uri}")
    text = "".join(
        piece if piece.startswith("```") else INDENT.sub("    ", LINK.sub(lambda found: _relink(found, source, uri), piece))
        for piece in FENCED.split(markdown)
    )
    notebook = notebooks.path(uri)
    if notebook.exists() and notebooks.is_current(ROOT / "docs" / uri):
        text = with_outputs(text, notebook, uri)
    elif notebook.exists():
        logging.getLogger("mkdocs.hooks").warning(
            "the notebook of %s is of other Python; run `make notebooks`, or delete it.", uri
        )
    # What is not run is Python all the same; a fence with a word more would be none, and what follows would be in its place.
    return notebooks.SMALLER.sub("", text).replace("```python no-run\n", "```python\n")


def _relink(found: re.Match[str], source: str, uri: str) -> str:
    """Return a link of the repository as one of the site; of a file that the site does not have, its text."""
    mark, text, target, rest = found.groups()
    address = link(target, source, uri)
    return f"{mark}[{text}]({address}{rest})" if address else text


def link(target: str, source: str, uri: str) -> str:
    """Return where a link of a file of the repository leads on the site; nothing where the site does not have it.

    Parameters
    ----------
    target
        The link as it is written.
    source, uri
        The path of its file in the repository, and of its page among the pages.
    """
    address, hash_, anchor = target.partition("#")
    if not address or re.match(r"[a-z]+:", address):
        return target
    path = posixpath.normpath(posixpath.join(posixpath.dirname(source), address))
    if (ROOT / path).is_dir():
        path += "/README.md"
    pages = {name: page for page, name in site_pages.ROOT_PAGES.items()} | {"README.md": "index.md"}
    if path == "docs/decisions/README.md":
        path = "docs/decisions/0006-rooms.md"
    if path not in pages and not path.startswith("docs/") and (ROOT / path).exists():
        return ""
    place = pages.get(path, path.removeprefix("docs/"))
    return posixpath.relpath(place, posixpath.dirname(uri) or ".") + hash_ + anchor


def with_outputs(text: str, notebook: Path, uri: str) -> str:
    """Return the text of a page with the outputs of its notebook below the code, and a link to the notebook."""
    cells = iter(notebooks.code_cells(notebook))
    up = posixpath.relpath(".", posixpath.dirname(uri) or ".")
    number = -1

    def add(match: re.Match[str]) -> str:
        nonlocal number
        if "no-run" in match[1]:
            return match[0]
        number += 1
        return match[0] + "".join(
            _output(one, f"{up}/outputs/{notebook.stem}-{number}-{i}.png") for i, one in enumerate(next(cells)["outputs"])
        )

    text = notebooks.FENCE.sub(add, text)
    first, rest = text.split("\n", 1)
    here = posixpath.relpath(f"notebooks/{notebook.name}", posixpath.dirname(uri) or ".")
    line = f'[The notebook of this page]({here}){{ download="{notebook.name}" .notebook }}'
    return f"{first}\n\n{line}\n{rest}"


def _output(output: dict[str, Any], image: str) -> str:
    if "text" in output or ("text/plain" in output.get("data", {}) and "image/png" not in output["data"]):
        text = "".join(output.get("text") or output["data"]["text/plain"]).rstrip()
        return f'\n\n```text {{ .output title="Output" }}\n{text}\n```\n'
    return f"\n\n![What the code above draws]({image}){{ .output }}\n"


def _images(path: Path) -> Iterator[tuple[str, bytes]]:
    for number, cell in enumerate(notebooks.code_cells(path)):
        for i, output in enumerate(cell["outputs"]):
            if "image/png" in output.get("data", {}):
                yield f"outputs/{path.stem}-{number}-{i}.png", base64.b64decode(output["data"]["image/png"])


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Return the page with its TeX as MathML."""
    return MATH.sub(_mathml, html)


def _mathml(match: re.Match[str]) -> str:
    tex = unescape(match[2].strip())[2:-2]  # between \( and \), or \[ and \]
    if match[1] == "span":
        return str(convert(tex, display="inline"))
    return f'<div class="equation">{convert(tex, display="block")}</div>'
