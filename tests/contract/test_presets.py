"""Every preset learns: a fifth of its epochs on a small version of its data lowers its error and moves all codes.

What is made smaller, and nothing else: the images (drawn ones of 16 x 16 pixels, with a class and a group each), their number
(as many as give some hundred steps in those epochs), the widths of networks and blocks, the batch, and the epochs (a fifth, and
at most 150; where only steps count, 4). The features of VGG16 need its weights and are replaced by the absolute error. Presets
that are then equal share one fit.
"""

import dataclasses
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pytest

from untwine import Samples
from untwine.methods import METHODS

SIDE = 16
SMALLER = {"width": 8, "batch": 8, "width_discriminator": 32, "n_common": 8, "n_salient": 4, "n_latent": 8}


class Expected(NamedTuple):
    """What a method's presets must reach.

    Parameters
    ----------
    factor
        The error at the end over that at the beginning, at most.
    travel
        The mean absolute distance that every code must travel: of a table each row, of an encoder each dimension.
    term
        The term of the history that is the error, "player/term": between the epochs; where there is none, the mean absolute
        error of reconstructions, before training and after.
    steps
        The number of steps, to which the number of images is chosen.
    epochs
        The largest number of epochs.
    changes
        Fields that are changed for speed alone.
    """

    factor: float = 0.5
    travel: float = 0.02
    term: str = ""
    steps: int = 160
    epochs: int = 4
    changes: Mapping[str, Any] = {}


GAN = {"width": 4}
CLASS_CONTENT = {"width": 2, "loss": "l1", "n_class": 32, "n_content": 16}
EXPECTED = {
    "double_infogan": Expected(0.85, 0.001, "discriminator/image", 200, 100, GAN),
    "infogan": Expected(0.6, 0.05, "discriminator/info", 600, 5, GAN | {"n_latent": 5}),
    "lord": Expected(
        0.6,
        0.008,
        "generator/classes/contents/reconstruction",
        320,
        40,
        {"width": 2, "loss": "l1", "epochs_encoders": 2},  # the second stage has no part in what is measured
    ),
    "stargan": Expected(0.8, 0.003, "generator/reconstruction", 294, 150, GAN),
    "symmetric_rb_vae": Expected(steps=60),
    "symmetric_vae": Expected(steps=60, changes={"n_latent": 32}),
    **dict.fromkeys(("cycle_vae", "drnet", "mixing_ae", "mlvae"), Expected(0.7, 0.001, steps=160, changes=CLASS_CONTENT)),
}
OF_NETWORKS = {
    "conv64": Expected(0.75, 0.02, steps=550),  # with a tenth of the others' learning rate
    "conv_norm": Expected(0.75, 0.02, steps=160),
    "karras": Expected(steps=180),
}
COLLAPSED = 0.01  # of beta_vae on sprites: beta 60 leaves some dimensions at the prior


def expected(name, preset):
    limits = EXPECTED.get(name) or OF_NETWORKS.get(preset.fields["networks"], Expected(steps=130))
    return limits._replace(travel=COLLAPSED) if name == "beta_vae" else limits


def every_preset():
    """Yield (method, source, data set, preset) of all presets."""
    for name, kind in METHODS.items():
        for source, known in (("paper", kind.papers), ("authors", kind.public_code)):
            for data, preset in known.items():
                yield name, source, data, preset


def shrunk(name, preset):
    """Return the method with a preset made smaller."""
    kind, limits = METHODS[name], expected(name, preset)
    known = {field.name for field in dataclasses.fields(kind)}
    fields = kind.fixed(**preset.fields).get_params()
    smaller = {key: value for key, value in (SMALLER | dict(limits.changes)).items() if key in known}
    return kind(**fields | {"epochs": min(limits.epochs, max(1, fields["epochs"] // 5))} | smaller)


def distinct():
    """Return (method, presets that are equal when made smaller) of all presets."""
    cases = {}
    for name, source, data, preset in every_preset():
        key = name, json.dumps(shrunk(name, preset).get_params())
        cases.setdefault(key, []).append((source, data, preset))
    return [(name, tuple(many)) for (name, _), many in cases.items()]


PRESETS = distinct()
IDS = [f"{name}-{'+'.join(dict.fromkeys(data for _, data, _ in many))}-{many[0][0]}" for name, many in PRESETS]


def drawn(colours, target, background, seed=0):
    """Images with a slope of grey in both groups and a bright square, somewhere, in targets; the class is its size."""
    rng, n = np.random.default_rng(seed), target + background
    slope = np.linspace(0, 1, SIDE)[None, None, :, None] * rng.uniform(0.1, 0.6, (n, 1, 1, 1))
    x = np.broadcast_to(slope * rng.uniform(0.5, 1, (n, colours, 1, 1)), (n, colours, SIDE, SIDE)).copy()
    labels = np.arange(n) % 4
    for i in range(target):
        size, (top, left) = 3 + labels[i], rng.integers(0, SIDE - 6, 2)
        x[i, :, top : top + size, left : left + size] = 1.0
    samples = np.rint(255 * x).astype(np.uint8)
    return Samples(samples, groups=(np.arange(n) < target).astype(int), labels=labels)


def codes_of(method, samples):
    """Return the codes whose travel counts, with the axis along which each is one code."""
    tables = {name: (net.weight.detach().numpy().copy(), 0) for name, net in method.nets_.items() if name.endswith("_codes")}
    if tables:
        return tables
    blocks = ("class",) if method.name == "stargan" else method.blocks  # its content is the image itself
    return {name: (method.encode(samples.x)[name], 1) for name in blocks}


def travel(before, after, axis):
    """Return the mean distance of the code that travelled least."""
    return np.abs(after - before).mean(1 - axis).min()


def measure(name, preset):
    """Return the error before and after, or in every epoch, and how far the code of each block travelled that did so least."""
    method = shrunk(name, preset)
    n = method.batch * max(1, expected(name, preset).steps // method.epochs)
    samples = drawn(preset.data.shape[0], n, n if METHODS[name].needs == "groups" else 0)
    method._prepare(samples, {})
    method.nets_.eval()
    start = codes_of(method, samples)
    errors = [np.abs(method.reconstruct(samples.x) - samples.x / 255).mean()]
    method.fit(samples)
    errors.append(np.abs(method.reconstruct(samples.x) - samples.x / 255).mean())
    if term := expected(name, preset).term:
        errors = [row.value for row in method.history_ if f"{row.player}/{row.term}" == term]
    end = codes_of(method, samples)
    return errors, {block: travel(start[block][0], end[block][0], axis) for block, (_, axis) in start.items()}


@pytest.mark.parametrize(("name", "many"), PRESETS, ids=IDS)
def test_a_fifth_of_a_presets_epochs_lowers_its_error_and_moves_all_codes(name, many):
    errors, travelled = measure(name, many[0][2])
    limits = expected(name, many[0][2])
    assert errors[-1] < limits.factor * errors[0]
    assert all(distance > limits.travel for distance in travelled.values()), travelled


def test_no_preset_is_left_out():
    tested = {(name, source, data) for name, many in PRESETS for source, data, _ in many}
    of_papers = {(name, "paper", data) for name, method in METHODS.items() for data in method.papers}
    assert tested == of_papers | {(name, "authors", data) for name, method in METHODS.items() for data in method.public_code}
