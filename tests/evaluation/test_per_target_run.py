"""A run with a salient block for each target, from the command line to its page."""

import json

import numpy as np
import pytest
from command_line import exit_code, run
from small import small, treatments

import untwine as un
from untwine import Samples
from untwine.evaluation.gallery import gallery
from untwine.runs.reading import read_runs

DRUGS = ("salient_drug_a", "salient_drug_b", "salient_drug_c")


@pytest.fixture(scope="module")
def vectors_run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("drugs")
    sizes = ("--data-set", "n_target=80", "--data-set", "n_background=80")
    options = ("--set", "salient=per_target", "--set", "n_salient=2", "--set", "epochs=2", "--set", "width=16")
    run("fit", "principled_vae", "--data", "toy_treatments", *sizes, *options, "--quiet", "--out", folder / "run")
    run("evaluate", folder / "run", "--quiet")
    return folder / "run"


def test_the_card_keeps_the_blocks_and_every_block_is_scored(vectors_run):
    card = json.loads((vectors_run / "method.json").read_text())
    assert tuple(card["blocks"]) == ("common", *DRUGS)
    assert card["found"]["targets"] == list(DRUGS)
    scores = json.loads((vectors_run / "scores.json").read_text())
    for drug in DRUGS:
        assert scores[f"per_target_{drug.removeprefix('salient_')}.{drug}"]["direction"] == "higher"
        assert {f"factors_salient.{drug}", f"leakage.{drug}"} <= set(scores)
    assert scores["per_target_drug_b.salient_drug_a"]["direction"] == "lower"
    (one,) = read_runs(vectors_run)
    assert one.is_contrastive
    assert one.width("salient") == 6
    assert one.contrast is not None
    assert [target.name for target in one.contrast.targets] == ["drug_a", "drug_b", "drug_c"]
    assert {block for block, _ in one.codes or {}} == {"common", *DRUGS, "salient"}


def test_evaluate_prints_the_contrast_test_of_each_target(vectors_run, capsys):
    before = (vectors_run / "scores.json").read_bytes()
    run("evaluate", vectors_run, "--quiet", "--metrics", "reconstruction")
    (line,) = [one for one in capsys.readouterr().out.splitlines() if one.startswith("contrast test: ")]
    assert [one.split()[0] for one in line.removeprefix("contrast test: ").split("; ")] == ["all", "drug_a", "drug_b", "drug_c"]
    (vectors_run / "scores.json").write_bytes(before)


def test_commands_change_all_salient_blocks_by_default_and_one_by_its_name(vectors_run, tmp_path, capsys):
    method = un.load_method(vectors_run)
    x = un.load("toy_treatments", n_target=80, n_background=80).test.target.x[:4].astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    z = method.encode(x)
    for block, options in (("salient", ()), ("salient", ("--block", "salient")), (DRUGS[1], ("--block", DRUGS[1]))):
        run("remove", vectors_run, tmp_path / "x.npy", *options, "--out", tmp_path / "out.npz", "--overwrite", "--json")
        assert json.loads(capsys.readouterr().out)["block"] == block
        np.testing.assert_allclose(np.load(tmp_path / "out.npz")["removed"], method.decode(z.remove(block)), atol=1e-5)
    for command in ("swap", "sample", "interpolate", "traverse"):
        for block in ("salient", DRUGS[0]):
            samples = () if command == "traverse" else ("--samples", 3)
            run(command, vectors_run, *samples, "--block", block, "--out", tmp_path / f"{command}.npz", "--overwrite", "--json")
            assert json.loads(capsys.readouterr().out)["block"] == block
    with np.load(tmp_path / "traverse.npz") as traversed:
        assert len(traversed["latents"]) == 2
    assert exit_code("remove", vectors_run, "--block", "salient_drug_d", "--out", tmp_path / "no.npz") == 2
    assert "salient_drug_a" in capsys.readouterr().err


def test_the_page_names_every_target(vectors_run, tmp_path):
    un.report(vectors_run, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    for drug in DRUGS:
        assert f"<b>{drug.removeprefix('salient_')}</b>" in page
        assert f"{drug} block" in page  # its plane of codes


def test_images_have_a_gallery_of_all_salient_blocks_together():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 120, (90, 1, 8, 8), dtype=np.uint8)
    groups = np.repeat([0, 1, 2], 30)
    x[groups == 1, :, :4] += 100
    x[groups == 2, :, 4:] += 100
    data = Samples(x, groups=groups, group_names=("none", "up", "down"))
    method = small("principled_vae", salient="per_target").fit(data)
    shown = gallery(method, data, images=4)
    assert set(shown.traversals) == {"common", "salient_up", "salient_down"}
    assert shown.swaps is not None
    targets = shown.targets.originals
    z = method.encode(targets)
    expected = np.rint(np.clip(method.decode(z.remove("salient")), 0, 1) * 255)
    np.testing.assert_allclose(shown.single_blocks.common, expected, atol=1)
    assert shown.generated is not None


def test_scores_of_a_cross_validated_fit_use_all_salient_blocks():
    data = treatments()
    method = small("principled_vae", salient="per_target").fit(data.x, data.groups)
    assert list(method.blocks) == ["common", "salient_target_1", "salient_target_2", "salient_target_3"]
    assert -3 < method.score(data.x, data.groups) <= 0
