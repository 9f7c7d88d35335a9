"""Embedding tables: a step updates the rows of its batch, each by its own Adam; in memory or on disk; bit-exact resuming."""

import glob
import tempfile

import numpy as np
import pytest
import torch
from game import training_data
from torch import nn

from untwine.runs.files import read_tensors, write_tensors
from untwine.training import embedding_table, mapped_tensors
from untwine.training.embedding_table import EmbeddingTable
from untwine.training.errors import TrainingError
from untwine.training.loop import train
from untwine.training.optimizer import PlayerOptimizer
from untwine.training.stage import Player, Stage

BETAS, LR = (0.5, 0.99), 0.03


def table_of(rows, width, seed=0, dense=False):
    torch.manual_seed(seed)
    return EmbeddingTable(rows, width, dense=dense).double()


def trained(table, batches, target):
    """Train a table by the loss of its rows' distance to targets; return it."""
    optimizer = PlayerOptimizer([table.weight], [table.sparse_optimizer(BETAS)], BETAS)
    for index in batches:
        loss = (table(index) - target[index]).square().mean()
        grads = optimizer.merge(torch.autograd.grad(loss, optimizer.inputs()))
        optimizer.step(grads, LR)
    return table.weight.detach()


def test_each_row_has_the_adam_of_its_own_steps_alone():
    rng = torch.Generator().manual_seed(1)
    target = torch.randn(9, 4, generator=rng, dtype=torch.float64)
    batches = [torch.randint(0, 8, (5,), generator=rng) for _ in range(40)]  # rows come twice, the last never
    table = table_of(9, 4)
    rows = [nn.Parameter(row.clone()) for row in table.weight.detach()]
    adams = [torch.optim.Adam([row], lr=LR, betas=BETAS) for row in rows]
    for index in batches:
        loss = (torch.stack([rows[i] for i in index]) - target[index]).square().mean()
        for row in rows:
            row.grad = None
        loss.backward()
        for i in set(index.tolist()):
            adams[i].step()
    start = table.weight.detach().clone()
    result = trained(table, batches, target)
    torch.testing.assert_close(result, torch.stack(list(rows)).detach(), atol=1e-12, rtol=0)
    assert torch.equal(result[8], start[8])
    assert (result[:8] != start[:8]).all()


def test_with_every_row_in_the_batch_it_is_a_dense_adam():
    target = torch.randn(6, 3, dtype=torch.float64)
    table = table_of(6, 3)
    dense = nn.Parameter(table.weight.detach().clone())
    adam = torch.optim.Adam([dense], lr=LR, betas=BETAS)
    orders = [torch.randperm(6) for _ in range(30)]
    for _ in orders:
        adam.zero_grad()
        (dense - target).square().mean().backward()
        adam.step()
    torch.testing.assert_close(trained(table, orders, target), dense.detach(), atol=1e-12, rtol=0)


def test_a_dense_table_has_one_adam_for_all_rows(monkeypatch):
    monkeypatch.setattr(embedding_table, "AT_ONCE", 4)  # three pieces, the last of one row
    rng = torch.Generator().manual_seed(1)
    target = torch.randn(9, 4, generator=rng, dtype=torch.float64)
    batches = [torch.randint(0, 8, (5,), generator=rng) for _ in range(40)]  # rows come twice, the last never
    table = table_of(9, 4, dense=True)
    start = table.weight.detach().clone()
    weight = nn.Parameter(start.clone())
    adam = torch.optim.Adam([weight], lr=LR, betas=BETAS)
    for index in batches:
        adam.zero_grad()
        (weight[index] - target[index]).square().mean().backward()
        adam.step()
    result = trained(table, batches, target)
    torch.testing.assert_close(result, weight.detach(), atol=1e-12, rtol=0)
    assert torch.equal(result[8], start[8])  # it never had a gradient


def test_a_dense_row_that_was_seen_once_travels_as_far_as_its_momentum_goes():
    betas, lr, steps = (0.9, 0.999), 1e-3, 50
    far = {}
    for dense in (False, True):
        table = table_of(2, 1, dense=dense)
        start = table.weight.detach().clone()
        optimizer = PlayerOptimizer([table.weight], [table.sparse_optimizer(betas)], betas)
        for t in range(steps):
            loss = table(torch.tensor([min(t, 1)])).sum()  # the first row is in the first batch alone
            optimizer.step(optimizer.merge(torch.autograd.grad(loss, optimizer.inputs())), lr)
        far[dense] = (start - table.weight.detach())[0].item() / lr
    m = [0.1 * 0.9**t / (1 - 0.9 ** (t + 1)) for t in range(steps)]
    v = [0.001 * 0.999**t / (1 - 0.999 ** (t + 1)) for t in range(steps)]
    assert far[False] == pytest.approx(1.0, rel=1e-6)
    assert far[True] == pytest.approx(sum(a / b**0.5 for a, b in zip(m, v, strict=True)), rel=1e-6)
    assert far[True] > 5


def test_codes_begin_within_reach_and_are_read_without_a_trace():
    table = EmbeddingTable(1000, 3, reach=0.2)
    assert 0.19 < table.weight.abs().max() <= 0.2
    index = torch.tensor([3, 3, 7])
    assert torch.equal(table.read(index), table.weight[index])
    with torch.no_grad():
        assert torch.equal(table(index), table.weight[index])
    assert table.lookups == []
    assert table(index).requires_grad


class Codes(nn.Module):
    def __init__(self, rows=24, width=3, dense=False):
        super().__init__()
        torch.manual_seed(0)
        self.table, self.scale = EmbeddingTable(rows, width, dense=dense), nn.Parameter(torch.ones(width))
        self.double()


def stage_of(nets, epochs=2, spoil=lambda t: 1.0):
    """A stage that draws each code to the sum of its row; the scale and the codes are two players of one loss."""

    def step(batch, t):
        loss = (nets.table(batch.index) * nets.scale - batch.x.sum(1, keepdim=True)).square().mean()
        yield ("scale", "codes"), {"distance": loss * spoil(t)}

    players = {"scale": Player([nets.scale], 0.01), "codes": Player(nets.table, 0.1)}
    return Stage("codes", epochs, players, step, 8)


def fitted(nets, **settings):
    return train([stage_of(nets), stage_of(nets)], nets, training_data(24), seed=0, **settings)


def test_the_loop_updates_the_rows_of_the_batch_and_no_others():
    nets = Codes()
    start, seen = nets.table.weight.detach().clone(), []

    def step(batch, t):
        seen.extend(batch.index.tolist())
        yield "codes", {"size": nets.table(batch.index).square().sum()}
        changed = (nets.table.weight.detach() != start).any(1)
        assert set(torch.nonzero(changed).ravel().tolist()) == set(seen)

    train([Stage("one", 1, {"codes": Player(nets.table, 0.1)}, step, 8)], nets, training_data(24), seed=0)
    assert sorted(seen) == list(range(24))
    assert nets.table.lookups == []


@pytest.mark.parametrize("dense", [False, True])
def test_resuming_two_stages_stopped_anywhere_is_bit_exact(tmp_path, dense):
    whole = Codes(dense=dense)
    history = fitted(whole)
    assert history[-1].value < 0.8 * history[0].value
    for stop in (1, 4, 6, 8, 11):
        nets, file = Codes(dense=dense), tmp_path / f"{stop}.safetensors"
        stages = [stage_of(nets), stage_of(nets)]
        count = iter(range(100))

        def stopping(number, stage, count=count, stop=stop):
            def step(batch, t):
                if next(count) == stop:
                    raise InterruptedError
                yield from stage.step(batch, t)

            return Stage(stage.name, stage.epochs, stage.players, step, stage.batch)

        with pytest.raises(InterruptedError):
            train([stopping(i, s) for i, s in enumerate(stages)], nets, training_data(24), seed=0, checkpoint=file, every=0)
        again = Codes(dense=dense)
        assert fitted(again, checkpoint=file, resume=True) == history
        assert torch.equal(again.table.weight, whole.table.weight)
        assert torch.equal(again.scale, whole.scale)


def test_what_is_not_finite_never_reaches_the_table():
    nets = Codes()
    start = nets.table.weight.detach().clone()
    spoil = lambda t: torch.tensor(torch.nan)  # noqa: E731
    with (
        pytest.raises(TrainingError, match="'distance' of the player 'scale/codes' was not finite"),
        pytest.warns(RuntimeWarning),
    ):
        train([stage_of(nets, 5, spoil)], nets, training_data(24), seed=0)
    assert torch.equal(nets.table.weight, start)


def test_a_table_that_no_term_reaches_is_refused():
    nets = Codes()

    def step(batch, t):
        nets.table(batch.index)
        yield ("codes", "scale"), {"size": nets.scale.sum()}

    players = {"scale": Player([nets.scale], 0.01), "codes": Player(nets.table, 0.1)}
    with pytest.raises(ValueError, match=r"must reach all parameters that it owns; table.weight has no gradient"):
        train([Stage("one", 1, players, step, 8)], nets, training_data(24), seed=0)


def test_the_norm_that_clips_is_that_of_all_rows_together():
    nets = Codes()
    start = nets.table.weight.detach().clone()

    def step(batch, t):
        yield "codes", {"size": 1e6 * nets.table(batch.index).sum()}

    # With beta = 0 Adam goes lr whatever the size; the second moment shows what it was given.
    stage = Stage("one", 1, {"codes": Player(nets.table, 0.1, (0.0, 0.0))}, step, 24)
    train([stage], nets, training_data(24), seed=0, clip=1e-9)
    # Each of 72 gradients is 1e-9 / sqrt(72), next to Adam's epsilon of 1e-8.
    share = 1e-9 / np.sqrt(72)
    torch.testing.assert_close(start - nets.table.weight.detach(), torch.full_like(start, 0.1 * share / (share + 1e-8)))


def test_a_table_on_disk_has_the_bits_of_one_in_memory(monkeypatch, tmp_path):
    inside = Codes()
    history = fitted(inside, checkpoint=tmp_path / "inside")
    monkeypatch.setattr(mapped_tensors, "limit", lambda: 64)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    calls = []
    real = torch.from_file
    monkeypatch.setattr(torch, "from_file", lambda *a, **k: calls.append(a) or real(*a, **k))
    outside = Codes()
    assert fitted(outside, checkpoint=tmp_path / "outside", every=0) == history
    assert len(calls) == 2 + 2 * 3  # the table, also in double precision; in each stage two moments and the counts
    assert torch.equal(outside.table.weight, inside.table.weight)
    assert glob.glob(str(tmp_path / "untwine-*")) == []
    tensors, _ = read_tensors(tmp_path / "outside")
    assert torch.equal(tensors["nets/table.weight"], inside.table.weight.detach())


@pytest.mark.parametrize(
    "kind", [torch.float64, torch.float32, torch.bfloat16, torch.int64, torch.int32, torch.uint8, torch.bool]
)
def test_tensors_of_every_kind_are_written_and_read_back_by_the_formats_own_library(kind, tmp_path):
    from safetensors.torch import load_file

    tensors = {
        "a": torch.tensor([[0, 1, 1], [1, 0, 1]]).to(kind),
        "one": torch.tensor(1).to(kind),
        "none": torch.empty(0, 2).to(kind),
    }
    tensors["last"] = torch.arange(10, dtype=torch.float64).view(2, 5).T
    write_tensors(tmp_path / "x", tensors, {"note": "text"})
    for loaded in (load_file(tmp_path / "x"), read_tensors(tmp_path / "x")[0]):
        assert set(loaded) == set(tensors)
        assert all(torch.equal(loaded[name], tensors[name]) and loaded[name].dtype == tensors[name].dtype for name in tensors)
    assert read_tensors(tmp_path / "x")[1] == {"note": "text"}
