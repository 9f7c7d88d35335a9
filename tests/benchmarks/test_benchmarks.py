import copy
import json
import os
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

sys.path.insert(0, str(Path(__file__).parents[2]))  # the benchmarks are not installed with the library

import untwine
from benchmarks import __main__ as program
from benchmarks import (
    cells,
    closed_forms,
    codes,
    game,
    independent,
    instructions,
    latent_optimisation,
    layouts,
    peer,
    scores,
    sides,
    waiting,
    work,
)
from benchmarks.against import TASKS, Task, against
from benchmarks.figures import Figure, figure, interleaved, medians
from benchmarks.processes import in_processes
from benchmarks.suites import SUITES, _speed
from benchmarks.work import Work
from untwine import Samples
from untwine.networks import NETWORKS
from untwine.networks.adain import AdaIN
from untwine.networks.class_content import Generator
from untwine.networks.pretrained.reconstruction import mean_loss
from untwine.training.batches import Batch


@pytest.fixture(autouse=True)
def same_threads():
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def test_sides_take_turns_and_the_first_round_is_dropped():
    turns = []
    answers = {"a": iter([100.0, 1.0, 2.0, 3.0]), "b": iter([100.0, 2.0, 8.0, 3.0])}

    def side(name):
        turns.append(name)
        return next(answers[name])

    rounds = interleaved({"a": lambda: side("a"), "b": lambda: side("b")}, 3)
    assert "".join(turns) == "abbaabba"
    assert rounds == [{"a": 1.0, "b": 2.0}, {"a": 2.0, "b": 8.0}, {"a": 3.0, "b": 3.0}]
    assert medians(rounds) == {"a": 2.0, "b": 3.0}


def test_speed_is_the_median_of_each_rounds_own_ratio():
    task = Work(work.images(256, (1, 8, 8)), work.mlp, 2)
    rounds = [{"ours": 1.0, "bare": 2.0}, {"ours": 2.0, "bare": 8.0}, {"ours": 8.0, "bare": 8.0}]
    one = _speed("speed", "bare", task, rounds, 0.95)
    # The ratio of the sides' medians would be 4.
    assert (one.value, one.low, one.high) == (2.0, 1.0, 4.0)
    assert one.detail["images_per_second"] == {"ours": 256.0, "bare": 64.0}
    assert one.ok


@pytest.mark.parametrize(
    "direction, value, ok",
    [
        ("at least", 1.0, True),
        ("at least", 0.999, False),
        ("at most", 1.0, True),
        ("at most", 1.001, False),
        ("below", 1.0, False),
        ("below", 0.999, True),
        ("at least", float("nan"), False),
        ("below", float("nan"), False),
    ],
)
def test_bounds(direction, value, ok):
    assert Figure("x", value, value, value, bound=1.0, direction=direction).ok is ok


@pytest.mark.parametrize("nets", [work.mlp, work.conv])
def test_bare_loop_and_ours_take_the_same_steps(nets, monkeypatch):
    # All samples are equal and the noise is 0, so neither order nor random draws can make the two sides differ.
    monkeypatch.setattr(torch, "randn_like", torch.zeros_like)
    monkeypatch.setattr(Batch, "noise", lambda batch, *shape: torch.zeros(len(batch.x), *shape))
    x = np.repeat(work.images(1, (1, 8, 8)), 256, axis=0)
    trained = {}
    for side in (sides.bare, sides.ours):

        def keep(shape, side=side):
            trained[side.__name__] = nets(shape)
            return trained[side.__name__]

        assert side(Work(x, keep, 2)) > 0
    before = Work(x, nets, 2).fresh()
    for start, bare, ours in zip(before, trained["bare"], trained["ours"], strict=True):
        for first, one, other in zip(start.parameters(), bare.parameters(), ours.parameters(), strict=True):
            assert (first - one).abs().max() > 1e-4
            # Adam divides by the gradient's size: one rounding error in a gradient near 0 may show in that weight alone.
            assert (one - other).abs().mean() < 1e-5


def test_the_straightforward_game_has_our_losses(monkeypatch):
    # All samples are equal, the codes are 0, there is no noise and no progress, so both sides compute the same in every step.
    monkeypatch.setattr(torch, "randn", torch.zeros)
    monkeypatch.setattr(Batch, "noise", lambda batch, *shape: torch.zeros(len(batch.x), *shape))
    monkeypatch.setattr(game, "RATE", 1e-30)
    losses, loss, step = [], game._loss, game.DoubleInfoGAN.step

    def noted(method, batch, t):
        for player, terms in step(method, batch, t):
            losses.append((player, sum(terms.values()).item()))
            yield player, terms

    def record_loss(*args, generator):
        value = loss(*args, generator=generator)
        losses.append(("generator" if generator else "discriminator", value.item()))
        return value

    monkeypatch.setattr(game.DoubleInfoGAN, "step", noted)
    monkeypatch.setattr(game, "_loss", record_loss)
    task = game.Game(np.repeat(work.images(1, (3, 8, 8)), 8, axis=0), 4)
    assert game.ours(task) > 0
    assert game.straight(task) > 0
    ours, theirs = losses[:2], losses[2:]
    assert [player for player, _ in ours] == [player for player, _ in theirs] == ["generator", "discriminator"]
    assert [value for _, value in ours] == pytest.approx([value for _, value in theirs], rel=1e-5)


def test_both_updates_of_codes_take_the_same_steps_where_a_batch_is_every_sample(monkeypatch):
    monkeypatch.setattr(codes, "BATCH", 40)
    table = codes.EmbeddingTable(40, codes.WIDTH)
    plain = torch.nn.Parameter(table.weight.detach().clone())
    before = plain.detach().clone()
    assert codes.ours(table, 3) > 0
    assert codes.dense(plain, 3) > 0
    torch.testing.assert_close(table.weight.detach(), plain.detach(), rtol=1e-5, atol=1e-7)
    assert (plain.detach() - before).abs().min() > 0
    assert not table.lookups


def test_steps_are_timed_from_one_to_the_next_and_no_further(monkeypatch):
    taken, step = [], codes.LORD.step

    def noted(method, batch, t):
        taken.append(len(batch.x))
        yield from step(method, batch, t)

    monkeypatch.setattr(codes.LORD, "step", noted)
    assert codes.step_seconds(codes.random_samples(3 * codes.BATCH), 5) > 0  # five steps, so two epochs
    assert taken == [codes.BATCH] * 5


def test_all_networks_fit_every_side():
    for nets in (work.mlp, work.conv, work.pythae_mlp):
        encoder, decoder = Work(work.images(2, (1, 12, 12)), nets, 1).fresh()
        assert encoder(torch.zeros(2, 1, 12, 12)).shape == (2, 2 * work.LATENT)
        assert decoder(torch.zeros(2, work.LATENT)).shape == (2, 1, 12, 12)
    count = sum(p.numel() for net in work.pythae_mlp((1, 28, 28)) for p in net.parameters())
    assert count == 784 * 512 + 512 + 2 * (512 * 10 + 10) + 10 * 512 + 512 + 512 * 784 + 784


def test_the_program_keeps_its_figures(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(SUITES, "growth", lambda quick: [figure("growth", [1.0, 2.0, 3.0], bound=1.15, direction="at most")])
    assert program.main(["--quick", "--only", "overhead,growth"], tmp_path) == 1
    kept = json.loads((tmp_path / "out" / "bench.json").read_text())
    step, growth = kept["figures"]
    assert step["detail"]["samples"] == 256
    assert step["low"] <= step["value"] <= step["high"]
    each = step["detail"]["milliseconds_per_step"]
    assert each["ours"] > 0
    assert each["bare"] > 0
    assert (growth["value"], growth["ok"]) == (2.0, False)
    assert not (tmp_path / "latest.json").exists()
    assert "FAILED" in capsys.readouterr().out


def test_a_whole_run_replaces_the_latest_figures(tmp_path, monkeypatch):
    for name in SUITES:
        monkeypatch.setitem(SUITES, name, lambda quick, name=name: [figure(name, [1.0], bound=1.0)])
    monkeypatch.setattr(peer, "available", lambda: True)
    assert program.main([], tmp_path) == 0
    latest = (tmp_path / "latest.json").read_text()
    assert latest == (tmp_path / "out" / "bench.json").read_text()
    assert [one["name"] for one in json.loads(latest)["figures"]] == list(SUITES)


def test_contrastive_pca_is_measured_in_new_processes(tmp_path):
    program.main(["--quick", "--only", "contrastive_pca"], tmp_path)
    figures = json.loads((tmp_path / "out" / "bench.json").read_text())["figures"]
    assert [one["bound"] for one in figures] == [2.0, 8.0, 60.0, None]
    first, images, _, memory = figures
    assert first["value"] > images["value"] > 0  # with its imports
    assert memory["value"] == pytest.approx(
        figures[2]["detail"]["medians"]["megabytes"] / figures[2]["detail"]["medians"]["samples"], rel=0.01
    )


def test_the_straightforward_step_of_lord_is_on_our_objective(monkeypatch):
    data = Samples(work.images(6, latent_optimisation.SHAPE), labels=np.arange(6) % 2)
    side = latent_optimisation.Straightforward(data, 2, 6)
    monkeypatch.setattr(torch, "randint", lambda high, size: torch.arange(6))
    monkeypatch.setattr(torch, "randn_like", lambda c: torch.full_like(c, 0.5))
    inner = copy.deepcopy(side.generator)
    for norm in inner.norms:
        norm.__class__ = AdaIN  # ours, with the same parameters
    e, c = side.e(torch.arange(6) % 2).detach(), side.c.weight.detach().clone()
    images = Generator(inner, images=True)(e, c + latent_optimisation.SIGMA * 0.5)
    ours = mean_loss("l1", images, torch.from_numpy(data.x) / 255) + latent_optimisation.DECAY * c.square().sum(1).mean()
    torch.testing.assert_close(side.step(), ours.detach())
    assert side.step() < ours  # and it learns
    assert not torch.equal(side.c.weight, c)


@pytest.mark.parametrize("suite, count", [("lord", 1), ("layouts", 22)])
def test_lords_step_and_layouts_are_measured(suite, count, tmp_path):
    assert program.main(["--quick", "--only", suite], tmp_path) == 0
    figures = json.loads((tmp_path / "out" / "bench.json").read_text())["figures"]
    assert len(figures) == count
    assert all(one["value"] > 0 for one in figures)


def test_layouts_are_measured_of_every_network_of_images():
    names = {name.rsplit(" ", 1)[0] for name in layouts.networks()}
    assert names >= {name for name, pair in NETWORKS.items() if pair.images_only and not pair.volumes}
    net, (x,) = layouts._laid_out(layouts.networks()["conv encoder"](2), torch.channels_last)
    assert x.is_contiguous(memory_format=torch.channels_last)
    assert all(p.is_contiguous(memory_format=torch.channels_last) for p in net.parameters() if p.ndim == 4)


def test_the_samples_of_closed_forms_are_those_of_every_size():
    assert closed_forms.draw("small", 405).shape == (405, 77)
    x = closed_forms.draw("images", 300)
    assert (x.shape, x.dtype) == ((300, 3, 64, 64), np.uint8)
    assert x[:150].std() > x[150:].std()


def test_new_processes_return_their_measurements(tmp_path):
    assert program.main(["--quick", "--only", "memory,import"], tmp_path) in (0, 1)
    memory, untwine = json.loads((tmp_path / "out" / "bench.json").read_text())["figures"]
    peaks = memory["detail"]["megabytes"]
    assert peaks["imports"] < peaks["ours"]
    assert memory["value"] == pytest.approx(peaks["ours"] / peaks["bare"], rel=0.02)
    assert 0 < untwine["value"] < untwine["detail"]["seconds"]["torch"]


def test_without_pythae_it_says_so(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(peer, "available", lambda: False)
    assert program.main([], tmp_path) == 2
    assert "pythae could not be imported" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_unknown_suites_are_refused(capsys):
    with pytest.raises(SystemExit):
        program.main(["--only", "loop,speed"])
    assert "--only must be names among loop, pythae" in capsys.readouterr().err


def test_both_sides_of_factor_vae_take_steps_on_as_many_images(monkeypatch):
    if not peer.available():
        pytest.skip("pythae is not there")
    encoded, decoded = {}, {}

    def counting(shape):
        encoder, decoder = work.mlp(shape)
        for net, seen in ((encoder, encoded), (decoder, decoded)):
            net.register_forward_hook(lambda module, given, out, seen=seen: seen[side].append(len(given[0])))
        return encoder, decoder

    task = Work(work.binary(2 * work.BATCH, (1, 8, 8)), counting, 1)
    monkeypatch.setattr(independent, "WIDE", 8)
    for side in ("our_factor_vae", "pythae_factor_vae", "our_beta_tcvae", "pythae_beta_tcvae"):
        encoded[side], decoded[side] = [], []
        assert getattr(independent, side)(task) > 0
    # Every side reconstructs the same images in the same number of steps; pythae tries its model on two samples at first.
    assert all(found[-2:] == [work.BATCH] * 2 for found in decoded.values()), decoded
    assert all(len(found) <= 3 for found in decoded.values()), decoded
    # And FactorVAE encodes as many, those of the second batch among them; both sides try their networks before the clock runs.
    ours, theirs = encoded["our_factor_vae"], encoded["pythae_factor_vae"]
    assert ours[-4:] == theirs[-4:] == [work.BATCH] * 4
    assert len(ours) == 5
    assert len(theirs) == 6


def test_factor_vae_is_timed_with_a_second_batch_and_without(monkeypatch):
    seconds = {"pythae_factor_vae": 3.0, "our_beta_tcvae": 1.0, "pythae_beta_tcvae": 1.1}
    for name, value in seconds.items():
        monkeypatch.setattr(independent, name, lambda task, value=value: value)
    monkeypatch.setattr(independent, "our_factor_vae", lambda task, second_batch=True: 2.0 if second_batch else 1.0)
    found = {one.name.removesuffix(": ours over pythae"): one for one in SUITES["factors"](True)}
    assert {name: (one.value, one.bound, one.ok) for name, one in found.items()} == {
        "FactorVAE, 64 x 64": (1.5, 1.2, True),
        "FactorVAE, 64 x 64, codes of the same batch permuted": (3.0, 1.2, True),
        "beta-TCVAE, 64 x 64": (1.1, 1.2, False),
    }


def test_dci_is_fitted_on_as_many_samples_as_the_calibration(monkeypatch):
    from sklearn.ensemble import GradientBoostingClassifier

    fitted, judged = {}, {}

    def ours(codes, factors, split):
        fitted["ours"], judged["ours"] = codes[split[0]], codes[split[1]]

    monkeypatch.setattr(scores.metrics, "dci_scores", ours)
    monkeypatch.setattr(GradientBoostingClassifier, "fit", lambda model, x, y: fitted.update(theirs=x))
    sides_of_a_round = scores.sides(300)
    assert sides_of_a_round["dci"]() > 0
    assert sides_of_a_round["scikit-learn"]() > 0
    assert np.array_equal(fitted["ours"], fitted["theirs"])
    assert len(fitted["ours"]) == 300
    assert len(judged["ours"]) == 150


def test_the_scores_seconds_are_scaled_by_the_calibration(monkeypatch):
    seconds = {
        "scikit-learn": 2 * scores.CALIBRATION,
        "sap": 0.32,
        "mig": 0.08,
        "z_diff": 1.0,
        "factor_vae_score": 2.8,
        "dci": 9.05,
    }
    monkeypatch.setattr(scores, "sides", lambda n: {name: lambda value=value: value for name, value in seconds.items()})
    found = {one.name.split(":")[0]: one for one in SUITES["metrics"](True)}
    # A machine that takes twice the calibration's seconds would take twice the library's.
    assert {name: one.value for name, one in found.items()} == pytest.approx(
        {"sap": 4.0, "mig": 4.0, "z_diff": 4.0, "factor_vae_score": 1.0, "dci": 40.0}
    )
    assert [name for name, one in found.items() if not one.ok] == ["factor_vae_score"]


def test_the_scored_codes_encode_their_factors():
    codes, factors = scores.noisy_codes(400)
    assert codes.shape == (400, 10)
    assert sorted(np.unique(factors)) == list(range(10))
    assert np.linalg.lstsq(np.c_[codes, np.ones(400)], factors, rcond=None)[1].sum() < 0.7 * factors.var(0).sum() * 400
    assert scores.calibration(codes, factors) > 0


def test_each_side_has_one_process_for_all_rounds():
    with in_processes({"one": os.getpid, "other": os.getpid}) as sides:
        found = [{name: side() for name, side in sides.items()} for _ in range(2)]
    assert found[0] == found[1]
    assert len({os.getpid(), found[0]["one"], found[0]["other"]}) == 3


def test_another_checkout_is_measured_beside_this_one(capsys, monkeypatch):
    monkeypatch.setattr(
        "benchmarks.against.TASKS", {"tiny": Task((4,), 64, "VAE", {"networks": "mlp", "width": 2, "epochs": 1}, 1)}
    )
    one = next(iter(against(Path(__file__).parents[2], quick=True)))
    assert one.name == "tiny: this version over the other"
    assert one.value == pytest.approx(one.detail["seconds"]["other"] / one.detail["seconds"]["this"], rel=0.2)
    assert program.main(["--against", "nowhere"]) == 2
    assert "must be a checkout of untwine" in capsys.readouterr().err


def test_instructions_of_a_step_are_those_of_a_longer_fit_without_a_shorter_one(monkeypatch):
    counts = {"this": 5_000, "other": 4_000}  # a step, beside a million for all else

    def run(command, cwd, **_):
        epochs = json.loads(command[-1])[3]["epochs"]
        side = "this" if cwd == instructions.ROOT else "other"
        total = 1_000_000 + epochs * instructions.STEPS * counts[side]
        return SimpleNamespace(stderr=f"==1== I   refs:      {total:,}\n")

    monkeypatch.setattr("benchmarks.instructions.subprocess.run", run)
    found = list(instructions.instructions(Path("elsewhere")))
    assert [one.value for one in found] == [0.8] * len(instructions.COUNTED)
    assert not any(one.ok for one in found)
    assert set(found[0].detail["thousand instructions a step"].values()) == {4, 5}


def test_instructions_need_valgrind_and_another_checkout(capsys, monkeypatch):
    monkeypatch.setattr("benchmarks.instructions.shutil.which", lambda _: None)
    assert program.main(["--against", str(instructions.ROOT), "--instructions"]) == 2
    assert "install Debian's package valgrind" in capsys.readouterr().err
    assert program.main(["--instructions"]) == 2
    assert "add --against FOLDER" in capsys.readouterr().err


@pytest.mark.parametrize("name", TASKS)
def test_the_tasks_for_other_checkouts_are_options_of_today(name):
    task = TASKS[name]
    method = getattr(untwine, task.method)(**task.options)
    method.check()
    assert {key: method.get_params()[key] for key in task.options} == task.options


def test_the_table_of_cells_is_in_the_results():
    results = (Path(__file__).parents[2] / "docs" / "results.md").read_text()
    assert all(cells.table(data) in results for data in cells.OURS)


def test_what_the_peer_made_is_scored_like_a_fitted_method(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    arrays = {"common": rng.normal(size=(6, 2)), "salient": rng.normal(size=(6, 1))}
    arrays |= {"decoded": np.arange(12.0).reshape(6, 2), "without": -np.arange(12.0).reshape(6, 2)}
    one = cells.Precomputed(arrays)
    z = one.encode(np.zeros((6, 2))).take([4, 1])
    np.testing.assert_array_equal(one.decode(z), arrays["decoded"][[4, 1]])
    np.testing.assert_array_equal(one.decode(z.remove("salient")), arrays["without"][[4, 1]])
    with pytest.raises(ValueError, match="the codes are of 6 cells; got 5"):
        one.encode(np.zeros((5, 2)))
    monkeypatch.setattr(cells, "RESULTS", tmp_path / "cells.csv")
    ours = cells.ours("silent genes")
    assert list(cells.missing(ours)) == [(row, seed) for row in cells.ROWS for seed in (0, 1, 2)]
    cells.write_rows([{"data": "silent genes", "row": "ContrastiveVI", "seed": 1, "score": "ari.salient", "value": "0.5"}])
    assert ("ContrastiveVI", 1) not in list(cells.missing(ours))
    assert ("ContrastiveVI", 1) in list(cells.missing(cells.ours("counts and batches")))
    assert "| ContrastiveVI | 0.50 | - |" in cells.table("silent genes")
    assert "| ContrastiveVI | - |" in cells.table("counts and batches")


def test_the_speed_of_cells_needs_the_peer(capsys):
    assert cells.main(["--speed"]) == 2
    assert "--speed needs --peer PYTHON" in capsys.readouterr().err


@pytest.mark.soak
def test_both_ways_to_wait_are_measured_and_said(capsys):
    assert waiting.main(["--quick"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"spinning \d+\.\d epochs/s, sleeping \d+\.\d epochs/s", lines[0])
    assert re.fullmatch(r"Beside \d+ busy processes, .* take \d+\.\d times as long as .* in 1 rounds\)\.", lines[1])
