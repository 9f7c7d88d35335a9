"""How a budget of time is shared, and how long a method is trained in its share."""

from types import SimpleNamespace

import pytest

from untwine.methods import LORD, PCA, PrincipledVAE
from untwine.selection import budget
from untwine.selection.budget import Clock, Speed, needed, shares, speed, wanted_epochs, within


@pytest.mark.parametrize(
    ("needs", "total", "given"),
    [
        ([1.0, 10.0, 20.0], 13.0, [1.0, 6.0, 6.0]),
        ([20.0, 1.0, 10.0], 100.0, [20.0, 1.0, 10.0]),
        ([5.0, 5.0], 4.0, [2.0, 2.0]),
        ([5.0, 0.0], 0.0, [0.0, 0.0]),
        ([], 10.0, []),
    ],
)
def test_each_gets_what_it_needs_or_an_even_share(needs, total, given):
    assert shares(needs, total) == pytest.approx(given)


def test_small_data_get_some_thousand_steps_and_a_short_budget_one_epoch():
    method, few = PrincipledVAE(epochs=50), Speed(epoch=0.1, steps=5)
    assert wanted_epochs(method, few) == {"epochs": 800}
    assert wanted_epochs(method, Speed(0.1, 500)) == {"epochs": 50}
    assert wanted_epochs(PCA(), Speed(0.0, 0)) == {}
    assert needed({"epochs": 800}, few) == pytest.approx(80)
    assert within({"epochs": 800}, few, 8.0) == {"epochs": 80}
    assert within({"epochs": 800}, few, 0.0) == {"epochs": 1}
    assert within({"epochs": 800}, few, 1e9) == {"epochs": 800}


def test_all_stages_are_shortened_alike():
    method, at = LORD(epochs=100, epochs_encoders=20), Speed(epoch=2.0, steps=1000)
    wanted = wanted_epochs(method, at)
    assert wanted == {"epochs": 100, "epochs_encoders": 20}
    assert within(wanted, at, needed(wanted, at) / 2) == {"epochs": 50, "epochs_encoders": 10}


def test_the_speed_of_an_epoch_is_that_of_its_steps(monkeypatch):
    import untwine as un

    data = un.load("toy_contrast", n_target=3200, n_background=100)
    clock = iter([0.0, 1.0, 1.0, 1.5, 2.0, 4.0])  # the first fit sets up; a step takes 1.5 / 15 s
    monkeypatch.setattr(budget, "time", SimpleNamespace(monotonic=lambda: next(clock)))  # not that of other threads
    fitted = []
    method = PrincipledVAE(batch=32, width=4)
    monkeypatch.setattr(PrincipledVAE, "fit", lambda self, few: fitted.append((self.epochs, few)))
    assert speed(method, data.train) == Speed(pytest.approx(1.5 * 3200 / (15 * 32)), 100)
    assert [(epochs, budget.epoch_size(few)) for epochs, few in fitted] == [(1, 32), (1, 32), (1, 512)]
    assert set(fitted[0][1].groups.tolist()) == {0, 1}


def test_a_clock_runs_down():
    clock = Clock(1.0)
    assert 59 < clock.left <= 60
    clock.began -= 1000
    assert clock.left == 0
    with pytest.raises(ValueError, match="minutes"):
        Clock(0.0)
