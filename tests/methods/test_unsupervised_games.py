"""The games of FactorVAE and SymmetricVAE: whose gradient is whose, to the last digit, and that both sides play."""

from dataclasses import replace

import pytest
import torch
from small import small, vectors
from torch.nn import functional

from untwine.losses import gaussian
from untwine.training.batches import TrainingData
from untwine.training.loop import train

EXACTLY = {"rtol": 1e-12, "atol": 1e-12}


def begun(name, **options):
    """A method before its first step in double precision, its only stage, and its samples."""
    data = vectors(target=200, background=200)
    method = small(name, **{"precision": "float64", "batch": 64} | options)
    method._prepare(data, {})
    (stage,) = method.stages()
    rows = TrainingData.of(data, method._standard(torch.from_numpy(data.x)), torch.float64, torch.device("cpu"))
    return method, stage, rows


def batch(stage, rows, number=0):
    return rows.batch(rows.order(stage, 0, number)[0], (0, 0, number), stage.batches)


def train_players(name, *players, **options):
    """Networks after one epoch in which only some players move."""
    method, stage, rows = begun(name, **options)

    def step(batch, t):
        yield from (move for move in stage.step(batch, t) if move[0] in players)

    train([replace(stage, epochs=1, step=step)], method.nets_, rows, seed=0)
    return dict(method.nets_.named_parameters())


def gradient(loss, player):
    return torch.cat([grad.flatten() for grad in torch.autograd.grad(loss, player.parameters())])


@pytest.mark.parametrize("second", [False, True])
def test_factor_vae_each_gradient_is_that_of_its_own_loss_alone(second):
    method, stage, rows = begun("factor_vae", gamma=7.0, second_batch=second)
    result = {player: sum(terms.values()) for player, terms in stage.step(batch(stage, rows), 0)}
    drawn_batch, nets, d = batch(stage, rows), method.nets_["vae"], method.nets_["discriminator"]
    # The first 64 samples are in the bound; the permuted codes are theirs, or those of 64 others, which are only encoded.
    assert len(drawn_batch.x) == (128 if second else 64)
    mu, logvar = nets.encode(drawn_batch.x)["z"]
    codes = mu + torch.exp(logvar / 2) * drawn_batch.noise(4)
    order, apart = drawn_batch.noise(4)[-64:].argsort(0), codes[-64:]
    shuffled = torch.stack([apart[order[:, j], j] for j in range(4)], 1).detach()

    z = codes[:64]
    logits = d(z)
    own = (
        nets.reconstruction(drawn_batch.x[:64], z)
        + gaussian.kl(mu[:64], logvar[:64])
        + 7 * (logits[:, 0] - logits[:, 1]).mean()
    )
    torch.testing.assert_close(gradient(result["vae"], stage.players["vae"]), gradient(own, stage.players["vae"]), **EXACTLY)

    classes = torch.zeros(64, dtype=torch.long)
    loss = functional.cross_entropy(d(z.detach()), classes) + functional.cross_entropy(d(shuffled), classes + 1)
    player = stage.players["discriminator"]
    torch.testing.assert_close(gradient(result["discriminator"], player), gradient(0.5 * loss, player), **EXACTLY)


GAMES = (("factor_vae", {}), ("factor_vae", {"second_batch": True}), ("symmetric_vae", {}))


@pytest.mark.parametrize(("name", "options"), GAMES)
def test_the_discriminators_moves_leave_the_autoencoder_where_it_was(name, options):
    start = dict(begun(name, **options)[0].nets_.named_parameters())
    alone = train_players(name, "discriminator", **options)
    for key, value in start.items():
        assert torch.equal(alone[key], value) == key.startswith("vae."), key
    # And the other way round: the autoencoder's moves alone leave the discriminator where it was.
    alone = train_players(name, "vae", **options)
    for key, value in start.items():
        assert torch.equal(alone[key], value) == key.startswith("discriminator."), key


@pytest.mark.parametrize(("name", "options"), GAMES)
def test_the_first_step_of_the_autoencoder_does_not_know_of_the_discriminators_loss(name, options):
    options = {**options, "batch": 400}  # one step in an epoch
    both, alone = train_players(name, "vae", "discriminator", **options), train_players(name, "vae", **options)
    for key in both:
        if key.startswith("vae."):
            assert torch.equal(both[key], alone[key]), key


def terms(stage, rows, player, number):
    return dict(stage.step(batch(stage, rows, number), 0))[player]


def learn(stage, rows, player, names, steps, lr):
    """Let one player go down the gradient of some of its terms."""
    parameters = stage.players[player].parameters()
    optimizer = torch.optim.Adam(parameters, lr=lr)
    for number in range(steps):
        loss = sum(value for name, value in terms(stage, rows, player, number).items() if name in names)
        grads = torch.autograd.grad(loss, parameters, allow_unused=True)
        for parameter, grad in zip(parameters, grads, strict=True):
            parameter.grad = grad
        optimizer.step()


def test_symmetric_vae_is_played_by_both_sides():
    _, stage, rows = begun("symmetric_vae", width=32, dropped=0.0)

    def discriminator_loss():
        with torch.no_grad():
            return terms(stage, rows, "discriminator", 1000)["discrimination"].item()

    before = discriminator_loss()
    learn(stage, rows, "discriminator", ["discrimination"], steps=60, lr=3e-3)
    learnt = discriminator_loss()
    assert learnt < before - 0.2
    # Where the autoencoder follows the log ratio, encoded and generated pairs come nearer to each other.
    learn(stage, rows, "vae", ["encoded", "generated"], steps=40, lr=3e-3)
    assert discriminator_loss() > learnt + 0.2


def test_symmetric_vae_gradients_reach_who_they_should():
    method, stage, rows = begun("symmetric_vae")
    result = terms(stage, rows, "vae", 0)
    nets = method.nets_["vae"]
    encoder, decoder = ([p for n, p in nets.named_parameters() if n.startswith(f"{part}.")] for part in ("encoder", "decoder"))

    def reaches(term, parameters):
        grads = torch.autograd.grad(result[term], parameters, retain_graph=True, allow_unused=True)
        return any(grad is not None and grad.abs().sum() > 0 for grad in grads)

    assert {name: (reaches(name, encoder), reaches(name, decoder)) for name in result} == {
        "encoded": (True, False),
        "generated": (False, True),
        "reconstruction": (True, True),
        "codes": (True, True),
    }
