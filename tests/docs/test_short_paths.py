"""From a user's own files to an answer: at most three commands, or eight lines of Python, for each kind of data."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = {name: ROOT / "docs" / "tutorials" / f"{name}.md" for name in ("results_out", "brain_scans", "own_data")}


def fence(page, heading):
    """Return the lines of the first block of code below a heading that are neither empty nor a note for the tests."""
    _, _, rest = page.read_text().partition(f"# {heading}\n")
    block = re.search(r"^```[^\n]*\n(.*?)^```", rest, re.MULTILINE | re.DOTALL)
    return [line for line in block.group(1).splitlines() if line.strip() and not line.startswith("# in the tests")]


@pytest.mark.parametrize("name", PAGES)
def test_the_path_is_short(name):
    commands, lines = fence(PAGES[name], "In three commands"), fence(PAGES[name], "In eight lines")
    assert 1 <= len(commands) <= 3
    assert all(line.startswith("untwine ") for line in commands)
    assert 1 <= len(lines) <= 8
    assert any("import untwine" in line for line in (*lines, *PAGES[name].read_text().splitlines()))


def test_the_readme_leads_to_each():
    readme = (ROOT / "README.md").read_text()
    for page in PAGES.values():
        assert f"tutorials/{page.name}" in readme


@pytest.mark.soak  # which installs scanpy; its compiler takes longer than all the rest
def test_the_lines_for_cells_run_with_scanpy(tmp_path, monkeypatch):
    pytest.importorskip("scanpy")
    import warnings

    import matplotlib as mpl

    mpl.use("agg")
    monkeypatch.chdir(tmp_path)
    page = PAGES["results_out"].read_text()
    made = next(
        block for block in re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL) if "write_h5ad" in block
    )
    lines = "\n".join(fence(PAGES["results_out"], "In eight lines")).replace("epochs=60", "epochs=20")
    names = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scanpy's own
        exec(made, names)
        exec(lines, names)
    assert names["adata"].obsm["X_untwine_salient"].shape == (600, 2)
    found = {gene.name for gene in names["genes"][:10]}
    assert len(found & {f"gene{i}" for i in range(50, 60)}) >= 8
    assert list(tmp_path.glob("figures/*salient.png"))
    [again] = [code for code in re.findall(r"^```python no-run\n(.*?)^```", page, re.M | re.S) if "sc.tl.umap(adata)" in code]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(again, names)  # the lines of the step by step, on the same cells
    assert names["adata"].obsm["X_umap"].shape == (600, 2)
