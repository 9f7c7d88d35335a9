"""StarGAN: its penalty and its terms by hand, who moves when, and that both sides of the adversarial training are played."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from torch.nn import functional

import untwine as un
from untwine.losses.adversarial import gradient_penalty
from untwine.networks.translator import build_critic, build_translator
from untwine.samples import Samples
from untwine.training.batches import Batch, TrainingData

TINY = {"epochs": 1, "batch": 12, "width": 8, "precision": "float64"}
SEED = (1, 2, 3)


def rows(classes=3, each=8, columns=5):
    rng = np.random.default_rng(0)
    x = 2 * rng.normal(size=(classes, 1, columns)) + 0.5 * rng.normal(size=(classes, each, columns))
    return Samples(x.reshape(-1, columns), labels=np.repeat(np.arange(classes), each))


def started(**changes):
    data = rows()
    method = un.StarGAN.fixed(**TINY | changes)
    method._prepare(data, {})
    (stage,) = method.stages()
    x = method._standard(torch.from_numpy(data.x))
    return method, stage, TrainingData.of(data, x, torch.float64, torch.device("cpu"), labelled=True)


def batch(stage, given, number=0):
    return given.batch(given.order(stage, 0, number)[0], (0, 0, number))


def test_the_penalty_of_a_linear_critic_is_known():
    """The slope of w x is w wherever it is taken, so the penalty is (|w| - 1)^2."""
    w = torch.tensor([[3.0], [4.0]], dtype=torch.float64)
    x, generated = torch.randn(6, 2, dtype=torch.float64), torch.randn(6, 2, dtype=torch.float64)
    result = gradient_penalty(lambda z: (z @ w).squeeze(1), x, generated, torch.rand(6, dtype=torch.float64))
    torch.testing.assert_close(result, torch.tensor(16.0, dtype=torch.float64))


def test_the_penalty_is_taken_between_the_samples_and_moves_the_critic():
    """The slope of |a x|^2 / 2 at y is a^2 y: by hand at a quarter of the way."""
    a = torch.tensor(1.5, dtype=torch.float64, requires_grad=True)
    x, generated = torch.randn(4, 3, dtype=torch.float64), torch.randn(4, 3, dtype=torch.float64)
    result = gradient_penalty(lambda z: ((a * z) ** 2).sum(1) / 2, x, generated, torch.full((4,), 0.25, dtype=torch.float64))
    length = 1.5**2 * (0.25 * x + 0.75 * generated).norm(dim=1)
    torch.testing.assert_close(result.detach(), ((length - 1) ** 2).mean())
    (grad,) = torch.autograd.grad(result, a)
    torch.testing.assert_close(grad, (2 * (length - 1) * 2 * length / 1.5).mean())
    with torch.no_grad():
        assert gradient_penalty(lambda z: z.sum(1), x, generated, torch.zeros(4, dtype=torch.float64)) > 0


def test_the_terms_of_both_players_by_hand():
    method, stage, given = started(w_class=2.0, w_reconstruction=3.0, w_penalty=5.0)
    one = batch(stage, given)
    (first, d_terms), (second, g_terms) = list(method.step(one, 0))
    assert (first, second) == ("discriminator", "generator")
    noise = Batch(one.x, one.index, 1, (0, 0, 0))
    c = (3 * torch.special.ndtr(noise.noise())).long()
    share = torch.special.ndtr(noise.noise())
    identity, G, D = torch.eye(3, dtype=torch.float64), method.nets_["generator"], method.nets_["discriminator"]
    generated = G(one.x, identity[c])
    (real, says), (fake, of_made) = D(one.x), D(generated)
    right = lambda logits, which: -logits.log_softmax(1)[torch.arange(12), which].mean()  # noqa: E731
    torch.testing.assert_close(d_terms["real"], -real.mean())
    torch.testing.assert_close(d_terms["generated"], fake.mean())
    torch.testing.assert_close(d_terms["class"], 2 * right(says, one.labels))
    between = (share[:, None] * one.x + (1 - share[:, None]) * generated.detach()).requires_grad_()
    (slope,) = torch.autograd.grad(D(between)[0].sum(), between)
    torch.testing.assert_close(d_terms["penalty"], 5 * ((slope.norm(dim=1) - 1) ** 2).mean())
    torch.testing.assert_close(g_terms["adversarial"], -fake.mean())
    torch.testing.assert_close(g_terms["class"], 2 * right(of_made, c))
    torch.testing.assert_close(g_terms["reconstruction"], 3 * (G(generated, identity[one.labels]) - one.x).abs().mean())


def test_the_translator_moves_in_one_of_five_steps():
    method, stage, given = started()
    moved = [[player for player, _ in method.step(batch(stage, given), t)] for t in range(7)]
    assert [len(players) for players in moved] == [2, 1, 1, 1, 1, 2, 1]
    assert all(players[0] == "discriminator" for players in moved)


def terms(method, stage, given, player, number=0):
    return dict(method.step(batch(stage, given, number), 0))[player]


def learn(method, stage, given, player, steps):
    parameters = stage.players[player].parameters()
    optimizer = torch.optim.Adam(parameters, lr=3e-3)
    for number in range(steps):
        grads = torch.autograd.grad(sum(terms(method, stage, given, player, number).values()), parameters)
        for parameter, grad in zip(parameters, grads, strict=True):
            parameter.grad = grad
        optimizer.step()


def apart(method, stage, given):
    """How much more real the critic finds samples than made ones, in the mean of three batches."""
    with torch.no_grad():
        result = [terms(method, stage, given, "discriminator", 1000 + number) for number in range(3)]
    return -sum((one["real"] + one["generated"]).item() for one in result) / 3


def test_the_critic_learns_when_it_alone_moves_and_the_translator_makes_it_harder():
    method, stage, given = started()
    before = apart(method, stage, given)
    learn(method, stage, given, "discriminator", 60)
    learnt = apart(method, stage, given)
    assert learnt > before + 0.2
    learn(method, stage, given, "generator", 60)
    assert apart(method, stage, given) < learnt - 0.2


def test_neither_players_loss_reaches_the_others_move():
    method, stage, given = started()
    owned = {name: player.parameters() for name, player in stage.players.items()}
    assert not {id(p) for p in owned["generator"]} & {id(p) for p in owned["discriminator"]}
    total = sum(terms(method, stage, given, "discriminator").values())
    assert all(grad is None for grad in torch.autograd.grad(total, owned["generator"], allow_unused=True))
    total = sum(terms(method, stage, given, "generator").values())
    assert all((grad != 0).any() for grad in torch.autograd.grad(total, owned["generator"]))


def test_samples_get_the_requested_class():
    data = rows(each=20)
    method = un.StarGAN.fixed(epochs=250, batch=30, width=32, lr=1e-3, n_critic=1).fit(data)
    z = method.encode(data.x)
    assert (z["class"].argmax(1) == data.labels).mean() > 0.95
    wanted = (data.labels + 1) % 3
    asked = method.class_codes(wanted)
    np.testing.assert_array_equal(asked, np.eye(3)[wanted])
    moved = method.decode(un.Latents({"class": asked, "content": z["content"]}))
    means = np.stack([data.x[data.labels == k].mean(0) for k in range(3)])
    nearest = np.linalg.norm(moved[:, None] - means, axis=2).argmin(1)
    assert (nearest == wanted).mean() > 0.9


@pytest.mark.parametrize("size", [16, 27, 64, 128])
def test_networks_keep_the_size_and_see_class_and_row(size):
    torch.manual_seed(0)
    x, y = torch.rand(2, 3, size, size) * 2 - 1, functional.one_hot(torch.tensor([0, 3]), 4).float()
    G, D = build_translator("residual", (3, size, size), 4, 2), build_critic("residual", (3, size, size), 4, 2)
    generated = G(x, y)
    assert generated.shape == x.shape
    assert generated.abs().max() <= 1
    assert not torch.equal(generated, G(x, y.flip(0)))
    assert not torch.equal(generated[0], generated[1])
    real, classes = D(x)
    assert (real.shape, classes.shape) == ((2,), (2, 4))
    torch.testing.assert_close(D(x[:1])[0], real[:1])


def test_at_the_papers_size_the_translator_is_the_papers():
    with torch.device("meta"):
        G = build_translator("residual", (3, 128, 128), 8, 64)
    shapes = [tuple(p.shape) for name, p in G.named_parameters() if p.ndim == 4]
    assert shapes[:3] == [(64, 11, 7, 7), (128, 64, 4, 4), (256, 128, 4, 4)]
    assert shapes[3:15] == [(256, 256, 3, 3)] * 12
    assert shapes[15:] == [(256, 128, 4, 4), (128, 64, 4, 4), (3, 64, 7, 7)]


def test_at_the_papers_size_the_critic_is_the_papers():
    with torch.device("meta"):
        D = build_critic("residual", (3, 128, 128), 8, 64)
        shapes = [tuple(p.shape) for p in D.parameters() if p.ndim == 4]
        features = D.trunk(torch.empty(1, 3, 128, 128))
    widths = [3, 64, 128, 256, 512, 1024, 2048]
    assert shapes[:6] == [(after, before, 4, 4) for before, after in pairwise(widths)]
    assert shapes[6:] == [(1, 2048, 3, 3), (8, 2048, 2, 2)]
    assert tuple(features.shape) == (1, 2048, 2, 2)


def test_a_game_without_classes_and_networks_of_ones_own_are_refused():
    with pytest.raises(ValueError, match=r"w_class must be a number > 0; got 0\.0"):
        un.StarGAN(w_class=0.0).fit(rows())
    with pytest.raises(ValueError, match="StarGAN takes no networks of your own; got encoder; choose some by name"):
        un.StarGAN().fit(rows(), networks={"encoder": torch.nn.Linear(5, 2)})
    with pytest.raises(ValueError, match="networks='residual' needs images"):
        un.StarGAN(networks="residual").fit(rows())
    with pytest.raises(
        ValueError, match="the blocks of StarGAN depend on the data and are known once it is fitted; call fit first"
    ):
        _ = un.StarGAN().blocks
