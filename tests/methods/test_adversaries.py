"""Each adversary is played: it learns when it alone moves, the encoder's move makes it harder, and neither moves the other."""

from typing import NamedTuple

import pytest
import torch
from small import small, vectors
from torch import nn

from untwine.batches import Rows
from untwine.training import Stage


class Game(NamedTuple):
    """A method, the player that hides and the term by which it does so, the adversary, and the weight of the game."""

    name: str
    weight: str
    term: str
    hider: str = "vae"
    adversary: str = "discriminator"


GAMES = (
    Game("contrastive_vae", weight="lambda_tc", term="total_correlation"),
    Game("sep_vae", weight="lambda_mi", term="mutual_information"),
    Game("factor_vae", weight="gamma", term="total_correlation"),
)


@pytest.fixture(params=GAMES, ids=lambda game: game.name)
def game(request):
    return request.param


def tied():
    """An encoder whose salient means are some of its common ones, with little noise: something for an adversary to find."""
    encoder = nn.Linear(6, 14)
    with torch.no_grad():
        encoder.weight.zero_()
        encoder.weight[:7] = torch.eye(6)[[0, 1, 2, 3, 0, 1, 2]]
        encoder.bias.copy_(torch.tensor([0.0] * 7 + [-4.0] * 7))
    return encoder


def started(game, **changes):
    """The method as it begins, with an encoder that has much to hide; its only stage, and that stage's rows."""
    data = vectors(target=200, background=200)
    method = small(game.name, batch=64, n_latent=7, **changes)
    method._prepare(data, {"encoder": tied()})
    (stage,) = method.stages()
    return method, stage, Rows.of(data, method._standard(torch.from_numpy(data.x)), torch.float32, torch.device("cpu"))


def batch(stage, rows, number):
    order = rows.order(stage, 0, number)
    return rows.batch(order[0], (0, 0, number))


def terms(stage, rows, player, number=0):
    """The terms that a step yields to one player, on a batch that is the same for the same number."""
    moves = [
        part for move in stage.step(batch(stage, rows, number), 0) for part in (move if isinstance(move, list) else [move])
    ]
    (found,) = [given for names, given in moves if names == player or player in names]
    return found


def loss(stage, rows, player):
    with torch.no_grad():
        return sum(terms(stage, rows, player, number=1000).values()).item()


def learn(stage, rows, player, steps=60):
    """Let one player alone move on its own terms."""
    parameters = stage.players[player].parameters()
    optimizer = torch.optim.Adam(parameters, lr=3e-3)
    for number in range(steps):
        grads = torch.autograd.grad(sum(terms(stage, rows, player, number).values()), parameters)
        for parameter, grad in zip(parameters, grads, strict=True):
            parameter.grad = grad
        optimizer.step()


def test_the_adversary_learns_when_it_alone_moves_and_the_hider_makes_it_harder(game):
    _, stage, rows = started(game)
    before = loss(stage, rows, game.adversary)
    learn(stage, rows, game.adversary)
    learnt = loss(stage, rows, game.adversary)
    assert learnt < before - 0.2

    # Down the gradient of its own term, and of nothing else, the hider goes to where the adversary is worse; up, to where it is
    # better. Far along either way the adversary knows nothing, so the steps are short.
    assert moved_along(game, stage, rows, -0.02) > learnt + 0.001
    assert moved_along(game, stage, rows, +0.02) < learnt - 0.001


def moved_along(game, stage, rows, length):
    """The adversary's loss where the hider has gone so far along the gradient of its term; it is put back afterwards."""
    parameters = stage.players[game.hider].parameters()
    grads = torch.autograd.grad(terms(stage, rows, game.hider, 1000)[game.term], parameters, allow_unused=True)
    used = [(parameter, grad) for parameter, grad in zip(parameters, grads, strict=True) if grad is not None]
    norm = torch.stack([grad.norm() for _, grad in used]).norm()
    with torch.no_grad():
        kept = [parameter.clone() for parameter, _ in used]
        for parameter, grad in used:
            parameter.add_(length * grad / norm)
        found = loss(stage, rows, game.adversary)
        for (parameter, _), value in zip(used, kept, strict=True):
            parameter.copy_(value)
    return found


def test_neither_moves_the_other(game):
    method, stage, _ = started(game)
    names = {id(p): name for name, p in method.nets_.named_parameters()}
    owned = {player: {names[id(p)] for p in stage.players[player].parameters()} for player in (game.hider, game.adversary)}
    assert owned[game.hider].isdisjoint(owned[game.adversary])
    for player, its in owned.items():
        after = dict(only(game, player).nets_.named_parameters())
        moved = {name for name, p in method.nets_.named_parameters() if not torch.equal(p, after[name])}
        assert moved
        assert moved <= its


def only(game, player):
    """Fit with the moves of one player alone."""
    method = small(game.name, epochs=2, batch=64, n_latent=7)
    whole = method.stages

    def stages():
        for stage in whole():

            def step(batch, t, stage=stage):
                yield from (move for move in stage.step(batch, t) if move[0] == player)

            yield Stage(stage.name, stage.epochs, stage.players, step, stage.batch, stage.batches, stage.schedule)

    method.stages = stages
    return method.fit(vectors(target=200, background=200), networks={"encoder": tied()})


def test_the_adversarys_loss_does_not_reach_the_hider_at_all(game):
    _, stage, rows = started(game)
    total = sum(terms(stage, rows, game.adversary).values())
    grads = torch.autograd.grad(total, stage.players[game.hider].parameters(), allow_unused=True)
    assert all(grad is None for grad in grads)


def test_without_weight_there_is_no_game(game):
    _, stage, rows = started(game, **{game.weight: 0.0})
    assert set(stage.players) == {game.hider}
    assert game.term not in terms(stage, rows, game.hider)
