"""What a page finds in blocks that have collapsed or leak, and what it suggests to try."""

from __future__ import annotations

import html
import json
import re
import shlex

import pytest
from run_folders import CARD, codes, contrast, score
from run_folders import scores as good

import untwine as un
from untwine.cli.app import app
from untwine.evaluation.diagnostics import diagnose
from untwine.evaluation.scoring import evaluate
from untwine.methods import METHODS
from untwine.report.advice import advice, findings
from untwine.report.page import page
from untwine.report.verdict import COMMON_COLLAPSED, SALIENT_COLLAPSED, verdict
from untwine.runs.reading import read_runs
from untwine.runs.scores import write_scores

PRINCIPLED = {"n_common": 4, "n_salient": 2, "beta_common": 1.0, "beta_salient": 0.2, "lambda_s": 2.5, "lambda_z": 25.0}
PRINCIPLED |= {"likelihood": "auto", "scale": 0.32, "epochs": 50}
CVAE = {"n_common": 4, "n_salient": 2, "beta_common": 1.0, "beta_salient": 1.0, "lambda_tc": 1.0, "epochs": 50}
CPCA = {"n_common": 4, "n_salient": 2, "alpha": 0.5}
CONVERGED = [("fit", epoch, "vae", "reconstruction", 5 + 5 * 0.01**epoch) for epoch in range(5)]
SCALE = ["lower scale (0.32 now)", "raise beta_common (1 now)"]
COMMON = codes(common=1e-4)
SALIENT = codes(target=1e-5, background=1e-5, effect=1e-6)


def run_of(folder, params=PRINCIPLED, name="demo", shape=(3, 8, 8), **files):
    folder.full(name, card={**CARD, "params": params, "shape": list(shape)}, **{"history": CONVERGED, **files})
    return next(run for run in read_runs(folder.root) if run.path.name == name)


def advised(run):
    """Return what failed, and for each what to try, without markup and without the meaning of the fields."""
    plain = lambda text: re.sub(r", [^(]*(?= \()", "", html.unescape(re.sub("<.*?>", "", text)))  # noqa: E731
    return {one.failure: [plain(text) for text in one.suggestions] for one in findings(run)}


def test_a_disentangled_run_needs_no_advice(folder):
    run = run_of(folder)
    assert advised(run) == {}
    assert advice(run) == ""


def test_what_could_be_better_does_not_contradict_a_good_verdict(folder):
    leak = {"leakage_group.common": score(0.87, "lower"), "explained.x": score(0.8, "higher")}
    separated = run_of(folder, scores=good() | leak)
    assert verdict(separated).status == "disentangled"
    assert list(advised(separated)) == ["The common block says which group a sample is of."]
    assert "<h4>What could still be better, and what to try</h4>" in advice(separated)
    failed = run_of(folder, name="failed", scores=good(0.3, 0.6) | leak)
    assert "<h4>What failed, and what to try</h4>" in advice(failed)


def test_a_collapsed_salient_block_is_named_with_its_numbers(folder):
    run = run_of(folder, {**PRINCIPLED, "beta_salient": 1000.0}, codes=SALIENT, scores=good(0.3, 0.6))
    assert advised(run) == {"The salient block has collapsed.": ["lower beta_salient (1000 now)", *SCALE]}
    (finding,) = findings(run)
    assert (
        "variance is less than 0.0001 in each of 2 dimensions, and they account for 0.0 % of the variance of the targets"
        in finding.evidence
    )
    # Whatever a probe predicts from codes that differ by rounding error, nothing is disentangled.
    assert verdict(run).status == "not"
    assert verdict(run).reasons == (SALIENT_COLLAPSED,)
    assert "The salient block has collapsed." in page([run])


def test_a_collapse_is_detected_without_any_label(folder):
    run = run_of(folder, codes=SALIENT, scores={"reconstruction.x": score(0.1, "lower")})
    assert verdict(run).status == "not"


@pytest.mark.parametrize(
    "small",
    [codes(target=1e-5, effect=0.3), codes(target=0.9, effect=1e-4)],
    ids=["small units that are decoded", "large codes of what is small in the data"],
)
def test_small_is_not_collapsed(folder, small):
    assert "The salient block has collapsed." not in advised(run_of(folder, codes=small))


def test_where_nothing_is_salient_an_empty_block_is_right(folder):
    run = run_of(folder, codes=SALIENT, contrast=contrast(0.4, 0))
    (finding,) = findings(run)
    assert "found nothing salient, so an empty block may be right" in finding.evidence
    assert finding.suggestions == ("<pre><code>untwine list data grassy_digits</code></pre>",)


def test_where_nothing_is_salient_the_data_of_the_run_are_shown(folder):
    def command(name, data):
        folder.full(name, card={**CARD, "params": PRINCIPLED, "data": data}, history=CONVERGED, contrast=contrast(0.4, 0))
        run = next(run for run in read_runs(folder.root) if run.path.name == name)
        line = advised(run)["There may be nothing to disentangle."][0]
        app.parse_args(shlex.split(line)[1:], print_error=False, exit_on_error=False)
        return line.partition(" --out ")[0]

    folders = {"target": "p q/", "background": "c/", "size": 32, "test": 0.5, "seed": 1}
    assert command("a", {"name": "p q/ and c/", "options": folders}) == (
        "untwine data show --data-set 'target=p q/' --data-set background=c/ --data-set size=32"
    )
    assert command("b", {"name": "cells.csv", "options": {"group": "condition"}}) == (
        "untwine data show cells.csv --data-set group=condition"
    )
    assert command("c", {"options": {}}) == "untwine data show YOUR_DATA"
    assert command("d", {"name": "toy_contrast", "options": {}}) == "untwine list data toy_contrast"


def test_causes_that_a_collapse_does_not_explain_are_named_with_it(folder):
    numbers = {"counterfactual_gap.x": 0.8, "counterfactual_removed.x": 0.1, "explained.x": 0.1, "leakage_group.common": 0.9}
    numbers |= {"background_change.x": 1.0}
    scores = {name: score(value, "info") for name, value in numbers.items()}
    run = run_of(folder, codes=SALIENT, scores=scores)
    poor, leaks = "The reconstruction is too poor to hold what is salient.", "The common block says which group a sample is of."
    assert set(advised(run)) == {"The salient block has collapsed.", poor, leaks}
    both = run_of(folder, name="both", codes={**SALIENT, "common": COMMON["common"]}, scores=scores)
    assert set(advised(both)) == {"The salient block has collapsed.", "The common block has collapsed.", poor}


def test_where_nothing_is_salient_no_setting_is_blamed_for_codes_alike(folder):
    run = run_of(folder, codes=codes(target=0.9, background=0.9), contrast=contrast(0.4, 0))
    assert advised(run) == {"There may be nothing to disentangle.": ["untwine list data grassy_digits"]}
    leaks = advised(run_of(folder, name="leaks", scores=good(0.9, 0.6), contrast=contrast(0.4, 0)))
    assert list(leaks) == ["There may be nothing to disentangle.", "The common block leaks the class."]


def test_without_a_contrast_test_it_is_advised(folder):
    run = run_of(folder, codes=SALIENT, contrast=None)
    assert advised(run)["The salient block has collapsed."][-1].startswith("test with un.contrast_test(samples)")


def test_only_fields_that_the_method_has_are_named(folder):
    leaks = good(0.9, 0.6)
    what = "The common block leaks the class."
    assert advised(run_of(folder, scores=leaks)) == {
        what: ["raise beta_common (1 now)", "lower beta_salient (0.2 now)", "lower n_common (4 now)", "raise epochs (50 now)"]
    }
    assert advised(run_of(folder, CVAE, "cvae", scores=leaks)) == {
        what: ["raise beta_common (1 now)", "lower beta_salient (1 now)", "raise lambda_tc (1 now)", "lower n_common (4 now)"]
    }
    assert advised(run_of(folder, CPCA, "cpca", scores=leaks)) == {what: ["raise alpha (0.5 now)", "lower n_common (4 now)"]}
    swept = advised(run_of(folder, {**CPCA, "alpha": None}, "swept", scores=leaks))
    assert swept == {what: ["raise alpha (chosen from the data now, alpha_)", "lower n_common (4 now)"]}


def test_a_leaking_common_block_is_penalised_before_its_codes_are_matched(folder):
    few = {key: value for key, value in PRINCIPLED.items() if key != "n_common"}
    for weight, shown in ((0.0, True), (1.0, True), (5.0, False), (25.0, False)):
        run = run_of(folder, {**few, "lambda_z": weight}, f"weight{weight}", scores=good(0.9, 0.6))
        suggested = advised(run)["The common block leaks the class."]
        assert suggested[:2] == ["raise beta_common (1 now)", "lower beta_salient (0.2 now)"]
        assert (f"raise lambda_z ({weight:g} now)" in suggested) == shown


def test_a_collapsed_common_block_is_named_with_its_numbers(folder):
    run = run_of(folder, codes=COMMON)
    tries = ["lower lambda_z (25 now)", "lower beta_common (1 now)", "lower scale (0.32 now)"]
    assert advised(run) == {"The common block has collapsed.": tries}
    (finding,) = findings(run)
    assert (
        "variance is at most 0.0001 in each of 4 dimensions, and they account for 0.0 % of the variance of the background"
        in finding.evidence
    )
    # Nothing leaks into a block that encodes nothing: by the scores alone all would be well.
    assert verdict(run).status == "not"
    assert verdict(run).reasons == (COMMON_COLLAPSED,)
    assert "The common block has collapsed." in page([run])


def test_a_common_block_that_has_nothing_to_encode_may_collapse(folder):
    assert advised(run_of(folder, codes=codes(common=1e-4, varies=False))) == {}
    small = codes()
    for group in ("target", "background"):
        small["common"][group] |= {"variance": [1e-4] * 4}  # small units that are decoded
    assert advised(run_of(folder, name="units", codes=small)) == {}


def test_both_blocks_may_collapse(folder):
    both = {**SALIENT, "common": COMMON["common"]}
    assert list(advised(run_of(folder, codes=both))) == ["The salient block has collapsed.", "The common block has collapsed."]


CONTRASTIVE = [name for name, method in METHODS.items() if {"n_common", "n_salient"} <= set(method().get_params())]
FAILURES = {
    "The salient block has collapsed.": {"codes": SALIENT},
    "The common block has collapsed.": {"codes": COMMON},
    "The common block leaks the class.": {"scores": good(0.9, 0.6)},
    "The salient block encodes little of the class.": {"scores": good(0.4, 0.12)},
    "The salient block leaks the factors that both groups share.": {
        "scores": {**good(), "factors.salient": score(0.8, "lower")}
    },
    "The background still has salient codes.": {"codes": codes(target=0.9, background=0.45)},
}


@pytest.mark.parametrize("shape", [(20,), (3, 8, 8)], ids=["vectors", "images"])
@pytest.mark.parametrize("name", CONTRASTIVE)
def test_every_contrastive_method_has_something_to_try_against_every_failure(folder, name, shape):
    params = METHODS[name]().get_params()
    for number, (what, files) in enumerate(FAILURES.items()):
        about = {**CARD, "method": name, "params": params, "shape": list(shape), "blocks": {"common": 4, "salient": 2}}
        folder.full(str(number), card=about, **{"history": CONVERGED, **files})
        (run,) = [run for run in read_runs(folder.root) if run.path.name == str(number)]
        tries = advised(run)[what]
        assert 0 < len(tries) <= 4, what
        fields = [re.match(r"(?:raise|lower) (\w+)", text)[1] for text in tries]
        assert set(fields) <= set(params), what


def test_fields_of_a_single_method_are_named(folder):
    def tries(name, what, **changes):
        about = {**CARD, "method": name, "params": {**METHODS[name]().get_params(), **changes}, "shape": [20]}
        folder.full(name + what[:20] + str(len(changes)), card=about, **{"history": CONVERGED, **FAILURES[what]})
        run = next(run for run in read_runs(folder.root) if run.path.name == name + what[:20] + str(len(changes)))
        return [re.match(r"(?:raise|lower) \w+", text)[0] for text in advised(run)[what]]

    collapsed, leaks, present = (what for number, what in enumerate(FAILURES) if number in (0, 2, 5))
    assert tries("sep_vae", collapsed) == ["lower beta_salient", "raise lambda_class", "raise beta_common"]
    assert "raise lambda_mi" in tries("sep_vae", leaks)
    assert tries("sep_vae", present)[0] == "lower variance"
    assert "raise lambda_r" in tries("recombining_vae", "The salient block leaks the factors that both groups share.")
    assert tries("double_infogan", collapsed) == ["raise w_info_s"]
    assert tries("double_infogan", present)[0] == "raise w_info_real"
    assert tries("symmetric_rb_vae", collapsed) == ["raise beta_common"]
    assert tries("contrastive_pca", collapsed, alpha=900.0) == ["lower alpha"]
    assert tries("probabilistic_contrastive_pca", collapsed) == ["lower gamma"]
    # Nothing but the widths: the fallback.
    assert tries("generalised_contrastive_pca", collapsed) == ["raise n_salient"]


def test_a_weight_of_0_cannot_be_lowered(folder):
    run = run_of(folder, {**PRINCIPLED, "beta_salient": 0.0}, scores=good(0.9, 0.6))
    assert not any("beta_salient" in text for text in advised(run)["The common block leaks the class."])


def test_salient_codes_that_encode_common_factors(folder):
    leaks = {**good(), "factors.salient": score(0.8, "lower")}
    what = "The salient block leaks the factors that both groups share."
    tries = ["raise lambda_s (2.5 now)", "raise beta_salient (0.2 now)", "raise epochs (50 now)"]
    assert advised(run_of(folder, scores=leaks)) == {what: tries}
    wide = advised(run_of(folder, name="wide", scores=leaks, contrast=contrast(n_salient=1)))
    assert wide == {what: ['lower n_salient (2 now; the contrast test estimated 1, which n_salient="auto" uses)', *tries]}


def test_common_codes_that_encode_salient_factors(folder):
    leaks = {"factors_salient.salient": score(0.9), "factors_salient.common": score(0.4, "lower")}
    assert list(advised(run_of(folder, scores=leaks))) == ["The common block leaks the salient factors."]


def test_a_salient_block_that_encodes_little(folder):
    run = run_of(folder, {**CVAE, "likelihood": "auto", "scale": 0.2}, scores=good(0.4, 0.12), contrast=contrast(n_salient=6))
    assert advised(run) == {
        "The salient block encodes little of the class.": [
            "lower beta_salient (1 now)",
            'raise n_salient (2 now; the contrast test estimated 6, which n_salient="auto" uses)',
            "lower scale (0.2 now)",
            "raise epochs (50 now)",
        ]
    }


def test_the_scale_of_vectors_is_learned_and_never_suggested(folder):
    params = {**PRINCIPLED, "beta_salient": 5.0}
    suggested = advised(run_of(folder, params, shape=(20,), codes=SALIENT))
    assert suggested == {"The salient block has collapsed.": ["lower beta_salient (5 now)", "raise beta_common (1 now)"]}
    fixed = advised(run_of(folder, {**params, "likelihood": "gaussian"}, "fixed", shape=(20,), codes=SALIENT))
    assert "lower scale (0.32 now)" in fixed["The salient block has collapsed."]


def test_a_background_with_salient_codes(folder):
    run = run_of(folder, codes=codes(target=0.9, background=0.45))
    assert list(advised(run)) == ["The background still has salient codes."]
    assert advised(run)["The background still has salient codes."][0] == "raise lambda_s (2.5 now)"
    assert "Their mean squared size is 50 % of that of the targets" in advice(run)
    assert advised(run_of(folder, name="quiet", codes=codes(target=0.9, background=0.18))) == {}


def test_more_epochs_come_first_where_the_error_was_still_falling(folder):
    falling = [("fit", epoch, "vae", "reconstruction", 10.0 - epoch) for epoch in range(5)]
    leaks = good(0.9, 0.6)
    suggested = advised(run_of(folder, history=falling, scores=leaks))["The common block leaks the class."]
    assert suggested[0] == "raise epochs (50 now; the error was still falling)"
    assert len(suggested) == 4
    suggested = advised(run_of(folder, name="learnt", scores=leaks))["The common block leaks the class."]
    assert suggested[0] == "raise beta_common (1 now)"


def test_advice_is_markup_with_fields_as_code(folder):
    run = run_of(folder, codes=SALIENT)
    assert "<b>The salient block has collapsed.</b>" in advice(run)
    assert "lower <code>beta_salient</code>, the KL weight of the salient block (0.2 now)" in advice(run)


@pytest.mark.parametrize("beta, empty", [(1000.0, True), (0.2, False)])
def test_a_real_run_with_a_heavily_penalised_salient_block_collapses_and_the_page_says_so(folder, tmp_path, beta, empty):
    data = un.load("toy_contrast", n_target=400, n_background=400)
    method = un.PrincipledVAE.fixed(epochs=8, n_common=5, n_salient="auto", beta_salient=beta).fit(
        data.train, out=tmp_path / "run"
    )
    write_scores(tmp_path / "run", evaluate(method, data.test, ["factors"]))
    diagnose(tmp_path / "run", method, data.train, data.test)
    text = un.report(tmp_path / "run", tmp_path / "page.html").read_text()
    assert "Estimated number of salient dimensions: 2. This run has 2." in text
    assert ("The salient block has collapsed." in text) == empty
    assert ("the KL weight of the salient block (1000 now)" in text) == empty
    assert (max(json.loads((tmp_path / "run" / "codes.json").read_text())["salient"]["target"]["variance"]) < 0.01) == empty


@pytest.mark.parametrize("weight, empty", [(1000.0, True), (5.0, False)])
def test_a_real_run_with_a_large_lambda_z_collapses_and_the_page_says_so(tmp_path, weight, empty):
    data = un.load("toy_contrast", n_target=400, n_background=400)
    method = un.PrincipledVAE.fixed(epochs=8, n_common=5, n_salient=2, lambda_z=weight).fit(data.train, out=tmp_path / "run")
    diagnose(tmp_path / "run", method, data.train, data.test)
    text = un.report(tmp_path / "run", tmp_path / "page.html").read_text()
    assert ("The common block has collapsed." in text) == empty
    assert ("matching the common codes of both groups (1000 now)" in text) == empty
