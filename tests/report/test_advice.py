"""What a page says of parts that have collapsed or leak, and what it tells to try."""

from __future__ import annotations

import html
import json
import re

import pytest
from run_folders import ABOUT, codes, contrast, score
from run_folders import scores as good

import untwine as un
from untwine.evaluation.diagnostics import diagnose
from untwine.evaluation.scoring import evaluate, write_scores
from untwine.methods import METHODS
from untwine.report.advice import advice, findings
from untwine.report.page import page
from untwine.report.verdict import EMPTY, verdict
from untwine.report.verdict import SILENT as EMPTY_COMMON
from untwine.runs.reading import read_runs

PRINCIPLED = {"n_common": 4, "n_salient": 2, "beta_common": 1.0, "beta_salient": 0.2, "lambda_s": 2.5, "lambda_z": 25.0}
PRINCIPLED |= {"likelihood": "auto", "scale": 0.32, "epochs": 50}
CVAE = {"n_common": 4, "n_salient": 2, "beta_common": 1.0, "beta_salient": 1.0, "lambda_tc": 1.0, "epochs": 50}
CPCA = {"n_common": 4, "n_salient": 2, "alpha": 0.5}
LEARNT = [("fit", epoch, "vae", "reconstruction", 5 + 5 * 0.01**epoch) for epoch in range(5)]
SCALE = ["lower scale (0.32 now)", "raise beta_common (1 now)"]
SILENT = codes(common=1e-4)
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
    assert told(run) == {"The salient part has collapsed.": ["lower beta_salient (1000 now)", *SCALE]}
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
        what: ["raise beta_common (1 now)", "lower beta_salient (0.2 now)", "lower n_common (4 now)", "raise epochs (50 now)"]
    }
    assert told(made(folder, CVAE, "cvae", scores=leaks)) == {
        what: ["raise beta_common (1 now)", "lower beta_salient (1 now)", "raise lambda_tc (1 now)", "lower n_common (4 now)"]
    }
    assert told(made(folder, CPCA, "cpca", scores=leaks)) == {what: ["raise alpha (0.5 now)", "lower n_common (4 now)"]}
    swept = told(made(folder, {**CPCA, "alpha": None}, "swept", scores=leaks))
    assert swept == {what: ["raise alpha (chosen from the data now, alpha_)", "lower n_common (4 now)"]}


def test_a_common_part_that_leaks_is_made_dear_before_it_is_made_alike(folder):
    few = {key: value for key, value in PRINCIPLED.items() if key != "n_common"}
    for weight, shown in ((0.0, True), (1.0, True), (5.0, False), (25.0, False)):
        run = made(folder, {**few, "lambda_z": weight}, f"weight{weight}", scores=good(0.9, 0.6))
        found = told(run)["The common part leaks the class."]
        assert found[:2] == ["raise beta_common (1 now)", "lower beta_salient (0.2 now)"]
        assert (f"raise lambda_z ({weight:g} now)" in found) == shown


def test_a_silent_common_part_is_named_with_its_numbers(folder):
    run = made(folder, codes=SILENT)
    tries = ["lower lambda_z (25 now)", "lower beta_common (1 now)", "lower scale (0.32 now)"]
    assert told(run) == {"The common part is silent.": tries}
    (found,) = findings(run)
    assert "variance is at most 0.0001 in each of 4 dimensions, and 0.0 % of what varies in the background" in found.why
    # Nothing salient can be read from what holds nothing: the scores alone would say that all is well.
    assert verdict(run).status == "not"
    assert verdict(run).reasons == (EMPTY_COMMON,)
    assert "The common part is silent." in page([run])


def test_a_common_part_that_has_nothing_to_hold_may_be_silent(folder):
    assert told(made(folder, codes=codes(common=1e-4, varies=False))) == {}
    small = codes()
    for group in ("target", "background"):
        small["common"][group] |= {"variance": [1e-4] * 4}  # small units that are decoded
    assert told(made(folder, name="units", codes=small)) == {}


def test_both_parts_may_be_empty(folder):
    both = {**COLLAPSED, "common": SILENT["common"]}
    assert list(told(made(folder, codes=both))) == ["The salient part has collapsed.", "The common part is silent."]


CONTRASTIVE = [name for name, method in METHODS.items() if {"n_common", "n_salient"} <= set(method().get_params())]
FAILURES = {
    "The salient part has collapsed.": {"codes": COLLAPSED},
    "The common part is silent.": {"codes": SILENT},
    "The common part leaks the class.": {"scores": good(0.9, 0.6)},
    "The salient part holds little of the class.": {"scores": good(0.4, 0.12)},
    "The salient part leaks the factors that both groups have.": {"scores": {**good(), "factors.salient": score(0.8, "lower")}},
    "The background still has salient codes.": {"codes": codes(target=0.9, background=0.45)},
}


@pytest.mark.parametrize("shape", [(20,), (3, 8, 8)], ids=["vectors", "images"])
@pytest.mark.parametrize("name", CONTRASTIVE)
def test_every_contrastive_method_has_something_to_try_against_every_failure(folder, name, shape):
    params = METHODS[name]().get_params()
    for number, (what, files) in enumerate(FAILURES.items()):
        about = {**ABOUT, "method": name, "params": params, "shape": list(shape), "blocks": {"common": 4, "salient": 2}}
        folder.full(str(number), about=about, **{"history": LEARNT, **files})
        (run,) = [run for run in read_runs(folder.root) if run.path.name == str(number)]
        tries = told(run)[what]
        assert 0 < len(tries) <= 4, what
        fields = [re.match(r"(?:raise|lower) (\w+)", text)[1] for text in tries]
        assert set(fields) <= set(params), what


def test_what_one_method_alone_has_is_named(folder):
    def tries(name, what, **changes):
        about = {**ABOUT, "method": name, "params": {**METHODS[name]().get_params(), **changes}, "shape": [20]}
        folder.full(name + what[:20] + str(len(changes)), about=about, **{"history": LEARNT, **FAILURES[what]})
        run = next(run for run in read_runs(folder.root) if run.path.name == name + what[:20] + str(len(changes)))
        return [re.match(r"(?:raise|lower) \w+", text)[0] for text in told(run)[what]]

    collapsed, leaks, present = (what for number, what in enumerate(FAILURES) if number in (0, 2, 5))
    assert tries("sep_vae", collapsed) == ["lower beta_salient", "raise lambda_class", "raise beta_common"]
    assert "raise lambda_mi" in tries("sep_vae", leaks)
    assert tries("sep_vae", present)[0] == "lower variance"
    assert tries("double_infogan", collapsed) == ["raise w_info_s"]
    assert tries("double_infogan", present)[0] == "raise w_info_real"
    assert tries("symmetric_rb_vae", collapsed) == ["raise beta_common"]
    assert tries("contrastive_pca", collapsed, alpha=900.0) == ["lower alpha"]
    assert tries("probabilistic_contrastive_pca", collapsed) == ["lower gamma"]
    # Nothing but the widths: the fallback.
    assert tries("generalised_contrastive_pca", collapsed) == ["raise n_salient"]


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
    assert found == {"The salient part has collapsed.": ["lower beta_salient (5 now)", "raise beta_common (1 now)"]}
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
    assert found[0] == "raise beta_common (1 now)"


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


@pytest.mark.parametrize("weight, empty", [(1000.0, True), (5.0, False)])
def test_a_real_run_with_a_large_lambda_z_is_silent_and_the_page_says_so(tmp_path, weight, empty):
    data = un.load("toy_contrast", n_target=400, n_background=400)
    method = un.PrincipledVAE(epochs=8, n_common=5, n_salient=2, lambda_z=weight).fit(data.train, out=tmp_path / "run")
    diagnose(tmp_path / "run", method, data.train, data.test)
    text = un.report(tmp_path / "run", tmp_path / "page.html").read_text()
    assert ("The common part is silent." in text) == empty
    assert ("both groups are made alike (1000 now)" in text) == empty
