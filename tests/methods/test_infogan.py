"""Double InfoGAN and InfoGAN: each term by hand, who moves by what, and what a weight of 0 leaves out."""

from functools import partial

import numpy as np
import pytest
import torch
from small import images, small, vectors
from torch import nn
from torch.nn import functional

import untwine as un
from untwine.methods import METHODS
from untwine.methods.shared.gan import to_tanh_range, to_unit_range
from untwine.training.batches import TrainingData

ROWS = 16
NAMES = ("double_infogan", "infogan")


class Table(nn.Module):
    """Returns fixed outputs for every sample, however often it is called; its one number makes it a network."""

    def __init__(self, **outputs):
        super().__init__()
        self.said, self.one, self.asked = outputs, nn.Parameter(torch.ones((), dtype=torch.float64)), []

    def forward(self, *rows):
        self.asked.append(rows)
        result = {name: self.one * value for name, value in self.said.items()}
        return result.get("out", result)


def started(name="double_infogan", data=None, **changes):
    """The method as it begins, in double precision; its only stage, and a batch of it."""
    data = data or vectors(target=ROWS, background=ROWS)
    method = small(name, batch=ROWS, precision="float64", **changes)
    method._prepare(data, {})
    (stage,) = method.stages()
    rows = TrainingData.of(data, method._standard(torch.from_numpy(data.x)), torch.float64, torch.device("cpu"))
    return method, stage, lambda number=0: rows.batch(rows.order(stage, 0, number)[0], (0, 0, number), stage.batches)


def random(*shape, seed=0):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def tabled(method, rows=2 * ROWS, **changes):
    """Put tables in place of both networks."""
    outputs = {"real": random(rows), "target": random(rows, seed=1), "z": random(rows, 4, seed=2), "s": random(rows, 3, seed=3)}
    method.nets_["discriminator"], method.nets_["generator"] = Table(**outputs | changes), Table(out=random(rows, 6, seed=4))
    return outputs


def codes_drawn(batch):
    """The codes that a step draws, in its order: the noise of the discriminator is not drawn by a table."""
    z, s = batch.noise(4), batch.noise(3)
    s[ROWS:] = 0
    return z, s


def weighed(rows, target=1.0, background=0.5):
    return target * rows[:ROWS].mean() + background * rows[ROWS:].mean()


def test_every_term_by_hand():
    weights = {"w_adv": 0.3, "w_class": 0.7, "w_info_z": 2.0, "w_info_s": 3.0, "w_info_real": 0.9, "w_image": 1.1}
    method, _, batch = started(**weights, w_target=1.3, w_background=0.4)
    both = partial(weighed, target=1.3, background=0.4)
    outputs, x = tabled(method), batch().x
    moves = dict(method.step(batch(), 0))
    z, s = codes_drawn(batch())
    right = torch.cat([functional.softplus(-outputs["target"][:ROWS]), functional.softplus(outputs["target"][ROWS:])])
    shared = {
        "class": 0.7 * both(right),
        "info_common": 2.0 * both((outputs["z"] - z).abs()),
        "info_salient": 3.0 * both((outputs["s"] - s).abs()),
        "image": 1.1 * both((random(2 * ROWS, 6, seed=4) - x).abs()),
    }
    yes, no = functional.softplus(-outputs["real"]), functional.softplus(outputs["real"])
    expected = {
        "generator": {**shared, "adversarial": 0.3 * both(yes)},
        "discriminator": {
            **shared,
            "adversarial": 0.3 * both(yes + no),
            "salient_penalty": 0.9 * outputs["s"][ROWS:].abs().mean(),
        },
    }
    assert set(moves) == set(expected)
    for player, terms in expected.items():
        assert set(moves[player]) == set(terms)
        for name, value in terms.items():
            torch.testing.assert_close(moves[player][name], value, msg=f"{player} {name}")


def test_samples_are_generated_again_from_their_codes_and_backgrounds_without_s():
    method, _, batch = started()
    outputs = tabled(method)
    list(method.step(batch(), 0))
    drawn, in_g, in_d = method.nets_["generator"].asked
    z, s = codes_drawn(batch())
    torch.testing.assert_close(drawn, (z, s))
    for again in (in_g, in_d):
        torch.testing.assert_close(again[0], outputs["z"])
        torch.testing.assert_close(again[1], torch.cat([outputs["s"][:ROWS], torch.zeros(ROWS, 3, dtype=torch.float64)]))
    assert not in_g[0].requires_grad  # the generator's move asks nothing of Q; the discriminator's does
    assert in_d[0].requires_grad
    real, features, again = (rows[0] for rows in method.nets_["discriminator"].asked)
    assert torch.equal(real, batch().x)
    assert features.requires_grad
    assert not again.requires_grad
    assert torch.equal(features.detach(), again)


def test_gaussian_codes_have_half_the_squared_error():
    method, _, batch = started(posterior="gaussian")
    outputs = tabled(method)
    terms = dict(method.step(batch(), 0))["discriminator"]
    z, _ = codes_drawn(batch())
    torch.testing.assert_close(terms["info_common"], weighed(0.5 * (outputs["z"] - z) ** 2))
    torch.testing.assert_close(terms["salient_penalty"], 0.5 * (outputs["s"][ROWS:] ** 2).mean())


def test_uniform_priors_have_their_range_in_training_and_in_sampling():
    method, _, batch = started(prior_common="uniform", prior_salient="uniform")
    fakes = method._fakes(batch())
    draws = method.prior(500, torch.Generator().manual_seed(0))
    for z, s in ((fakes.z, fakes.s[:ROWS]), (draws["common"], draws["salient"])):
        assert z.min() < -0.8
        assert z.abs().max() <= 1
        assert 0 < s.min() < 0.2
        assert s.max() <= 1
    assert not fakes.s[ROWS:].any()


def test_the_regulariser_sees_two_targets_that_agree_in_one_dimension():
    method, stage, batch = started(w_cr=0.6)
    tabled(method, 3 * ROWS)
    method.nets_["generator"].said["out"] = random(3 * ROWS, 6, seed=4)
    fakes = method._fakes(batch())
    ((z, s),) = method.nets_["generator"].asked
    assert torch.equal(z[:ROWS], z[2 * ROWS :])  # the same common codes
    equal = s[:ROWS] == s[2 * ROWS :]
    assert equal.sum(1).tolist() == [1] * ROWS
    assert torch.equal(equal.int().argmax(1), fakes.k)
    assert len(set(fakes.k.tolist())) == 3
    outputs = random(ROWS, 3, seed=7)
    method.nets_["cr"] = Table(k=outputs)
    result = method._cr(batch(), fakes.x, fakes.other, fakes.k)
    torch.testing.assert_close(result, -torch.log_softmax(outputs, 1)[torch.arange(ROWS), fakes.k].mean())
    assert torch.equal(method.nets_["cr"].asked[0][0], torch.cat([fakes.x[:ROWS], fakes.other], 1))
    assert set(stage.players) == {"generator", "discriminator", "cr"}


@pytest.mark.parametrize("name", NAMES)
def test_the_regularisers_term_goes_to_generator_and_regulariser_alike(name):
    method, _, batch = started(name, w_cr=0.6)
    rows = len(batch().x)
    pairs = ROWS if name == "double_infogan" else rows
    outputs = {"real": random(rows), "target": random(rows), "z": random(rows, 4), "s": random(rows, 3)}
    width = method.n_latent if name == "infogan" else method.n_salient
    method.nets_["discriminator"], method.nets_["generator"] = Table(**outputs), Table(out=random(rows + pairs, 6, seed=4))
    method.nets_["cr"] = H = Table(k=random(pairs, width, seed=7))
    method.w_image = 0.0  # which would ask the table for fewer samples
    terms = {player: result["cr"] for player, result in method.step(batch(), 0) if "cr" in result}
    ((z, s),) = method.nets_["generator"].asked
    s = s if name == "double_infogan" else z
    k = (s[:pairs] == s[rows:]).int().argmax(1)
    assert (s[:pairs] == s[rows:]).sum(1).tolist() == [1] * pairs
    expected = -0.6 * torch.log_softmax(random(pairs, width, seed=7), 1)[torch.arange(pairs), k].mean()
    assert set(terms) == {"generator", "cr"}
    for player, value in terms.items():
        torch.testing.assert_close(value, expected, msg=player)
    (in_g,), (in_h,) = (rows[:1] for rows in H.asked)
    assert in_g.requires_grad  # H's answer moves the generator; in its own move H alone
    assert not in_h.requires_grad
    assert torch.equal(in_g.detach(), in_h)


def test_infogan_by_hand():
    method, _, batch = started("infogan", w_adv=0.3, w_info=0.8, nuisance=2)
    x = batch().x
    outputs = {"real": random(len(x)), "z": random(len(x), 4, seed=2)}
    method.nets_["discriminator"], method.nets_["generator"] = Table(**outputs), Table(out=random(len(x), 6, seed=4))
    moves = dict(method.step(batch(), 0))
    again = batch()
    nuisance, z = again.noise(2), again.noise(4)
    (generated,) = method.nets_["generator"].asked  # once, for both players
    torch.testing.assert_close(generated, (z, nuisance))
    judged, real, again = (rows[0] for rows in method.nets_["discriminator"].asked)
    assert torch.equal(real, x)
    assert judged.requires_grad
    assert not again.requires_grad
    assert torch.equal(judged.detach(), again)
    info = 0.8 * (outputs["z"] - z).abs().mean()
    yes, no = functional.softplus(-outputs["real"]).mean(), functional.softplus(outputs["real"]).mean()
    torch.testing.assert_close(dict(moves["generator"]), {"adversarial": 0.3 * yes, "info": info})
    torch.testing.assert_close(dict(moves["discriminator"]), {"adversarial": 0.3 * (yes + no), "info": info})


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("networks", ["mlp", "dcgan", "dcgan_attention"])
def test_no_player_moves_another_and_every_head_gets_its_gradient(name, networks):
    data = vectors(target=ROWS, background=ROWS) if networks == "mlp" else images(target=ROWS, background=ROWS)
    method, stage, batch = started(name, data, networks=networks, w_cr=1.0)
    names = {id(p): key for key, p in method.nets_.named_parameters()}
    owned = {player: {names[id(p)] for p in one.parameters()} for player, one in stage.players.items()}
    assert set.union(*owned.values()) == set(names.values())
    assert sum(map(len, owned.values())) == len(names)
    heads = [
        key for key in owned["discriminator"] if key.startswith("discriminator.heads") and key.endswith(("weight", "original0"))
    ]
    weights = dict(method.nets_.named_parameters())
    before = {key: p.detach().clone() for key, p in weights.items()}
    for player, terms in method.step(batch(), 0):
        assert all(torch.equal(p, before[key]) for key, p in weights.items())  # terms are computed, and nobody has moved
        mine = stage.players[player].parameters()
        grads = torch.autograd.grad(sum(terms.values()), mine, allow_unused=True)
        result = {names[id(p)]: grad for p, grad in zip(mine, grads, strict=True)}
        assert all(grad is not None for grad in result.values())
        if player == "discriminator":
            assert heads
            assert all(result[key].abs().max() > 0 for key in heads)
        with torch.no_grad():
            for p, grad in zip(mine, grads, strict=True):
                p.sub_(0.01 * grad)
        before = {key: p.detach().clone() for key, p in weights.items()}


@pytest.mark.parametrize("name", NAMES)
def test_noise_goes_before_every_layer_of_discriminator_and_regulariser(name):
    method, _, batch = started(name, images(target=ROWS, background=ROWS), w_cr=1.0, noise=0.3)
    given = {"discriminator": [], "cr": []}
    for key, result in given.items():
        parts = [method.nets_[key].trunk, *method.nets_[key].heads.values()]
        assert {part.noise_std for part in parts} == {0.3}
        for part in parts:
            part.register_forward_pre_hook(lambda module, arguments, result=result: result.append(arguments[1]))
    list(method.step(batch(), 0))
    heads = len(method.nets_["discriminator"].heads)
    assert len(given["discriminator"]) == 3 * (1 + heads)  # real samples once, made ones in two moves
    assert len(given["cr"]) == 2 * (1 + 1)
    assert all(callable(draw) for result in given.values() for draw in result)


def test_after_its_move_nothing_leads_back_to_the_generator():
    method, stage, batch = started(data=images(target=ROWS, background=ROWS), w_image=0.0)
    terms = dict(method.step(batch(), 0))["discriminator"]
    grads = torch.autograd.grad(sum(terms.values()), stage.players["generator"].parameters(), allow_unused=True)
    assert all(grad is None for grad in grads)


ABLATIONS = {
    "class": {"w_class": 0.0},
    "class and image": {"w_class": 0.0, "w_image": 0.0},
    "info": {"w_info_z": 0.0, "w_info_s": 0.0, "w_info_real": 0.0},
    "info and image": {"w_info_z": 0.0, "w_info_s": 0.0, "w_info_real": 0.0, "w_image": 0.0},
    "all": {"w_class": 0.0, "w_info_z": 0.0, "w_info_s": 0.0, "w_info_real": 0.0, "w_image": 0.0},
}


@pytest.mark.parametrize("without", ABLATIONS)
def test_what_weighs_0_is_neither_built_nor_moved_nor_in_the_history(without):
    data = vectors(target=ROWS, background=ROWS)
    method = small("double_infogan", **ABLATIONS[without]).fit(data)
    gone = {
        "w_class": "class",
        "w_image": "image",
        "w_info_z": "info_common",
        "w_info_s": "info_salient",
        "w_info_real": "salient_penalty",
    }
    terms = {row.term for row in method.history_}
    assert terms == {"adversarial", *gone.values()} - {gone[field] for field in ABLATIONS[without]}
    assert ("target" in method.nets_["discriminator"].heads) == ("w_class" not in ABLATIONS[without])
    assert np.isfinite(method.transform(data.x)).all()


@pytest.mark.parametrize(
    ("name", "weights", "asked"),
    [
        ("double_infogan", {}, {"z": 3, "s": 3}),
        ("double_infogan", {"w_info_z": 0.0}, {"z": 1, "s": 3}),
        ("double_infogan", {"w_info_s": 0.0, "w_image": 0.0}, {"z": 2, "s": 1}),
        ("double_infogan", {"w_info_s": 0.0, "w_image": 0.0, "w_info_real": 0.0}, {"z": 2, "s": 0}),
        ("infogan", {"w_info": 0.0}, {"z": 0}),
    ],
)
def test_codes_that_no_term_needs_are_not_even_read(name, weights, asked):
    method, _, batch = started(name, **weights)
    heads = method.nets_["discriminator"].heads
    result = dict.fromkeys(asked, 0)

    def count(head, given, out, block):
        result[block] += 1

    for block in asked:
        heads[block].register_forward_hook(partial(count, block=block))
    list(method.step(batch(), 0))  # real samples once, made ones in both players' moves
    assert result == asked


def test_players_move_as_often_as_the_loops_say():
    method, _, batch = started(loop_g=3, loop_d=2, loop_cr=2, w_cr=1.0)
    players = [player for player, _ in method.step(batch(), 0)]
    assert players == ["generator"] * 3 + ["discriminator"] * 2 + ["cr"] * 2


def test_running_statistics_follow_real_samples_only():
    method, _, batch = started(data=images(target=ROWS, background=ROWS), loop_g=2)
    followed = {}
    for key, part in method.nets_["discriminator"].named_modules():
        if hasattr(part, "running_mean"):
            followed[key] = part
    assert followed
    for part in followed.values():
        part.momentum = 1.0  # so that they are those of the last pass that they follow
    moves = method.step(batch(), 0)
    next(moves)
    first = [part.running_mean.clone() for part in followed.values()]
    assert all(mean.abs().max() > 0 for mean in first)
    list(moves)
    assert all(torch.equal(part.running_mean, mean) for part, mean in zip(followed.values(), first, strict=True))


@pytest.mark.parametrize("name", NAMES)
def test_running_statistics_of_the_generator_follow_its_own_moves_only(name):
    method, _, batch = started(name, images(target=ROWS, background=ROWS), loop_d=2, w_cr=1.0)
    statistics = dict(method.nets_["generator"].named_buffers())
    assert statistics
    features = [{key: value.clone() for key, value in statistics.items()}]
    players = []
    for player, _ in method.step(batch(), 0):
        players.append(player)
        features.append({key: value.clone() for key, value in statistics.items()})
    assert players == ["generator", "discriminator", "discriminator", "cr"]
    assert all(not torch.equal(features[0][key], features[1][key]) for key in statistics)
    assert all(torch.equal(features[1][key], later[key]) for later in features[2:] for key in statistics)


@pytest.mark.parametrize("name", NAMES)
def test_running_statistics_of_the_regulariser_follow_its_own_move_only(name):
    method, _, batch = started(name, images(target=ROWS, background=ROWS), w_cr=1.0)
    statistics = dict(method.nets_["cr"].named_buffers())
    start = {key: value.clone() for key, value in statistics.items()}
    assert statistics
    for player, _ in method.step(batch(), 0):
        assert all(torch.equal(value, start[key]) == (player != "cr") for key, value in statistics.items())


def test_codes_come_without_noise_and_whatever_else_is_in_the_batch():
    data = images(target=ROWS, background=ROWS)
    method = small("double_infogan").fit(data)
    alone = np.concatenate([method.transform(data.x[i : i + 1]) for i in range(4)])
    np.testing.assert_allclose(method.transform(data.x)[:4], alone, atol=1e-6)
    np.testing.assert_array_equal(method.transform(data.x), method.transform(data.x))


def test_images_go_to_the_networks_from_minus_one_to_one_and_come_back():
    x = torch.rand(2, 1, 3, 3)
    torch.testing.assert_close(to_unit_range(to_tanh_range(x)), x)
    assert to_tanh_range(torch.tensor([[[[0.0, 1.0]]]])).tolist() == [[[[-1.0, 1.0]]]]
    assert torch.equal(to_tanh_range(x[0, 0]), x[0, 0])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"posterior": "cauchy"}, "posterior must be 'laplace' or 'gaussian'; got 'cauchy'"),
        ({"loop_d": 0}, "loop_d must be an integer >= 1; got 0"),
        ({"loop_g": -1}, "loop_g must be an integer >= 1; got -1"),
        ({"w_adv": 0.0}, "w_adv must be a number > 0; got 0.0"),
        (
            {"w_cr": 1.0, "n_salient": 1, "n_latent": 1},
            "w_cr must be 0 where n_(salient|latent) is 1, because one dimension .*; got 1.0; set w_cr=0 or raise n_",
        ),
    ],
)
def test_options_that_mean_nothing_raise_an_error(name, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        small(name, **options).fit(vectors())


def test_unknown_priors_groups_without_weight_and_own_networks_raise_an_error():
    for group in ("w_target", "w_background"):
        with pytest.raises(ValueError, match=f"{group} must be a number > 0; got 0.0"):
            METHODS["double_infogan"](**{group: 0.0}).fit(vectors())
    with pytest.raises(ValueError, match="prior_salient must be 'normal' or 'uniform'; got 'student'"):
        METHODS["double_infogan"](prior_salient="student").fit(vectors())
    with pytest.raises(ValueError, match="InfoGAN takes no networks of your own; got encoder; choose some by name"):
        METHODS["infogan"]().fit(vectors(), networks={"encoder": nn.Linear(6, 4)})


@pytest.mark.parametrize("data", METHODS["double_infogan"].papers)
def test_the_papers_settings_are_those_of_table_6(data):
    method = METHODS["double_infogan"].paper(data)
    assert (method.w_background, method.w_target, method.w_adv, method.w_class, method.w_image) == (0.5, 1.0, 0.5, 0.5, 1.0)
    assert (method.w_info_z, method.w_info_s, method.w_info_real, method.width) == (1.0, 1.0, 1.0, 64)
    assert (method.lr, method.loop_g) == {"dsprites_mnist": (5e-5, 2), "brats": (1e-4, 1)}.get(data, (2e-4, 1))
    assert (method.loop_d, method.loop_cr, method.noise, method.posterior) == (1, 1, 0.2, "laplace")
    assert (method.batch, method.networks) == ((32, "dcgan_attention") if data == "brats" else (128, "dcgan"))
    assert method.w_cr == (1.0 if data == "dsprites_mnist" else 0.0)
    method.check()


def toy(seed):
    return un.load("toy_contrast", n_target=500, n_background=500, seed=seed).train


def grass(seed):
    return un.load("grassy_digits", n_target=400, n_background=400, n_test=10, size=16, seed=seed).train


def hostile(seed):
    """Columns of sizes from 1e-4 to 1e4 far from 0, and four times as many targets."""
    data = un.load("toy_contrast", n_target=800, n_background=200, seed=seed).train
    return un.Samples(data.x * np.logspace(-4, 4, data.x.shape[1]) + 100.0, groups=data.groups)


def bars(seed):
    """Stripes that both groups have, at another place in each image, and in the target a square at another one."""
    x, groups = np.zeros((600, 1, 16, 16), np.float32), np.repeat([1, 0], 300)
    places = np.random.default_rng(seed).integers(0, 13, (600, 3))
    for row, group, (stripe, across, down) in zip(x, groups, places, strict=True):
        row[0, :, stripe : stripe + 2] = 0.6
        row[0, down : down + 4 * group, across : across + 4] = 1.0
    return un.Samples(x, groups=groups)


@pytest.mark.soak
@pytest.mark.parametrize(("w_cr", "runs"), [(0.0, 10), (1.0, 3)], ids=["without regulariser", "with it"])
@pytest.mark.parametrize("kind", [toy, grass, hostile, bars], ids=lambda kind: kind.__name__)
def test_none_of_fifty_short_runs_diverges(kind, w_cr, runs):
    for seed in range(runs):
        data = kind(seed)
        # What is not finite would be a warning, and a warning is an error.
        options = {"epochs": 30, "batch": 32, "width": 64 if data.x.ndim == 2 else 8, "seed": seed, "w_cr": w_cr}
        method = METHODS["double_infogan"](**options).fit(data)
        image = [row.value for row in method.history_ if row.term == "image" and row.player == "generator"]
        assert image[-1] < image[0], (seed, image)
        # What has blown up may come down again before the end: no epoch may have a term far above the usual, about 1.
        highest = max(method.history_, key=lambda row: row.value)
        assert highest.value < 20, (seed, highest)
        # So few steps may leave the salient block unused, but no code may diverge from its prior.
        largest = {block: np.abs(codes).max() for block, codes in method.encode(data.target).items()}
        assert max(largest.values()) < 20, (seed, largest)
