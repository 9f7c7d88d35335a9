"""The studies and pages that come with the package: listed, found by name, and in the wheel, which is never written to."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from command_line import run

import untwine as un
from untwine.study import published

pytestmark = pytest.mark.usefixtures("forked_workers")
ROOT = Path(__file__).parents[2]
NAMES = sorted(path.stem for path in (ROOT / "studies").glob("*.toml"))


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The content of the wheel that is built from a copy of the repository, as it is installed."""
    folder = tmp_path_factory.mktemp("wheel")
    for name in ("untwine", "studies", "docs"):
        shutil.copytree(ROOT / name, folder / "source" / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE"):
        if (ROOT / name).exists():
            shutil.copy(ROOT / name, folder / "source")
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check", "--quiet"]
    command = [sys.executable, "-m", "pip", "wheel", *options, "--wheel-dir", str(folder), str(folder / "source")]
    subprocess.run(command, check=True, capture_output=True)
    [wheel] = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as content:
        content.extractall(folder / "site")
    return folder / "site"


def test_the_wheel_has_every_study_and_its_finished_cells_once(site):
    for path in sorted([*(ROOT / "studies").glob("*.toml"), *(ROOT / "studies").glob("results/*.csv")]):
        there = site / "untwine" / "study" / "published" / path.relative_to(ROOT / "studies")
        assert there.read_bytes() == path.read_bytes()
        assert [one.name for one in site.rglob(path.name)] == [path.name]
    assert {path.name for path in site.iterdir() if not path.name.endswith(".dist-info")} == {"untwine"}


def test_the_wheel_has_the_page_of_the_explorer(site):
    contents = [
        {path.name: path.read_bytes() for path in (root / "untwine" / "explore" / "static").iterdir()} for root in (site, ROOT)
    ]
    assert contents[0] == contents[1]
    assert "index.html" in contents[0]


def test_the_wheel_has_the_text_of_every_page_of_the_documentation(site):
    pages = site / "untwine" / "pages"
    texts = {path.relative_to(ROOT / "docs"): path.read_bytes() for path in (ROOT / "docs").rglob("*.md")}
    assert {path.relative_to(pages): path.read_bytes() for path in pages.rglob("*.*")} == texts


def test_an_installed_package_reads_its_studies_and_writes_elsewhere(site, tmp_path):
    code = f"""
import untwine as un
from untwine.study import published
assert un.__file__.startswith({str(site)!r}), un.__file__
assert sorted(published.published_studies()) == {NAMES!r}
study = un.Study.read("dip_z_diff")
done, of = study.finished()
ran = study.run(only={{"seed": [0]}}) if done == of else None
print(done, of, ran)
assert study.finished() == (done, of)
"""
    before = {path: path.stat().st_mtime_ns for path in site.rglob("*") if "__pycache__" not in path.parts}
    environment = os.environ | {"PYTHONPATH": str(site), "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert {path: path.stat().st_mtime_ns for path in site.rglob("*") if "__pycache__" not in path.parts} == before


def test_the_long_table_of_a_packaged_study_goes_on_in_the_working_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    packaged = tmp_path / "site" / "published"
    (packaged / "results").mkdir(parents=True)
    (packaged / "results" / "mine.csv").write_text("shipped\n")
    monkeypatch.setattr(published, "PACKAGED", packaged)
    study, own = packaged / "mine.toml", Path("runs", "studies", "results", "mine.csv")
    assert published.table_path(study) == packaged / "results" / "mine.csv"
    assert published.table_path(study, write=True) == own
    assert own.read_text() == "shipped\n"
    own.write_text("more\n")
    assert published.table_path(study, write=True) == published.table_path(study) == own
    assert own.read_text() == "more\n"
    elsewhere = tmp_path / "other" / "mine.toml"
    assert published.table_path(elsewhere, write=True) == tmp_path / "other" / "results" / "mine.csv"


def test_a_study_is_found_by_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "brats").mkdir()  # a folder of that name is no study
    assert un.Study.read("brats").path == ROOT / "studies" / "brats.toml"
    assert un.Study.read(ROOT / "studies" / "brats.toml").path == ROOT / "studies" / "brats.toml"
    with pytest.raises(ValueError, match=r"a name that `untwine study list` shows; got 'brat'; did you mean 'brats'"):
        un.Study.read("brat")
    with pytest.raises(FileNotFoundError):
        un.Study.read("brats.toml")


def test_studies_are_listed_with_their_finished_cells(capsys, monkeypatch):
    some = {name: ROOT / "studies" / f"{name}.toml" for name in ("dip_z_diff", "dip_search")}
    assert set(some) <= set(published.published_studies())
    monkeypatch.setattr(published, "published_studies", lambda: some)
    run("study", "list", "--json")
    listed = {one["name"]: one for one in json.loads(capsys.readouterr().out)}
    study = un.Study.read("dip_z_diff")
    done = len({row["fingerprint"] for row in study.results()})
    assert listed["dip_z_diff"]["title"] == study.spec["title"]
    assert listed["dip_z_diff"]["paper"] == study.spec.get("paper")
    assert listed["dip_z_diff"]["finished"]["small"] == {"finished": done, "of": len(study.cells())}
    assert set(listed["dip_z_diff"]["finished"]) == {"small", "paper"}
    run("study", "list")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:3] == ["name", "small", "cells"]
    assert lines[1].startswith("dip_z_diff")
    assert f"{done} of {len(study.cells())}" in lines[1]
