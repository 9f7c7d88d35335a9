"""`un.read`: one call for paths, several sets and objects, with roles of columns."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from odd_files import image, put, read_noted
from PIL import Image

import untwine as un
from untwine.data import load, load_again, origin, read
from untwine.data.own import read_like
from untwine.data.readers.formats import FORMATS, format_of
from untwine.data.readers.text_tables import _numbers_by_row, numbers, open_table

ROLES = {
    "group": "condition", "background": "control", "label": "cluster", "covariates": ["batch", "age"], "source": "patient",
    "factors": ["dose"], "id": "cell",
}  # fmt: skip


@pytest.fixture
def frame():
    return pd.DataFrame(
        {
            "condition": ["drug b", "control", "drug a", "control", "drug a", "drug b"],
            "gene a": [0.5, 1.25, -2, 3, 4, 5],
            "cluster": ["T", None, "B", "T", "B", "T"],
            "batch": ["1", "2", "1", "2", "1", "2"],
            "age": [31.0, 40.0, 28.5, 60.0, 28.5, 31.0],
            "patient": [3, 1, 3, 2, 3, 3],
            "dose": [0.5, None, 2, 0, 2, 1],
            "cell": list("uvwxyz"),
            "gene b": [1, 2, 3, 4, 5, 6],
        }
    )


def same(one, other):
    assert one.fingerprint() == other.fingerprint()
    assert (one.feature_names, one.group_names, one.label_names) == (other.feature_names, other.group_names, other.label_names)
    assert one.ids.tolist() == other.ids.tolist()


def test_every_role_arrives_from_every_format(tmp_path, frame):
    expected = read(frame, **ROLES)
    assert expected.covariates.names == ("batch", "age")
    assert expected.covariates.levels == (("1", "2"), ())
    assert expected.sources.tolist() == [3, 1, 3, 2, 3, 3]
    np.testing.assert_array_equal(expected.factors[:, 0], [0.5, np.nan, 2, 0, 2, 1])
    assert expected.ids.tolist() == list("uvwxyz")
    np.testing.assert_array_equal(expected.x, frame[["gene a", "gene b"]].to_numpy(np.float32))
    frame.to_parquet(tmp_path / "a.parquet")
    frame.to_feather(tmp_path / "a.feather")
    (tmp_path / "parts.parquet").mkdir()
    frame[:3].to_parquet(tmp_path / "parts.parquet" / "0.parquet")
    frame[3:].to_parquet(tmp_path / "parts.parquet" / "1.parquet")
    for name in ("a.parquet", "a.feather", "parts.parquet"):
        same(read(tmp_path / name, **ROLES), expected)
    same(read(pa.Table.from_pandas(frame), **ROLES), expected)
    # Text has no types: a batch of numbers is categorical by name alone.
    for name, options in (("a.csv", {}), ("a.csv.gz", {}), ("b.tsv", {"sep": "\t"}), ("c.csv", {"sep": ";", "decimal": ","})):
        frame.to_csv(tmp_path / name, index=False, **options)
        samples, _ = read_noted(tmp_path / name, **ROLES, categories=["batch"])
        assert samples.source_names == ("1", "2", "3")
        same(samples, expected)
    assert read(tmp_path / "a.csv", **ROLES).covariates.levels == ((), ())


def test_a_data_frame_with_names_of_rows_and_odd_types(frame):
    frame = frame.set_index("cell").drop(columns=["cluster", "batch", "patient", "dose", "age"])
    frame["flag"] = pd.array([True, False, True, False, True, False], dtype="boolean")
    frame["many"] = pd.array([1, 2, 3, 4, None, 6], dtype="Int64")
    frame["condition"] = frame["condition"].astype("category")
    samples, sentences = read_noted(frame, group="condition", background="control", impute="mean")
    assert samples.ids.tolist() == list("uvwxyz")
    assert samples.x[:, 2].tolist() == [1, 0, 1, 0, 1, 0]
    assert samples.x[4, 3] == pytest.approx(16 / 5)
    assert any("the index is the id" in one for one in sentences)
    frame["when"] = pd.Timestamp("2026-01-01")
    with pytest.raises(ValueError, match=r"the DataFrame must have numbers .* got text in 'when' \('2026-01-01"):
        read(frame, group="condition", background="control", impute="mean")


class Hugging:
    """A data set as Hugging Face's `datasets` has them: what is used of it, over an Arrow table."""

    def __init__(self, table):
        self.column_names, self.table = table.column_names, table

    def with_format(self, kind):
        assert kind == "arrow"
        return _Rows(self.table)


class _Rows:
    def __init__(self, table):
        self.table = table

    def __getitem__(self, rows):
        return self.table[rows]


class Polars:
    """A data frame as polars has them: what is used of it, over an Arrow table."""

    def __init__(self, table):
        self.columns, self.to_arrow = table.column_names, lambda: table

    def __array__(self, *_, **__):
        raise AssertionError("a table of text is no array")


@pytest.mark.parametrize("kind", [Hugging, Polars])
def test_other_tables_come_by_arrow(frame, kind):
    same(read(kind(pa.Table.from_pandas(frame)), **ROLES), read(frame, **ROLES))


def test_images_of_hugging_face_are_sent_to_the_reader_of_items(frame):
    given = Hugging(pa.Table.from_pandas(frame.assign(photo=b"png")))
    given.features = {"photo": type("Image", (), {})()}  # as in datasets.Features
    with pytest.raises(ValueError, match=r"'photo' holds images; read them by read_torch\(dataset, .* keys=\('photo', "):
        read(given, **ROLES)
    same(read(given, **ROLES, drop="photo"), read(frame, **ROLES))


def test_what_is_no_path_and_no_table_is_refused():
    for given, sentence in (
        (np.ones((2, 2)), r"path must be a str or Path, a data frame or AnnData; got ndarray; .* Samples\(x\)"),
        (un.Samples(np.ones((2, 2))), "got Samples, which need no reading"),
        (None, "read needs a path, or target and background; got neither"),
        (3, "path must be a str or Path, a data frame or AnnData; got int"),
    ):
        with pytest.raises((TypeError, ValueError), match=sentence):
            read(given)


def test_sets_of_images_have_one_size_and_one_number_of_channels(tmp_path):
    for i in range(3):
        image(tmp_path / "patients" / f"{i}.png", (i, 20, 30), mode="RGB")
        image(tmp_path / "controls" / f"{i}.png", 100 + i)
        image(tmp_path / "others" / "kind" / f"{i}.png", 50 + i)
    samples = read(target=tmp_path / "patients", background=tmp_path / "controls")
    assert samples.group_names == ("background", "target")
    assert samples.groups.tolist() == [0, 0, 0, 1, 1, 1]
    assert samples.x[:, 0, 0, 0].tolist() == [100, 101, 102, 0, 1, 2]
    assert samples.x[:, 2, 0, 0].tolist() == [100, 101, 102, 30, 30, 30]
    assert samples.ids.tolist() == [f"{name}/{i}.png" for name in ("background", "target") for i in range(3)]
    several = read(target=[tmp_path / "patients", tmp_path / "others"], background=tmp_path / "controls", size=8)
    assert several.group_names == ("background", "patients", "others")
    assert several.labels.tolist() == [-1] * 6 + [0] * 3
    named = read(target={"drug a": tmp_path / "patients"}, background=tmp_path / "controls")
    assert named.group_names == ("background", "drug a")


def test_sets_of_tables_are_joined_by_the_names_of_features(tmp_path):
    put(tmp_path / "a.csv", "id,x,y,kind\n1,1,2,T\n2,3,4,B\n")
    put(tmp_path / "b.csv", "y,id,x,kind\n20,1,10,B\n")
    samples = read(target=tmp_path / "a.csv", background=tmp_path / "b.csv", label="kind")
    assert samples.feature_names == ("y", "x")
    assert samples.x.tolist() == [[20, 10], [2, 1], [4, 3]]
    assert samples.ids.tolist() == ["background 1", "target 1", "target 2"]
    assert [samples.label_names[i] for i in samples.labels] == ["B", "T", "B"]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"target": "a.csv"}, "target and background must be given together, .*; got target and no background"),
        ({"target": "a.csv", "background": "b.csv", "path": "a.csv"}, "path must be left out; got both"),
        ({"target": "a.csv", "background": "b.csv", "group": "g"}, "target says which samples are targets, and group does too"),
        (
            {"target": "a.csv", "background": "a.csv"},
            "each set must have a path of its own; 'background' and 'target' are",
        ),
        ({"target": {"background": "a.csv"}, "background": "b.csv"}, "a target must not be named 'background'"),
        ({"target": ["a.csv", "x/a.csv"], "background": "b.csv"}, "paths of different names; got 'a' twice"),
        ({"target": [], "background": "b.csv"}, "target must be at least one path"),
        ({"target": 3, "background": "b.csv"}, "target must be a path, a list of paths or a mapping"),
        ({"path": "a.csv", "background": "control"}, "background is a value of the column group, or a path beside target"),
        ({"path": "a.csv", "label": ["x"]}, "label must be the name of a column"),
        ({"path": "a.csv", "factors": [3]}, "factors must be names; got 3"),
        ({"target": "g.csv", "background": "b.csv"}, "must be one set without groups, .* pass it alone"),
    ],
)
def test_what_excludes_each_other_is_refused(tmp_path, monkeypatch, given, sentence):
    monkeypatch.chdir(tmp_path)
    for name in ("a.csv", "b.csv"):
        put(tmp_path / name, "x\n1\n")
    put(tmp_path / "g.csv", "group,x\n0,1\n1,2\n")
    with pytest.raises((ValueError, TypeError), match=sentence):
        read(given.pop("path", None), **given)


def test_a_table_may_list_images(tmp_path):
    for i in range(4):
        image(tmp_path / "images" / f"{i}.png", 10 * i)
    lines = "\n".join(f"images/{i}.png,{'ab'[i % 2]},p{i // 2},{20 + i},note" for i in range(4))
    put(tmp_path / "list.csv", f"file,condition,patient,age,remark\n{lines}\n")
    options = {"group": "condition", "background": "a", "source": "patient", "covariates": ["age"], "size": 8}
    samples, sentences = read_noted(tmp_path / "list.csv", **options)
    assert samples.x[:, 0, 0, 0].tolist() == [0, 10, 20, 30]
    assert samples.groups.tolist() == [0, 1, 0, 1]
    assert samples.source_names == ("p0", "p1")
    assert samples.covariates.values[:, 0].tolist() == [20, 21, 22, 23]
    assert samples.ids.tolist() == [f"images/{i}.png" for i in range(4)]
    assert any("columns without a role are left out: remark" in one for one in sentences)


def test_arrays_of_an_npz_get_roles(tmp_path):
    np.savez(tmp_path / "a.npz", x=np.eye(3), condition=np.array(["c", "d", "d"]), batch=np.array(["1", "2", "1"]))
    samples = read(tmp_path / "a.npz", group="condition", background="c", covariates="batch")
    assert samples.groups.tolist() == [0, 1, 1]
    assert samples.covariates.levels == (("1", "2"),)
    with pytest.raises(ValueError, match=r"arrays besides x must be among groups.*; got batch"):
        read(tmp_path / "a.npz", group="condition", background="c")


def test_parsing_at_once_and_row_by_row_gives_equal_numbers(tmp_path):
    x = np.random.default_rng(0).normal(size=(50, 7)) * 10.0 ** np.arange(-3, 4)
    frame = pd.DataFrame(x, columns=[f'g "{i}", x' for i in range(7)])
    frame.to_csv(tmp_path / "a.csv", index=False)
    table = open_table(tmp_path / "a.csv")
    columns = [0, 3, 6]
    at_once = numbers(table, columns, 50)
    np.testing.assert_array_equal(at_once, _numbers_by_row(table, columns))
    np.testing.assert_array_equal(at_once, x[:, columns])  # as pandas writes them, to the last bit
    frame.iloc[7, 3] = np.nan
    frame.to_csv(tmp_path / "b.csv", index=False)
    with_gap = numbers(open_table(tmp_path / "b.csv"), columns, 50)
    assert np.isnan(with_gap[7, 1])
    np.testing.assert_array_equal(np.delete(with_gap, 7, 0), np.delete(at_once, 7, 0))


def test_the_data_of_a_run_are_read_again_as_they_were(tmp_path, frame):
    frame = pd.concat([frame.assign(cell=frame["cell"] + str(i), patient=frame["patient"] + 10 * i) for i in range(6)])
    frame.to_csv(tmp_path / "cells.csv", index=False)
    given = ROLES | {"seed": 1}
    stored = json.loads(json.dumps(origin(tmp_path / "cells.csv", given)))
    first, again = load(tmp_path / "cells.csv", **given), load_again(stored)
    assert first.train.fingerprint() == again.train.fingerprint()
    for i in range(5):
        image(tmp_path / "p" / f"{i}.png", i)
        image(tmp_path / "c" / f"{i}.png", 50 + i)
    given = {"target": {"drug": tmp_path / "p"}, "background": tmp_path / "c", "size": 8}
    stored = json.loads(json.dumps(origin(None, given)))
    assert stored["name"] == f"{tmp_path / 'p'} and {tmp_path / 'c'}"
    assert load_again(stored).test.fingerprint() == load(**given).test.fingerprint()
    assert load_again(stored, seed=3).test.ids.tolist() != load(**given).test.ids.tolist()


def test_images_of_runs_from_before_are_read_as_they_were_then(tmp_path):
    wide = np.zeros((16, 24), np.uint8)
    wide[:, :12] = 200
    tags = Image.Exif()
    tags[0x0112] = 6
    for i in range(6):
        (tmp_path / "p").mkdir(exist_ok=True)
        Image.fromarray(wide).save(tmp_path / "p" / f"{i}.jpg", exif=tags.tobytes())
    assert load(tmp_path / "p").train.shape == (1, 24, 16)
    assert load_again({"name": str(tmp_path / "p"), "options": {}}).train.shape == (1, 16, 24)
    assert load_again(origin(tmp_path / "p", {})).train.shape == (1, 24, 16)


def test_a_file_for_a_run_may_lack_roles_and_have_other_columns(tmp_path, frame):
    frame.to_csv(tmp_path / "cells.csv", index=False)
    stored = origin(tmp_path / "cells.csv", ROLES)
    put(tmp_path / "new.csv", "remark,gene b,batch,gene a,condition\nx,1,9,2,drug a\ny,3,9,4,drug a\n")
    with pytest.warns(UserWarning, match="x has features that the fit does not have, which are left out: remark"):
        samples = read_like(stored, tmp_path / "new.csv", ("gene a", "gene b"))
    assert samples.feature_names == ("gene b", "gene a")
    assert samples.groups is None
    frame.to_parquet(tmp_path / "cells.parquet")
    assert read_like(stored, tmp_path / "cells.parquet", ("gene a", "gene b")).ids.tolist() == list("uvwxyz")


def test_each_format_has_a_name_and_the_options_of_its_reader(tmp_path):
    put(tmp_path / "a.csv", "1\n")
    assert format_of(tmp_path / "a.csv").options["impute"] is None
    names = [one.name for one in FORMATS]
    assert len(set(names)) == len(names)
    endings = [ending for one in FORMATS for ending in one.endings]
    assert len(set(endings)) == len(endings)
