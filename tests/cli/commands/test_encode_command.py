"""`untwine encode`: the codes of Python, as .npz or .csv."""

import numpy as np
from command_line import run

import untwine as un


def test_encode_as_npz_and_csv_hold_the_codes_of_python(evaluated, tmp_path):
    data = un.load("toy_contrast", n_target=60, n_background=40, n_common=2, n_salient=1)
    method = un.load_method(evaluated)
    run("encode", evaluated, "--out", tmp_path / "codes.npz")
    with np.load(tmp_path / "codes.npz", allow_pickle=False) as codes:
        z = method.encode(np.concatenate([data.train.x, data.test.x]))
        assert set(codes.files) == {"common", "salient"}
        assert np.array_equal(codes["salient"], z.salient)
    run("encode", evaluated, "--out", tmp_path / "codes.csv", "--split", "test")
    lines = (tmp_path / "codes.csv").read_text().splitlines()
    assert lines[0] == "common0,common1,common2,salient0,salient1"
    table = np.loadtxt(tmp_path / "codes.csv", delimiter=",", skiprows=1)
    assert np.array_equal(table.astype("float32"), method.transform(data.test.x))


def test_encode_other_data_and_overwrite(evaluated, tmp_path):
    x = np.random.default_rng(0).normal(size=(10, 20)).astype("float32")
    np.save(tmp_path / "rows.npy", x)
    (tmp_path / "codes.npz").write_bytes(b"old")
    run("encode", evaluated, tmp_path / "rows.npy", "--out", tmp_path / "codes.npz", "--overwrite")
    with np.load(tmp_path / "codes.npz", allow_pickle=False) as codes:
        assert codes["common"].shape == (10, 3)
