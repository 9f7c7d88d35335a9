"""Presets carry their paper's data: options for `load`, and a warning where a fit has other data; every table has presets."""

import inspect
import warnings

import numpy as np
import pytest

import untwine as un
from untwine import Samples
from untwine.data import data_sets, load
from untwine.method.presets import DataSetting, Preset
from untwine.methods import METHODS

CLASS_CONTENT = ("lord", "mlvae", "drnet", "cycle_vae", "mixing_ae")
SPRITES = ("dsprites", "dsprites_redrawn")  # the second where the first one's file is missing
# (paper, table): the data sets that it has, and the methods that it has on them
TABLES = {
    ("Towards Principled Objectives", "1"): (
        ("grassy_mnist", "grassy_mnist_nonlinear", "celeba_accessories", "affectnet"),
        ("contrastive_vae", "symmetric_rb_vae", "principled_vae"),
    ),
    ("Towards Principled Objectives", "2"): (
        ("affectnet",),
        ("dip_vae", "symmetric_vae", "beta_tcvae", "rb_vae", "symmetric_rb_vae", "principled_vae"),
    ),
    ("Reference-Based Variational Autoencoders", "1"): (
        ("affectnet", "digit_style"),
        ("vae", "dip_vae", "beta_vae", "symmetric_vae", "rb_vae", "symmetric_rb_vae"),
    ),
    ("DIP-VAE", "1"): ((*SPRITES, "celeba"), ("vae", "beta_vae", "dip_vae")),
    ("DIP-VAE", "2"): (("celeba",), ("vae", "beta_vae", "dip_vae")),
    ("DIP-VAE", "figure 6"): (("chairs3d",), ("dip_vae",)),
    ("Double InfoGAN", "1 and 7"): (("celeba_accessories",), ("contrastive_vae", "mm_cvae", "double_infogan")),
    ("Double InfoGAN", "2, 3 and 8"): (("cifar_mnist",), ("mm_cvae", "double_infogan")),
    ("Double InfoGAN", "9"): (("dsprites_mnist",), ("double_infogan",)),
    ("Double InfoGAN", "section 4, text"): (SPRITES, ("infogan",)),
    ("Double InfoGAN", "figures 6 and 7"): (("brats",), ("double_infogan",)),
    ("LORD", "1"): (("cars3d", "smallnorb", "smallnorb_poses", "celeba_identity"), CLASS_CONTENT),
    ("LORD", "2"): (("cars3d", "smallnorb", "celeba_identity"), CLASS_CONTENT),
    ("LORD", "3"): (("cars3d",), ("lord",)),
    ("LORD", "4"): (("rafd",), ("lord", "stargan")),
}
PAIRS = sorted({(name, data) for sets, names in TABLES.values() for data in sets for name in names})


PRESETS = [
    (name, source, data)
    for name, kind in METHODS.items()
    for source, known in (("paper", kind.papers), ("authors", kind.public_code))
    for data in known
]


@pytest.mark.parametrize(("name", "data"), PAIRS)
def test_every_method_has_a_preset_for_each_data_set_that_a_papers_table_has_it_on(name, data):
    assert data in METHODS[name].papers


@pytest.mark.parametrize(("name", "source", "data"), PRESETS)
def test_the_data_options_are_options_of_the_data_set_and_agree_with_the_shape(name, source, data):
    preset = METHODS[name].preset(source, data)
    known = inspect.signature(data_sets()[data]).parameters
    assert set(preset.data.options) <= set(known)
    side = {**{option: p.default for option, p in known.items()}, **preset.data.options}.get("size", 28)
    assert preset.data.shape == (preset.data.shape[0], side, side)
    options = METHODS[name].paper_data(data) if source == "paper" else METHODS[name].authors_data(data)
    assert options == dict(preset.data.options)
    options["size"] = 8  # a copy
    assert METHODS[name].preset(source, data).data.options.get("size") != 8


def test_the_papers_data_are_those_of_their_text():
    assert un.DoubleInfoGAN.paper_data("cifar_mnist")["size"] == 64
    faces = un.DoubleInfoGAN.paper("celeba_accessories")._chosen.preset.data
    assert (faces.options["n_per_class"], faces.options["n_background"], faces.options["n_test"]) == (5000, 10_000, 5000)
    assert faces.n_train == 20_000
    assert un.LORD.paper_data("cars3d") == {"size": 64, "held_out": "models", "n_test": 20}
    assert un.LORD.paper_data("smallnorb") == {"size": 64, "held_out": "instances", "content": "azimuth"}
    assert un.LORD.paper_data("rafd")["size"] == un.StarGAN.paper_data("rafd")["size"] == 128
    assert un.PrincipledVAE.paper_data("grassy_mnist")["n_per_class"] == 4986
    assert un.VAE.paper_data("digit_style")["n_target"] == 60_000


def test_the_authors_presets_have_what_their_code_changes():
    kind = un.DoubleInfoGAN
    for data, widths, batch, epochs in (
        ("celeba_accessories", (95, 5), 64, 500),
        ("cifar_mnist", (64, 64), 64, 500),
        ("dsprites_mnist", (95, 15), 64, 700),
        ("brats", (95, 15), 16, 2000),
    ):
        method = kind.authors(data)
        assert (method.n_common, method.n_salient, method.batch, method.epochs) == (*widths, batch, epochs)
        unchanged = ("lr", "loop_g", "w_cr", "width", "noise")
        assert [getattr(method, key) for key in unchanged] == [getattr(kind.paper(data), key) for key in unchanged]
    assert kind.authors("brats").networks == "dcgan_attention_linear"
    assert kind.authors_data("cifar_mnist") == {**kind.paper_data("cifar_mnist"), "mix": "authors"}
    assert kind.authors_data("dsprites_mnist")["mix"] == "authors"
    assert kind.authors_data("dsprites_mnist")["n_target"] == 73_700
    lord = un.LORD.authors("cars3d")
    assert (lord.lr, lord.lr_codes, lord.lr_class, lord.decay, lord.alpha) == (3e-4, 3e-3, 3e-3, 1e-4, 10.0)
    assert (lord.code_updates, lord.epochs, lord.epochs_encoders, lord.loss) == ("dense", 200, 200, "vgg16")
    assert un.LORD.authors_data("cars3d") == un.LORD.paper_data("cars3d")


def test_changes_win_and_an_unknown_preset_names_the_known_ones():
    assert un.DoubleInfoGAN.authors("brats", epochs=3).epochs == 3
    with pytest.raises(ValueError, match=r"^DoubleInfoGAN\.authors: data must be 'celeba_accessories', .*; got 'brast'"):
        un.DoubleInfoGAN.authors("brast")
    with pytest.raises(ValueError, match=r"^VAE has no setting of its authors' code .*; got 'dsprites'; use paper\.$"):
        un.VAE.authors_data("dsprites")
    with pytest.raises(ValueError, match=r"^PCA has no setting of its paper for any data set; got 'x'; use its defaults\.$"):
        un.PCA.paper_data("x")


@pytest.fixture
def preset(monkeypatch):
    """A preset of VAE for toy_contrast, whose vectors need no files."""
    options = {"n_target": 40, "n_background": 24, "n_features": 6, "n_common": 1, "n_salient": 1}
    n_train = len(load("toy_contrast", **options).train)
    made = Preset({"epochs": 1, "width": 4, "n_latent": 2, "batch": 16}, DataSetting(options, (6,), n_train))
    monkeypatch.setattr(un.VAE, "papers", {"toy_contrast": made})
    return made


def test_a_fit_on_other_data_than_the_presets_warns_once_of_what_differs(preset):
    data = load("toy_contrast", **un.VAE.paper_data("toy_contrast")).train
    un.VAE.paper("toy_contrast").fit(data)  # warnings are errors
    with pytest.warns(UserWarning, match=r"^VAE\.paper\('toy_contrast'\) is fitted to other data") as caught:
        un.VAE.paper("toy_contrast").fit(Samples(np.zeros((10, 4)) + np.arange(10)[:, None]))
    (warning,) = caught
    text = str(warning.message)
    assert "samples of shape (4,) (the preset's: (6,)), 10 samples (the preset's: " in text
    assert "load('toy_contrast', **VAE.paper_data('toy_contrast')) gives its data, where the files are complete." in text
    assert warning.filename == __file__  # points at the call of fit
    with pytest.warns(UserWarning, match=f"other data than the preset's: 10 samples .the preset's: {len(data)}.; its"):
        un.VAE.paper("toy_contrast").fit(data[np.arange(10)])


def test_a_method_that_is_configured_by_hand_or_cloned_has_no_preset(preset):
    method = un.VAE(**preset.fields)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        method.fit(Samples(np.arange(40.0).reshape(10, 4)))
        other = un.VAE(**un.VAE.paper("toy_contrast").get_params()).fit(Samples(np.arange(40.0).reshape(10, 4)))
    assert method.shape_ == other.shape_ == (4,)
