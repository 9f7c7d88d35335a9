"""`untwine encode`: the codes of Python, as .npz or .csv, in the order of the file and with what names each sample."""

import csv

import numpy as np
import pytest
from command_line import exit_code, run
from images_on_disk import read, save

import untwine as un


def load_codes(path):
    with np.load(path, allow_pickle=False) as codes:
        return dict(codes)


def load_rows(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def latents(row, method):
    return np.array([float(row[name]) for name in method.get_feature_names_out()], dtype="float32")


@pytest.fixture
def table(evaluated, tmp_path):
    """A table of 30 rows in a random order of groups, and its values."""
    rng = np.random.default_rng(1)
    x, groups = rng.normal(size=(30, 20)).astype("float32"), rng.permutation(np.arange(30) % 3)
    lines = [",".join(["id", "group", "label", *(f"g{i}" for i in range(20))])]
    names, classes = ("background", "drug", "heat"), ("a", "", "b,c")
    for i, row in enumerate(x):
        cells = [f"cell{i}", names[groups[i]], f'"{classes[i % 3]}"', *map(repr, row.tolist())]
        lines.append(",".join(cells))
    (tmp_path / "cells.csv").write_text("\n".join(lines) + "\n")
    return x, groups


def test_encode_as_npz_and_csv_hold_the_codes_of_python(evaluated, tmp_path):
    data = un.load("toy_contrast", n_target=60, n_background=40, n_common=2, n_salient=1)
    method = un.load_method(evaluated)
    run("encode", evaluated, "--out", tmp_path / "codes.npz")
    codes = load_codes(tmp_path / "codes.npz")
    z = method.encode(np.concatenate([data.train.x, data.test.x]))
    assert set(codes) == {"common", "salient", "ids", "groups", "group_names"}
    assert np.array_equal(codes["salient"], z.salient)
    assert codes["groups"].tolist() == [*data.train.groups, *data.test.groups]
    assert (codes["ids"][0], codes["ids"][-1]) == ("train 0", f"test {len(data.test) - 1}")
    run("encode", evaluated, "--out", tmp_path / "codes.csv", "--split", "test")
    rows = load_rows(tmp_path / "codes.csv")
    assert list(rows[0]) == ["id", "group", "common0", "common1", "common2", "salient0", "salient1"]
    assert [row["group"] for row in rows] == [data.test.group_names[i] for i in data.test.groups]
    assert np.array_equal([latents(row, method) for row in rows], method.transform(data.test.x))


def test_encode_other_data_and_overwrite(evaluated, tmp_path):
    x = np.random.default_rng(0).normal(size=(10, 20)).astype("float32")
    np.save(tmp_path / "rows.npy", x)
    (tmp_path / "codes.npz").write_bytes(b"old")
    run("encode", evaluated, tmp_path / "rows.npy", "--out", tmp_path / "codes.npz", "--overwrite")
    codes = load_codes(tmp_path / "codes.npz")
    assert codes["common"].shape == (10, 3)
    assert np.array_equal(codes["common"], un.load_method(evaluated).encode(x).common)  # position by position
    assert codes["ids"].tolist() == [str(i) for i in range(10)]


def test_the_codes_of_a_table_are_in_its_order_with_id_group_and_label(evaluated, table, tmp_path):
    x, groups = table
    method = un.load_method(evaluated)
    run("encode", evaluated, tmp_path / "cells.csv", "--out", tmp_path / "codes.csv")
    rows = load_rows(tmp_path / "codes.csv")
    assert [row["id"] for row in rows] == [f"cell{i}" for i in range(30)]
    assert [row["group"] for row in rows] == [("background", "drug", "heat")[i] for i in groups]
    assert [row["label"] for row in rows] == [("a", "", "b,c")[i % 3] for i in range(30)]
    np.testing.assert_array_equal([latents(row, method) for row in rows], method.transform(x))
    run("encode", evaluated, tmp_path / "cells.csv", "--out", tmp_path / "codes.npz")
    codes = load_codes(tmp_path / "codes.npz")
    assert np.array_equal(codes["salient"], method.encode(x).salient)
    by_name = {name: i for i, name in enumerate(codes["group_names"])}
    assert [by_name[row["group"]] for row in rows] == codes["groups"].tolist()
    assert codes["labels"][1] == -1


def test_a_split_of_a_file_keeps_its_ids(evaluated, table, tmp_path):
    x, _ = table
    run("encode", evaluated, tmp_path / "cells.csv", "--split", "test", "--out", tmp_path / "codes.npz")
    codes = load_codes(tmp_path / "codes.npz")
    own = [int(name.removeprefix("cell")) for name in codes["ids"]]
    assert 0 < len(own) < 30
    np.testing.assert_allclose(codes["common"], un.load_method(evaluated).encode(x[own]).common, atol=1e-6)


def test_options_of_a_split_are_refused_where_a_file_is_encoded_whole(evaluated, table, tmp_path, capsys):
    assert exit_code("encode", evaluated, tmp_path / "cells.csv", "--data-set", "seed=1", "--out", tmp_path / "c.npz") == 2
    assert "--data-set seed belongs to a split" in capsys.readouterr().err


def test_one_row_is_enough(evaluated, tmp_path):
    np.save(tmp_path / "one.npy", np.ones((1, 20), "float32"))
    run("encode", evaluated, tmp_path / "one.npy", "--out", tmp_path / "codes.csv")
    assert [row["id"] for row in load_rows(tmp_path / "codes.csv")] == ["0"]


def test_images_are_named_and_converted_to_the_shape_of_the_run(inside, tmp_path, capsys):
    method = un.load_method("images")
    run("encode", "images", "a.png", "--out", tmp_path / "one.csv")
    (row,) = load_rows(tmp_path / "one.csv")
    assert row["id"] == "a.png"
    np.testing.assert_array_equal(latents(row, method), method.transform(read("a"))[0])
    folder = tmp_path / "images"
    for group, name in (("target", "b"), ("background", "c"), ("target", "a")):
        (folder / group).mkdir(parents=True, exist_ok=True)
        save(folder / group / f"{name}.png", np.repeat(np.repeat(read(name)[0], 3, axis=1), 3, axis=2))
    run("encode", "images", folder, "--out", tmp_path / "all.npz")
    codes = load_codes(tmp_path / "all.npz")
    assert codes["ids"].tolist() == ["background/c.png", "target/a.png", "target/b.png"]
    assert codes["groups"].tolist() == [0, 1, 1]
    assert "was resized to 10 x 12 pixels" in capsys.readouterr().err


def test_the_file_that_a_run_was_fitted_on_is_encoded_in_its_order(table, tmp_path):
    x, _ = table
    options = ("--set", "n_common=2", "--set", "n_salient=1", "--quiet")
    run("fit", "contrastive_pca", "--data", tmp_path / "cells.csv", *options, "--out", tmp_path / "run")
    run("encode", tmp_path / "run", "--out", tmp_path / "codes.npz")
    codes = load_codes(tmp_path / "codes.npz")
    assert codes["ids"].tolist() == [f"cell{i}" for i in range(30)]
    assert np.array_equal(codes["common"], un.load_method(tmp_path / "run").encode(x).common)


def test_the_columns_of_a_table_are_found_by_name(table, tmp_path, capsys):
    x, _ = table
    options = ("--set", "n_common=2", "--set", "n_salient=1", "--quiet")
    run("fit", "contrastive_pca", "--data", tmp_path / "cells.csv", *options, "--out", tmp_path / "run")
    method, names = un.load_method(tmp_path / "run"), [f"g{i}" for i in range(20)]

    def write(columns, values):
        lines = [",".join(columns), *(",".join(map(repr, row.tolist())) for row in values)]
        (tmp_path / "other.csv").write_text("\n".join(lines) + "\n")

    write(names[::-1], x[:, ::-1])
    run("encode", tmp_path / "run", tmp_path / "other.csv", "--out", tmp_path / "codes.npz")
    assert np.array_equal(load_codes(tmp_path / "codes.npz")["common"], method.encode(x).common)
    run("remove", tmp_path / "run", tmp_path / "other.csv", "--out", tmp_path / "removed.csv")
    removed = load_rows(tmp_path / "removed.csv")
    assert list(removed[0]) == names
    expected = un.manipulate.remove(method, x, "salient")
    np.testing.assert_allclose([[float(row[name]) for name in names] for row in removed], expected, rtol=1e-6)
    write([*names[:3], *names[5:]], x[:, 2:])
    assert exit_code("encode", tmp_path / "run", tmp_path / "other.csv", "--out", tmp_path / "no.npz") == 2
    error = capsys.readouterr().err
    assert "x must have the 20 features of the fit; it lacks 2: g3, g4; add or rename columns." in error
    write([*names, "depth"], np.c_[x, x[:, 0]])
    with pytest.warns(UserWarning, match="x has features that the fit does not have, which are left out: depth"):
        run("encode", tmp_path / "run", tmp_path / "other.csv", "--out", tmp_path / "codes.npz", "--overwrite")
    assert np.array_equal(load_codes(tmp_path / "codes.npz")["common"], method.encode(x).common)


def test_a_table_with_other_columns_is_evaluated_and_traversed_by_name(table, tmp_path):
    x, groups = table
    options = ("--set", "n_common=2", "--set", "n_salient=1", "--quiet")
    run("fit", "contrastive_pca", "--data", tmp_path / "cells.csv", *options, "--out", tmp_path / "run")
    names = np.array([f"g{i}" for i in range(20)])
    order = np.random.default_rng(3).permutation(20)
    np.savez(tmp_path / "same.npz", x=x, groups=groups, feature_names=names)
    np.savez(tmp_path / "mixed.npz", x=x[:, order], groups=groups, feature_names=names[order])
    values = [
        un.evaluate_run(tmp_path / "run", data=tmp_path / f"{name}.npz", metrics=["reconstruction"])["reconstruction.x"].value
        for name in ("same", "mixed")
    ]
    assert values[0] == values[1]
    run("traverse", tmp_path / "run", tmp_path / "mixed.npz", "--steps", 3, "--out", tmp_path / "steps.npz")
    steps = load_codes(tmp_path / "steps.npz")
    assert steps["feature_names"].tolist() == names.tolist()
    np.testing.assert_array_equal(steps["x"], x[:1])


@pytest.fixture(scope="module")
def cells(tmp_path_factory):
    """An .h5ad file of cells with names, and a run on their values."""
    import anndata
    import pandas as pd

    place, rng = tmp_path_factory.mktemp("cells"), np.random.default_rng(0)
    x = rng.normal(size=(30, 6)).astype("float32")
    names = [f"gene{i}" for i in range(6)]
    np.savez(place / "train.npz", x=x, groups=np.arange(30) % 2, feature_names=np.array(names))
    settings = ("--set", "n_common=2", "--set", "n_salient=1", "--quiet")
    run("fit", "contrastive_pca", "--data", place / "train.npz", *settings, "--out", place / "run")
    obs = pd.DataFrame(index=[f"cell{i}" for i in range(30)])
    anndata.AnnData(x[:, ::-1].copy(), obs=obs, var=pd.DataFrame(index=names[::-1])).write_h5ad(place / "cells.h5ad")
    return place, x


def test_an_h5ad_is_copied_with_its_codes(cells, tmp_path, capsys):
    import anndata

    place, x = cells
    before = (place / "cells.h5ad").read_bytes()
    run("encode", place / "run", place / "cells.h5ad", "--out", tmp_path / "coded.h5ad")
    assert "30 cells with X_untwine_common (2), X_untwine_salient (1)" in capsys.readouterr().out
    coded = anndata.read_h5ad(tmp_path / "coded.h5ad")
    np.testing.assert_allclose(coded.obsm["X_untwine_salient"], un.load_method(place / "run").encode(x).salient, atol=1e-5)
    assert (place / "cells.h5ad").read_bytes() == before
    assert exit_code("encode", place / "run", place / "cells.h5ad", "--out", place / "cells.h5ad") == 2
    assert "pass --overwrite" in capsys.readouterr().err
    assert (place / "cells.h5ad").read_bytes() == before


def test_an_h5ad_without_a_block_has_it_as_a_layer(cells, tmp_path, capsys):
    import anndata
    from scipy import sparse

    place, x = cells
    expected = un.manipulate.remove(un.load_method(place / "run"), x)[:, ::-1]
    run("remove", place / "run", place / "cells.h5ad", "--out", tmp_path / "x.h5ad")
    assert "30 cells without the salient block, in the dense layer without_salient" in capsys.readouterr().out
    np.testing.assert_allclose(anndata.read_h5ad(tmp_path / "x.h5ad").layers["without_salient"], expected, atol=1e-5)
    run("remove", place / "run", place / "cells.h5ad", "--out", tmp_path / "y.h5ad", "--threshold", 0.5, "--json")
    layer = anndata.read_h5ad(tmp_path / "y.h5ad").layers["without_salient"]
    assert sparse.issparse(layer)
    np.testing.assert_allclose(layer.toarray(), np.where(abs(expected) > 0.5, expected, 0), atol=1e-5)


def test_what_an_h5ad_cannot_be_written_from_is_refused(cells, evaluated, tmp_path, capsys):
    place, _ = cells
    for command in (
        ("encode", evaluated, "--out", tmp_path / "a.h5ad"),
        ("encode", place / "run", place / "train.npz", "--out", tmp_path / "a.h5ad"),
        ("encode", place / "run", place / "cells.h5ad", "--out", tmp_path / "a.h5ad", "--split", "test"),
        ("remove", place / "run", "--out", tmp_path / "a.h5ad"),
        ("remove", place / "run", place / "cells.h5ad", "--out", tmp_path / "a.csv", "--threshold", 1),
    ):
        assert exit_code(*command) == 2, command
    messages = capsys.readouterr().err
    assert messages.count("an .h5ad can only be written from an .h5ad") == 3
    assert "an .h5ad is written with all its cells; got --split test" in messages
    assert "--threshold is of the layer of an .h5ad file" in messages
    assert list(tmp_path.iterdir()) == []


def test_a_parquet_holds_the_table(evaluated, table, tmp_path):
    import pyarrow.parquet

    run("encode", evaluated, tmp_path / "cells.csv", "--out", tmp_path / "codes.csv")
    run("encode", evaluated, tmp_path / "cells.csv", "--out", tmp_path / "codes.parquet")
    rows, columns = load_rows(tmp_path / "codes.csv"), pyarrow.parquet.read_table(tmp_path / "codes.parquet").to_pydict()
    assert list(columns) == list(rows[0])
    assert columns["id"] == [row["id"] for row in rows]
    assert columns["salient0"] == [float(row["salient0"]) for row in rows]
