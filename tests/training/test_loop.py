"""The three forms of `yield`, who owns what, and stages that follow each other, by hand."""

import pytest
import torch
from game import Game, X, Y, adam, play, training_data
from small import small, vectors
from torch import nn

from untwine.training.loop import train
from untwine.training.stage import Player, Stage

# The three forms of yield


def test_a_loss_moves_its_player_alone():
    game = Game()

    def step(batch, t):
        yield "a", {"product": game.a * game.b * game.idle}

    play(game, step)
    assert game.values() == pytest.approx([X + adam(0.1, Y), Y, 1.0])
    assert game.b.grad is None
    assert game.idle.grad is None


def test_moves_one_after_the_other_see_each_other():
    game = Game()

    def step(batch, t):
        yield "a", {"up": game.a * game.b}
        yield "b", {"down": -game.a * game.b}

    play(game, step, epochs=3)
    a, b, gradients_a, gradients_b = X, Y, [], []
    for _ in range(3):
        gradients_a.append(b)
        a = X + adam(0.1, *gradients_a)
        gradients_b.append(-a)
        b = Y + adam(0.1, *gradients_b)
    assert game.values() == pytest.approx([a, b, 1.0], rel=1e-12)


def test_a_list_takes_all_gradients_at_the_same_parameters():
    game = Game()

    def step(batch, t):
        product = game.a * game.b
        yield [("a", {"up": product}), ("b", {"down": -product})]

    play(game, step, epochs=3)
    a, b, gradients_a, gradients_b = X, Y, [], []
    for _ in range(3):
        gradients_a.append(b)
        gradients_b.append(-a)
        a, b = X + adam(0.1, *gradients_a), Y + adam(0.1, *gradients_b)
    assert game.values() == pytest.approx([a, b, 1.0], rel=1e-12)


def test_one_loss_moves_two_players_with_their_own_rates_and_betas():
    game = Game()
    players = {"a": Player([game.a], 0.1), "b": Player([game.b], 0.03, betas=(0.5, 0.9))}

    def step(batch, t):
        yield ("a", "b"), {"square": game.a**2 + game.b**2}

    history = play(game, step, players, epochs=2)
    a1, b1 = X + adam(0.1, 2 * X), Y + adam(0.03, 2 * Y, betas=(0.5, 0.9))
    a2, b2 = X + adam(0.1, 2 * X, 2 * a1), Y + adam(0.03, 2 * Y, 2 * b1, betas=(0.5, 0.9))
    assert game.values() == pytest.approx([a2, b2, 1.0], rel=1e-12)
    assert [(row.player, row.term, row.value) for row in history] == [
        ("a/b", "square", pytest.approx(X**2 + Y**2)),
        ("a/b", "square", pytest.approx(a1**2 + b1**2)),
    ]


def test_terms_are_summed_and_each_is_in_the_history_of_its_player():
    game = Game()

    def step(batch, t):
        yield "a", {"one": game.a, "two": 2 * game.a}
        yield "b", {"three": 3 * game.b}

    history = play(game, step, epochs=2, n=8, batch=4)
    table = {(row.epoch, row.player, row.term): row.value for row in history}
    assert set(table) == {(e, *key) for e in (0, 1) for key in (("a", "one"), ("a", "two"), ("b", "three"))}
    # An epoch of two steps has the mean of both, and Adam's step with a constant gradient is the rate.
    assert table[0, "a", "one"] == pytest.approx(X - 0.05)
    assert table[1, "a", "two"] == pytest.approx(2 * (X - 0.25))
    assert game.values() == pytest.approx([X - 0.4, Y - 0.4, 1.0])


def test_a_step_may_take_gradients_itself():
    game = Game()

    def step(batch, t):
        (slope,) = torch.autograd.grad(game.a**2 * game.b, game.a, create_graph=True)
        yield "b", {"penalty": slope**2}

    play(game, step)
    assert game.values() == pytest.approx([X, Y + adam(0.1, 8 * X**2 * Y), 1.0])


# Who owns what


def test_a_parameter_with_two_owners_is_refused():
    game = Game()
    with pytest.raises(ValueError, match="one owner; b belongs to 'a' and 'b' in stage 'only'"):
        play(game, None, {"a": Player([game.a, game.b], 0.1), "b": Player([game.b], 0.1)})
    with pytest.raises(ValueError, match="the player 'a' of stage 'only' must own parameters; it owns none"):
        play(game, None, {"a": Player([], 0.1)})


def test_a_parameter_without_gradient_is_refused_by_name():
    game = Game()

    def step(batch, t):
        yield "both", {"square": game.a**2}

    with pytest.raises(ValueError, match=r"player 'both' must reach all parameters that it owns; b has no gradient"):
        play(game, step, {"both": Player([game.a, game.b], 0.1)})
    assert game.values() == [X, Y, 1.0]


@pytest.mark.parametrize(
    ("update", "sentence"),
    [
        (lambda game: game.a**2, r"must yield the name of a player, .* got Tensor; write: yield \"all\", "),
        (lambda game: ("all", game.a**2), "with a dictionary of its terms; got tuple"),
        (lambda game: ("al", {"square": game.a**2}), "must yield players of its stage, all; got 'al'; correct the name"),
        (
            lambda game: ("all", {"square": game.a.expand(3)}),
            r"the term 'square' must be a tensor of one number; got shape \(3,\)",
        ),
        (lambda game: ("all", {"square": 1.0}), "the term 'square' must be a tensor of one number; got float"),
        (None, "the step of the stage '.*' must be a generator; it returned Tensor"),
    ],
)
def test_what_is_no_update_is_refused(update, sentence):
    game = Game()

    def step(batch, t):
        yield update(game)

    with pytest.raises((TypeError, ValueError), match=sentence):
        play(game, step if update else lambda batch, t: game.a**2, {"all": Player(owned(game), 0.1)})
    assert game.values() == [X, Y, 1.0]


def test_frozen_parameters_need_no_gradient():
    game = Game()
    game.b.requires_grad_(False)

    def step(batch, t):
        yield "both", {"square": game.a**2}

    play(game, step, {"both": Player(owned(game), 0.1)})
    assert game.values() == pytest.approx([X - 0.1, Y, 1.0])


def owned(game):
    return nn.ParameterList([game.a, game.b])


# Two stages


class Staged:
    """Two stages; between them the second's b is set from what the first has learned."""

    def __init__(self, stop=None):
        self.game, self.stop, self.log = Game(), stop, []

    def step_a(self, batch, t):
        self.log.append(("first", t))
        yield "a", {"square": (self.game.a - batch.noise(1).mean()) ** 2}

    def step_b(self, batch, t):
        self.log.append(("second", t))
        if ("second", t) == self.stop:
            raise KeyboardInterrupt
        yield "b", {"distance": (self.game.a - self.game.b + batch.noise(1).mean()) ** 2}

    def stages(self):
        yield Stage("first", 2, {"a": Player([self.game.a], 0.1)}, self.step_a, 4)
        self.log.append("between")
        if not self.game.idle.item() < 0:  # what the checkpoint holds says whether this was done
            with torch.no_grad():
                self.game.b.copy_(10 * self.game.a)
                self.game.idle.fill_(-1.0)
        yield Stage("second", 3, {"b": Player([self.game.b], 0.1)}, self.step_b, 4)

    def run(self, file, resume=False):
        return train(
            self.stages(), self.game, training_data(8), seed=0, checkpoint=file, every=0.0, resume=resume, identity="staged"
        )


def test_stages_follow_each_other_with_what_stands_between(tmp_path):
    staged = Staged()
    history = staged.run(tmp_path / "checkpoint")
    assert staged.log == [*(("first", t) for t in range(4)), "between", *(("second", t) for t in range(6))]
    assert {(row.stage, row.player, row.term) for row in history} == {("first", "a", "square"), ("second", "b", "distance")}
    assert [row.epoch for row in history] == [0, 1, 0, 1, 2]
    # b began at ten times the a that the first stage had learned, and went six of Adam's steps from there.
    assert 0 < abs(staged.game.b.item() - 10 * staged.game.a.item()) < 0.7


@pytest.mark.parametrize("t", [0, 1, 4])
def test_resume_in_the_second_stage_skips_the_first_and_is_bit_exact(tmp_path, t):
    whole = Staged()
    history = whole.run(tmp_path / "whole")
    stopped = Staged(stop=("second", t))
    with pytest.raises(KeyboardInterrupt):
        stopped.run(tmp_path / "checkpoint")
    again = Staged()
    assert again.run(tmp_path / "checkpoint", resume=True) == history
    assert again.log == ["between", *(("second", i) for i in range(t, 6))]
    assert again.game.values() == whole.game.values()


@pytest.mark.filterwarnings("ignore:a step of stage")
def test_resume_carries_a_reduced_rate_along(tmp_path):
    def game_and_step(stop):
        game = Game()

        def step(batch, t):
            if t == stop:
                raise KeyboardInterrupt
            yield "a", {"term": game.a * (float("nan") if t == 0 else 1.0)}

        return game, step

    file = tmp_path / "checkpoint"
    game, step = game_and_step(stop=2)
    with pytest.raises(KeyboardInterrupt):
        play(game, step, {"a": Player([game.a], 0.1)}, n=32, checkpoint=file, every=0.0)
    game, step = game_and_step(stop=None)
    play(game, step, {"a": Player([game.a], 0.1)}, n=32, checkpoint=file, every=0.0, resume=True)
    assert game.values() == pytest.approx([X - 0.15, Y, 1.0])


def test_training_mode_while_training_and_evaluation_mode_after():
    game = Game()

    def step(batch, t):
        assert game.training
        yield "a", {"term": game.a}

    play(game, step, {"a": Player([game.a], 0.1)})
    assert not game.training


def test_progress_names_the_players_only_where_there_are_several(capsys):
    data = vectors()
    small("double_infogan", epochs=1).fit(data, progress=True)
    last = capsys.readouterr().err.splitlines()[-1]
    generator, discriminator = last.split("  generator: ")[1].split("  discriminator: ")
    for words in (generator, discriminator):
        assert [term.split()[0] for term in words.split("  ")][:2] == ["adversarial", "class"]
    small("vae", epochs=1).fit(data, progress=True)
    assert ":" not in capsys.readouterr().err.splitlines()[-1]
