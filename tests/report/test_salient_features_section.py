"""The page of a run on vectors shows the features that its salient block is about."""

from run_folders import CARD

from untwine.report.page import page
from untwine.runs.features import Feature, features_path, write_features
from untwine.runs.reading import read_runs


def test_the_section_has_the_features_and_says_how_many_are_discoveries(folder):
    path = folder.full(card={**CARD, "shape": [5]}, gallery=None)
    assert "Salient features</h3>" not in page(read_runs(path))
    features = [
        Feature(f"GENE<{i}>", "", 2.0 - i, 1.5 - i, 1.4 - i, 1.6 - i, 3.0, 0.001 + 0.4 * i, 0.002 + 0.4 * i) for i in range(2)
    ]
    write_features(features_path(path), features)
    text = page(read_runs(path))
    assert "Salient features</h3>" in text
    assert "1 of 2 features have q below 0.05" in text
    assert '<th scope="row">GENE&lt;0&gt;</th><td>1.500</td><td>1.400 to 1.600</td>' in text
    assert "GENE<0>" not in text


def test_features_that_were_not_tested_have_no_counts(folder):
    path = folder.full(card={**CARD, "shape": [5]}, gallery=None)
    nan = float("nan")
    write_features(features_path(path), [Feature("g", "", 1.0, 1.0, 0.9, 1.1, 1.0, nan, nan)])
    text = page(read_runs(path))
    assert "features have q below" not in text
    assert "<td>n/a</td>" in text
