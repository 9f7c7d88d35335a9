"""Broken and odd files: each is refused by a sentence of its own that names file and column, or handled, and that is said."""

import gzip
import io
import re
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from odd_files import image, put, read_noted

from untwine.data import read

RNG = np.random.default_rng(0)
GOOD = "condition,batch,a,b\ncontrol,x,1,2\ndrug,y,3,4\ndrug,x,5,7\n"
GROUP = {"group": "condition", "background": "control"}
ROLES = GROUP | {"covariates": ["batch"]}


# A table that cannot be read: its content (text or bytes), the options, and the sentence. The file is a.csv.
TABLES = {
    "empty file": ("", {}, "a.csv must have rows of numbers; it is empty"),
    "blank lines alone": ("\n\n  \n", {}, "it is empty"),
    "header alone": ("a,b\n", {}, "at least one row of numbers below its header"),
    "header and blank lines": ("a,b\n\n,\n", {}, "at least one row of numbers below its header"),
    "NaN": ("a,b\n1,NaN\n2,3\n", {}, r"values are missing in 'b' \(1 of 2\)"),
    "missing in several columns": ("a,b,c\n,NA,1\n2,null,1\n", {}, r"in 2 columns: 'a' \(1 of 2\), 'b' \(2 of 2\)"),
    "a column without values": ("a,b\n,1\n,2\n", {"impute": "mean"}, "must have values in every column; 'a' have none"),
    "infinite": ("a,b\n1,inf\n2,-inf\n", {}, r"must have finite numbers; got infinite ones in 'b' \(2 of 2\)"),
    "too large for single precision": ("a,b\n1,1e300\n2,3\n", {}, "numbers that single precision can square; got 1e"),
    "unknown group column": (GOOD, ROLES | {"group": "conditon"}, "column 'conditon'; it has none .* did you mean 'condition'"),
    "unknown background": (GOOD, ROLES | {"background": "contol"}, "background 'contol' in the column 'condition'; got"),
    "background alone": (GOOD, ROLES | {"background": ["control", "drug"]}, "must have targets in the column 'condition'"),
    "an empty group": (GOOD.replace("drug,y", ",y"), ROLES, "a value in every row of the column 'condition'; 1 of 3 are"),
    "an empty covariate": (GOOD.replace("drug,y", "drug,"), ROLES, "every row of the column 'batch'; 1 of 3 are missing"),
    "an empty source": (GOOD.replace("drug,y", "drug,"), GROUP | {"source": "batch"}, "every row of the column 'batch'; 1 of"),
    "text as a factor": (GOOD, GROUP | {"factors": ["batch"]}, "must have numbers in the factor 'batch'; got 'x'"),
    "text without a role": (GOOD, GROUP, r"got text in 'batch' \('x'\); give each a role .*drop=\[...\]"),
    "several columns of text": (GOOD, {}, r"got text in 'condition' \('control'\), 'batch' \('x'\); give each a role"),
    "one cell of text": (GOOD.replace("4", "four"), ROLES, "must have a number in line 3, column 'b'; got 'four'; correct it"),
    "dates": ("day,a\n2026-01-02,1\n2026-01-03,2\n", {}, r"got text in 'day' \('2026-01-02'\)"),
    "percent signs": ("a,b\n1,50%\n2,60%\n", {}, r"got text in 'b' \('50%'\)"),
    "marks of thousands": ('a,b\n1,"1,000"\n2,"2,000"\n', {}, r"got text in 'b' \('1,000'\)"),
    "underscores in numbers": ("a,b\n1,1_0\n2,3_0\n", {}, r"got text in 'b' \('1_0'\)"),
    "an image in a table": (b"\x89PNG\r\n\x1a\n1234", {}, "its content is a PNG image; correct its ending"),
    "Excel in a table": (b"PK\x03\x041234", {}, "its content is a zip archive, an Excel workbook or an .npz"),
    "Parquet in a table": (b"PAR11234", {}, "its content is Parquet; correct its ending"),
    "a pickle": (b"\x80\x04K\x01.", {}, "its content is a Python pickle, which is never read"),
    "null characters": (b"a,b\n1,\x00\n", {}, "it has null characters"),
    "UTF-16 without a mark": (GOOD.encode("utf-16-le"), {}, "it has null characters; .* encoding='utf-16-le'"),
    "Latin-1": ("a,größe\n1,2\n".encode("latin-1"), {}, "must be text in UTF-8; line 1 is not; .* encoding='latin-1'"),
    "an unknown encoding": (GOOD, {"encoding": "latin-99"}, "encoding must be one that Python knows; got 'latin-99'"),
    "ragged lines": ("a,b\n1,2\n3\n4,5\n", {}, "must have 2 columns in every line, as in the first; got 1 in line 3"),
    "a separator at the end of some lines": ("a,b\n1,2,\n3,4\n", {}, "must have 2 columns .* got 3 in line 2"),
    "an open quote": ('a,b\n"1,2\n', {}, "line . cannot be read .* correct its quotes"),
    "the same name twice": ("a,b,a\n1,2,3\n", {}, "a different name for every column; got 'a' more than once"),
    "names and numbers in the header": ("a,2020\n1,2\n", {}, r"it mixes them \(a, 2020\); name all columns, or pass"),
    "a column with a role twice": (GOOD, GROUP | {"covariates": ["batch", "batch"]}, "covariates must be different names;"),
    "a role and dropped": (GOOD, ROLES | {"drop": ["batch"]}, "a column with a role must not be in drop too; got 'batch'"),
    "a column to drop that is not there": (GOOD, ROLES | {"drop": ["c"]}, "must have the columns of drop; it has no 'c'"),
    "a feature that is not there": (GOOD, ROLES | {"features": ["c"]}, "must have the columns of features; it has no 'c'"),
    "roles without a header": ("1,2\n3,4\n", {"label": "a"}, "must have the column 'a'|must have a header where columns are"),
    "nothing but roles": ("condition\ncontrol\ndrug\n", GROUP, "at least one column of numbers besides"),
    "semicolons in some lines": ("a;b\n1;2\n3,4\n", {}, "its first line has semicolons, but not all lines have as many"),
    "two decimal marks": ("a;b\n1,5;2.5\n", {}, "must have one decimal mark; got '1,5' and '2.5'"),
    "decimal marks or thousands": ("a;b\n1,500;2,000\n", {}, "got '1,500' which may be thousands; say which it is by"),
    "a size of a table": (GOOD, {"size": 32}, "size applies to images; .*a.csv is a table of numbers"),
    "an option of another format": (GOOD, {"layer": "counts"}, "layer applies to other data; .* whose options are features="),
    "an unknown way to impute": (GOOD, {"impute": "zero"}, "impute must be 'mean' or 'median'; got 'zero'"),
    "a category that is no covariate": (GOOD, ROLES | {"categories": ["a"]}, "categories must be covariates; 'a' is none"),
    "a separator of two characters": (GOOD, {"separator": "::"}, "separator must be one character, such as ';'; got '::'"),
    "a list of files that are not there": ("file,label\nx.png,1\n", {}, r"must list files that exist, .* 1 of 1 do not: x.png"),
    "an unknown column of files": (GOOD, {"file_column": "files"}, "must have the column 'files'; it has none"),
    "files that are no images": ("file\nx.pdf\n", {"file_column": "file"}, "must list images .* got 'x.pdf'"),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_a_table_that_cannot_be_read_is_refused_by_its_own_sentence(tmp_path, name):
    content, options, sentence = TABLES[name]
    put(tmp_path / "a.csv", content)
    with pytest.raises((ValueError, TypeError), match=sentence) as error:
        read(tmp_path / "a.csv", **options)
    assert len(str(error.value).replace(str(tmp_path), "")) < 420
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


# A table that is odd and read: content, options, the features that come out, and what is said about it.
ODD_TABLES = {
    "byte order mark": ("\ufeffa,b\n1,2\n", {}, [[1, 2]], ""),
    "UTF-16": ("a,b\n1,2\n".encode("utf-16"), {}, [[1, 2]], "text in UTF-16, by its byte order mark"),
    "Latin-1 by name": ("a,größe\n1,2\n".encode("latin-1"), {"encoding": "latin-1"}, [[1, 2]], ""),
    "mixed line endings": (b"a,b\r\n1,2\n3,4\r5,6\r\n", {}, [[1, 2], [3, 4], [5, 6]], ""),
    "quoted commas": ('a,"b, c",label\n1,2,"T, CD4"\n3,4,"B"\n', {}, [[1, 2], [3, 4]], ""),
    "quoted line breaks": ('a,b,label\n1,2,"T\ncell"\n3,4,B\n', {}, [[1, 2], [3, 4]], ""),
    "blank lines between": ("a,b\n1,2\n\n  \n,\n3,4\n", {}, [[1, 2], [3, 4]], ""),
    "spaces around": ("a , b\n 1 , 2 \n", {}, [[1, 2]], ""),
    "separators at the end of all lines": ("a,b,\n1,2,\n3,4,\n", {}, [[1, 2], [3, 4]], "a separator at the end of its lines"),
    "a row index": (",a,b\n0,1,2\n1,3,4\n", {}, [[1, 2], [3, 4]], "the first column has no name .* it is the id"),
    "semicolons": ("a;b\n1;2\n", {}, [[1, 2]], "has semicolons between its columns"),
    "decimal commas": ("a;b\n1,5;2\n3,25;4\n", {}, [[1.5, 2], [3.25, 4]], "has commas in decimal numbers"),
    "decimal commas by name": ("a;b\n1,500;2\n", {"decimal": ","}, [[1.5, 2]], "semicolons"),
    "tabs in a .csv": ("a\tb\n1\t2\n", {}, [[1, 2]], "has tabs between its columns"),
    "another separator by name": ("a|b\n1|2\n", {"separator": "|"}, [[1, 2]], ""),
    "booleans": ("a,b\n1,true\n2,False\n", {}, [[1, 1], [2, 0]], ""),
    "exponents and signs": ("a,b\n+1e3,-.5\n", {}, [[1000, -0.5]], ""),
    "negative counts": ("a,b\n-3,0\n", {}, [[-3, 0]], ""),
    "a constant column": ("a,b\n1,2\n1,3\n", {}, [[1, 2], [1, 3]], "1 columns have one value in all samples: 'a'"),
    "integers beyond 2^53": ("a,b\n9007199254740993,1\n1,2\n", {}, [[2.0**53, 1], [1, 2]], r"beyond 2\^53 are rounded in 'a'"),
    "imputed by the median": (
        "a,b\n1,2\n,5\n3,\n9,8\n", {"impute": "median"}, [[1, 2], [3, 5], [3, 5], [9, 8]],
        "imputed by the median",
    ),
    "imputed by the mean": ("a,b\n1,2\nNA,5\n3,5\n", {"impute": "mean"}, [[1, 2], [2, 5], [3, 5]], r"'a' \(1 of 3\)"),
    "columns left out": (GOOD, GROUP | {"drop": "batch"}, [[1, 2], [3, 4], [5, 7]], "1 columns are left out: batch"),
    "features chosen": (GOOD, {"features": ["b"]}, [[2], [4], [7]], "3 columns are left out: a, batch, condition"),
    "numbers as a header": ("1,2\n3,4\n", {"header": True}, [[3, 4]], ""),
    "ids that come twice": ("id,a\nx,1\nx,2\n", {}, [[1], [2]], "1 ids come more than once"),
    "one row": ("1,2\n", {}, [[1, 2]], ""),
    "one column": ("a\n1\n2\n", {}, [[1], [2]], ""),
}  # fmt: skip


@pytest.mark.parametrize("name", ODD_TABLES)
def test_an_odd_table_is_read_and_what_is_done_is_said(tmp_path, name):
    content, options, x, said = ODD_TABLES[name]
    samples, sentences = read_noted(put(tmp_path / "a.csv", content), **options)
    np.testing.assert_allclose(samples.x, np.array(x, np.float32))
    if said:
        assert re.search(said, " ".join(sentences)), sentences
    else:
        assert [one for one in sentences if "one value" not in one] == []


def gzipped(path, content):
    put(path, gzip.compress(content.encode()))


def npz_bomb(path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("x.npy", "w") as member:
        np.lib.format.write_array_header_1_0(member, {"descr": "|u1", "fortran_order": False, "shape": (4096, 1024)})
        member.write(bytes(4096 * 1024))


def lying_npy(path):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**12, 8)})
    put(path, header.getvalue() + bytes(64))


def lying_npz(path):
    lying_npy(path.with_name("x.npy"))
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(path.with_name("x.npy"), "x.npy")
    path.with_name("x.npy").unlink()


def truncated(path, write):
    write(path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def parquet(path, **columns):
    pa.parquet.write_table(pa.table(columns), path)


FILES = {
    "truncated gzip": ("a.csv.gz", lambda p: put(p, gzip.compress(GOOD.encode() * 50)[:-20]), {}, "a.csv.gz must be"),
    "gzip by its ending alone": ("a.csv.gz", lambda p: put(p, GOOD), {}, "must be compressed by gzip, as its ending says; it"),
    "gzip bomb": ("a.csv.gz", lambda p: gzipped(p, "a,b\n" + "1,2\n" * 2**20), {}, "must unpack to at most .* GiB, half of"),
    "zip bomb": ("a.npz", npz_bomb, {}, "must unpack to at most .* GiB, half of this machine's memory"),
    "an .npy that lies about its size": ("a.npy", lying_npy, {}, "a.npy must hold complete arrays|must unpack to at most"),
    "an .npz that lies about its size": ("a.npz", lying_npz, {}, "a.npz must hold complete arrays; .* says that it has"),
    "truncated Parquet": ("a.parquet", lambda p: truncated(p, lambda q: parquet(q, a=[1.0, 2])), {}, "a.parquet must be a"),
    "text as Parquet": ("a.parquet", lambda p: put(p, GOOD), {}, "a.parquet must be a complete table; it cannot be read"),
    "text as Feather": ("a.feather", lambda p: put(p, GOOD), {}, "a.feather must be a complete table; it cannot be read"),
    "nested columns": ("a.parquet", lambda p: parquet(p, a=[1.0, 2], b=[[1], [2, 3]]), {}, r"got text in 'b' \('\[1\]'\)"),
    "a nested column with a role": (
        "a.parquet", lambda p: parquet(p, a=[1.0, 2], b=[[1], [2]]), {"label": "b"},
        "'b' has values of type list",
    ),
    "Parquet without rows": ("a.parquet", lambda p: parquet(p, a=pa.array([], pa.float64())), {}, "at least one row; it has"),
    "missing values in Parquet": ("a.parquet", lambda p: parquet(p, a=[1, None], b=[1, 2]), {}, r"missing in a \(1 of 2\)"),
    "text in Parquet": ("a.parquet", lambda p: parquet(p, a=["x", "y"], b=[1, 2]), {}, r"got text in 'a' \('x'\)"),
    "an .npy with a role": ("a.npy", lambda p: np.save(p, np.ones((2, 2))), {"label": "b"}, "must have the column 'b'"),
    "an array with a role that is x": ("a.npz", lambda p: np.savez(p, x=np.ones((2, 2))), {"label": "x"}, "x is the samples"),
    "an unknown ending": ("a.xlsx", lambda p: put(p, b"PK"), {}, r"a file that ends in .npz, .npy, .*; got .*a.xlsx; convert"),
    "no such file": ("cell.csv", lambda p: put(p.with_name("cells.csv"), GOOD), {}, "cell.csv does not exist; did you mean"),
    "a loop of links": ("a.csv", lambda p: p.symlink_to(p), {}, "a.csv"),
    "a link to nothing": ("a.csv", lambda p: p.symlink_to(p.with_name("gone.csv")), {}, "is a link to nothing or to itself"),
    "a null character in the path": ("a\0.csv", lambda p: None, {}, "cannot be used|does not exist"),
    "a folder with the ending of a table": ("a.csv", lambda p: p.mkdir(), {}, "a.csv has no images"),
    "an empty folder": ("a", lambda p: p.mkdir(), {}, "a has no images"),
    "a label for images": ("a", lambda p: image(p / "x.png"), {"label": "kind"}, "must be a table where columns are named;"),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_cannot_be_read_is_refused_by_its_own_sentence(tmp_path, name, monkeypatch):
    ending, write, options, sentence = FILES[name]
    monkeypatch.setattr("untwine.data.readers.contents.largest_content", lambda: 2**21)
    write(tmp_path / ending)
    with pytest.raises(ValueError, match=sentence):
        read(tmp_path / ending, **options)


def test_integers_of_a_parquet_keep_their_values_and_dictionaries_are_text(tmp_path):
    kinds = pa.array(["x", "y", "x"]).dictionary_encode()
    parquet(tmp_path / "a.parquet", a=pa.array([1, 2, 3], pa.int64()), kind=kinds, flag=[True, False, True])
    samples = read(tmp_path / "a.parquet", label="kind")
    np.testing.assert_array_equal(samples.x, [[1, 1], [2, 0], [3, 1]])
    assert samples.label_names == ("x", "y")
    pa.feather.write_feather(pa.table({"a": [1.5], "b": [2]}), tmp_path / "a.feather")
    assert read(tmp_path / "a.feather").x.tolist() == [[1.5, 2]]
