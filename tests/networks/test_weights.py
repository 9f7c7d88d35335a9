"""Weight files of pretrained networks: found, loaded, converted, refused; and the losses that methods use them for."""

import numpy as np
import pytest
import torch

import untwine as un
from untwine.cli.app import main
from untwine.evaluation.registry import METRICS
from untwine.evaluation.scoring import evaluate
from untwine.networks.pretrained import reconstruction, weights
from untwine.networks.pretrained.lpips import lpips
from untwine.networks.pretrained.perceptual import FEATURE_NETWORKS, Heads
from untwine.networks.pretrained.squeezenet import SqueezeNet
from untwine.runs import files
from untwine.samples import Samples

TINY = {"n_class": 3, "n_content": 2, "epochs": 1, "batch": 12, "width": 4}
METHODS = ("LORD", "MLVAE", "DrNet", "CycleVAE", "MixingAE")


@pytest.fixture(scope="module")
def random_weights(tmp_path_factory):
    """A data folder with random weights of SqueezeNet, as npz, and heads, as safetensors."""
    folder = tmp_path_factory.mktemp("data")
    torch.manual_seed(0)
    (folder / "weights").mkdir()
    own = {name: value.half().numpy() for name, value in SqueezeNet().state_dict().items()}
    np.savez(folder / "weights" / "squeezenet1_1_random.npz", **own)
    heads = {name: value.abs() for name, value in Heads(FEATURE_NETWORKS["squeezenet"].lpips_channels).state_dict().items()}
    files.write_tensors(folder / "weights" / "lpips_v0.1_squeeze.safetensors", heads)
    return folder


@pytest.fixture
def with_weights(random_weights, monkeypatch):
    monkeypatch.setenv("UNTWINE_DATA", str(random_weights))


@pytest.fixture
def empty_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("UNTWINE_DATA", str(tmp_path))
    return tmp_path


def faces(classes=4, each=6):
    """Images whose class is a colour and whose content is the place of a bar."""
    x = np.zeros((classes, each, 3, 16, 16), np.uint8)
    colours = np.random.default_rng(0).integers(60, 255, size=(classes, 3, 1, 1))
    for place in range(each):
        x[:, place, :, :, 2 * place : 2 * place + 3] = colours
    factors = np.tile(np.arange(each), classes)[:, None]
    return Samples(x.reshape(-1, 3, 16, 16), labels=np.repeat(np.arange(classes), each), factors=factors)


@pytest.mark.usefixtures("with_weights")
def test_lpips_is_0_for_equal_images_and_grows_with_noise():
    x = np.random.default_rng(0).random((2, 3, 40, 40))
    noise = np.random.default_rng(1).normal(size=x.shape)
    little, much = (lpips(x, np.clip(x + s * noise, 0, 1)) for s in (0.02, 0.3))
    assert (lpips(x, x) == 0).all()
    assert (little > 0).all()
    assert (little < much).all()
    with pytest.raises(ValueError, match="lpips needs two arrays of images"):
        lpips(x, x[:1])


def test_missing_weights_are_refused(empty_folder):
    with pytest.raises(ValueError, match=r"weights of vgg16 must be in a file .*vgg16\*.safetensors or .npz; found none"):
        un.LORD(**TINY, loss="vgg16").fit(faces())
    with pytest.raises(ValueError, match=r"weights of squeezenet must be in a file"):
        lpips(np.zeros((1, 3, 40, 40)), np.zeros((1, 3, 40, 40)))
    with pytest.raises(ValueError, match="the network must be 'vgg16' or 'squeezenet'; got 'alexnet'"):
        weights.load_perceptual_loss("alexnet")
    with pytest.raises(ValueError, match=r"weights of alexnet must be in a file .*alexnet\*.safetensors or .npz; found none"):
        lpips(np.zeros((1, 3, 40, 40)), np.zeros((1, 3, 40, 40)), "alexnet")
    assert not list(empty_folder.iterdir())


@pytest.mark.usefixtures("with_weights")
@pytest.mark.parametrize("name", METHODS)
def test_every_method_of_class_and_content_takes_the_loss(name):
    data = faces()
    method, plain = (getattr(un, name)(**TINY, loss=loss).fit(data) for loss in ("squeezenet", "l1"))
    first, other = (next(row.value for row in one.history_ if row.term == "reconstruction") for one in (method, plain))
    assert np.isfinite(method.transform(data.x)).all()
    assert first > other  # the L1 of pixels is a term of it
    assert not [key for key in method.nets_.state_dict() if "network" in key]  # the frozen network is not saved with the method
    with pytest.raises(ValueError, match="loss must be 'l1', 'l2', 'vgg16' or 'squeezenet'; got 'l3'"):
        getattr(un, name)(**TINY, loss="l3").fit(data)
    with pytest.raises(ValueError, match=r"loss='vgg16' needs images .* with 1 or 3 channels"):
        getattr(un, name)(**TINY, loss="vgg16").fit(Samples(data.x[:, :, 0, 0] / 255.0, labels=data.labels))


@pytest.mark.usefixtures("with_weights")
def test_the_mean_loss_is_the_mean_of_sample_losses():
    x, generated = torch.rand(3, 1, 16, 16), torch.rand(3, 1, 16, 16)
    for loss in ("l1", "l2", "squeezenet"):
        torch.testing.assert_close(
            reconstruction.sample_losses(loss, generated, x).mean(), reconstruction.mean_loss(loss, generated, x)
        )
    torch.testing.assert_close(reconstruction.sample_losses("l2", generated, x), (generated - x).square().mean((1, 2, 3)))


@pytest.mark.usefixtures("with_weights")
def test_class_transfer_is_scored_by_lpips():
    data = faces(each=6)
    scores = evaluate(un.LORD(**TINY, epochs_encoders=1).fit(data), data, ["transfer_lpips"])
    assert list(scores) == ["transfer_lpips.x", "transfer_lpips_unmoved.x"]
    assert scores["transfer_lpips.x"].direction == "lower"
    assert scores["transfer_lpips.x"].value > 0
    with pytest.raises(ValueError, match=r"the weights of alexnet must be in a file"):
        evaluate(un.LORD(**TINY, epochs_encoders=1).fit(data), data, ["transfer_lpips(network=alexnet)"])
    with pytest.raises(ValueError, match="'squeezenet', 'vgg16' or 'alexnet'; got 'alex'; did you mean 'alexnet'"):
        evaluate(None, data, ["transfer_lpips(network=alex)"])


def test_the_networks_of_the_metric_are_those_of_lpips():
    from untwine.metrics.transfer_lpips import TransferLPIPSOptions

    for name in FEATURE_NETWORKS:
        METRICS["transfer_lpips"].with_options(network=name)
    assert TransferLPIPSOptions().network == "squeezenet"


def test_a_public_file_becomes_safetensors(random_weights, empty_folder, capsys):
    network = {**SqueezeNet().state_dict(), "another.head": torch.zeros(2)}
    torch.save(network, empty_folder / "squeezenet1_1-xyz.pth")
    with pytest.raises(SystemExit, match=r"^0$"):
        main(["convert", str(empty_folder / "squeezenet1_1-xyz.pth")])
    path = empty_folder / "weights" / "squeezenet1_1.safetensors"
    assert str(path) in capsys.readouterr().out.replace("\n", "")
    tensors, _ = files.read_tensors(path)
    assert set(tensors) == set(network) - {"another.head"}
    torch.testing.assert_close(tensors["features.0.weight"], network["features.0.weight"])
    for known in FEATURE_NETWORKS.values():
        torch.save(Heads(known.lpips_channels).state_dict(), empty_folder / "heads.pth")
        assert weights.convert(empty_folder / "heads.pth").name == f"{known.heads_prefix}.safetensors"


class Harmful:
    def __reduce__(self):
        return (print, ("run!",))


def test_files_that_are_not_weights_are_refused_and_not_executed(empty_folder, capsys):
    torch.save({"a": Harmful()}, empty_folder / "bad.pth")
    with pytest.raises(ValueError, match="must hold named tensors only; got more"):
        weights.convert(empty_folder / "bad.pth")
    assert "run!" not in capsys.readouterr().out
    torch.save({"a": torch.zeros(2)}, empty_folder / "other.pth")
    with pytest.raises(ValueError, match="must hold the weights of vgg16 or squeezenet1_1"):
        weights.convert(empty_folder / "other.pth")
    torch.save([torch.zeros(2)], empty_folder / "list.pth")
    with pytest.raises(ValueError, match="must hold named tensors; got a list"):
        weights.convert(empty_folder / "list.pth")
    (empty_folder / "text.pth").write_text("no weights")
    with pytest.raises(ValueError, match=r"text\.pth must "):
        weights.convert(empty_folder / "text.pth")
    with pytest.raises(ValueError, match="does not exist"):
        weights.convert(empty_folder / "absent.pth")
    torch.save(SqueezeNet().state_dict(), empty_folder / "good.pth")
    with pytest.raises(ValueError, match=r"must be a file with the suffix \.safetensors"):
        weights.convert(empty_folder / "good.pth", empty_folder / "x.npz")
