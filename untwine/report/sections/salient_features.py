"""The features that the salient block changes most, of runs on vectors with names of features."""

from __future__ import annotations

import math

from untwine import plots
from untwine.report.markup import Markup, image, join, tag
from untwine.report.section import Section
from untwine.report.tables import shown
from untwine.runs.names import FEATURES
from untwine.runs.reading import Run

DRAWN, LISTED, LEVEL = 20, 12, 0.05
NOTE = (
    "How much each feature of held-out targets changes when the salient block is removed. Effect: the mean change, decoded "
    "with minus without the block, in standard deviations of the feature, with its 95 % bootstrap interval. A feature has a "
    "small q where the block brings the reconstruction nearer to what was observed, in targets more so than in the background, "
    "and the feature itself differs between both; q is the false-discovery rate over all features. All features are in "
)


def salient_features(run: Run) -> Markup:
    """Return the features as bars with intervals and the first of them as a table; nothing where features have no names."""
    if not run.features:
        return Markup("")
    many = sum(one.q < LEVEL for one in run.features)
    tested = any(not math.isnan(one.q) for one in run.features)
    summary = f"{many} of {len(run.features)} features have q below {LEVEL}. " if tested else ""
    alt = f"Effect of the salient block on the {min(DRAWN, len(run.features))} features that it changes most."
    head = tag("tr", *(tag("th", name, scope="col") for name in ("feature", "effect", "95 % interval", "change", "p", "q")))
    rows = [
        tag(
            "tr",
            tag("th", one.name, scope="row"),
            *(tag("td", text) for text in (shown(one.effect), f"{shown(one.low)} to {shown(one.high)}", shown(one.change))),
            *(tag("td", shown(value)) for value in (one.p, one.q)),
        )
        for one in run.features[:LISTED]
    ]
    table = tag("div", tag("table", tag("thead", head), tag("tbody", *rows), class_="overview"), class_="scroll")
    note = tag("p", summary, NOTE, tag("code", FEATURES), " of the run.", class_="note")
    return join(note, tag("div", image(plots.feature_effects(run.features, DRAWN), alt), class_="pair"), table)


SECTION = Section("Salient features", 85, salient_features)
