"""Each adversary is played: it learns when it alone moves, the other's move makes it harder, and neither moves the other."""

import dataclasses
from typing import NamedTuple

import pytest
import torch
from small import TRAINED, small, vectors
from torch import nn

from untwine.methods import METHODS
from untwine.training.batches import TrainingData


class Game(NamedTuple):
    """A method, the player that hides and the term by which it does so, the adversary and what it is judged by.

    Parameters
    ----------
    played
        The terms of the adversary that are its adversarial loss; all where not given.
    weight
        The field that switches the adversary off at 0, where there is one.
    own
        An encoder with much to hide in the place of the method's own, by its name.
    in_turn
        Whether the adversary's loss is computed apart from the hider, and not at the same parameters from one graph.
    """

    name: str
    term: str
    hider: str = "vae"
    adversary: str = "discriminator"
    played: tuple[str, ...] = ()
    weight: str = ""
    own: str = ""
    in_turn: bool = True
    options: tuple[tuple[str, float], ...] = ()

    def __str__(self):
        return f"{self.name}-{self.term}"


SYMMETRIC = {"in_turn": False, "options": (("dropped", 0.0),)}
GAMES = (
    Game("contrastive_vae", weight="lambda_tc", term="total_correlation", own="encoder"),
    Game("sep_vae", weight="lambda_mi", term="mutual_information", own="encoder"),
    Game("factor_vae", weight="gamma", term="total_correlation", own="encoder"),
    Game("symmetric_rb_vae", "target_encoded", "encoder", "discriminator_target", **SYMMETRIC),
    Game("symmetric_rb_vae", "target_generated", "decoder", "discriminator_target", **SYMMETRIC),
    Game("symmetric_rb_vae", "background_encoded", "encoder", "discriminator_background", **SYMMETRIC),
    Game("symmetric_rb_vae", "background_generated", "decoder", "discriminator_background", **SYMMETRIC),
    Game("symmetric_vae", "encoded", options=(("dropped", 0.0),)),
    Game("symmetric_vae", "generated", options=(("dropped", 0.0),)),
    Game("double_infogan", "adversarial", "generator", played=("adversarial",)),
    Game("infogan", "adversarial", "generator", played=("adversarial",)),
    Game("drnet", "game", "autoencoder", weight="lambda_game", own="content_encoder"),
    Game("mixing_ae", "game", "autoencoder", weight="lambda_game"),
    Game("stargan", "adversarial", "generator", played=("real", "generated")),
)
# Several players that lower one loss together, or one loss each in which nobody's gain is another's loss.
TOGETHER = {"lord", "cycle_vae"}


@pytest.fixture(params=GAMES, ids=str)
def game(request):
    return request.param


@pytest.mark.parametrize("name", TRAINED)
def test_no_adversary_is_left_out(name):
    method = small(name)
    method._prepare(rows_of(name), {})
    players = {player for stage in method.stages() for player in stage.players}
    games = [game for game in GAMES if game.name == name]
    assert bool(games) == (len(players) > 1 and name not in TOGETHER), f"{name} has the players {players}: add its game"
    networks = {key for key in method.nets_ if key.startswith(("discriminator", "critic"))}
    adversaries = {player for player in players if player.startswith(("discriminator", "critic"))}
    assert networks == adversaries == {game.adversary for game in games}
    for game in games:
        assert {game.hider, game.adversary} <= players


def rows_of(name):
    """Vectors; for methods that learn from classes, with classes that can be seen."""
    data = vectors(target=200, background=200)
    if METHODS[name].needs != "labels":
        return data
    return dataclasses.replace(data, x=data.x + 5 * torch.eye(6).numpy()[data.labels % 6])


def tied():
    """An encoder whose salient means are some of its common ones, with little noise: something for an adversary to find."""
    encoder = nn.Linear(6, 14)
    with torch.no_grad():
        encoder.weight.zero_()
        encoder.weight[:7] = torch.eye(6)[[0, 1, 2, 3, 0, 1, 2]]
        encoder.bias.copy_(torch.tensor([0.0] * 7 + [-4.0] * 7))
    return encoder


def telling():
    """A content encoder that encodes the class plainly."""
    encoder = nn.Linear(6, 3)
    with torch.no_grad():
        encoder.weight.copy_(2 * torch.eye(6)[[0, 1, 2]])
        encoder.bias.zero_()
    return encoder


def configured(game, **changes):
    return small(game.name, **{"batch": 64, "epochs": 2, "n_latent": 7, **dict(game.options), **changes})


def own(game):
    return {game.own: tied() if game.own == "encoder" else telling()} if game.own else {}


def started(game, **changes):
    """The method as it begins, its only stage, and that stage's samples."""
    data, method = rows_of(game.name), configured(game, **changes)
    method._prepare(data, own(game))
    (stage,) = method.stages()
    x = method._standard(torch.from_numpy(data.x))
    return method, stage, TrainingData.of(data, x, torch.float32, torch.device("cpu"), labelled=method.needs == "labels")


def parts(move):
    """The players and terms of one yield, whichever of its forms it has."""
    return move if isinstance(move, list) else [move]


def terms(stage, rows, player, number=0):
    """The terms that a step yields to one player, on a batch that is the same for the same number."""
    batch = rows.batch(rows.order(stage, 0, number)[0], (0, 0, number), stage.batches)
    moves = [part for move in stage.step(batch, 0) for part in parts(move)]
    (result,) = [given for names, given in moves if names == player or (isinstance(names, tuple) and player in names)]
    return result


def played(game, stage, rows, number=1000):
    """The adversarial loss of the adversary."""
    result = terms(stage, rows, game.adversary, number)
    return sum(result[name] for name in game.played or result)


def loss(game, stage, rows):
    """The same in the mean of three batches."""
    with torch.no_grad():
        return sum(played(game, stage, rows, 1000 + number).item() for number in range(3)) / 3


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
    before = loss(game, stage, rows)
    learn(stage, rows, game.adversary)
    learnt = loss(game, stage, rows)
    assert learnt < before - 0.2

    # Down the gradient of its own term, and of nothing else, the hider goes to where the adversary is worse; up, to where it is
    # better. Far along either way the adversary knows nothing, so the steps are short.
    assert moved_along(game, stage, rows, -0.02) > learnt + 0.0002
    assert moved_along(game, stage, rows, +0.02) < learnt - 0.0002


def moved_along(game, stage, rows, length):
    """The adversary's loss where the hider has gone so far along the gradient of its term; it is put back afterwards."""
    parameters = stage.players[game.hider].parameters()
    total = sum(terms(stage, rows, game.hider, 1000 + number)[game.term] for number in range(3))
    grads = torch.autograd.grad(total, parameters, allow_unused=True)
    used = [(parameter, grad) for parameter, grad in zip(parameters, grads, strict=True) if grad is not None]
    norm = torch.stack([grad.norm() for _, grad in used]).norm()
    with torch.no_grad():
        kept = [parameter.clone() for parameter, _ in used]
        for parameter, grad in used:
            parameter.add_(length * grad / norm)
        result = loss(game, stage, rows)
        for (parameter, _), value in zip(used, kept, strict=True):
            parameter.copy_(value)
    return result


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
    method = configured(game)
    whole = method.stages

    def stages():
        for stage in whole():

            def step(batch, t, stage=stage):
                for names, given in (part for move in stage.step(batch, t) for part in parts(move)):
                    if names == player or (isinstance(names, tuple) and player in names):
                        yield player, given

            yield dataclasses.replace(stage, step=step)

    method.stages = stages
    return method.fit(rows_of(game.name), networks=own(game))


def test_the_adversarys_loss_does_not_reach_the_hider_at_all(game):
    if not game.in_turn:
        pytest.skip("all gradients are taken at the same parameters, each with respect to one player's own")
    _, stage, rows = started(game)
    grads = torch.autograd.grad(played(game, stage, rows), stage.players[game.hider].parameters(), allow_unused=True)
    assert all(grad is None for grad in grads)


def test_without_weight_there_is_no_game(game):
    if not game.weight:
        pytest.skip("the method is its game")
    _, stage, rows = started(game, **{game.weight: 0.0})
    assert set(stage.players) == {game.hider}
    assert game.term not in terms(stage, rows, game.hider)
