"""Styles that are known are found inside each domain, and images are translated to a domain's styles or to a given one."""

import numpy as np
import pytest
import torch
from torch.nn import functional

import untwine as un
from untwine import manipulate, plots
from untwine.cli.app import main
from untwine.data import Splits
from untwine.methods.shared.styles import cluster_split_styles, cluster_styles, domain_mask, style_features
from untwine.networks.pretrained.perceptual import FEATURE_NETWORKS, LOSS_NETWORKS
from untwine.runs import files
from untwine.runs.files import write_tensors
from untwine.samples import Samples

COLOURS = np.array([[230, 30, 30], [30, 200, 40], [40, 60, 220]])


def drawings(each=12):
    """Edges, black bars on white, and shoes, bars of three colours; the content is the place of the bar."""
    x = np.full((4 * each, 3, 12, 12), 255, np.uint8)
    place = np.tile(np.arange(each) % 8, 4)
    for row, start in enumerate(place):
        colour = np.zeros(3) if row < each else COLOURS[row // each - 1]
        x[row, :, 2:10, start : start + 4] = colour[:, None, None]
    styles = np.repeat(np.arange(4), each)
    labels = np.where(styles == 0, "edges", "shoes")
    return Samples(x, labels=labels, factors=place[:, None], factor_names=("place",)), styles


def test_styles_are_found_inside_each_domain():
    data, truth = drawings()
    result = cluster_styles(data, {"edges": 1, "shoes": 3}, features="pixels")
    assert result.label_names == ("edges/0", "shoes/0", "shoes/1", "shoes/2")
    assert result.factor_names == ("place", "domain")
    np.testing.assert_array_equal(result.factors[:, 1], data.labels)
    pairs = set(zip(result.labels.tolist(), truth.tolist(), strict=True))
    assert len(pairs) == 4  # each cluster is one colour
    assert (result.labels[truth == 0] == 0).all()
    np.testing.assert_array_equal(result.x, data.x)
    again = cluster_styles(data, {"edges": 1, "shoes": 3}, features="pixels")
    np.testing.assert_array_equal(again.labels, result.labels)


def test_styles_of_both_splits_are_those_of_the_training_split():
    data, truth = drawings()
    is_test = np.arange(len(truth)) % 3 == 0
    styled = cluster_split_styles(Splits(data[~is_test], data[is_test]), {"edges": 1, "shoes": 3}, features="pixels")
    alone = cluster_styles(data[~is_test], {"edges": 1, "shoes": 3}, features="pixels")
    np.testing.assert_array_equal(styled.train.labels, alone.labels)
    assert styled.train.label_names == styled.test.label_names == alone.label_names
    style_of = dict(zip(truth[~is_test].tolist(), styled.train.labels.tolist(), strict=True))
    assert styled.test.labels.tolist() == [style_of[style] for style in truth[is_test].tolist()]
    np.testing.assert_array_equal(styled.test.x, data.x[is_test])
    np.testing.assert_array_equal(styled.test.factors, np.c_[data.factors[is_test], data.labels[is_test]])
    # A domain that only the test split has is clustered there.
    apart = cluster_split_styles(Splits(data[truth > 0], data[truth == 0]), {"edges": 1, "shoes": 3}, features="pixels")
    assert apart.train.label_names == ("shoes/0", "shoes/1", "shoes/2", "edges/0")
    assert set(apart.test.labels) == {3}


def test_features_are_the_mean_and_std_of_each_channel():
    x = np.random.default_rng(0).random((3, 3, 9, 8)).astype(np.float32)
    np.testing.assert_allclose(style_features(x, "pixels"), np.c_[x.mean((2, 3)), x.std((2, 3))], atol=1e-6)
    moved = np.roll(x, 3, axis=3)  # what is where does not matter
    np.testing.assert_allclose(style_features(moved, "pixels"), style_features(x, "pixels"), atol=1e-6)


@pytest.mark.parametrize("name", LOSS_NETWORKS)
def test_features_of_a_network_are_those_of_its_first_layer(name, tmp_path):
    torch.manual_seed(0)
    network = FEATURE_NETWORKS[name].build()
    write_tensors(tmp_path / "made.safetensors", network.state_dict())
    x = np.random.default_rng(0).integers(0, 256, (2, 3, 40, 40)).astype(np.uint8)
    first = network.features[0]
    with torch.no_grad():
        units = (torch.from_numpy(x) / 255 - network.mean) / network.std
        layer = functional.relu(functional.conv2d(units, first.weight, first.bias, first.stride, first.padding)).numpy()
    expected = np.c_[layer.mean((2, 3)), layer.std((2, 3))]
    np.testing.assert_allclose(style_features(x, name, tmp_path / "made.safetensors"), expected, rtol=1e-4, atol=1e-5)


def test_what_cannot_be_clustered_raises_an_error(tmp_path, monkeypatch):
    monkeypatch.setenv("UNTWINE_DATA", str(tmp_path))
    data, _ = drawings(4)
    with pytest.raises(
        ValueError, match="cluster_styles needs the domain of every sample as its label; got samples without one"
    ):
        cluster_styles(Samples(data.x))
    with pytest.raises(ValueError, match="clusters of 'edges' must be an integer from 1 to 1; got 2"):
        cluster_styles(data, 2, features="pixels")
    with pytest.raises(ValueError, match="the weights of vgg16 must be in a file"):
        cluster_styles(data, 1)
    with pytest.raises(ValueError, match="features must be 'vgg16', 'squeezenet' or 'pixels'; got 'colour'"):
        cluster_styles(data, 1, features="colour")
    with pytest.raises(ValueError, match=r"x must be images \(n, C, H, W\), grey or RGB; got shape"):
        style_features(np.zeros((3, 4)))
    with pytest.raises(ValueError, match=r"the domain must be one of the data; got 'boots'; "):
        domain_mask(data, "boots")


def test_a_sample_of_the_image_has_the_images_of_one_class():
    data, truth = drawings()
    figure = plots.class_samples(data.x, truth, ("edges", "red", "green", "blue"), each=5)
    (axes,) = figure.axes
    assert [text.get_text() for text in axes.texts] == ["edges", "red", "green", "blue"]
    assert len(axes.images) == 20
    middles = [tuple(np.asarray(image.get_array()).reshape(-1, 3).min(0)) for image in axes.images[5:10]]
    assert len(set(middles)) == 1  # all are red
    assert len(plots.class_samples(data.x, truth, most=2).axes[0].texts) == 2
    with pytest.raises(ValueError, match="labels must have one class for each of the"):
        plots.class_samples(data.x, truth[:3])


def command(*words):
    with pytest.raises(SystemExit) as end:
        main([str(word) for word in words])
    return end.value.code


@pytest.fixture
def inside(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data, _ = drawings()
    rng = np.random.default_rng(0)
    x = np.clip(data.x.astype(int) + rng.integers(-3, 4, data.x.shape), 0, 255).astype(np.uint8)
    names = {"label_names": np.array(data.label_names), "factor_names": np.array(data.factor_names)}
    files.write_arrays("drawings.npz", {"x": x, "labels": data.labels, "factors": data.factors, **names})


@pytest.mark.usefixtures("inside")
def test_from_domains_to_styles_to_translations(capsys):
    assert command("styles", "drawings.npz", "--clusters", 3, "--features", "pixels", "--out", "s.npz", "--image", "s.png") == 0
    assert "38 train and 10 test images in 6 styles: s.npz" in capsys.readouterr().out
    before, after = un.load("drawings.npz"), un.load("s.npz")
    for split in ("train", "test"):  # the same samples are in the same split
        np.testing.assert_array_equal(getattr(after, split).x, getattr(before, split).x)
    options = ("--set", "epochs=2", "--set", "epochs_encoders=1", "--set", "width=8", "--quiet")
    assert command("fit", "lord", "--data", "s.npz", *options, "--out", "run") == 0
    assert command("translate", "run", "--to", "shoes", "--n", 3, "--samples", 2, "--out", "t.npz") == 0
    out = dict(np.load("t.npz", allow_pickle=False))
    assert out["translated"].shape == (2, 3, 3, 12, 12)
    method, test = un.load_method("run"), un.load("s.npz").test
    np.testing.assert_array_equal(out["translated"], manipulate.swap_grid(method, out["a"], out["styles"], "class"))
    where = [[np.flatnonzero((test.x == one).all((1, 2, 3)))[0] for one in out[name]] for name in ("a", "styles")]
    domain = test.factors[:, test.factor_names.index("domain")]
    assert set(domain[where[0]]) == {0}
    assert set(domain[where[1]]) == {1}
    assert len(set(test.labels[where[1]])) == len({*test.labels[domain == 1]})  # as many styles as there are
    for seed in range(4):  # whichever samples are drawn, those to translate are of the other domain; it has fewer than six
        assert command("translate", "run", "--to", "shoes", "--seed", seed, "--out", f"t{seed}.npz") == 0
        drawn = [np.flatnonzero((test.x == one).all((1, 2, 3)))[0] for one in np.load(f"t{seed}.npz", allow_pickle=False)["a"]]
        assert set(domain[drawn]) == {0}
    np.save("edge.npy", out["a"][:1])
    np.save("shoe.npy", out["styles"][:1])
    assert command("translate", "run", "edge.npy", "--style", "shoe.npy", "--out", "one.npy") == 0
    np.testing.assert_allclose(np.load("one.npy"), out["translated"][:1, :1], atol=1e-5)
    capsys.readouterr()
    assert command("translate", "run", "--out", "x.png") == 2
    assert "translate needs either --to or --style; got neither" in capsys.readouterr().err
    assert command("translate", "run", "--to", "boots", "--out", "x.png") == 2
    assert "the domain must be one of the data; got 'boots'" in capsys.readouterr().err
