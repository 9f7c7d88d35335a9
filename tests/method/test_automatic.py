"""What fit chooses from the training samples: within bounds, from nothing else, and repeatable by hand."""

import dataclasses
import json
import math

import numpy as np
import pytest
import torch
from small import NAMES, TRAINED, images, labelled, small, vectors

import untwine as un
from untwine.method import automatic
from untwine.methods import METHODS

LEFT = {"epochs": 2, "width": 8}  # of a fit that takes a moment; all else is chosen


@pytest.fixture(scope="module")
def data():
    return vectors(target=60, background=70)


@pytest.mark.parametrize("name", TRAINED)
def test_fit_with_the_choices_given_by_hand_has_the_same_weights(name, data, tmp_path):
    short = {**LEFT, "epochs_encoders": 1} if name == "lord" else LEFT
    chosen = METHODS[name](**short).choices(data)
    first = METHODS[name](**short).fit(data, out=tmp_path / "run")
    second = METHODS[name](**short, **chosen).fit(data)
    assert first.by_hand() == chosen
    assert {"networks", "batch"} <= set(chosen)
    assert first.blocks == second.blocks
    for key, value in first.nets_.state_dict().items():
        assert torch.equal(value, second.nets_.state_dict()[key]), key
    loaded = un.load_method(tmp_path / "run")
    assert loaded.by_hand() == chosen
    assert loaded.get_params() == first.get_params()
    card = json.loads((tmp_path / "run" / "method.json").read_text())
    assert {name: card["found"][name] for name in chosen} == chosen
    assert card["params"]["batch"] == "auto"


def test_images_of_a_short_fit_by_hand_have_the_same_weights():
    data = images(shape=(1, 16, 16))
    method = METHODS["vae"](epochs=1).fit(data)
    chosen = method.by_hand()
    assert chosen["networks"] == "conv"
    again = METHODS["vae"](epochs=1, **chosen).fit(data)
    assert all(torch.equal(one, again.nets_.state_dict()[key]) for key, one in method.nets_.state_dict().items())


@pytest.mark.parametrize("name", NAMES)
def test_choices_depend_on_no_labels_factors_or_sources(name, data):
    method = METHODS[name]()
    if method.needs == "labels":
        other = dataclasses.replace(data, labels=np.arange(len(data)) % 3)
    else:
        other = dataclasses.replace(data, labels=None, sources=np.arange(len(data)) // 2)
    assert method.choices(other) == method.choices(data)


def test_what_is_given_is_not_chosen(data):
    assert small("principled_vae", networks="mlp", scale=0.3).choices(data) == {}
    chosen = METHODS["principled_vae"](batch=8, epochs=3).choices(data)
    assert set(chosen) == {"networks", "scale", "n_common", "n_salient"}


@pytest.mark.parametrize(
    ("shape", "networks", "width"),
    [
        ((50,), "mlp", None),
        ((3, 12, 40), "mlp", None),
        ((1, 16, 16), "conv", 16),
        ((3, 64, 64), "conv", 16),
        ((1, 128, 96), "conv", 8),
        ((1, 16, 16, 16), "conv3d", None),
    ],
)
def test_networks_follow_the_shape(shape, networks, width):
    data = un.Samples(np.zeros((4, *shape), dtype="float32"))
    chosen = METHODS["vae"](n_latent=2).choices(data)
    assert (chosen["networks"], chosen.get("width")) == (networks, width)


def test_other_families_have_their_own_networks_for_images():
    data = images(shape=(1, 16, 16))
    assert METHODS["infogan"]().choices(data)["networks"] == "dcgan"
    assert METHODS["stargan"]().choices(data)["networks"] == "residual"
    assert METHODS["lord"]().choices(data)["networks"] == "mlp"


@pytest.mark.parametrize("pool", [2, 20, 330, 1000, 5000, 60_000, 2_000_000])
def test_batches_and_steps_are_within_bounds(pool):
    batch = automatic.choose_batch(pool)
    steps = automatic.choose_epochs(pool, batch, 1.0, 1) * math.ceil(pool / batch)
    assert batch in (16, 32, 64)
    assert 4000 <= steps <= 20_000 + math.ceil(pool / batch)
    slow = automatic.choose_epochs(pool, batch, 1e12, 1) * math.ceil(pool / batch)
    assert 2000 <= slow <= 2000 + math.ceil(pool / batch)


def test_a_few_hundred_images_of_classes_get_thousands_of_steps():
    data = labelled(un.Samples(np.zeros((330, 3, 32, 32), dtype="uint8")))
    chosen = METHODS["lord"]().choices(data)
    assert chosen["epochs"] * math.ceil(330 / chosen["batch"]) >= 2000
    assert chosen["epochs"] >= 100


def test_the_effective_rank_is_the_number_of_equal_directions():
    rng = np.random.default_rng(0)
    q = np.linalg.qr(rng.normal(size=(400, 5)) - 0)[0]
    q = np.linalg.qr(q - q.mean(0))[0]
    plane = un.Samples((q @ np.eye(5, 9) * np.sqrt(400)).astype("float32")[:, :5])
    assert automatic.effective_rank(plane) == pytest.approx(5, rel=0.02)
    one = un.Samples((q[:, :1] * np.ones((1, 7))).astype("float32"))
    assert automatic.effective_rank(one) == pytest.approx(1, abs=1e-3)
    wide = un.Samples(rng.normal(size=(40, 3)).astype("float32") @ rng.normal(size=(3, 2000)).astype("float32"))
    assert automatic.effective_rank(wide) <= 3.001


def test_constant_samples_have_rank_one():
    assert automatic.effective_rank(un.Samples(np.ones((5, 4), dtype="float32"))) == pytest.approx(1)


def test_fit_says_in_three_lines_what_it_chose(data, capsys):
    method = METHODS["vae"](epochs=1, width=8).fit(data, progress=True)
    lines = capsys.readouterr().err.splitlines()[:3]
    assert lines[0].startswith("chosen from 60 target and 70 background samples of 6: networks mlp, batch 16")
    assert lines[1].startswith("because: networks by shape")
    assert lines[2] == "by hand: " + " ".join(f"--set {name}={value}" for name, value in method.by_hand().items())


def test_explain_trains_nothing_and_writes_nothing(tmp_path, capsys, monkeypatch):
    from untwine.cli.app import main

    monkeypatch.chdir(tmp_path)
    settings = ["n_target=60", "n_background=60", "n_features=8"]
    options = [part for one in settings for part in ("--data-set", one)]
    for more in ([], ["--json"]):
        with pytest.raises(SystemExit) as done:
            main(["fit", "mm_cvae", "--data", "toy_contrast", *options, "--set", "batch=32", "--explain", *more])
        assert done.value.code == 0
    text = capsys.readouterr().out
    lines = text.splitlines()
    assert "epochs 2000" in lines[0]
    assert "--set epochs=2000" in lines[2]
    assert json.loads(text[text.index("{") :])["chosen"]["epochs"] == 2000
    assert not list(tmp_path.iterdir())


def test_fit_without_a_folder_is_refused(capsys):
    from untwine.cli.app import main

    with pytest.raises(SystemExit) as done:
        main(["fit", "vae", "--data", "toy_contrast"])
    assert done.value.code != 0
    assert "fit needs the run folder to write" in capsys.readouterr().err


def test_a_run_that_chose_its_length_is_trained_longer_by_hand(data, tmp_path, monkeypatch):
    monkeypatch.setattr(automatic, "choose_epochs", lambda *_: 2)
    whole = METHODS["vae"](width=8, n_latent=3, epochs=4).fit(data)
    METHODS["vae"](width=8, n_latent=3).fit(data, out=tmp_path / "run", keep_checkpoint=True)
    same = METHODS["vae"](width=8, n_latent=3).fit(data, out=tmp_path / "run", resume=True)
    assert same.by_hand()["epochs"] == 2
    longer = METHODS["vae"](width=8, n_latent=3, epochs=4).fit(data, out=tmp_path / "run", resume=True)
    for key, value in whole.nets_.state_dict().items():
        assert torch.equal(value, longer.nets_.state_dict()[key]), key


def test_an_interrupted_fit_that_chose_its_settings_resumes_bit_exactly(data, tmp_path, monkeypatch):
    monkeypatch.setattr(automatic, "choose_epochs", lambda *_: 3)
    whole = METHODS["principled_vae"](width=8).fit(data)

    def stop(method, epochs):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        METHODS["principled_vae"](width=8).fit(data, out=tmp_path / "run", every=0, watch=stop)
    again = METHODS["principled_vae"](width=8).fit(data, out=tmp_path / "run", resume=True)
    for key, value in whole.nets_.state_dict().items():
        assert torch.equal(value, again.nets_.state_dict()[key]), key
