"""Weights of published networks: found, read, converted, refused; and the losses that methods take them for."""

import numpy as np
import pytest
import torch

import untwine as un
from untwine.cli.app import main
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
def made(tmp_path_factory):
    """A data folder with made weights of SqueezeNet, as npz, and heads, as safetensors."""
    folder = tmp_path_factory.mktemp("data")
    torch.manual_seed(0)
    (folder / "weights").mkdir()
    own = {name: value.half().numpy() for name, value in SqueezeNet().state_dict().items()}
    np.savez(folder / "weights" / "squeezenet1_1_made.npz", **own)
    heads = {name: value.abs() for name, value in Heads(FEATURE_NETWORKS["squeezenet"].lpips_channels).state_dict().items()}
    files.write_tensors(folder / "weights" / "lpips_v0.1_squeeze.safetensors", heads)
    return folder


@pytest.fixture
def there(made, monkeypatch):
    monkeypatch.setenv("UNTWINE_DATA", str(made))


@pytest.fixture
def nowhere(tmp_path, monkeypatch):
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


@pytest.mark.usefixtures("there")
def test_lpips_is_0_for_equal_images_and_grows_with_noise():
    x = np.random.default_rng(0).random((2, 3, 40, 40))
    noise = np.random.default_rng(1).normal(size=x.shape)
    little, much = (lpips(x, np.clip(x + s * noise, 0, 1)) for s in (0.02, 0.3))
    assert (lpips(x, x) == 0).all()
    assert (little > 0).all()
    assert (little < much).all()
    with pytest.raises(ValueError, match="lpips expected equally many images"):
        lpips(x, x[:1])


def test_weights_that_are_not_there_get_their_sentence(nowhere):
    with pytest.raises(ValueError, match=r"weights of vgg16 were expected as .*vgg16\*.safetensors or .npz, but are not there"):
        un.LORD(**TINY, loss="vgg16").fit(faces())
    with pytest.raises(ValueError, match=r"weights of squeezenet were expected as"):
        lpips(np.zeros((1, 3, 40, 40)), np.zeros((1, 3, 40, 40)))
    with pytest.raises(ValueError, match="the network must be one of vgg16, squeezenet; got 'alexnet'"):
        weights.load_perceptual_loss("alexnet")
    assert not list(nowhere.iterdir())


@pytest.mark.usefixtures("there")
@pytest.mark.parametrize("name", METHODS)
def test_every_method_of_class_and_content_takes_the_loss(name):
    data = faces()
    method, plain = (getattr(un, name)(**TINY, loss=loss).fit(data) for loss in ("squeezenet", "l1"))
    first, other = (next(row.value for row in one.history_ if row.term == "reconstruction") for one in (method, plain))
    assert np.isfinite(method.transform(data.x)).all()
    assert first > other  # the pixels' L1 is a part of it
    assert not [key for key in method.nets_.state_dict() if "network" in key]  # the frozen network is nobody's to keep
    with pytest.raises(ValueError, match="loss must be one of l1, l2, vgg16, squeezenet; got 'l3'"):
        getattr(un, name)(**TINY, loss="l3").fit(data)
    with pytest.raises(ValueError, match="loss='vgg16' must be images, grey or RGB"):
        getattr(un, name)(**TINY, loss="vgg16").fit(Samples(data.x[:, :, 0, 0] / 1.0, labels=data.labels))


@pytest.mark.usefixtures("there")
def test_the_loss_of_each_row_and_their_mean():
    x, made = torch.rand(3, 1, 16, 16), torch.rand(3, 1, 16, 16)
    for loss in ("l1", "l2", "squeezenet"):
        torch.testing.assert_close(reconstruction.sample_losses(loss, made, x).mean(), reconstruction.mean_loss(loss, made, x))
    torch.testing.assert_close(reconstruction.sample_losses("l2", made, x), (made - x).square().mean((1, 2, 3)))


@pytest.mark.usefixtures("there")
def test_moved_contents_are_scored_by_lpips():
    data = faces(each=6)
    scores = evaluate(un.LORD(**TINY, epochs_encoders=1).fit(data), data, ["transfer_lpips"])
    assert list(scores) == ["transfer_lpips.x", "transfer_lpips_unmoved.x"]
    assert scores["transfer_lpips.x"].direction == "lower"
    assert scores["transfer_lpips.x"].value > 0


def test_a_public_file_becomes_safetensors(made, nowhere, capsys):
    network = {**SqueezeNet().state_dict(), "another.head": torch.zeros(2)}
    torch.save(network, nowhere / "squeezenet1_1-xyz.pth")
    with pytest.raises(SystemExit, match=r"^0$"):
        main(["convert", str(nowhere / "squeezenet1_1-xyz.pth")])
    path = nowhere / "weights" / "squeezenet1_1.safetensors"
    assert str(path) in capsys.readouterr().out.replace("\n", "")
    tensors, _ = files.read_tensors(path)
    assert set(tensors) == set(network) - {"another.head"}
    torch.testing.assert_close(tensors["features.0.weight"], network["features.0.weight"])
    for known in FEATURE_NETWORKS.values():
        torch.save(Heads(known.lpips_channels).state_dict(), nowhere / "heads.pth")
        assert weights.convert(nowhere / "heads.pth").name == f"{known.heads_prefix}.safetensors"


class Harmful:
    def __reduce__(self):
        return (print, ("run!",))


def test_files_that_are_no_weights_are_refused_and_not_run(nowhere, capsys):
    torch.save({"a": Harmful()}, nowhere / "bad.pth")
    with pytest.raises(ValueError, match="expected tensors by name alone, but holds more"):
        weights.convert(nowhere / "bad.pth")
    assert "run!" not in capsys.readouterr().out
    torch.save({"a": torch.zeros(2)}, nowhere / "other.pth")
    with pytest.raises(ValueError, match="expected the weights of one of vgg16, squeezenet1_1"):
        weights.convert(nowhere / "other.pth")
    torch.save([torch.zeros(2)], nowhere / "list.pth")
    with pytest.raises(ValueError, match="expected tensors by name, but holds a list"):
        weights.convert(nowhere / "list.pth")
    (nowhere / "text.pth").write_text("no weights")
    with pytest.raises(ValueError, match=r"text\.pth expected"):
        weights.convert(nowhere / "text.pth")
    with pytest.raises(ValueError, match="is not there"):
        weights.convert(nowhere / "absent.pth")
    torch.save(SqueezeNet().state_dict(), nowhere / "good.pth")
    with pytest.raises(ValueError, match=r"expected a file that ends in \.safetensors"):
        weights.convert(nowhere / "good.pth", nowhere / "x.npz")
