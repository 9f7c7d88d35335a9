"""A page of the report, read strictly."""

from __future__ import annotations

from html.parser import HTMLParser

from untwine.report.page import report

VOID = {"img", "meta", "br"}


class Page(HTMLParser):
    """Reads a page strictly: every tag that opens must close in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.headings, self.ids = [], [], [], set()
        self.text, self.styles = "", ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        assert len(dict(attrs)) == len(attrs)
        self.tags.append((tag, dict(attrs)))
        if "id" in dict(attrs):
            assert dict(attrs)["id"] not in self.ids
            self.ids.add(dict(attrs)["id"])
        if tag not in VOID:
            self.open.append(tag)
        if tag in ("h1", "h2", "h3", "h4"):
            self.headings.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" in self.open:
            self.styles += data
            return
        self.text += data
        if any(tag in ("h1", "h2", "h3", "h4") for tag in self.open):
            self.headings[-1] += data


def read(runs, tmp_path):
    out = tmp_path / "page.html"
    assert report(runs, out) == out
    page = Page(out.read_text(encoding="utf-8"))
    asks_for_nothing(page)
    return page


def asks_for_nothing(page):
    assert not {tag for tag, _ in page.tags} & {"script", "link", "iframe", "object", "embed", "base", "form"}
    for _, attributes in page.tags:
        for name, value in attributes.items():
            if name in ("src", "srcset", "data", "action", "poster"):
                assert value.startswith("data:image/png;base64,")
            if name == "href":
                assert value.startswith("#")
                assert value[1:] in page.ids
            assert not name.startswith("on")
    assert "url(" not in page.styles
    assert "@import" not in page.styles
