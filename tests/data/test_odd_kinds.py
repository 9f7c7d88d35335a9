"""At least a hundred kinds of broken or odd input are tested, each by its own sentence or by what is said about it."""

import importlib.util
from pathlib import Path

TABLES = {
    "test_odd_input": ("TABLES", "ODD_TABLES", "FILES"),
    "test_odd_images": ("IMAGES", "ODD_IMAGES"),
    "test_odd_cells": ("REFUSED", "WARNED", "FILES"),
    "test_odd_volumes": ("REFUSED",),
}


def kinds():
    """Return the names of all kinds that the tests of odd input go through, with the file of the test."""
    found = []
    for name, tables in TABLES.items():
        spec = importlib.util.spec_from_file_location(f"kinds_of_{name}", Path(__file__).with_name(f"{name}.py"))
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        found += [(name, kind) for table in tables for kind in getattr(module, table)]
    return found


def test_a_hundred_kinds_of_odd_input_are_tested():
    found = kinds()
    assert len(set(found)) >= 150
    for wanted in (
        ("test_odd_images", "a corrupt image"),
        ("test_odd_images", "16 bits among 8"),
        ("test_odd_images", "a text file"),
        ("test_odd_images", "Unicode and spaces"),
        ("test_odd_input", "NaN"),
        ("test_odd_input", "infinite"),
        ("test_odd_input", "a constant column"),
        ("test_odd_input", "unknown group column"),
        ("test_odd_input", "an empty group"),
        ("test_odd_input", "ids that come twice"),
        ("test_odd_cells", "duplicate obs_names"),
        ("test_odd_cells", "wrong layer"),
        ("test_odd_cells", "negative counts"),
        ("test_odd_cells", "fractions as counts"),
    ):
        assert wanted in found
