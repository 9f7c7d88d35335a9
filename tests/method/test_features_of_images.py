"""A method fitted on the features of images: in Python, on the command line, and on the page."""

import json

import numpy as np
import pytest
import torch
from command_line import exit_code, run
from torch import nn

import untwine as un
from untwine.evaluation.gallery import gallery
from untwine.networks.pretrained.frozen_features import frozen_features
from untwine.runs.gallery import read_gallery

RNG = np.random.default_rng(0)


class Pixels(nn.Module):
    """Every fourth pixel, so that features are known."""

    def forward(self, x):
        return x[:, :, ::4, ::4].flatten(1)


def images(n=60):
    """Targets have a bright square, whose brightness varies."""
    x = RNG.integers(0, 100, (n, 1, 16, 16), np.uint8)
    x[: n // 2, :, 4:12, 4:12] += RNG.integers(50, 150, (n // 2, 1, 1, 1), np.uint8)
    return un.Samples(x, groups=(np.arange(n) < n // 2).astype(int))


def fitted(samples, **options):
    return un.ContrastivePCA(n_common=3, n_salient=2).fit(samples, features=Pixels(), **options)


def test_a_fit_on_features_is_a_fit_on_the_vectors_that_they_are():
    samples = images()
    vectors = un.Samples(Pixels()(torch.from_numpy(samples.x) / 255).numpy(), groups=samples.groups)
    one, two = fitted(samples), un.ContrastivePCA(n_common=3, n_salient=2).fit(vectors)
    np.testing.assert_allclose(one.encode(samples).salient, two.encode(vectors).salient, atol=1e-6)
    np.testing.assert_allclose(one.encode(samples.x).common, two.encode(vectors.x).common, atol=1e-6)
    np.testing.assert_array_equal(one.encode(vectors.x).salient, two.encode(vectors.x).salient)  # features are taken too
    assert one.reconstruct(samples).shape == vectors.x.shape


def test_a_trained_method_and_its_scores_see_the_features():
    samples = images()
    method = un.PrincipledVAE(n_common=2, n_salient=2, epochs=2, width=8).fit(samples, features=Pixels())
    assert method.shape_ == (16,)
    scores = un.evaluate(method, samples, metrics=["reconstruction"])
    truth = frozen_features(Pixels()).of(samples.x)
    assert scores["reconstruction.x"].value == pytest.approx(
        un.evaluate(method, un.Samples(truth, groups=samples.groups), metrics=["reconstruction"])["reconstruction.x"].value
    )


def test_a_run_remembers_name_fingerprint_and_shape_and_loads_with_the_same_module(tmp_path):
    samples = images()
    method = fitted(samples, out=tmp_path)
    about = json.loads((tmp_path / "method.json").read_text())["data"]["features"]
    assert about == {"name": "own", "sha256": frozen_features(Pixels()).sha256, "shape": [1, 16, 16]}
    again = un.load_method(tmp_path, features=Pixels())
    np.testing.assert_array_equal(again.encode(samples).salient, method.encode(samples).salient)
    without = un.load_method(tmp_path)
    with pytest.raises(ValueError, match=r"images need the module that made the features .* load_method"):
        without.encode(samples)
    np.testing.assert_array_equal(
        without.encode(frozen_features(Pixels()).of(samples.x)).salient, method.encode(samples).salient
    )
    with pytest.raises(ValueError, match="features must be those that the run was fitted with, 'own' with weights of SHA-256"):
        un.load_method(tmp_path, features=nn.Conv2d(1, 2, 3))


def test_a_run_by_name_loads_by_itself_and_a_run_without_features_takes_none(tmp_path):
    samples = images()
    method = un.PCA(n_latent=2).fit(samples, features="random", out=tmp_path / "with")
    again = un.load_method(tmp_path / "with")
    np.testing.assert_allclose(again.encode(samples.x).z, method.encode(samples.x).z, rtol=1e-4, atol=1e-4)
    with pytest.raises(ValueError, match=r"images must have the shape \(1, 16, 16\), as in fit; got \(1, 8, 8\); resize them"):
        again.encode(samples.x[:, :, :8, :8])
    un.PCA(n_latent=2).fit(samples, out=tmp_path / "without")
    with pytest.raises(ValueError, match="features must be left out for a run that was fitted without"):
        un.load_method(tmp_path / "without", features="random")
    assert "features" not in json.loads((tmp_path / "without" / "method.json").read_text())["data"]


def test_a_second_fit_without_features_forgets_them():
    samples = images()
    method = fitted(samples)
    method.fit(samples)
    assert method.shape_ == (1, 16, 16)
    assert method.encode(samples).salient.shape == (60, 2)


def test_vectors_have_no_features_to_extract():
    with pytest.raises(ValueError, match=r"need images .* leave features out for samples that are vectors"):
        un.PCA(n_latent=1).fit(np.zeros((5, 3)), features="random")


def test_resuming_with_other_weights_is_refused(tmp_path):
    samples = images()
    un.VAE(n_latent=2, epochs=1, width=8).fit(samples, features="random", out=tmp_path)
    un.VAE(n_latent=2, epochs=1, width=8).fit(samples, features="random", out=tmp_path, resume=True)
    with pytest.raises(ValueError, match="holds a finished run of another method, options or data"):
        un.VAE(n_latent=2, epochs=1, width=8).fit(samples, features=Pixels(), out=tmp_path, resume=True)


def test_figures_show_the_image_whose_features_are_nearest():
    samples = images()
    method = fitted(samples)
    extracted = method.with_features(samples)
    shown = gallery(method, extracted)
    assert shown.nearest
    reconstructed = method.decode(method.encode(extracted.x))
    units = extracted.x.std(axis=0)
    for original, image in zip(shown.targets.originals, shown.targets.reconstructions, strict=True):
        (i,) = np.flatnonzero((samples.x == original).all(axis=(1, 2, 3)))  # an original is its own nearest image
        distances = np.square((reconstructed[i] - extracted.x) / units).sum(axis=1)
        np.testing.assert_array_equal(image, samples.x[distances.argmin()])
    assert shown.swaps.grid.shape == (6, 6, 1, 16, 16)
    assert set(shown.traversals) == {"common", "salient"}
    precomputed = un.Samples(extracted.x, groups=samples.groups, images=samples.x)
    assert gallery(method, precomputed).nearest
    assert not gallery(method, un.Samples(extracted.x, groups=samples.groups)).nearest


def test_the_command_line_fits_evaluates_encodes_and_reports(tmp_path, capsys):
    samples = images()
    path = tmp_path / "data.npz"
    np.savez(path, allow_pickle=False, x=samples.x, groups=samples.groups, ids=[f"image {i}" for i in range(60)])
    options = ("--set", "n_common=3", "--set", "n_salient=2", "--quiet")
    run("fit", "contrastive_pca", "--data", path, "--features", "random", *options, "--out", tmp_path / "run")
    run("evaluate", tmp_path / "run", "--metrics", "groups", "reconstruction", "--quiet")
    assert read_gallery(tmp_path / "run").nearest
    run("encode", tmp_path / "run", path, "--out", tmp_path / "codes.npz")
    method = un.load_method(tmp_path / "run")
    with np.load(tmp_path / "codes.npz") as codes:
        np.testing.assert_allclose(codes["salient"], method.encode(samples.x).salient, rtol=1e-4, atol=1e-4)
    run("report", tmp_path / "run", "--out", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert page.count("features cannot be drawn: each decoded vector is shown as the test image") >= 5
    assert "--features random" in page
    assert "features=&#x27;random&#x27;" in page
    capsys.readouterr()
    assert exit_code("fit", "pca", "--data", path, "--features", "vgg", "--out", tmp_path / "no") == 2
    assert "features must be inception, squeezenet, random" in capsys.readouterr().err
    assert not (tmp_path / "no").exists()
