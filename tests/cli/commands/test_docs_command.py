"""`untwine docs`, and the address at the end of every command's help."""

import webbrowser
from pathlib import Path

import pytest
from command_line import exit_code, run

from untwine.cli import pages
from untwine.cli.app import app

ROOT = Path(__file__).parents[3]


@pytest.fixture
def packaged(tmp_path, monkeypatch):
    """An installed package with a few pages, not built."""
    for name in ("index", "commands/README", "commands/fit", "methods/README", "methods/lord", "metrics/probe"):
        path = tmp_path / "pages" / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {name}\n")
    monkeypatch.setattr(pages, "PACKAGED", tmp_path / "pages")
    return tmp_path / "pages"


@pytest.fixture
def opened(monkeypatch):
    addresses = []
    monkeypatch.setattr(webbrowser, "open", addresses.append)
    return addresses


def build(packaged):
    for path in list(packaged.rglob("*.md")):
        name = path.relative_to(packaged).with_suffix(".html").as_posix().replace("README", "index")
        (packaged / "site" / name).parent.mkdir(parents=True, exist_ok=True)
        (packaged / "site" / name).write_text("built")


@pytest.mark.parametrize("name", ["", *(name for name in app if not name.startswith("-"))])
def test_help_ends_with_the_address_of_a_page_that_is_there(name, capsys, monkeypatch):
    monkeypatch.setattr(pages, "REPOSITORY", ROOT)
    run(*filter(None, [name]), "--help")
    last = "".join(capsys.readouterr().out.rpartition("Documentation: ")[2].split())
    page = Path(last)
    assert page.is_file()
    assert page.stem in (name, "README", "index")


def test_a_page_is_opened_where_it_is_built(packaged, opened, capsys):
    build(packaged)
    run("docs")
    run("docs", "lord")
    run("docs", "methods")
    run("docs", "commands/fit", "--no-browser")
    site = packaged / "site"
    expected = [site / name for name in ("index.html", "methods/lord.html", "methods/index.html", "commands/fit.html")]
    assert capsys.readouterr().out.split() == [path.as_uri() for path in expected]
    assert opened == [path.as_uri() for path in expected[:3]]
    assert all(path.is_file() for path in expected)


def test_where_nothing_is_built_a_sentence_says_how_and_the_text_is_named(packaged, opened, capsys):
    run("docs", "probe")
    out, err = capsys.readouterr()
    assert out.strip() == str(packaged / "metrics" / "probe.md")
    assert err.count("\n") == 1
    assert "make docs" in err
    assert opened == []


def test_an_unknown_page_is_refused_with_the_nearest(packaged, capsys):
    assert exit_code("docs", "lordd") == 2
    assert "did you mean 'lord'?" in capsys.readouterr().err
