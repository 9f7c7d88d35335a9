"""What a page says of parts that have collapsed or leak, and what it tells to try."""

from __future__ import annotations

import html
import json
import re

import pytest
from run_folders import ABOUT, codes, contrast, score
from run_folders import scores as good

import untwine as un
from untwine.diagnosis import diagnose
from untwine.evaluate import evaluate, write_scores
from untwine.report.advice import advice, findings
from untwine.report.page import page
from untwine.report.runs import read_runs
from untwine.report.verdict import EMPTY, verdict

PRINCIPLED = {"n_common": 4, "n_salient": 2, "beta_common": 1.0, "beta_salient": 0.2, "lambda_s": 2.5, "lambda_z": 25.0}
PRINCIPLED |= {"likelihood": "auto", "scale": 0.32, "epochs": 50}
CVAE = {"n_common": 4, "n_salient": 2, "beta_common": 1.0, "beta_salient": 1.0, "lambda_tc": 1.0, "epochs": 50}
CPCA = {"n_common": 4, "n_salient": 2, "alpha": 0.5}
LEARNT = [("fit", epoch, "vae", "reconstruction", 5 + 5 * 0.01**epoch) for epoch in range(5)]
COLLAPSED = codes(target=1e-5, background=1e-5, effect=1e-6)


def made(folder, params=PRINCIPLED, name="demo", shape=(3, 8, 8), **files):
    folder.full(name, about={**ABOUT, "params": params, "shape": list(shape)}, **{"history": LEARNT, **files})
    return next(run for run in read_runs(folder.root) if run.path.name == name)


def told(run):
    """Return what failed, and for each what to try, without markup and without what the fields mean."""
    plain = lambda text: re.sub(r", [^(]*(?= \()", "", html.unescape(re.sub("<.*?>", "", text)))  # noqa: E731
    return {found.what: [plain(text) for text in found.tries] for found in findings(run)}


def test_a_run_that_came_apart_needs_no_advice(folder):
    run = made(folder)
    assert told(run) == {}
    assert advice(run) == ""


def test_a_collapsed_salient_part_is_named_with_its_numbers(folder):
    run = made(folder, {**PRINCIPLED, "beta_salient": 1000.0}, codes=COLLAPSED, scores=good(0.3, 0.6))
    assert told(run) == {"The salient part has collapsed.": ["lower beta_salient (1000 now)", "lower scale (0.32 now)"]}
    (found,) = findings(run)
    assert "variance is less than 0.0001 in each of 2 dimensions, and 0.0 % of what varies" in found.why
    # Whatever a probe reads from codes that differ by rounding, nothing came apart.
    assert verdict(run).status == "not"
    assert verdict(run).reasons == (EMPTY,)
    assert "The salient part has collapsed." in page([run])


def test_a_collapse_is_seen_without_any_label(folder):
    run = made(folder, codes=COLLAPSED, scores={"reconstruction.x": score(0.1, "lower")})
    assert verdict(run).status == "not"


@pytest.mark.parametrize(
    "small",
    [codes(target=1e-5, effect=0.3), codes(target=0.9, effect=1e-4)],
    ids=["small units that are decoded", "large codes of what is small in the data"],
)
def test_small_is_not_collapsed(folder, small):
    assert "The salient part has collapsed." not in told(made(folder, codes=small))


def test_where_nothing_is_salient_an_empty_part_is_right(folder):
    run = made(folder, codes=COLLAPSED, contrast=contrast(0.4, 0))
    (found,) = findings(run)
    assert "found nothing salient in this data, so an empty part may be just right" in found.why
    assert found.tries == ()


def test_where_nothing_is_salient_no_setting_is_blamed_for_codes_alike(folder):
    run = made(folder, codes=codes(target=0.9, background=0.9), contrast=contrast(0.4, 0))
    assert told(run) == {"There may be nothing to take apart.": []}
    leaks = told(made(folder, name="leaks", scores=good(0.9, 0.6), contrast=contrast(0.4, 0)))
    assert list(leaks) == ["There may be nothing to take apart.", "The common part leaks the class."]


def test_without_a_contrast_test_it_is_advised(folder):
    run = made(folder, codes=COLLAPSED, contrast=None)
    assert told(run)["The salient part has collapsed."][-1].startswith("ask un.contrast_test(samples)")


def test_only_fields_that_the_method_has_are_named(folder):
    leaks = good(0.9, 0.6)
    what = "The common part leaks the class."
    assert told(made(folder, scores=leaks)) == {
        what: ["raise lambda_z (25 now)", "raise beta_common (1 now)", "lower beta_salient (0.2 now)", "lower n_common (4 now)"]
    }
    assert told(made(folder, CVAE, "cvae", scores=leaks)) == {
        what: ["raise beta_common (1 now)", "lower beta_salient (1 now)", "lower n_common (4 now)", "raise epochs (50 now)"]
    }
    assert told(made(folder, CPCA, "cpca", scores=leaks)) == {what: ["raise alpha (0.5 now)", "lower n_common (4 now)"]}
    assert told(made(folder, {**CPCA, "alpha": None, "n_common": 1}, "swept", scores=leaks)) == {what: []}


def test_a_weight_of_nothing_cannot_be_lowered(folder):
    run = made(folder, {**PRINCIPLED, "beta_salient": 0.0}, scores=good(0.9, 0.6))
    assert not any("beta_salient" in text for text in told(run)["The common part leaks the class."])


def test_salient_codes_that_hold_common_factors(folder):
    leaks = {**good(), "factors.salient": score(0.8, "lower")}
    what = "The salient part leaks the factors that both groups have."
    tries = ["raise lambda_s (2.5 now)", "raise beta_salient (0.2 now)", "raise epochs (50 now)"]
    assert told(made(folder, scores=leaks)) == {what: tries}
    wide = told(made(folder, name="wide", scores=leaks, contrast=contrast(n_salient=1)))
    assert wide == {what: ['lower n_salient (2 now; the test above found 1, which n_salient="auto" takes)', *tries]}


def test_common_codes_that_hold_salient_factors(folder):
    leaks = {"factors_salient.salient": score(0.9), "factors_salient.common": score(0.4, "lower")}
    assert list(told(made(folder, scores=leaks))) == ["The common part leaks the salient factors."]


def test_a_salient_part_that_holds_little(folder):
    run = made(folder, {**CVAE, "likelihood": "auto", "scale": 0.2}, scores=good(0.4, 0.12), contrast=contrast(n_salient=6))
    assert told(run) == {
        "The salient part holds little of the class.": [
            "lower beta_salient (1 now)",
            'raise n_salient (2 now; the test above found 6, which n_salient="auto" takes)',
            "lower scale (0.2 now)",
            "raise epochs (50 now)",
        ]
    }


def test_the_scale_of_vectors_is_learnt_and_no_advice(folder):
    params = {**PRINCIPLED, "beta_salient": 5.0}
    found = told(made(folder, params, shape=(20,), codes=COLLAPSED))
    assert found == {"The salient part has collapsed.": ["lower beta_salient (5 now)"]}
    fixed = told(made(folder, {**params, "likelihood": "gaussian"}, "fixed", shape=(20,), codes=COLLAPSED))
    assert "lower scale (0.32 now)" in fixed["The salient part has collapsed."]


def test_a_background_with_salient_codes(folder):
    run = made(folder, codes=codes(target=0.9, background=0.45))
    assert list(told(run)) == ["The background still has salient codes."]
    assert told(run)["The background still has salient codes."][0] == "raise lambda_s (2.5 now)"
    assert "They are 50 % as large" in advice(run)
    assert told(made(folder, name="quiet", codes=codes(target=0.9, background=0.18))) == {}


def test_more_epochs_come_first_where_the_error_was_still_falling(folder):
    falling = [("fit", epoch, "vae", "reconstruction", 10.0 - epoch) for epoch in range(5)]
    leaks = good(0.9, 0.6)
    found = told(made(folder, history=falling, scores=leaks))["The common part leaks the class."]
    assert found[0] == "raise epochs (50 now; the error was still falling)"
    assert len(found) == 4
    found = told(made(folder, name="learnt", scores=leaks))["The common part leaks the class."]
    assert found[0] == "raise lambda_z (25 now)"


def test_what_the_page_says_is_escaped(folder):
    run = made(folder, codes=COLLAPSED)
    assert "<b>The salient part has collapsed.</b>" in advice(run)
    assert "lower <code>beta_salient</code>, what codes of the salient part cost (0.2 now)" in advice(run)


@pytest.mark.parametrize("beta, empty", [(1000.0, True), (0.2, False)])
def test_a_real_run_with_a_dear_salient_part_collapses_and_the_page_says_so(folder, tmp_path, beta, empty):
    data = un.load("toy_contrast", n_target=400, n_background=400)
    method = un.PrincipledVAE(epochs=8, n_common=5, n_salient="auto", beta_salient=beta).fit(data.train, out=tmp_path / "run")
    write_scores(tmp_path / "run" / "scores.json", evaluate(method, data.test, ["factors"]))
    diagnose(tmp_path / "run", method, data.train, data.test)
    text = un.report(tmp_path / "run", tmp_path / "page.html").read_text()
    assert "Estimated number of salient dimensions: 2. This run has 2." in text
    assert ("The salient part has collapsed." in text) == empty
    assert ("cost (1000 now)" in text) == empty
    assert (max(json.loads((tmp_path / "run" / "codes.json").read_text())["salient"]["target"]["variance"]) < 0.01) == empty
