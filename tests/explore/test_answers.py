"""What the explorer answers is what the method gives, and the lines of Python that it shows give the same."""

import csv
import io
import json
import os
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Event, get_native_id
from time import monotonic, sleep

import numpy as np
import pytest
from explored import IMAGES, OTHER_IMAGES, SINGLE, TRAINED, VECTORS, Page, arrays, unpack
from PIL import Image
from sklearn.decomposition import PCA
from sklearn.metrics import pairwise_distances

import untwine as un
from untwine.evaluation.run import checked_run_data
from untwine.explore import opened
from untwine.explore.maps import principal_components
from untwine.explore.workers import NICE, Worker
from untwine.metrics.clustering import tsne
from untwine.runs.selections import read_selections

RECIPES = {
    "sample": {"sample": 3, "block": "salient"},
    "swap": {"a": 5, "b": 1, "block": "salient"},
    "grid": {"rows": "0,4,2", "columns": "6,7", "block": "salient"},
    "between": {"corners": "0,5,3,7", "right": 0.25, "down": 0.7, "block": "salient"},
    "change": {"sample": 2, "edits": "salient:1:1.5,common:0:-0.25,salient:1:0.125"},
    "draw": {"sample": 4, "n": 5, "seed": 3, "source": "prior", "block": "salient"},
}
OF_ONE_BLOCK = {
    "sample": {"sample": 3},
    "between": {"corners": "0,5,3,7", "right": 0.25, "down": 0.7, "block": "all"},
    "change": {"sample": 2, "edits": "z:1:1.5"},
    "draw": {"sample": 4, "source": "data"},
}


def loaded(page, run):
    folder = page.explorer.runs[run].path
    method = un.load_method(folder)
    return method, checked_run_data(method, folder).test


def close(a, b):
    a = a.dense().reshape(np.shape(b)) if isinstance(a, un.Samples) else a
    np.testing.assert_allclose(np.asarray(a, float), np.asarray(b, float), atol=2e-5)


@pytest.mark.parametrize("run", [IMAGES, VECTORS, TRAINED])
def test_a_sample_is_shown_with_its_reconstruction_and_its_counterpart(page, run):
    method, test = loaded(page, run)
    made = page.decoded(run, "sample", sample=3)
    np.testing.assert_array_equal(made["original"], test.x[3])
    close(made["reconstruction"], method.reconstruct(test.x[[3]])[0])
    close(made["counterpart"], un.manipulate.remove(method, test.x[[3]], "salient")[0])
    assert not np.allclose(made["counterpart"], made["reconstruction"], atol=1e-3)
    without_common = page.decoded(run, "sample", sample=3, block="common")["counterpart"]
    close(without_common, un.manipulate.remove(method, test.x[[3]], "common")[0])


@pytest.mark.parametrize("run", [IMAGES, VECTORS])
def test_swaps_and_grids_are_those_of_the_method(page, run):
    method, test = loaded(page, run)
    made = page.decoded(run, "swap", a=5, b=1, block="common")
    close(made["a_with_b"], un.manipulate.swap(method, test.x[[5]], test.x[[1]], "common")[0])
    close(made["b_with_a"], un.manipulate.swap(method, test.x[[1]], test.x[[5]], "common")[0])
    grid = page.decoded(run, "grid", rows="5,1", columns="1,2,5")["grid"]
    close(grid, un.manipulate.swap_grid(method, test.x[[5, 1]], test.x[[1, 2, 5]], "salient"))
    close(grid[0, 0], page.decoded(run, "swap", a=5, b=1)["a_with_b"])


def test_the_square_has_the_four_samples_at_its_corners_and_their_mean_in_its_middle(page):
    method, test = loaded(page, TRAINED)
    corners = [0, 5, 3, 7]
    z = method.encode(test.x[corners])
    for k, (right, down) in enumerate([(0, 0), (1, 0), (0, 1), (1, 1)]):
        made = page.decoded(TRAINED, "between", corners="0,5,3,7", right=right, down=down, block="salient")
        close(made["between"], method.decode(z.take([0]).swap(z.take([k]), "salient"))[0])
        made = page.decoded(TRAINED, "between", corners="0,5,3,7", right=right, down=down, block="all")
        close(made["between"], method.decode(z.take([k]))[0])
    made = page.decoded(TRAINED, "between", corners="0,5,3,7", right=0.5, down=0.5, block="all")
    close(made["between"], method.decode(un.Latents({b: z[b].mean(0, keepdims=True) for b in z}))[0])


def test_latents_are_changed_one_by_one_and_ranked_by_their_effect(page):
    method, test = loaded(page, TRAINED)
    close(page.decoded(TRAINED, "change", sample=2)["changed"], method.reconstruct(test.x[[2]])[0])
    effects = page.get(f"/api/runs/{TRAINED}/effects", sample=2, block="salient").json()
    codes = method.encode(test.x)["salient"]
    close(effects["code"], codes[2])
    close([effects["low"], effects["high"]], np.quantile(codes, [0.01, 0.99], axis=0))
    std = test.x.std(axis=0)
    for k in range(2):
        ends = [
            page.decoded(TRAINED, "change", sample=2, edits=f"salient:{k}:{effects[end][k]:.6f}")["changed"]
            for end in ("low", "high")
        ]
        assert effects["change"][k] == pytest.approx(np.sqrt(np.mean(((ends[1] - ends[0]) / std) ** 2)), rel=1e-3)


def test_draws_repeat_with_their_seed_and_near_the_data_they_have_its_mean(page):
    fields = {"sample": 4, "n": 24, "block": "salient"}
    first = page.decoded(TRAINED, "draw", seed=1, source="data", **fields)["drawn"]
    np.testing.assert_array_equal(first, page.decoded(TRAINED, "draw", seed=1, source="data", **fields)["drawn"])
    assert not np.allclose(first, page.decoded(TRAINED, "draw", seed=2, source="data", **fields)["drawn"])
    prior = page.decoded(TRAINED, "draw", seed=1, source="prior", **fields)["drawn"]
    assert not np.allclose(first, prior)
    # The linear method says which codes were drawn: those near the data have the mean of the targets' codes.
    method, test = loaded(page, VECTORS)
    drawn = page.decoded(VECTORS, "draw", seed=0, source="data", sample=0, n=24, block="salient")["drawn"]
    targets = method.encode(test.target.x)["salient"]
    off = np.abs(method.encode(drawn)["salient"].mean(0) - targets.mean(0)) / targets.std(0)
    assert off.max() < 3 / np.sqrt(24)


@pytest.mark.parametrize("run", [IMAGES, TRAINED, SINGLE])
def test_the_lines_of_python_make_the_same_arrays(page, run):
    for recipe, fields in (OF_ONE_BLOCK if run == SINGLE else RECIPES).items():
        for more in ({}, {"source": "data", "seed": 9}) if recipe == "draw" else ({},):
            made = page.decoded(run, recipe, **{**fields, **more})
            lines = page.get(f"/api/runs/{run}/{recipe}", **{**fields, **more, "as": "python"}).text
            names = {}
            exec(compile(lines, recipe, "exec"), names)
            for name, expected in made.items():
                if name in names:
                    close(names[name], expected)
            result = {"sample": "reconstruction", "swap": "a_with_b", "change": "changed", "draw": "drawn"}.get(recipe, recipe)
            assert result in names, (recipe, "names its result")


def test_images_leave_as_uint8_and_as_png_pixel_by_pixel(page):
    _, test = loaded(page, IMAGES)
    shown = unpack(page.get(f"/api/runs/{IMAGES}/swap", **RECIPES["swap"]).content)
    made = page.decoded(IMAGES, "swap", **RECIPES["swap"])
    np.testing.assert_array_equal(shown["a"], test.x[5])
    np.testing.assert_array_equal(shown["a_with_b"], np.rint(np.clip(made["a_with_b"], 0, 1) * 255))
    image = np.array(Image.open(io.BytesIO(page.get(f"/api/runs/{IMAGES}/swap", **RECIPES["swap"], **{"as": "png"}).content)))
    assert image.shape == (12, 4 * 10 + 3 * 2, 3)
    np.testing.assert_array_equal(image[:, :10], np.moveaxis(test.x[5], 0, -1))
    np.testing.assert_array_equal(image[:, 24:34], np.moveaxis(shown["a_with_b"], 0, -1))
    grid = np.array(Image.open(io.BytesIO(page.get(f"/api/runs/{IMAGES}/grid", **RECIPES["grid"], **{"as": "png"}).content)))
    assert grid.shape == (3 * 12 + 2 * 2, 2 * 10 + 2, 3)
    refused = page.get(f"/api/runs/{VECTORS}/swap", **RECIPES["swap"], **{"as": "png"})
    assert (refused.status_code, refused.text[:24]) == (400, "a .png shows images; the")


def test_maps_are_pca_and_tsne_of_the_codes(page):
    method, test = loaded(page, TRAINED)
    codes = method.encode(test.x)
    for block in ("common", "salient"):
        plane = unpack(page.get(f"/api/runs/{TRAINED}/map", block=block, plane="pca").content)["points"]
        reference = PCA(2).fit_transform(codes[block])
        close(plane, reference * np.sign((plane * reference).sum(axis=0)))
        end = monotonic() + 60
        while (answer := page.get(f"/api/runs/{TRAINED}/map", block=block, plane="tsne")).status_code == 204:
            assert monotonic() < end
            sleep(0.02)
        close(unpack(answer.content)["points"], tsne(codes[block]))


def test_tsne_leaves_the_processor_to_what_is_asked_for():
    done, seen = Event(), []

    def look():
        seen.append(os.getpriority(os.PRIO_PROCESS, get_native_id()))
        done.set()

    Worker("t-SNE", yields=True).submit(look)
    assert done.wait(60)
    mine = os.getpriority(os.PRIO_PROCESS, get_native_id())
    assert seen == [max(NICE, mine) if sys.platform == "linux" else mine]


@pytest.mark.parametrize("shape", [(40, 6), (6, 40), (3, 1), (1, 4), (5_200, 1_001)], ids=str)
def test_principal_components_of_any_shape(shape):
    codes = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    codes[:, 0] *= 5
    plane = principal_components(codes, 2)
    assert plane.shape == (shape[0], 2)
    assert np.isfinite(plane).all()
    if min(shape) > 2 and shape[0] < 1_000:
        reference = PCA(2).fit_transform(codes)
        close(plane, reference * np.sign((plane * reference).sum(axis=0)))


def test_columns_codes_and_facts_are_those_of_the_samples(page):
    method, test = loaded(page, IMAGES)
    codes = method.encode(test.x)
    columns = page.open(IMAGES)["columns"]
    assert [(one["name"], one["kind"], one["levels"]) for one in columns] == [
        ("group", "group", ["background", "target"]),
        ("label", "label", ["0", "1", "2", "3"]),
    ]
    groups, labels = (unpack(page.get(f"/api/runs/{IMAGES}/column", column=k).content)["values"] for k in range(2))
    np.testing.assert_array_equal(groups, test.groups)
    np.testing.assert_array_equal(labels, np.where(test.labels < 0, np.nan, test.labels))
    close(unpack(page.get(f"/api/runs/{IMAGES}/code", block="salient", latent=2).content)["values"], codes["salient"][:, 2])
    facts = page.get(f"/api/runs/{IMAGES}/facts", sample=4, neighbours=5).json()
    for block in ("common", "salient"):
        distances = pairwise_distances(codes[block].astype(np.float64))[4]
        order = [int(i) for i in np.argsort(distances) if i != 4][:5]
        assert [one["sample"] for one in facts["neighbours"][block]] == order
        close([one["distance"] for one in facts["neighbours"][block]], distances[order])
    assert facts["columns"][0] == {"name": "group", "kind": "group", "text": test.group_names[test.groups[4]]}


def test_a_selection_leaves_as_csv_and_stays_under_its_name(runs, tmp_path):
    shutil.copytree(runs / "images", tmp_path / "images")
    page = Page(tmp_path)
    page.open(0)
    method, test = loaded(page, 0)
    table = list(csv.DictReader(io.StringIO(page.post("/api/runs/0/table", {"samples": [7, 2, 7]}).text)))
    assert [line["position"] for line in table] == ["2", "7"]
    assert [line["id"] for line in table] == [str(test.ids[2]), str(test.ids[7])]
    close(float(table[1]["salient 1"]), method.encode(test.x)["salient"][7, 1])
    assert table[0]["group"] == test.group_names[test.groups[2]]

    assert page.post("/api/runs/0/selections", {"name": "bright ones", "samples": [7, 2]}).status_code == 201
    assert read_selections(tmp_path / "images")["bright ones"].samples == (2, 7)
    assert page.get("/api/runs/0/selections").json() == {
        "selections": [{"name": "bright ones", "samples": [2, 7]}],
        "others": 0,
    }
    again = page.post("/api/runs/0/selections", {"name": "bright ones", "samples": [1]})
    assert (again.status_code, again.text) == (
        400,
        "the name of a selection must be new; 'bright ones' is taken; choose another.",
    )
    assert read_selections(tmp_path / "images")["bright ones"].samples == (2, 7)


def test_ten_requests_at_once_from_two_pages_get_their_own_answers(page):
    asked = [(run, "grid", {"rows": f"{i},{i + 1}", "columns": "1,2,3"}) for i in range(10) for run in (IMAGES, TRAINED)]
    expected = [page.decoded(run, recipe, **fields) for run, recipe, fields in asked]
    other = Page(page.explorer.runs[0].path.parent)
    for run in (IMAGES, TRAINED):
        other.open(run)
    for _ in range(3):
        with ThreadPoolExecutor(20) as pool:
            for one in (page, other):
                answers = [pool.submit(one.decoded, run, recipe, **fields) for run, recipe, fields in asked]
                for answer, right in zip(answers, expected, strict=True):
                    for name, values in right.items():
                        np.testing.assert_array_equal(answer.result()[name], values)


def test_a_run_that_was_deleted_meanwhile_is_named_in_a_sentence(runs, tmp_path):
    shutil.copytree(runs / "images", tmp_path / "images")
    shutil.copytree(runs / "single", tmp_path / "single")
    page = Page(tmp_path)
    page.open(0)
    shutil.rmtree(tmp_path / "images")
    for path in ("/api/runs/0", "/api/runs/0/map?block=salient&plane=pca", "/api/runs/0/curves"):
        gone = page.get(path)
        sentence = "The run 'images' is no longer there; its folder was deleted or moved."
        assert (gone.status_code, gone.text) == (410, sentence)
    assert page.post("/api/runs/0/selections", {"name": "x", "samples": [1]}).status_code == 410
    assert not (tmp_path / "images").exists()
    assert page.get("/api/scores").json()["problems"] == {"0": "its folder was deleted or moved"}
    assert page.open(1)["state"] == "ready"  # the others stay


def test_without_its_data_a_run_shows_its_gallery(runs, tmp_path):
    shutil.copytree(runs / "images", tmp_path / "images")
    card = tmp_path / "images" / "method.json"
    content = json.loads(card.read_text())
    content["data"]["name"] = str(tmp_path / "gone.npz")
    from untwine.runs.saving import seal

    del content["sha256"]
    card.write_text(json.dumps({**content, "sha256": seal(content)}))
    page = Page(tmp_path)
    status = page.open(0)
    assert status["state"] == "ready"
    assert status["of"] == "gallery"
    assert status["note"].startswith("The data of this run cannot be read (name must be a data set or an existing path; got")
    assert status["note"].endswith(f"these are the {status['n']} samples that its gallery holds.")
    made = page.decoded(0, "swap", a=0, b=1)
    names = {}
    exec(compile(page.get("/api/runs/0/swap", a=0, b=1, **{"as": "python"}).text, "swap", "exec"), names)
    close(names["a_with_b"], made["a_with_b"])
    close(names["a"], made["a"])
    page.post("/api/runs/0/selections", {"name": "of the gallery", "samples": [1]})
    assert read_selections(tmp_path / "images")["of the gallery"].of == "gallery"

    (tmp_path / "images" / "gallery.npz").unlink()
    status = Page(tmp_path).open(0)
    assert status["state"] == "failed"
    assert status["sentence"].endswith("and it has no gallery; run untwine evaluate where the data is.")


def test_a_run_that_cannot_be_opened_says_why_and_the_others_can(runs, tmp_path):
    shutil.copytree(runs / "images", tmp_path / "a")
    shutil.copytree(runs / "images", tmp_path / "b")
    (tmp_path / "a" / "weights.safetensors").write_bytes(b"nothing")
    page = Page(tmp_path)
    assert "must be the weights that were saved" in page.open(0)["sentence"]
    assert page.get("/api/runs/0/sample", sample=1).status_code == 422
    assert page.open(1)["state"] == "ready"


def test_a_damaged_run_is_named_and_the_others_can_be_explored(runs, tmp_path):
    shutil.copytree(runs / "images", tmp_path / "good")
    shutil.copytree(runs / "images", tmp_path / "bad")
    (tmp_path / "bad" / "method.json").write_text("{")
    page = Page(tmp_path)
    listed = page.get("/api/runs").json()
    assert [one["name"] for one in listed["runs"]] == ["good"]
    assert [one["name"] for one in listed["damaged"]] == ["bad"]
    assert "bad/method.json must be JSON" in listed["damaged"][0]["sentence"]
    assert page.open(0)["state"] == "ready"
    shutil.rmtree(tmp_path / "good")
    with pytest.raises(ValueError, match=r"bad/method.json must be JSON"):
        Page(tmp_path)


def test_of_very_many_samples_every_kth_is_shown(runs, tmp_path, monkeypatch):
    shutil.copytree(runs / "images", tmp_path / "images")
    monkeypatch.setattr(opened, "MAX_SAMPLES", 7)
    page = Page(tmp_path)
    status = page.open(0)
    _, test = loaded(page, 0)
    step = -(-len(test) // 7)
    assert (status["n"], status["step"]) == (len(test.x[::step]), step)
    assert status["note"] == f"The test split has {len(test)} samples; these are {status['n']} of them, one in {step}."
    made = page.decoded(0, "sample", sample=2)
    np.testing.assert_array_equal(made["original"], test.x[2 * step])
    names = {}
    exec(compile(page.get("/api/runs/0/sample", sample=2, **{"as": "python"}).text, "sample", "exec"), names)
    close(names["counterpart"], made["counterpart"])
    page.post("/api/runs/0/selections", {"name": "third", "samples": [2]})
    assert read_selections(tmp_path / "images")["third"].samples == (2 * step,)  # in the whole split
    assert page.get("/api/runs/0/selections").json()["selections"] == [{"name": "third", "samples": [2]}]


def test_runs_on_the_same_data_share_it_and_are_known_to(page):
    listed = page.get("/api/runs").json()["runs"]
    assert [one["name"] for one in listed] == ["images", "other_images", "single", "trained", "vectors"]
    numbers = [one["data_number"] for one in listed]
    assert numbers == [0, 0, 1, 1, 1]
    first, second = (page.explorer.ready(run).opened.samples for run in (IMAGES, OTHER_IMAGES))
    assert first is second


def test_only_a_few_runs_stay_in_memory(runs, monkeypatch):
    from untwine.explore import state

    monkeypatch.setattr(state, "MAX_OPEN", 2)
    page = Page(runs)
    for run in (IMAGES, VECTORS, SINGLE):
        page.open(run)
    assert list(page.explorer.openings) == [VECTORS, SINGLE]
    assert page.open(IMAGES)["state"] == "ready"


def test_scores_come_with_what_they_mean_and_curves_with_their_terms(page):
    content = page.get("/api/scores").json()
    assert set(content["scores"]) == {"0", "1", "2", "3", "4"}
    stored = json.loads((page.explorer.runs[TRAINED].path / "scores.json").read_text())
    assert {name: one["value"] for name, one in content["scores"]["3"].items()} == {n: s["value"] for n, s in stored.items()}
    for name, meaning in content["meanings"].items():
        assert f"{meaning['metric']}.{meaning['block']}" == name
        assert len(meaning["words"]) > 20
    curves = page.get(f"/api/runs/{TRAINED}/curves").json()["curves"]
    history = un.load_method(page.explorer.runs[TRAINED].path).history_
    first = curves[0]
    rows = [row for row in history if (row.stage, row.player, row.term) == (first["stage"], first["player"], first["term"])]
    assert first["values"] == [row.value for row in rows]
    assert first["epochs"] == [row.epoch for row in rows]


def test_scores_that_are_not_finite_are_sent_as_missing(runs, tmp_path):
    shutil.copytree(runs / "trained", tmp_path / "trained")
    path = tmp_path / "trained" / "scores.json"
    scores = json.loads(path.read_text())
    name = next(iter(scores))
    del scores[name]["low"]
    path.write_text(json.dumps(scores))
    page = Page(tmp_path)
    assert page.get("/api/scores").json()["scores"]["0"][name]["low"] is None
    path.write_text("{")
    assert "must be JSON" in page.get("/api/scores").json()["problems"]["0"]


def test_arrays_are_those_that_the_page_shows(page):
    content = page.get(f"/api/runs/{VECTORS}/swap", **RECIPES["swap"], **{"as": "npz"}).content
    shown = unpack(page.get(f"/api/runs/{VECTORS}/swap", **RECIPES["swap"]).content)
    assert set(arrays(content)) == {"a", "b", "a_with_b", "b_with_a"}
    for name, values in arrays(content).items():
        np.testing.assert_array_equal(shown[name], values.astype(np.float32))
