"""Bad input, kind by kind: each has its own sentence, and nothing is written."""

import re

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array
from small import images, small, vectors

import untwine as un
from untwine import Latents, Samples
from untwine.training import distributed

X = np.random.default_rng(0).normal(size=(12, 4)).astype("float32")
GROUPS = [0, 1] * 6
IMAGES = np.zeros((4, 3, 8, 8), dtype="float32")


def holed(value):
    x = X.copy()
    x[3, 1] = value
    return x


@pytest.fixture(scope="module")
def fitted():
    return small("contrastive_vae", epochs=1).fit(vectors())


def vae(**changes):
    return small("vae", **changes).fit(X)


def contrastive(x=X, y=None, **changes):
    return small("principled_vae", **changes).fit(x, y)


# A kind of bad input, the call (of a fitted method where it takes one), and the sentence: what must hold, what came.
CALLS = {
    # what is observed
    "NaN": (lambda: small("vae").fit(holed(np.nan)), r"x must be finite; 1 of 12 samples hold NaN or infinity"),
    "infinity": (lambda: Samples(np.full((3, 2), np.inf)), r"x must be finite; 3 of 3 samples"),
    "too large for single precision": (lambda: Samples(holed(1e35)), r"single precision can square; got 1e\+35; rescale"),
    "no samples": (
        lambda: Samples(np.zeros((0, 3))),
        r"at least one sample of one feature; got 0 sample\(s\) \(shape=\(0, 3\)\)",
    ),
    "no features": (
        lambda: Samples(np.zeros((3, 0))),
        r"at least one sample of one feature; got 0 feature\(s\) \(shape=\(3, 0\)\)",
    ),
    "one dimension": (
        lambda: Samples(np.zeros(5)),
        r"Reshape your data: x must be vectors .* got an array of shape \(5,\)",
    ),
    "three dimensions": (lambda: Samples(np.zeros((5, 9, 9))), r"got an array of shape \(5, 9, 9\); add a channel axis"),
    "ragged samples": (lambda: small("vae").fit([[1.0, 2.0], [3.0]]), r"one rectangular array; its samples differ in length"),
    "strings": (lambda: Samples(np.array([["a", "b"]])), r"x must be numbers; got an array of strings; convert"),
    "objects": (
        lambda: Samples(np.array([[{}, 1]], dtype=object)),
        r"x must be numbers; got an array of objects; convert",
    ),
    "complex numbers": (lambda: Samples(X * 1j), r"x must be numbers; got an array of complex numbers; convert"),
    "dates": (lambda: Samples(np.zeros((2, 2), "M8[D]")), r"x must be numbers; got an array of dates; convert"),
    "sparse": (lambda: small("vae").fit(csr_array(X * np.nan)), r"x must be finite; 12 of 12 samples hold NaN or infinity"),
    "small images": (lambda: Samples(np.zeros((2, 1, 7, 8))), r"sides from 8 to 128; got shape \(2, 1, 7, 8\); resize"),
    "large images": (
        lambda: Samples(np.zeros((2, 1, 9, 129))),
        r"sides from 8 to 128; got shape \(2, 1, 9, 129\); resize",
    ),
    "channels last": (lambda: Samples(np.zeros((2, 9, 9, 3))), r"got shape \(2, 9, 9, 3\); move the channels to the front"),
    "five channels": (lambda: Samples(np.zeros((2, 5, 8, 8))), r"images with 1 to 4 channels; got 5 in shape"),
    "floats up to 255": (lambda: Samples(IMAGES + 255), r"floats in \[0, 1\]; got float32 from 255 to 255; use x.astype"),
    "floats below 0": (lambda: Samples(IMAGES - 0.5), r"floats in \[0, 1\]; got float32 from -0.5 to -0.5"),
    "groups of another length": (lambda: Samples(X, groups=[0, 1]), r"groups must be one value for each of the 12 samples"),
    "negative groups": (lambda: Samples(X, groups=[-1, 1] * 6), r"groups must be numbers from 0 up; got -1"),
    "groups that are no integers": (
        lambda: Samples(X, groups=[0.5, 1] * 6),
        r"groups must be integers; got float",
    ),
    "groups far from counted": (
        lambda: Samples(X, groups=[0, 10**9] * 6),
        r"groups must be numbers counted from 0; got 1000",
    ),
    "labels of another length": (
        lambda: Samples(X, labels=["a"]),
        r"labels must be one value for each .* got shape \(1,\)",
    ),
    "all labels unknown": (lambda: Samples(X, labels=[-1] * 12), r"labels must have at least one known class; every label"),
    "factors in words": (lambda: Samples(X, factors=["a"] * 12), r"factors must be numbers; got strings"),
    "factors of another length": (lambda: Samples(X, factors=X[:5]), r"factors must have shape \(12, k\), .* got \(5, 4\)"),
    "infinite factors": (lambda: Samples(X, factors=holed(np.inf)), r"factors must be finite numbers \(NaN for unknown\)"),
    "a name in place of names": (
        lambda: Samples(X, GROUPS, group_names="ab"),
        r"group_names must be a sequence .* string 'ab'",
    ),
    "too few names": (
        lambda: Samples(X, GROUPS, group_names=("a",)),
        r"group_names must be 2 different names; got \('a',\)",
    ),
    "groups of other widths": (
        lambda: Samples.contrast(target=X, background=X[:, :3]),
        r"one shape and type; the background has vectors of 3, 'target' has vectors of 4",
    ),
    "bytes against floats": (
        lambda: Samples.contrast(target=IMAGES, background=IMAGES.astype("uint8")),
        r"background has images of 3x8x8 \(uint8\), 'target' has images of 3x8x8 \(float32\)",
    ),
    "no targets": (
        lambda: Samples.contrast(target={}, background=X),
        r"needs at least one target; got an empty mapping",
    ),
    "a bad background": (lambda: Samples.contrast(target=X, background=holed(np.nan)), r"^background: x must be finite;"),
    "an empty index": (lambda: Samples(X)[[]], r"must choose at least one of 12 samples; it chose none"),
    "the target of ungrouped samples": (lambda: Samples(X).target, r"have no groups, so there is no target and no background"),
    "the background of one side": (lambda: Samples(X, groups=[1] * 12).background, r"have no background: all 12 are"),
    # what is fitted
    "no groups": (contrastive, r"PrincipledVAE needs samples of target and background; got samples without groups"),
    "one-sided groups": (lambda: contrastive(y=[1] * 12), r"needs at least 2 samples of background; got 0 samples"),
    "one target": (lambda: contrastive(y=[1] + [0] * 11), r"needs at least 2 samples of target; got 1 sample;"),
    "groups in words": (lambda: contrastive(y=["a", "b"] * 6), r"y must be groups as integers; got names"),
    "y in two columns": (
        lambda: contrastive(y=np.ones((12, 2))),
        r"one value for each of the 12 samples of x; got shape \(12, 2\)",
    ),
    "samples and y": (lambda: contrastive(Samples(X), GROUPS), r"Samples alone, or an array with y; got Samples and y"),
    "a single sample": (lambda: small("vae").fit(X[:1]), r"VAE needs at least 2 samples; got 1 sample;"),
    "PCA wider than its data": (
        lambda: small("pca", n_latent=5).fit(X),
        r"n_latent must be <= 4 for data of shape \(12, 4\); got 5",
    ),
    "resume from nowhere": (lambda: small("vae").fit(X, resume=True), r"resume needs the run folder .* got no out"),
    "networks by name in fit": (lambda: small("vae").fit(X, networks="conv"), r"networks must be your own modules by name"),
    "networks that are no modules": (
        lambda: small("vae").fit(X, networks={"encoder": abs}),
        r"modules by name, such as .* got a dict",
    ),
    "networks of unknown names": (
        lambda: small("vae").fit(X, networks={"head": torch.nn.Linear(4, 8)}),
        r"networks must be modules named encoder or decoder; got head",
    ),
    "an encoder of other input": (
        lambda: small("vae").fit(X, networks={"encoder": torch.nn.Linear(5, 8)}),
        r"the encoder must map \(2, 4\) to \(2, 8\); got an error \(mat1 and mat2 shapes",
    ),
    "a decoder of other output": (
        lambda: small("vae").fit(X, networks={"decoder": torch.nn.Linear(4, 5)}),
        r"the decoder must map \(2, 4\) to \(2, 4\); got \(2, 5\)",
    ),
    "networks for PCA": (
        lambda: small("pca").fit(X, networks={"encoder": torch.nn.Linear(4, 8)}),
        r"PCA takes no networks of your own; got encoder; it has a closed form",
    ),
    # how it is fitted
    "no epochs": (lambda: vae(epochs=0), r"VAE: epochs must be an integer >= 1 or 'auto'; got 0\."),
    "half an epoch": (lambda: vae(epochs=1.5), r"VAE: epochs must be an integer >= 1 or 'auto'; got 1\.5\."),
    "a negative rate": (lambda: vae(lr=-1.0), r"VAE: lr must be a number > 0; got -1\.0\."),
    "an infinite rate": (lambda: vae(lr=float("inf")), r"VAE: lr must be a finite number > 0; got inf\."),
    "a batch in words": (lambda: vae(batch="x"), r"VAE: batch must be an integer >= 1 or 'auto'; got 'x'\."),
    "a truth value as a number": (lambda: vae(seed=True), r"VAE: seed must be an integer >= 0 and < 2\^63; got True\."),
    "a negative seed": (lambda: vae(seed=-3), r"VAE: seed must be an integer >= 0 and < 2\^63; got -3\."),
    "a vast seed": (lambda: vae(seed=2**64), r"seed must be an integer >= 0 and < 2\^63; got 18446744073709551616\."),
    "a negative clip": (lambda: vae(clip=-0.5), r"VAE: clip must be a number >= 0; got -0\.5\."),
    "no width": (lambda: vae(width=0), r"VAE: width must be an integer >= 1 or None; got 0\."),
    "no codes": (lambda: vae(n_latent=0), r"VAE: n_latent must be an integer >= 1 or 'auto'; got 0\."),
    "a negative weight": (lambda: small("beta_vae", beta=-1.0).fit(X), r"BetaVAE: beta must be a number >= 0; got -1\.0\."),
    "unknown networks": (
        lambda: vae(networks="resnet"),
        r"networks must be 'auto', 'standard', 'mlp', 'conv', .*; got 'resnet'",
    ),
    "convolutions of vectors": (
        lambda: vae(networks="conv"),
        r"networks='conv' needs images .*; got vectors with 4 features; use",
    ),
    "unknown precision": (lambda: vae(precision="float16"), r"'float64'; got 'float16'; did you mean 'bfloat16'\?"),
    "unknown device": (lambda: vae(device="tpu"), r"device must be 'auto', 'cpu', .* or 'mps'; got 'tpu'"),
    "a device without numbers": (lambda: vae(device="meta"), r"device must be 'auto', 'cpu', .* or 'mps'; got 'meta'"),
    "unknown likelihood": (lambda: vae(likelihood="poisson"), r"likelihood must be 'auto', .*; got 'poisson'"),
    "a likelihood of images": (
        lambda: vae(likelihood="bernoulli"),
        r"'bernoulli' needs images in \[0, 1\]; got vectors; use",
    ),
    "no scale": (lambda: vae(scale=0.0), r"VAE: scale must be a number > 0, 'learned' or 'auto'; got 0\.0\."),
    "unknown field": (lambda: small("vae").set_params(beta=2), r"VAE has no parameter 'beta'"),
    "a paper's unknown data": (
        lambda: un.PCA.paper("mnist"),
        r"^PCA has no setting of its paper for any data set; got 'mnist'; use its defaults\.$",
    ),
    # what is asked of a fitted method
    "unfitted": (lambda: small("vae").encode(X), r"this VAE is not fitted; call fit, or load one"),
    "other features": (
        lambda m: m.encode(X),
        r"samples of shape \(6,\), as in fit; X has 4 features, but ContrastiveVAE is expecting 6",
    ),
    "images in place of vectors": (lambda m: m.encode(IMAGES), r"samples of shape \(6,\), as in fit; got \(3, 8, 8\)"),
    "latents of another method": (
        lambda m: m.decode(Latents({"z": X})),
        r"decode needs the blocks .*'salient': 3}; got Latents",
    ),
    "an array of codes": (lambda m: m.decode(X), r"decode needs Latents; got a ndarray; encode samples first"),
    "codes that are not finite": (lambda: Latents({"z": holed(np.nan)}), r"the block 'z' must be finite codes; got NaN"),
    "codes in one dimension": (lambda: Latents({"z": X[0]}), r"the block 'z' must be numbers of shape \(n, width\); got"),
    "no blocks": (lambda: Latents({}), r"Latents must have at least one block of codes; got none"),
    "blocks of other lengths": (
        lambda: Latents({"a": X, "b": X[:3]}),
        r"as many samples in every block; got \{'a': 12",
    ),
    "an unknown block to swap": (lambda: Latents({"z": X}).swap(Latents({"z": X}), "s"), r"have the blocks z, but not 's'"),
    "another width to swap": (
        lambda: Latents({"z": X}).swap(Latents({"z": X[:, :2]}), "z"),
        r"shape \(12, 4\), or .* got \(12, 2\)",
    ),
    "an array to swap": (lambda: Latents({"z": X}).swap(X, "z"), r"swap needs the Latents of other samples; got a ndarray"),
    "an unknown block to remove": (
        lambda m: m.encode(vectors().x).remove("z"),
        r"have the blocks common, salient, but not 'z'",
    ),
    "a traversal of many": (lambda: Latents({"z": X}).traverse("z", 0, [0]), r"traverse needs the codes of one sample; got 12"),
    "a traversal of no dimension": (lambda: Latents({"z": X[:1]}).traverse("z", 9, [0]), r"a dimension of 'z' below 4; got 9"),
    "a line of one point": (lambda: Latents({"z": X[:1]}).interpolate(Latents({"z": X[:1]}), 1), r"at least 2 steps, .* got 1"),
    "no samples to draw": (lambda m: m.sample(0), r"^n must be an integer of at least 1; got 0"),
    "half a sample to draw": (lambda m: m.sample(1.5), r"^n must be an integer of at least 1; got 1.5"),
    # what is scored and loaded
    "an unknown metric": (lambda m: un.evaluate(m, vectors(), ["fid"]), r"metric must be a name from the catalogue; got 'fid'"),
    "a metric in place of metrics": (
        lambda m: un.evaluate(m, vectors(), "probe"),
        r"metrics must be a list of names; got .* 'probe'",
    ),
    "a metric without labels": (
        lambda m: un.evaluate(m, un.Samples(vectors().x), ["probe"]),
        r"'probe' needs at least 2 classes",
    ),
    "a single seed": (
        lambda m: un.evaluate(m, vectors(), seeds=1),
        r"seeds must be an integer of at least 2; got 1",
    ),
    "unknown data": (
        lambda: un.load("grassy_digit"),
        r"name must be a data set or an existing path; got 'grassy_digit'; did you mean 'grassy_digits'",
    ),
    "unknown option of data": (
        lambda: un.load("toy_contrast", rows=3),
        r"options of toy_contrast must be among n_target=.*; got 'rows'; ",
    ),
    "a bad option of data": (lambda: un.load("toy_contrast", noise=-1), r"noise must be a number of at least 0; got -1"),
    "no run folder": (
        lambda: un.load_method("no such folder"),
        r"must be a run folder of untwine; there is no such folder",
    ),
    "no folder to report on": (
        lambda: un.report("nothing here", "x"),
        r"runs must be a folder of runs; 'nothing here' is not a folder",
    ),
}


def refusal(kind, fitted):
    call, _ = CALLS[kind]
    with pytest.raises((ValueError, TypeError)) as caught:
        call(fitted) if call.__code__.co_argcount - len(call.__defaults__ or ()) else call()
    return str(caught.value)


@pytest.mark.parametrize("kind", CALLS)
def test_a_call_with_bad_input_raises_an_error(kind, fitted, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sentence = refusal(kind, fitted)
    assert re.search(CALLS[kind][1], sentence), sentence
    assert sentence[-1] in ".?"
    assert "\n" not in sentence
    assert list(tmp_path.iterdir()) == []


def test_every_kind_has_its_own_error_message(fitted):
    sentences = {kind: refusal(kind, fitted) for kind in CALLS}
    assert len(CALLS) >= 60
    twice = {kind: text for kind, text in sentences.items() if list(sentences.values()).count(text) > 1}
    assert not twice


def test_a_refused_fit_leaves_no_folder(tmp_path):
    for method, data in ((small("pca", n_latent=50), X), (small("vae", networks="resnet"), X), (small("vae"), holed(np.nan))):
        with pytest.raises(ValueError, match="must"):
            method.fit(data, out=tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_created_is_refused_before_training(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    method = small("vae")
    monkeypatch.setattr(method, "step", lambda batch, t: pytest.fail("training began"))
    with pytest.raises(ValueError, match=r"file/run must be a folder that can be written; it cannot \(not a dir"):
        method.fit(X, out=tmp_path / "file" / "run")


def test_a_batch_that_the_processes_cannot_share(monkeypatch):
    monkeypatch.setattr(distributed, "world", lambda: 3)
    with pytest.raises(ValueError, match=r"batch must be a multiple of the 3 processes; got 16"):
        vae(batch=16)


def test_images_that_another_method_was_not_fitted_on():
    method = small("vae", epochs=1).fit(images())
    with pytest.raises(ValueError, match=r"samples of shape \(3, 9, 12\), as in fit; got \(6,\)"):
        method.encode(vectors().x)
