"""A missing optional package is asked for by its extra."""

import sys

import pytest

from untwine.registry.extras import EXTRAS, optional


def test_a_package_that_is_there_is_returned():
    assert optional("pyarrow.parquet", "reading Parquet").__name__ == "pyarrow.parquet"


def test_a_missing_package_is_named_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "nibabel", None)
    with pytest.raises(
        ModuleNotFoundError, match=r"reading NIfTI needs the package nibabel, .* pip install 'untwine\[imaging\]'"
    ):
        optional("nibabel", "reading NIfTI")


def test_every_extra_is_declared():
    import tomllib
    from pathlib import Path

    declared = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for package, extra in EXTRAS.items():
        assert any(one.startswith(package) for one in declared[extra]), package
