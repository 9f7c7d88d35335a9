"""`untwine data show`, and the flags of your own data that other commands share with it."""

import json

import numpy as np
import pytest
from command_line import exit_code, run
from odd_files import image, put
from PIL import Image

COLUMNS = (
    "--group-column", "condition", "--background", "control", "--label-column", "cluster", "--covariate", "batch",
    "--source-column", "patient", "--factor-column", "age", "--id-column", "cell",
)  # fmt: skip
VAE = ("principled_vae", "--set", "n_common=2", "--set", "n_salient=1", "--set", "epochs=1", "--set", "width=8", "--quiet")
PCA = ("contrastive_pca", "--set", "n_common=2", "--set", "n_salient=1", "--quiet")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    lines = ["cell,condition,cluster,batch,patient,age,a,b,c,d"]
    for i in range(60):
        values = ",".join(f"{one:.4f}" for one in rng.normal(size=4))
        lines.append(f"c{i},{('control', 'drug')[i % 2]},{'TB'[i % 3 % 2]},b{i % 2},p{i % 12},{20 + i},{values}")
    put(tmp_path / "cells.csv", "\n".join(lines) + "\n")
    for name, low in (("patients", 100), ("controls", 0)):
        for i in range(8):
            pixels = rng.integers(low, low + 100, (20, 16, 3), dtype=np.uint8)
            (tmp_path / name).mkdir(exist_ok=True)
            Image.fromarray(pixels).save(tmp_path / name / f"{i}.png")
    put(tmp_path / "patients" / "notes.txt", "x")
    return tmp_path


def error(capsys, *arguments):
    assert exit_code(*arguments) == 2
    return capsys.readouterr().err


def test_a_table_is_summed_up(here, capsys):
    run("data", "show", "cells.csv", *COLUMNS)
    shown = capsys.readouterr().out.splitlines()
    assert shown[0].startswith("samples     60 vectors of 4 features, float32 from ")
    assert shown[1:] == [
        "features    a, b, c, d",
        "groups      control (30), drug (30)",
        "labels      B (20), T (40)",
        "covariate   batch: b0 (30), b1 (30)",
        "factor      age: 20 to 79",
        "sources     12 different",
        "ids         60 different, the first is c0",
    ]


def test_the_summary_as_json_and_what_was_left_out(here, capsys):
    run("data", "show", "--target", "patients", "--background", "controls", "--data-set", "size=8", "--json")
    shown = json.loads(capsys.readouterr().out)
    assert (shown["samples"], shown["shape"], shown["groups"]) == (16, [3, 8, 8], {"background": 8, "target": 8})
    assert shown["options"] == {"size": 8, "target": "patients", "background": "controls"}
    assert shown["notes"] == [
        "patients: 1 files that are no images are left out: notes.txt.",
        "Images of 16 x 20 (16) pixels became 8 x 8: the central square resized.",
    ]


def test_images_are_drawn_in_rows_of_their_groups(here):
    run("data", "show", "--target", "patients", "--background", "controls", "--data-set", "size=8", "--out", "a.png")
    with Image.open("a.png") as opened:
        drawn = np.asarray(opened.convert("L")).astype(int)
    half = len(drawn) // 2
    middle = slice(drawn.shape[1] // 3, None)  # beside the names of the rows
    assert np.median(drawn[:half, middle]) < 80 < 120 < np.median(drawn[half:, middle])


def test_features_are_drawn_as_histograms_and_nothing_is_overwritten(here, capsys):
    run("data", "show", "cells.csv", *COLUMNS, "--out", "a.png")
    with Image.open("a.png") as drawn:
        assert drawn.size[0] > 600
    before = (here / "a.png").read_bytes()
    assert "a.png exists; choose another or pass --overwrite" in error(
        capsys, "data", "show", "cells.csv", *COLUMNS, "--out", "a.png"
    )
    assert (here / "a.png").read_bytes() == before
    assert "--out must end in .png" in error(capsys, "data", "show", "cells.csv", *COLUMNS, "--out", "a.jpg")


def test_warnings_are_among_the_notes(here, capsys):
    frames = [Image.new("L", (16, 16), value) for value in (1, 200)]
    frames[0].save("pages.tif", save_all=True, append_images=frames[1:])
    run("data", "show", "pages.tif")
    captured = capsys.readouterr()
    assert "note        pages.tif has 2 frames, of which the first is read" in captured.out
    assert captured.err == ""


def test_a_run_reads_its_table_again_without_flags(here, capsys):
    run("fit", *VAE, "--data", "cells.csv", *COLUMNS, "--out", "run")  # closed forms take no covariates
    stored = json.loads((here / "run" / "method.json").read_text())["data"]
    assert stored["name"] == "cells.csv"
    assert stored["options"] == {
        "group": "condition", "background": "control", "label": "cluster", "covariates": ["batch"], "source": "patient",
        "factors": ["age"], "id": "cell",
    }  # fmt: skip
    run("evaluate", "run", "--metrics", "groups", "--seeds", 2, "--quiet")
    run("encode", "run", "--out", "a.csv")
    run("encode", "run", "cells.csv", *COLUMNS, "--out", "b.csv")
    rows = (here / "a.csv").read_text().splitlines()
    assert rows[0] == "id,group,label,common0,common1,salient0"
    assert rows[1].startswith("c0,control,T,")
    assert (here / "a.csv").read_bytes() == (here / "b.csv").read_bytes()
    # A file without the columns of roles but for the covariate, its features in another order, and text that the run lacks.
    lines = [line.split(",") for line in (here / "cells.csv").read_text().splitlines()]
    put(
        here / "new.csv",
        "\n".join(",".join([row[8], row[4], row[9], row[3], row[7], row[6]]) for row in lines).replace("patient", "remark")
        + "\n",
    )
    with pytest.warns(UserWarning, match="the fit does not have, which are left out: remark"):
        run("encode", "run", "new.csv", "--out", "c.csv")
    assert (here / "c.csv").read_text().splitlines()[1].split(",")[1:] == rows[1].split(",")[3:]
    capsys.readouterr()
    assert "must have the column 'nobody'" in error(capsys, "evaluate", "run", "--source-column", "nobody", "--quiet")


def test_a_run_reads_its_sets_again_without_flags(here):
    sets = ("--target", "sick=patients", "--background", "controls", "--data-set", "size=8")
    run("fit", *PCA, *sets, "--out", "run")
    stored = json.loads((here / "run" / "method.json").read_text())["data"]
    assert stored["name"] == "patients and controls"
    run("evaluate", "run", "--metrics", "groups", "--seeds", 2, "--quiet")
    run("encode", "run", "--split", "test", "--out", "a.csv")
    ids = [line.split(",")[:2] for line in (here / "a.csv").read_text().splitlines()[1:]]
    assert {group for _, group in ids} == {"background", "sick"}
    assert all(name.startswith(f"{group}/") for name, group in ids)
    run("swap", "run", "patients/0.png", "controls/1.png", "--out", "b.png")
    run("evaluate", "run", *sets, "--metrics", "groups", "--seeds", 2, "--quiet")


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (("--target", "patients"), "--target must come with one --background, the path of the background; got none"),
        (("--target", "patients", "--background", "controls", "--background", "x"), "one --background, .*; got 2 paths"),
        (("--target", "patients", "--background", "controls", "--data", "cells.csv"), "--target takes the place of --data"),
        (("--target", "patients", "--background", "c", "--group-column", "g"), "--target says which files are targets, and"),
        (("--data", "cells.csv", "--background", "control"), "--background is a path beside --target, or a value of"),
        (("--target", "a=patients", "--target", "controls", "--background", "x"), "NAME=PATH for all targets or for none"),
        (("--target", "a=x", "--target", "a=y", "--background", "x"), "--target must have different names; got a, a"),
        (("--target", "=x", "--background", "x"), "--target must be PATH or NAME=PATH; got '=x'"),
        (("--data", "toy_contrast", "--label-column", "x"), "columns get roles in your own data; got --data toy_contrast"),
        (("--label-column", "x"), "columns get roles in your own data; got --data grassy_digits"),
        (("--data", "cells.csv", *COLUMNS, "--data-set", "label=x"), "label must be given once; got a flag for it and"),
        (("--data", "cells.csv", "--group-colum", "x"), "has no option --group-colum; did you mean --group-column"),
        (("--data", "cells.csv", "--data-set", "size=8"), "size applies to images; cells.csv is a table of numbers"),
    ],
)
def test_mixtures_of_flags_are_refused_and_nothing_is_written(here, capsys, flags, sentence):
    import re

    assert re.search(sentence, error(capsys, "fit", *PCA, *flags, "--out", "run"))
    assert not (here / "run").exists()


def test_a_data_set_of_the_catalogue_is_described_elsewhere(here, capsys):
    assert "see `untwine list data toy_contrast`" in error(capsys, "data", "show", "toy_contrast")
    assert "read needs a path, or target and background" in error(capsys, "data", "show")


def test_dark_images_are_fitted_with_their_bits_and_read_so_again(here, capsys):
    rng = np.random.default_rng(0)
    for name, low in (("sick", 2000), ("well", 0)):
        (here / name).mkdir()
        for i in range(8):
            Image.fromarray(rng.integers(low, 4096 - 2000 + low, (8, 8)).astype(np.uint16)).save(here / name / f"{i}.tif")
    sets = ("--target", "sick", "--background", "well")
    assert "pass bits=12 to divide by 4095" in error(capsys, "fit", *PCA, *sets, "--out", "run")
    run("fit", *PCA, *sets, "--data-set", "bits=12", "--out", "run")
    run("evaluate", "run", "--metrics", "groups", "--seeds", 2, "--quiet")
    run("remove", "run", "sick/0.tif", "--out", "a.npz")
    with np.load("a.npz", allow_pickle=False) as arrays:
        with Image.open("sick/0.tif") as opened:
            expected = np.asarray(opened) / 4095
        np.testing.assert_allclose(arrays["x"][0, 0], expected, atol=1e-6)


def test_one_image_alone(here, capsys):
    image(here / "a.png", 7)
    run("data", "show", "a.png", "--out", "b.png")
    assert "samples     1 images of 1 x 16 x 16" in capsys.readouterr().out
