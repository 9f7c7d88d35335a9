"""The perceptual loss and LPIPS: by hand on a tiny network, and the published values with the published weights."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from untwine.data.location import data_folder
from untwine.networks.pretrained.lpips import lpips
from untwine.networks.pretrained.perceptual import FEATURE_NETWORKS, LPIPS, PerceptualLoss, layer_features
from untwine.networks.pretrained.vgg16 import VGG16
from untwine.networks.pretrained.weights import find_weights

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
GOLDEN = Path(__file__).parents[1] / "golden" / "lpips_squeeze.npz"


class Tiny(nn.Module):
    """Two convolutions with ReLU, and a normalisation of its own."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.features = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Conv2d(4, 2, 3, 2), nn.ReLU())
        self.mean, self.std = torch.tensor([0.5, 0.4, 0.3]).view(3, 1, 1), torch.tensor([0.2, 0.3, 0.4]).view(3, 1, 1)


def images(n=3, channels=3, side=32, seed=0):
    return torch.rand(n, channels, side, side, generator=torch.Generator().manual_seed(seed))


def by_hand(network, x):
    x = (x - network.mean) / network.std
    one = functional.relu(functional.conv2d(x, network.features[0].weight, network.features[0].bias))
    return one, functional.relu(functional.conv2d(one, network.features[2].weight, network.features[2].bias, 2))


def test_the_loss_is_the_l1_of_pixels_and_of_every_layer():
    network = Tiny()
    a, b = images(seed=1), images(seed=2)
    loss = PerceptualLoss(network, (1, 3))(a, b)
    pairs = [(a, b), *zip(by_hand(network, a), by_hand(network, b), strict=True)]
    torch.testing.assert_close(loss, sum((x - y).abs().mean((1, 2, 3)) for x, y in pairs))
    assert (PerceptualLoss(network, (1, 3))(a, a) == 0).all()


def test_the_network_is_frozen_and_the_truth_gets_no_gradient_from_features():
    network = Tiny()
    loss = PerceptualLoss(network, (1, 3))
    assert not any(p.requires_grad for p in loss.parameters())
    generated = images(seed=1).requires_grad_()
    (grad,) = torch.autograd.grad(loss(generated, images(seed=2)).sum(), generated)
    assert (grad != 0).float().mean() > 0.9


def test_lpips_by_hand():
    network = Tiny()
    distance = LPIPS(network, (1, 3), (4, 2))
    w = torch.rand(4), torch.rand(2)
    distance.heads.load_state_dict({f"lin{i}.model.1.weight": part.view(1, -1, 1, 1) for i, part in enumerate(w)})
    a, b = images(seed=1), images(seed=2)
    expected = torch.zeros(3)
    for x, y, weight in zip(by_hand(network, a), by_hand(network, b), w, strict=True):
        unit = [z / ((z**2).sum(1, keepdim=True).sqrt() + 1e-10) for z in (x.detach(), y.detach())]
        expected += ((unit[0] - unit[1]) ** 2 * weight.view(-1, 1, 1)).sum(1).mean((1, 2))
    torch.testing.assert_close(distance(a, b), expected)
    assert (distance(a, a) == 0).all()


def test_grey_images_are_repeated_to_rgb_and_small_ones_are_up_sampled():
    network, grey = Tiny(), images(channels=1, side=16)
    colour = functional.interpolate(grey, (32, 32), mode="bilinear").expand(-1, 3, -1, -1)
    for one, other in zip(layer_features(network, grey, (1, 3)), by_hand(network, colour), strict=True):
        torch.testing.assert_close(one, other)
    assert next(layer_features(network, images(side=40), (1,))).shape[-1] == 38  # larger ones keep their size


def test_the_features_of_vgg16_are_those_of_the_paper():
    names, stage, number = {}, 1, 0
    with torch.device("meta"):
        for i, layer in enumerate(VGG16().features):
            if isinstance(layer, nn.ReLU):
                number += 1
                names[i] = f"relu{stage}_{number}"
            elif isinstance(layer, nn.MaxPool2d):
                names[i] = f"pool{stage}"
                stage, number = stage + 1, 0
    assert [names[i] for i in FEATURE_NETWORKS["vgg16"].loss_layers] == ["relu1_2", "relu2_2", "relu3_2", "relu4_3", "pool5"]
    assert [names[i] for i in FEATURE_NETWORKS["vgg16"].lpips_layers] == ["relu1_2", "relu2_2", "relu3_3", "relu4_3", "relu5_3"]


@pytest.mark.parametrize("name", list(FEATURE_NETWORKS))
def test_images_are_standardised_by_the_mean_and_std_of_imagenet(name):
    network = FEATURE_NETWORKS[name].build()
    torch.testing.assert_close(network.mean.flatten(), torch.tensor([0.485, 0.456, 0.406]))
    torch.testing.assert_close(network.std.flatten(), torch.tensor([0.229, 0.224, 0.225]))
    x = images(2)
    first, standardised = network.features[0], (x - network.mean) / network.std
    expected = functional.relu(functional.conv2d(standardised, first.weight, first.bias, first.stride, first.padding))
    torch.testing.assert_close(next(layer_features(network, x, (1,))), expected)


def test_the_layers_are_the_published_ones():
    with torch.device("meta"):
        network = VGG16()
        x = torch.empty(1, 3, 64, 64)
        shapes = {
            name: [tuple(features.shape[1:]) for features in layer_features(known.build(), x, known.lpips_layers)]
            for name, known in FEATURE_NETWORKS.items()
        }
        last = list(layer_features(network, x, FEATURE_NETWORKS["vgg16"].loss_layers))[-1]
    # 14,714,688 is the published count of all layers before the classifier.
    assert sum(p.numel() for p in network.parameters()) == 14_714_688
    assert [isinstance(network.features[i], nn.ReLU) for i in FEATURE_NETWORKS["vgg16"].loss_layers] == [True] * 4 + [False]
    assert tuple(last.shape) == (1, 512, 2, 2)
    assert shapes["vgg16"] == [(64, 64, 64), (128, 32, 32), (256, 16, 16), (512, 8, 8), (512, 4, 4)]
    assert shapes["squeezenet"] == [tuple(shape) for shape in np.load(GOLDEN)["feature_shapes"].tolist()]
    for known in FEATURE_NETWORKS.values():
        assert len(known.lpips_channels) == len(known.lpips_layers)


def test_lpips_with_alexnet_by_hand(tmp_path, monkeypatch):
    """Random weights, written as the published files are; the reference is a plain loop over convolutions."""
    monkeypatch.setenv("UNTWINE_DATA", str(tmp_path))
    rng, network = np.random.default_rng(0), FEATURE_NETWORKS["alexnet"]
    sizes = {0: (64, 3, 11), 3: (192, 64, 5), 6: (384, 192, 3), 8: (256, 384, 3), 10: (256, 256, 3)}
    weights = {f"features.{i}.weight": rng.normal(size=(*s, s[2])) / np.sqrt(s[1] * s[2] ** 2) for i, s in sizes.items()}
    weights |= {f"features.{i}.bias": 0.1 * rng.normal(size=s[0]) for i, s in sizes.items()}
    heads = {f"lin{k}.model.1.weight": rng.uniform(size=(1, s[0], 1, 1)) for k, s in enumerate(sizes.values())}
    (tmp_path / "weights").mkdir()
    unused = {"classifier.1.weight": np.zeros((2, 2))}  # published files have a classifier
    for name, arrays in (("alexnet-owt.npz", weights | unused), ("lpips_v0.1_alex.npz", heads)):
        np.savez(tmp_path / "weights" / name, **{key: value.astype(np.float32) for key, value in arrays.items()})
    pair = rng.integers(0, 256, (2, 2, 3, 70, 64)).astype(np.uint8)
    taps = []
    for x in pair:
        z, own = (torch.tensor(x / 255) - torch.tensor(MEAN).view(3, 1, 1)) / torch.tensor(STD).view(3, 1, 1), []
        for (i, (_, _, side)), stride in zip(sizes.items(), (4, 1, 1, 1, 1), strict=True):
            w, b = (torch.tensor(weights[f"features.{i}.{kind}"]) for kind in ("weight", "bias"))
            z = functional.conv2d(z, w, b, stride, {11: 2, 5: 2, 3: 1}[side]).clamp(min=0)
            own.append(z.numpy())
            z = functional.max_pool2d(z, 3, 2) if i in (0, 3) else z
        taps.append(own)
    expected = np.zeros(2)
    for k, both in enumerate(zip(*taps, strict=True)):
        a, b = (one / np.sqrt((one**2).sum(1, keepdims=True)) for one in both)
        expected += (heads[f"lin{k}.model.1.weight"][0] * (a - b) ** 2).sum(1).mean((1, 2))
    np.testing.assert_allclose(lpips(*pair, "alexnet"), expected, rtol=1e-4)
    assert (lpips(pair[0], pair[0], "alexnet") == 0).all()
    assert lpips(*pair[:, :, :, :16, :16], "alexnet").shape == (2,)  # small images are up-sampled
    with torch.device("meta"):
        features = list(layer_features(network.build(), torch.empty(1, 3, 64, 64), network.lpips_layers))
        # 2,469,696 is the published count of all layers before the classifier.
        assert sum(p.numel() for p in network.build().parameters()) == 2_469_696
    assert [tuple(one.shape[1:]) for one in features] == [(64, 15, 15), (192, 7, 7), *((c, 3, 3) for c in (384, 256, 256))]


def published():
    network = FEATURE_NETWORKS["squeezenet"]
    return [find_weights(network.weights_prefix), find_weights(network.heads_prefix)]


@pytest.mark.skipif(
    None in published(),
    reason=f"the published weights squeezenet1_1* and lpips_v0.1_squeeze* are not in {data_folder(None) / 'weights'}",
)
def test_lpips_equals_the_published_values():
    golden = np.load(GOLDEN, allow_pickle=False)
    a, b = golden["image_a"], golden["image_b"]
    np.testing.assert_allclose(lpips(a, b), golden["lpips"], atol=1e-4)
    np.testing.assert_allclose(lpips(a / 255, b / 255), golden["lpips"], atol=1e-4)
    assert lpips(a[5:], b[5:])[0] == 0
