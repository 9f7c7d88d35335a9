"""Feature extractors: their layers, where weights are read from, and custom networks."""

import numpy as np
import pytest
import torch

from untwine.networks.pretrained.feature_extractor import custom_extractor, feature_extractor
from untwine.networks.pretrained.inception import Inception
from untwine.networks.pretrained.squeezenet import SqueezeNet
from untwine.runs import files


def test_inception_has_the_published_parameters_and_names():
    with torch.device("meta"):
        network = Inception()
    names = dict(network.named_parameters())
    # 21,785,568 is the published count of all layers before the last.
    assert sum(p.numel() for name, p in names.items() if not name.startswith("fc.")) == 21_785_568
    for name, shape in {
        "Conv2d_1a_3x3.conv.weight": (32, 3, 3, 3),
        "Mixed_5b.branch_pool.conv.weight": (32, 192, 1, 1),
        "Mixed_6a.branch3x3dbl_3.bn.weight": (96,),
        "Mixed_6b.branch7x7_2.conv.weight": (128, 128, 1, 7),
        "Mixed_6e.branch7x7dbl_5.conv.weight": (192, 192, 1, 7),
        "Mixed_7a.branch7x7x3_4.conv.weight": (192, 192, 3, 3),
        "Mixed_7b.branch3x3_2b.conv.weight": (384, 384, 3, 1),
        "Mixed_7c.branch3x3dbl_3a.conv.weight": (384, 384, 1, 3),
        "fc.weight": (1008, 2048),
    }.items():
        assert tuple(names[name].shape) == shape, name


def test_inception_has_8_by_8_features_of_an_image_of_299_pixels():
    torch.manual_seed(0)
    network = Inception().eval()
    sizes = []
    network.get_submodule("Mixed_7c").register_forward_hook(lambda module, given, out: sizes.append(tuple(out.shape)))
    features, classes = network(torch.rand(1, 3, 299, 299))
    assert sizes == [(1, 2048, 8, 8)]
    assert features.shape == (1, 2048)
    assert classes.sum().item() == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("ending", ["npz", "safetensors"])
def test_weights_are_read_from_the_users_folder(tmp_path, ending):
    torch.manual_seed(0)
    network = SqueezeNet().eval()
    path = tmp_path / "weights" / f"squeezenet1_1_own.{ending}"
    path.parent.mkdir()
    if ending == "npz":
        np.savez(path, **{name: value.half().numpy() for name, value in network.state_dict().items()})
    else:
        files.write_tensors(path, network.state_dict())
    extractor = feature_extractor(folder=tmp_path)
    assert extractor.name == "squeezenet"
    x = np.random.default_rng(0).integers(0, 255, (3, 3, 128, 128), dtype=np.uint8)
    result = extractor.extract(x)
    with torch.no_grad():
        features, classes = network(torch.from_numpy(x / 255).float())
    np.testing.assert_allclose(result.features, features, atol=2e-2 if ending == "npz" else 1e-5)
    np.testing.assert_allclose(result.probabilities, classes, atol=1e-4)


def test_wrong_weights_and_missing_ones_raise_an_error(tmp_path):
    (tmp_path / "weights").mkdir()
    with pytest.raises(ValueError, match=r"the weights of squeezenet must be in .*squeezenet1_1\*.safetensors or .npz"):
        feature_extractor("squeezenet", tmp_path)
    with pytest.raises(ValueError, match="the feature extractor must be one of inception, squeezenet, random; got 'vgg'"):
        feature_extractor("vgg", tmp_path)
    np.savez(tmp_path / "weights" / "inception_v3.npz", a=np.zeros(3))
    with pytest.raises(ValueError, match=r"Conv2d_1a_3x3.conv.weight of shape \(32, 3, 3, 3\)"):
        feature_extractor(folder=tmp_path)


def test_without_weights_the_network_is_random_and_distinguishes_worse_from_better(tmp_path):
    extractor = feature_extractor(folder=tmp_path)
    assert extractor.name == "random"
    rng = np.random.default_rng(0)
    real, again = (rng.random((60, 1, 16, 16)) * np.linspace(0, 1, 16) for _ in range(2))
    worse = np.clip(real + 0.3 * rng.normal(size=real.shape), 0, 1)
    from untwine.metrics import frechet

    features = lambda x: extractor.extract(x).features  # noqa: E731
    assert frechet(features(real), features(again)) < 0.5 * frechet(features(real), features(worse))
    np.testing.assert_array_equal(features(real), feature_extractor("random", tmp_path).extract(real).features)
    with pytest.raises(ValueError, match=r"x must be images \(n, C, H, W\) with 1 or 3 channels"):
        extractor.extract(np.zeros((3, 4)))


def test_a_custom_network_is_in_evaluation_mode_and_must_have_a_name_and_return_features():
    network = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Dropout(0.5))
    extract, x = custom_extractor("mine", network, 8).extract, np.ones((3, 1, 8, 8))
    np.testing.assert_array_equal(extract(x).features, np.ones((3, 192)))
    assert extract(x).probabilities is None
    for name in ("inception", "two words"):
        with pytest.raises(ValueError, match=f"the name of a custom extractor must be one word other than .*; got '{name}'"):
            custom_extractor(name, network, 8)
    with pytest.raises(
        ValueError, match=r"the network 'mine' must return features \(n, d\); got shape \(3, 3, 8, 8\) for 3 images"
    ):
        custom_extractor("mine", torch.nn.Identity(), 8).extract(x)
