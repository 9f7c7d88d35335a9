"""Every method runs outside of untwine and torch as it does inside."""

import json
import subprocess
import sys

import numpy as np
import onnxruntime
import pytest
import torch
from small import DATA, TRAINED, counts, small, vectors, with_covariates

import untwine as un
from untwine.export.networks import export_onnx, export_torch
from untwine.methods import CLASSES

NAMES = [kind.name for kind in CLASSES.values()]


def fitted(name, kind, **changes):
    data = DATA[kind]()
    return small(name, epochs=1, **changes).fit(data), data


def floats(data):
    return (data.x / np.float32(255)).astype(np.float32) if data.is_image else data.x


def session(folder, graph):
    return onnxruntime.InferenceSession(folder / f"{graph}.onnx", providers=["CPUExecutionProvider"])


# Every method in every run, on vectors or on images in turn; on the other of both in the long tests.
BOTH = [
    pytest.param(name, kind, marks=() if (i + j) % 2 == 0 else pytest.mark.soak)
    for i, name in enumerate(NAMES)
    for j, kind in enumerate(DATA)
]


@pytest.mark.parametrize("name, kind", BOTH)
def test_onnx_gives_what_torch_gives(name, kind, tmp_path):
    method, data = fitted(name, kind)
    differences = export_onnx(method, tmp_path / "out")
    assert max(differences.values()) < 1e-4
    x = floats(data)
    encoder, decoder = session(tmp_path / "out", "encoder"), session(tmp_path / "out", "decoder")
    for n in (1, 3, len(x)):
        z = method.encode(data.x[:n])
        codes = encoder.run(list(method.blocks), {"x": x[:n]})
        for block, code in zip(method.blocks, codes, strict=True):
            np.testing.assert_allclose(code, z[block], atol=1e-4)
        (decoded,) = decoder.run(["x"], dict(zip(method.blocks, codes, strict=True)))
        np.testing.assert_allclose(decoded, method.decode(z), atol=1e-4)
    assert np.ptp(codes[0], axis=0).max() > 0  # the codes are of the samples


@pytest.mark.parametrize(
    "name, changes",
    [
        ("principled_vae", {"networks": "conv"}),
        ("vae", {"networks": "conv_norm"}),
        ("rb_vae", {"networks": "karras"}),
        ("lord", {"networks": "adain"}),
        ("symmetric_rb_vae", {"trunks": "separate"}),
        ("vae", {"precision": "float64"}),
        ("vae", {"precision": "bfloat16"}),
    ],
)
def test_every_network_exports(name, changes, tmp_path):
    method, data = fitted(name, "images", **changes)
    export_onnx(method, tmp_path)
    codes = session(tmp_path, "encoder").run(list(method.blocks), {"x": floats(data)})
    for block, code in zip(method.blocks, codes, strict=True):
        np.testing.assert_allclose(code, method.encode(data.x)[block], atol=1e-4)


@pytest.mark.parametrize("name", ["principled_vae", "contrastive_pca", "lord"])
def test_torch_gives_what_the_method_gives(name, tmp_path):
    method, data = fitted(name, "vectors")
    export_torch(method, tmp_path)
    encoder, decoder = (torch.export.load(tmp_path / f"{graph}.pt2").module() for graph in ("encoder", "decoder"))
    with torch.no_grad():
        codes = encoder(torch.from_numpy(data.x[:4]))
        decoded = decoder(*codes)
    for block, code in zip(method.blocks, codes, strict=True):
        np.testing.assert_allclose(code, method.encode(data.x[:4])[block], atol=1e-5)
    np.testing.assert_allclose(decoded, method.reconstruct(data.x[:4]), atol=1e-5)
    assert json.loads((tmp_path / "export.json").read_text())["format"] == "torch"


ALONE = """
import json, sys
import numpy as np, onnxruntime
folder = sys.argv[1]
card = json.load(open(folder + "/export.json"))
x = np.load(folder + "/../x.npy")
encoder, decoder = (onnxruntime.InferenceSession(f"{folder}/{graph}.onnx") for graph in ("encoder", "decoder"))
blocks = list(card["blocks"])
codes = dict(zip(blocks, encoder.run(blocks, {"x": x})))
codes["salient"] = codes["salient"][::-1]
(swapped,) = decoder.run(["x"], codes)
codes["salient"] = np.tile(np.float32(card["neutral"]["salient"]), (len(x), 1))
(removed,) = decoder.run(["x"], codes)
np.savez(folder + "/../result.npz", swapped=swapped, removed=removed, allow_pickle=False)
assert not {"torch", "untwine"} & set(sys.modules)
"""


def test_onnxruntime_and_numpy_alone_encode_swap_and_remove(tmp_path):
    method, data = fitted("rb_vae", "vectors")  # whose neutral salient code is learned
    export_onnx(method, tmp_path / "out")
    np.save(tmp_path / "x.npy", data.x[:6])
    done = subprocess.run([sys.executable, "-c", ALONE, str(tmp_path / "out")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    result = np.load(tmp_path / "result.npz")
    np.testing.assert_allclose(result["swapped"], un.manipulate.swap(method, data.x[:6], data.x[5::-1]), atol=1e-4)
    np.testing.assert_allclose(result["removed"], un.manipulate.remove(method, data.x[:6]), atol=1e-4)
    assert np.abs(method.neutral()["salient"]).max() > 0


def test_the_description_says_what_goes_in_and_out(tmp_path):
    data = un.Samples(vectors().x, groups=vectors().groups, feature_names=list("abcdef"))
    method = small("principled_vae").fit(data, origin={"name": "a test"})
    export_onnx(method, tmp_path)
    card = json.loads((tmp_path / "export.json").read_text())
    assert card["blocks"] == {"common": 4, "salient": 3}
    assert card["shape"] == [6]
    assert card["feature_names"] == list("abcdef")
    assert card["data"]["fingerprint"] == data.fingerprint()
    assert "standardises" in card["scaling"]
    dims = [one.type.tensor_type.shape.dim[0].dim_param for one in _model(tmp_path / "encoder.onnx").graph.output]
    assert dims == ["batch", "batch"]


def _model(path):
    import onnx

    return onnx.load(path)


def test_what_cannot_be_a_graph_is_refused_and_nothing_is_written(tmp_path):
    method, _ = fitted("lord", "vectors", epochs_encoders=0)
    with pytest.raises(ValueError, match=r"lord must encode by one pass of tensors .* epochs_encoders above 0"):
        export_onnx(method, tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []
    with pytest.raises(ValueError, match="this VAE is not fitted"):
        export_torch(small("vae"), tmp_path / "out")


def test_graphs_that_differ_are_refused(tmp_path, monkeypatch):
    method, _ = fitted("vae", "vectors")
    monkeypatch.setattr("untwine.export.networks._session", lambda *_: lambda *arrays: [np.ones((len(arrays[0]), 4))])
    with pytest.raises(ValueError, match=r"the encoder written must give what vae gives; it differs by"):
        export_onnx(method, tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


def test_only_an_earlier_export_is_replaced(tmp_path):
    method, _ = fitted("pca", "vectors")
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(ValueError, match="holds other files; choose another"):
        export_torch(method, tmp_path, overwrite=True)
    export_torch(method, tmp_path / "out")
    with pytest.raises(ValueError, match="holds one; choose another or pass overwrite"):
        export_torch(method, tmp_path / "out")
    export_onnx(method, tmp_path / "out", overwrite=True)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["decoder.onnx", "encoder.onnx", "export.json"]


@pytest.mark.parametrize("library", ["observed", "learned"])
def test_counts_are_decoded_at_library_sizes(library, tmp_path):
    data = counts()
    method = small("principled_vae", likelihood="negative_binomial", library=library).fit(data)
    export_onnx(method, tmp_path)
    card = json.loads((tmp_path / "export.json").read_text())
    z = method.encode(data.x[:5])
    known = dict(
        zip(names := card["outputs"]["encoder"], session(tmp_path, "encoder").run(names, {"x": data.x[:5]}), strict=True)
    )
    assert list(known) == ["common", "salient", "library_size"]
    for block in method.blocks:
        np.testing.assert_allclose(known[block], z[block], atol=1e-4)
    np.testing.assert_allclose(known["library_size"][:, 0], z.conditions["library_size"], rtol=1e-4)
    decoder = session(tmp_path, "decoder")
    np.testing.assert_allclose(decoder.run(["x"], known)[0], method.decode(z), rtol=1e-4)
    median = np.full((5, 1), card["library_size"]["usual"], np.float32)
    alone = un.Latents({name: z[name] for name in z})
    np.testing.assert_allclose(decoder.run(["x"], known | {"library_size": median})[0], method.decode(alone), rtol=1e-4)


WITH_COVARIATES = """
import json, sys
import numpy as np, onnxruntime
folder = sys.argv[1]
card = json.load(open(folder + "/export.json"))
given = np.load(folder + "/../given.npz")

def table(columns):
    parts = []
    for one in card["covariates"]:
        value = columns[one["name"]]
        if "levels" in one:
            parts += [value == level for level in one["levels"]]
        else:
            parts.append((value - one["mean"]) / one["std"])
    return np.stack(parts, 1).astype(np.float32)

encoder, decoder = (onnxruntime.InferenceSession(f"{folder}/{graph}.onnx") for graph in ("encoder", "decoder"))
columns = {"batch": given["batch"], "age": given["age"]}
names = card["outputs"]["encoder"]
codes = dict(zip(names, encoder.run(names, {"x": given["x"], "covariates": table(columns)})))
columns["batch"] = np.full(len(given["x"]), "b")
(as_b,) = decoder.run(["x"], codes | {"covariates": table(columns)})
np.savez(folder + "/../result.npz", as_b=as_b, **codes)
assert not {"torch", "untwine"} & set(sys.modules)
"""


def test_onnxruntime_and_numpy_alone_encode_and_decode_as_another_batch(tmp_path):
    data = with_covariates(counts())
    method = small("principled_vae", likelihood="negative_binomial").fit(data)
    export_onnx(method, tmp_path / "out")
    some = data[:9]
    z = method.encode(some)
    np.savez(tmp_path / "given.npz", x=some.x, batch=z.conditions["batch"], age=z.conditions["age"])
    done = subprocess.run(
        [sys.executable, "-c", WITH_COVARIATES, str(tmp_path / "out")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    result = np.load(tmp_path / "result.npz")
    for block in z:
        np.testing.assert_allclose(result[block], z[block], atol=1e-4)
    as_b = method.decode(z, covariates={"batch": "b"})
    np.testing.assert_allclose(result["as_b"], as_b, rtol=1e-4)
    assert not np.allclose(as_b, method.decode(z), rtol=1e-4)
    card = json.loads((tmp_path / "out" / "export.json").read_text())
    batch, age = card["covariates"]
    usual = np.unique(data.covariates.values[:, 0], return_counts=True)[1].argmax()
    assert batch == {"name": "batch", "columns": [0, 1, 2], "levels": ["a", "b", "c"], "usual": "abc"[usual]}
    assert (age["name"], age["columns"]) == ("age", [3])
    assert age["mean"] == age["usual"] == pytest.approx(data.covariates.values[:, 1].mean(), rel=1e-5)
    assert card["inputs"]["decoder"] == ["common", "salient", "covariates", "library_size"]


QUICK = {("lord", "images"), ("symmetric_rb_vae", "vectors"), ("double_infogan", "images"), ("stargan", "images")}
COVERED = [
    pytest.param(name, kind, marks=() if (name, kind) in QUICK else pytest.mark.soak) for name in TRAINED for kind in DATA
]


@pytest.mark.parametrize("name, kind", COVERED)
def test_graphs_are_given_covariates(name, kind, tmp_path):
    data = with_covariates(DATA[kind]())
    method = small(name, epochs=1).fit(data)
    assert max(export_onnx(method, tmp_path).values()) < 1e-4
    one_hot = np.eye(3, dtype=np.float32)[data.covariates.values[:, 0].astype(int)]
    age = data.covariates.values[:, 1]
    card = json.loads((tmp_path / "export.json").read_text())["covariates"][1]
    table = np.column_stack([one_hot, (age - card["mean"]) / card["std"]]).astype(np.float32)
    codes = session(tmp_path, "encoder").run(list(method.blocks), {"x": floats(data), "covariates": table})
    z = method.encode(data)
    for block, code in zip(method.blocks, codes, strict=True):
        np.testing.assert_allclose(code, z[block], atol=1e-4)
    known = dict(zip(method.blocks, codes, strict=True)) | {"covariates": table[:, [1, 2, 0, 3]]}
    others = {"batch": np.array(list("cab"))[data.covariates.values[:, 0].astype(int)]}
    (decoded,) = session(tmp_path, "decoder").run(["x"], known)
    np.testing.assert_allclose(decoded, method.decode(z, covariates=others), atol=1e-4)


def test_torch_programs_are_given_covariates(tmp_path):
    data = with_covariates(vectors())
    method = small("principled_vae").fit(data)
    export_torch(method, tmp_path)
    encode = torch.export.load(tmp_path / "encoder.pt2").module()
    units = method.nets_["covariates"]
    with torch.no_grad():
        codes = encode(torch.from_numpy(data.x), units(torch.from_numpy(data.covariates.values).float()))
    for block, code in zip(method.blocks, codes, strict=True):
        np.testing.assert_allclose(code, method.encode(data)[block], atol=1e-5)


def test_volumes_are_exported(tmp_path):
    x = np.random.default_rng(0).random((12, 1, 8, 8, 9), dtype=np.float32)
    method = small("principled_vae").fit(un.Samples(x, groups=np.arange(12) % 2))
    export_onnx(method, tmp_path)
    (salient,) = session(tmp_path, "encoder").run(["salient"], {"x": x})
    np.testing.assert_allclose(salient, method.encode(x).salient, atol=1e-4)
