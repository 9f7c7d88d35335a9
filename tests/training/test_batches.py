"""Both groups in every step, the order of samples, and random numbers that do not depend on the number of processes."""

from collections import Counter

import numpy as np
import pytest
import torch
from game import Game, play, training_data

import untwine as un
from untwine import Samples
from untwine.training import distributed
from untwine.training.batches import Batch, TrainingData
from untwine.training.stage import Player, Stage

CPU = torch.device("cpu")


@pytest.mark.parametrize(("target", "background"), [(1, 1000), (1000, 1), (30, 20), (7, 7)])
def test_both_groups_are_in_every_step_and_every_sample_of_the_larger_is_used(target, background):
    groups = np.repeat([0, 1], [background, target])
    game, seen = Game(), []

    def step(batch, t):
        first, second = batch.split_groups(batch.index)
        assert len(first) == len(second)
        assert (torch.from_numpy(groups)[first] == 1).all()
        assert (torch.from_numpy(groups)[second] == 0).all()
        seen.append(batch.index.tolist())
        yield "a", {"term": game.a}

    play(game, step, {"a": Player([game.a], 0.1)}, n=len(groups), batch=16, batches="groups", groups=groups)
    counts = Counter(row for batch in seen for row in batch)
    assert set(counts) == set(range(len(groups)))
    larger = np.flatnonzero(groups == int(target > background))
    assert max(counts[row] for row in larger) <= 2
    # However few, all samples of the smaller group come equally often, to within one.
    smaller = [counts[row] for row in np.flatnonzero(groups != int(target > background))]
    assert max(smaller) - min(smaller) <= 1


def test_order_depends_on_seed_and_epoch_alone():
    data = training_data(20)
    stages = [Stage("one", 3, {}, None, 8), Stage("two", 9, {}, None, 8, schedule=abs)]
    orders = {(seed, epoch): data.order(stages[0], seed, epoch).tolist() for seed in (0, 1) for epoch in (0, 1, 2)}
    assert len({str(order) for order in orders.values()}) == 6
    assert data.order(stages[1], 1, 2).tolist() == orders[1, 2]
    for order in orders.values():
        assert np.shape(order) == (3, 1, 8)
        assert set(np.ravel(order)[:20]) == set(range(20))


def test_two_draws_each_pass_over_all_samples_in_an_order_of_their_own():
    order = training_data(20).order(Stage("one", 1, {}, None, 4, "twice"), 0, 0)
    assert order.shape == (5, 2, 4)
    first, second = order[:, 0].ravel(), order[:, 1].ravel()
    assert set(first) == set(second) == set(range(20))
    assert first.tolist() != second.tolist()


def test_the_last_step_of_an_epoch_is_filled_up():
    game, sizes = Game(), []

    def step(batch, t):
        sizes.append(len(batch.x))
        yield "a", {"term": game.a}

    play(game, step, {"a": Player([game.a], 0.1)}, n=20, batch=8)
    assert sizes == [8, 8, 8]
    sizes.clear()
    play(game, step, {"a": Player([game.a], 0.1)}, n=5, batch=8)
    assert sizes == [5]


def noise(x, pools, seed, *shape):
    return Batch(torch.zeros(x, 1, dtype=torch.float64), torch.arange(x), pools, seed).noise(*shape)


def test_noise_is_standard_normal_and_its_own_in_every_step_and_stage():
    drawn = noise(4000, 1, (0, 0, 0), 5)
    assert drawn.shape == (4000, 5)
    assert abs(drawn.mean()) < 0.02
    assert abs(drawn.std() - 1) < 0.02
    assert torch.equal(drawn, noise(4000, 1, (0, 0, 0), 5))
    for other in ((1, 0, 0), (0, 1, 0), (0, 0, 1)):
        assert not torch.isclose(drawn, noise(4000, 1, other, 5)).any(1).all()
    batch = Batch(torch.zeros(3, 1, dtype=torch.float64), torch.arange(3), 1, (0, 0, 0))
    assert not torch.equal(batch.noise(2), batch.noise(2))


@pytest.mark.parametrize("pools", [1, 2])
def test_noise_of_two_processes_is_the_noise_of_one(monkeypatch, pools):
    whole = noise(12, pools, (0, 0, 3), 2).view(pools, -1, 2)
    monkeypatch.setattr(distributed, "world", lambda: 2)
    shards = []
    for rank in (0, 1):
        monkeypatch.setattr(distributed, "rank", lambda rank=rank: rank)
        shards.append(noise(6, pools, (0, 0, 3), 2).view(pools, -1, 2))
    assert torch.equal(torch.cat(shards, 1), whole)


def test_batches_of_two_processes_are_the_halves_of_one(monkeypatch):
    data = training_data(12, groups=[0, 1] * 6)
    order = data.order(Stage("one", 1, {}, None, 4, "groups"), 0, 0)[0]
    whole = data.batch(order, (0, 0, 0)).index.view(2, -1)
    monkeypatch.setattr(distributed, "world", lambda: 2)
    shards = []
    for rank in (0, 1):
        monkeypatch.setattr(distributed, "rank", lambda rank=rank: rank)
        shards.append(data.batch(order, (0, 0, 0)).index.view(2, -1))
    assert torch.equal(torch.cat(shards, 1), whole)


def test_bytes_become_zero_to_one_and_images_keep_their_layout():
    x = np.random.default_rng(0).integers(0, 256, size=(4, 3, 8, 8), dtype=np.uint8)
    for layout in (torch.contiguous_format, torch.channels_last):
        tensor = torch.from_numpy(x).contiguous(memory_format=layout)
        batch = TrainingData.of(Samples(x), tensor, torch.float32, torch.device("cpu")).batch(np.array([[2, 0]]), (0, 0, 0))
        np.testing.assert_allclose(batch.x.numpy(), x[[2, 0]] / 255, rtol=1e-6)
        assert batch.x.is_contiguous(memory_format=layout)


@pytest.mark.parametrize(("networks", "layout"), [("conv", torch.channels_last), ("mlp", torch.contiguous_format)])
def test_images_have_the_memory_layout_of_their_networks(networks, layout):
    seen = []

    class Watched(un.VAE):
        def step(self, batch, t):
            seen.append(batch.x.is_contiguous(memory_format=layout))
            yield from super().step(batch, t)

    x = np.random.default_rng(0).integers(0, 256, size=(12, 3, 8, 8), dtype=np.uint8)
    Watched(networks=networks, epochs=1, batch=4, width=4).fit(x)
    assert seen == [True] * 3


@pytest.mark.parametrize(("together", "batch"), [(2, 8), (3, 12), (4, 6)])
def test_samples_of_one_class_come_together(together, batch):
    labels = np.random.default_rng(0).integers(0, 5, 60) * 3 + 2  # numbers with gaps
    data = TrainingData.of(
        Samples(np.arange(60.0)[:, None], labels=labels), torch.arange(60.0)[:, None], torch.float32, CPU, True
    )
    plan = Stage("one", 1, {}, None, batch, batches="classes", together=together)
    size, steps = data.sizes(plan)
    order = data.order(plan, 0, 0)
    assert order.shape == (steps, together, size)
    assert steps * size * together >= 60
    assert (labels[order] == labels[order[:, :1]]).all()
    for step in order:
        assert all(len(set(column)) == together for column in step.T)
    leaders = order[:, 0].ravel()
    assert len(set(leaders)) == len(leaders)
    assert data.order(plan, 0, 0).tolist() == order.tolist() != data.order(plan, 0, 1).tolist()
    batch = data.batch(order[0], (0,))
    assert batch.labels.tolist() == np.unique(labels, return_inverse=True)[1][order[0].ravel()].tolist()
    np.testing.assert_array_equal(batch.sets(batch.index).numpy(), order[0])


def test_a_class_of_one_sample_is_paired_with_itself_and_labels_are_only_given_to_methods_that_need_them():
    samples = Samples(np.arange(4.0)[:, None], labels=[0, 1, 1, 1])
    plan = Stage("one", 1, {}, None, 4, batches="classes")
    order = TrainingData.of(samples, torch.zeros(4, 1), torch.float32, CPU, True).order(plan, 0, 0)
    alone = order[:, :, (order[:, 0] == 0).any(0)]
    assert (alone[:, 1] == alone[:, 0])[alone[:, 0] == 0].all()
    unlabelled = TrainingData.of(samples, torch.zeros(4, 1), torch.float32, CPU)
    with pytest.raises(ValueError, match="has labels only if the method needs them"):
        unlabelled.batch(np.array([[0, 1]]), (0,)).labels  # noqa: B018 (it is the asking that is refused)
    with pytest.raises(ValueError, match="batches of classes need labels"):
        unlabelled.order(plan, 0, 0)
