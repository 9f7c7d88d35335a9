"""What is not finite never reaches the weights; rates are reduced, clipped and scheduled as said."""

import math

import numpy as np
import pytest
from game import Game, X, Y, adam, play
from small import small, vectors

from untwine import TrainingError
from untwine.runs import files
from untwine.training.loop import PATIENCE
from untwine.training.stage import Player

# What is not finite


@pytest.mark.parametrize("form", ["one", "two", "list", "second of a step"])
@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_one_step_that_is_not_finite_is_skipped_and_the_rate_halved(form, bad):
    game = Game()

    def step(batch, t):
        broken = game.b * (bad if t == 1 else 1.0)
        if form == "one":
            yield "a", {"fine": game.a}
            yield "b", {"broken": broken}
        elif form == "two":
            yield ("a", "b"), {"fine": game.a, "broken": broken}
        elif form == "list":
            yield [("a", {"fine": game.a}), ("b", {"broken": broken})]
        else:
            yield "b", {"broken": broken}
            yield "a", {"fine": game.a}

    with pytest.warns(RuntimeWarning, match="'broken' of the player '.*b' was not finite") as told:
        history = play(game, step, n=24, batch=8)
    assert len(told) == 1
    # Of three steps the second is lost, and the third goes at half the rate; a move before the trouble has been made.
    early = {"one": 0.1}.get(form, 0.0)
    assert game.values() == pytest.approx([X - 0.15 - early, Y - 0.15, 1.0])
    assert all(math.isfinite(row.value) for row in history)


def test_a_gradient_that_is_not_finite_is_caught_though_its_term_is_finite():
    game = Game()

    def step(batch, t):
        # The root of 0 is 0, and its slope infinite.
        yield "a", {"root": ((game.a - game.a.detach()) ** 2).sqrt() if t == 1 else game.a}

    with pytest.warns(
        RuntimeWarning, match="skipped and every learning rate halved: 'gradient' of the player 'a' was not finite"
    ):
        play(game, step, {"a": Player([game.a], 0.1)}, n=24, batch=8)
    assert game.values() == pytest.approx([X - 0.15, Y, 1.0])


def test_after_ten_in_a_row_training_ends_with_good_weights_a_name_and_a_checkpoint(tmp_path):
    game, file = Game(), tmp_path / "checkpoint.safetensors"

    def step(batch, t):
        yield "a", {"fine": game.a, "broken": game.a * (float("nan") if t >= 2 else 1.0)}

    with (
        pytest.warns(RuntimeWarning),
        pytest.raises(TrainingError, match=r"stage 'only' at step 11: 'broken' of the player 'a' was not finite 10 times"),
    ):
        play(game, step, {"a": Player([game.a], 0.1)}, n=160, checkpoint=file)
    assert game.values() == pytest.approx([X - 0.2, Y, 1.0])
    tensors, notes = files.read_tensors(file)
    assert tensors["nets/a"].item() == game.a.item()
    assert notes["at"]["caution"] == 2.0**-PATIENCE
    assert notes["at"]["step"] == 11


def test_nine_in_a_row_are_forgiven():
    game = Game()

    def step(batch, t):
        yield "a", {"term": game.a * (float("nan") if t % 10 != 9 else 1.0)}

    with pytest.warns(RuntimeWarning, match="skipped"):
        play(game, step, {"a": Player([game.a], 1.0)}, n=80, batch=8)
    assert game.a.item() == pytest.approx(X - 2.0**-9)


@pytest.mark.filterwarnings("ignore:a step of stage")
def test_a_skipped_step_does_not_move_the_rest_of_its_step():
    game, seen = Game(), []

    def step(batch, t):
        yield "a", {"broken": game.a * float("nan")}
        seen.append(t)

    play(game, step, {"a": Player([game.a], 0.1)}, n=24, batch=8)
    assert seen == []


# Rates


def test_clipping_keeps_the_direction_and_bounds_the_norm():
    # Adam divides the gradient's size out; with eps far below, two steps of unequal gradients tell whether they were cut.
    for clip, gradients in ((0.0, (1.0, 100.0)), (5.0, (1.0, 5.0)), (0.5, (0.5, 0.5))):
        game = Game()

        def step(batch, t, game=game):
            yield "a", {"slope": game.a * (1.0 if t == 0 else 100.0)}

        play(game, step, {"a": Player([game.a], 0.1)}, n=16, batch=8, clip=clip)
        assert game.a.item() == pytest.approx(X + adam(0.1, *gradients), rel=1e-6)


def test_clipping_is_by_the_norm_of_the_whole_player():
    game = Game()
    players = {"both": Player([game.a, game.b], 0.1)}

    def step(batch, t):
        yield "both", {"slope": (3 * game.a + 4 * game.b) * (0.1 if t == 0 else 1.0)}

    play(game, step, players, n=16, batch=8, clip=1.0)
    assert game.a.item() == pytest.approx(X + adam(0.1, 0.3, 0.6), rel=1e-6)
    assert game.b.item() == pytest.approx(Y + adam(0.1, 0.4, 0.8), rel=1e-6)


def test_schedule_scales_every_rate_by_the_fraction_that_is_done():
    game, asked = Game(), []

    def schedule(done):
        asked.append(done)
        return 1 - done

    def step(batch, t):
        yield ("a", "b"), {"sum": game.a + game.b}

    play(game, step, {"a": Player([game.a], 0.1), "b": Player([game.b], 0.2)}, epochs=2, n=16, batch=8, schedule=schedule)
    assert asked == [0, 0.25, 0.5, 0.75]
    assert game.values() == pytest.approx([X - 0.25, Y - 0.5, 1.0])


def test_a_batch_says_which_fraction_of_its_stage_is_done():
    game, told = Game(), []

    def step(batch, t):
        told.append(batch.done)
        yield "a", {"a": game.a}

    play(game, step, {"a": Player([game.a], 0.1)}, epochs=2, n=16, batch=8)
    assert told == [0, 0.25, 0.5, 0.75]


def test_a_method_whose_training_ends_early_keeps_what_it_learned_and_its_history():
    data = vectors()
    method, inner = small("vae", epochs=4), type(small("vae")).step

    def step(batch, t):
        for player, terms in inner(method, batch, t):
            yield player, {name: term * (float("nan") if t >= 8 else 1.0) for name, term in terms.items()}

    method.step = step
    with pytest.warns(RuntimeWarning, match="was skipped"), pytest.raises(TrainingError, match="10 times in a row"):
        method.fit(data)
    assert {row.epoch for row in method.history_} == {0, 1}  # of 6 steps each; the second had two that were good
    assert all(math.isfinite(row.value) for row in method.history_)
    assert np.isfinite(method.transform(data.x)).all()
