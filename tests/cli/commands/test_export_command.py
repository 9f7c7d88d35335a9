"""`untwine export`: networks for other programs, from the command line."""

import json

import numpy as np
import onnxruntime
from command_line import exit_code, run

import untwine as un


def test_export_writes_onnx_files_and_prints_how_near_they_are(evaluated, tmp_path, capsys):
    run("export", evaluated, "--onnx", tmp_path / "deploy")
    assert "largest difference from the run on random samples: encoder" in capsys.readouterr().out
    x = un.load("toy_contrast", n_target=60, n_background=40, n_common=2, n_salient=1).test.x
    encoder = onnxruntime.InferenceSession(tmp_path / "deploy" / "encoder.onnx", providers=["CPUExecutionProvider"])
    (salient,) = encoder.run(["salient"], {"x": x})
    np.testing.assert_allclose(salient, un.load_method(evaluated).encode(x).salient, atol=1e-4)


def test_export_as_json_for_torch(evaluated, tmp_path, capsys):
    run("export", evaluated, "--torch", tmp_path / "deploy", "--json")
    printed = json.loads(capsys.readouterr().out)
    assert printed["torch"]["folder"] == str(tmp_path / "deploy")
    assert max(printed["torch"]["difference"].values()) < 1e-4
    assert (tmp_path / "deploy" / "decoder.pt2").exists()


def test_export_says_what_is_missing(evaluated, tmp_path, capsys):
    assert exit_code("export", evaluated) == 2
    assert "got none; pass --onnx FOLDER or --torch FOLDER" in capsys.readouterr().err
    assert exit_code("export", evaluated, "--onnx", tmp_path / "a", "--torch", tmp_path / "a") == 2
    assert "must be different folders" in capsys.readouterr().err
    (tmp_path / "mine.txt").touch()
    assert exit_code("export", evaluated, "--onnx", tmp_path) == 2
    assert "holds other files; choose another" in capsys.readouterr().err
