"""Features of images by a frozen network: what they are, what is remembered of the network, and what is refused."""

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from untwine.networks.pretrained.feature_extractor import feature_extractor
from untwine.networks.pretrained.frozen_features import fingerprint, frozen_features
from untwine.networks.pretrained.squeezenet import SqueezeNet
from untwine.samples import Samples

IMAGES = np.random.default_rng(0).integers(0, 255, (7, 3, 16, 12), np.uint8)


class ChannelMeans(nn.Module):
    """The mean of every channel, times a weight."""

    def __init__(self, scale=1.0):
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(scale))
        self.dropout = nn.Dropout(0.5)

    def forward(self, x):
        return self.dropout(self.scale * x).mean((2, 3))


@pytest.fixture
def weights(tmp_path, monkeypatch):
    """A folder with random weights of SqueezeNet."""
    torch.manual_seed(0)
    network = SqueezeNet().eval()
    (tmp_path / "weights").mkdir()
    path = tmp_path / "weights" / "squeezenet1_1.safetensors"
    save_file(network.state_dict(), path)
    monkeypatch.setenv("UNTWINE_DATA", str(tmp_path))
    return network, path


def test_a_module_is_used_as_it_is_in_evaluation_mode():
    features = frozen_features(ChannelMeans(2.0).train())
    np.testing.assert_allclose(features.of(IMAGES), 2 * IMAGES.mean((2, 3)) / 255, rtol=1e-5)
    assert features.name == "own"


def test_maps_are_averaged_over_pixels():
    network = nn.Conv2d(3, 5, 1)
    with torch.no_grad():
        maps = network(torch.from_numpy(IMAGES) / 255).mean((2, 3)).numpy()
    np.testing.assert_allclose(frozen_features(network).of(IMAGES), maps, rtol=1e-5, atol=1e-6)


def test_the_fingerprint_is_that_of_the_weights():
    assert fingerprint(ChannelMeans(2.0)) == fingerprint(ChannelMeans(2.0))
    assert fingerprint(ChannelMeans(2.0)) != fingerprint(ChannelMeans(2.1))
    half = ChannelMeans(2.0).half()
    assert fingerprint(half) == fingerprint(half.float())


def test_a_known_network_by_name_and_by_its_file_is_the_same(weights, tmp_path):
    network, path = weights
    by_name, by_path = frozen_features("squeezenet"), frozen_features(path)
    np.savez(tmp_path / "copy.npz", allow_pickle=False, **{key: value.numpy() for key, value in network.state_dict().items()})
    by_copy = frozen_features(str(tmp_path / "copy.npz"))
    assert by_name.sha256 == by_path.sha256 == by_copy.sha256 == fingerprint(network)
    expected = feature_extractor("squeezenet").extract(IMAGES).features
    for one in (by_name, by_path, by_copy):
        np.testing.assert_array_equal(one.of(IMAGES), expected)
    assert expected.shape == (7, 512)


def test_a_named_layer_is_averaged_over_pixels(weights):
    network, _ = weights
    last, middle = frozen_features("squeezenet:features"), frozen_features("squeezenet:features.4")
    np.testing.assert_allclose(last.of(IMAGES), frozen_features("squeezenet").of(IMAGES), rtol=1e-5, atol=1e-6)
    x = torch.nn.functional.interpolate(torch.from_numpy(IMAGES) / 255, (128, 128), mode="bilinear", antialias=True)
    with torch.no_grad():
        maps = network.features[:5]((x.clamp(0, 1) - network.mean) / network.std)
    np.testing.assert_allclose(middle.of(IMAGES), maps.mean((2, 3)).numpy(), rtol=1e-4, atol=1e-5)
    assert middle.of(IMAGES).shape == (7, 128)


def test_random_features_are_the_same_at_every_call_and_leave_the_random_state():
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    one, two = frozen_features("random"), frozen_features("random")
    assert torch.equal(torch.random.get_rng_state(), before)
    assert one.sha256 == two.sha256
    np.testing.assert_array_equal(one.of(IMAGES), two.of(IMAGES))


def test_samples_keep_their_columns_and_their_images():
    samples = Samples(
        IMAGES, groups=[0, 1] * 3 + [1], labels=list("abababa"), factors=np.arange(7.0)[:, None], ids=list("abcdefg")
    )
    extracted = frozen_features("random").apply(samples)
    assert extracted.shape == (448,)
    np.testing.assert_array_equal(extracted.images, IMAGES)
    np.testing.assert_array_equal(extracted.groups, samples.groups)
    np.testing.assert_array_equal(extracted[2:4].images, IMAGES[2:4])
    joined = Samples.contrast(target=extracted.target, background=extracted.background)
    np.testing.assert_array_equal(joined.images[joined.groups == 0], IMAGES[[0, 2, 4]])
    assert joined.extractor == extracted.extractor


def test_the_fingerprint_of_samples_is_that_of_the_images_and_the_weights():
    samples, module = Samples(IMAGES), frozen_features(ChannelMeans(2.0))
    one = module.apply(samples)
    rounded = Samples(one.x + np.float32(1e-6), images=one.images, extractor=one.extractor)
    assert one.fingerprint() == rounded.fingerprint() != samples.fingerprint()
    assert one.fingerprint() != frozen_features(ChannelMeans(2.1)).apply(samples).fingerprint()
    assert Samples(one.x).fingerprint() == Samples(one.x, images=IMAGES).fingerprint()  # precomputed features are the data


@pytest.mark.parametrize(
    ("features", "sentence"),
    [
        ("vgg", "features must be inception, squeezenet, random, or an existing .safetensors or .npz file .*; got 'vgg'"),
        ("inception", r"the weights of inception must be in a file .*inception_v3\*"),
        ("random:layers.9", "features must name a layer of the network after the colon; got 'random:layers.9'; it has layers"),
        (3, "features must be a name, a path or a torch.nn.Module; got int"),
    ],
)
def test_what_is_no_network_is_refused(features, sentence, tmp_path, monkeypatch):
    monkeypatch.setenv("UNTWINE_DATA", str(tmp_path))
    with pytest.raises((ValueError, TypeError), match=sentence):
        frozen_features(features)


def test_a_file_with_other_weights_and_samples_that_are_no_images_are_refused(tmp_path):
    save_file({"a": torch.zeros(2)}, tmp_path / "a.safetensors")
    with pytest.raises(ValueError, match=r"must hold the weights of inception or squeezenet; .* must hold "):
        frozen_features(tmp_path / "a.safetensors")
    with pytest.raises(ValueError, match=r"need images \(n, C, H, W\) with 1 or 3 channels; got shape \(4, 5\)"):
        frozen_features("random").of(np.zeros((4, 5)))
    with pytest.raises(ValueError, match=r"must be finite and of shape \(n, d\) or \(n, C, H, W\); got shape \(1, 7"):
        frozen_features(_Sum()).of(IMAGES)
    with pytest.raises(ValueError, match=r"images must be the images \(n, C, H, W\) whose features x \(n, d\) has"):
        Samples(np.zeros((6, 2)), images=IMAGES)


class _Sum(nn.Module):
    def forward(self, x):
        return x.flatten()[None, :7]
