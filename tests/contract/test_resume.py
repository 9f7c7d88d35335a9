"""Killed at any moment and resumed, a run ends with the bits of one that was not."""

import os
import random
import shutil
import signal
import time

import pytest
from fits import start
from small import NAMES, counts, images, small, vectors, with_covariates

import untwine as un

FILES = ("weights.safetensors", "history.csv")


@pytest.fixture(scope="module", autouse=True)
def server(tmp_path_factory):
    """Start the server of processes, whose imports are not part of any run's time."""
    start("vae", tmp_path_factory.mktemp("warm") / "run").join()


def survive(name, folder, kills):
    began = time.monotonic()
    process = start(name, folder / "whole")
    process.join()
    assert process.exitcode == 0
    lasts = time.monotonic() - began
    rng, done, finished = random.Random(name), 0, 0
    while done < kills or not finished:
        process = start(name, folder / "killed")
        if done < kills:
            process.join(rng.uniform(0, lasts / 3))
            if process.is_alive():
                os.kill(process.pid, signal.SIGKILL)
        process.join()
        if process.exitcode == -signal.SIGKILL:
            done += 1
            continue
        assert process.exitcode == 0
        finished += 1
        for file in FILES:
            assert (folder / "killed" / file).read_bytes() == (folder / "whole" / file).read_bytes(), (file, done)
        un.load_method(folder / "killed")
        if done < kills:
            shutil.rmtree(folder / "killed")
    return done


@pytest.mark.parametrize("name", NAMES)
def test_resuming_a_killed_run_is_bit_exact(name, tmp_path):
    assert survive(name, tmp_path, kills=2) == 2


@pytest.mark.soak
@pytest.mark.parametrize("name", NAMES)
def test_killed_twenty_times(name, tmp_path):
    assert survive(name, tmp_path, kills=20) == 20


def test_resume_refuses_another_configuration_or_other_data(tmp_path):
    data, out = vectors(), tmp_path / "run"
    _stop_early(small("vae"), data, out)
    with pytest.raises(ValueError, match="must come from the same method, options and data; got other ones"):
        small("vae", lr=0.5).fit(data, out=out, resume=True)
    with pytest.raises(ValueError, match="must come from the same method, options and data; got other ones"):
        small("vae").fit(vectors(seed=1), out=out, resume=True)


def test_a_damaged_checkpoint_is_refused(tmp_path):
    data, out = vectors(), tmp_path / "run"
    _stop_early(small("vae"), data, out)
    file = out / "checkpoint.safetensors"
    file.write_bytes(file.read_bytes()[:-7])
    with pytest.raises(ValueError, match="truncated or damaged"):
        small("vae").fit(data, out=out, resume=True)


def test_ctrl_c_is_held_until_the_step_is_done_and_nothing_is_lost(tmp_path):
    data = vectors()
    whole = small("contrastive_vae", epochs=3).fit(data)
    _stop_early(small("contrastive_vae", epochs=3), data, tmp_path / "run", every=1e9)
    again = small("contrastive_vae", epochs=3).fit(data, out=tmp_path / "run", resume=True)
    assert again.history_ == whole.history_
    assert (again.transform(data.x) == whole.transform(data.x)).all()


@pytest.mark.parametrize("name", ["double_infogan", "infogan"])
@pytest.mark.parametrize("networks", ["dcgan", "dcgan_attention"])
def test_a_game_resumes_with_the_statistics_and_norms_of_its_networks(tmp_path, name, networks):
    data, options = images(), {"networks": networks, "epochs": 3, "w_cr": 1.0, "loop_g": 2, "loop_d": 2}
    whole = small(name, **options).fit(data, out=tmp_path / "whole")
    _stop_early(small(name, **options), data, tmp_path / "stopped")
    again = small(name, **options).fit(data, out=tmp_path / "stopped", resume=True)
    assert (again.transform(data.x) == whole.transform(data.x)).all()
    for file in FILES:
        assert (tmp_path / "stopped" / file).read_bytes() == (tmp_path / "whole" / file).read_bytes(), file


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("lord", {"code_updates": "dense", "epochs_encoders": 2}),
        ("dip_vae", {"running": 0.9}),
        ("symmetric_rb_vae", {"trunks": "separate", "drop": "last"}),
    ],
)
def test_published_variants_resume_with_all_that_they_carry_from_step_to_step(tmp_path, name, options):
    data = vectors()
    whole = small(name, epochs=3, **options).fit(data, out=tmp_path / "whole")
    _stop_early(small(name, epochs=3, **options), data, tmp_path / "stopped")
    again = small(name, epochs=3, **options).fit(data, out=tmp_path / "stopped", resume=True)
    assert (again.transform(data.x) == whole.transform(data.x)).all()
    for file in FILES:
        assert (tmp_path / "stopped" / file).read_bytes() == (tmp_path / "whole" / file).read_bytes(), file


@pytest.mark.parametrize(
    ("name", "options", "draw"),
    [
        ("principled_vae", {}, vectors),
        ("symmetric_rb_vae", {"likelihood": "negative_binomial"}, counts),
        ("vae", {"likelihood": "zero_inflated", "library": "learned"}, counts),
        ("double_infogan", {"w_cr": 1.0}, images),
        ("lord", {}, vectors),
        ("mixing_ae", {}, vectors),
        ("stargan", {}, vectors),
    ],
)
def test_runs_with_covariates_and_counts_resume(tmp_path, monkeypatch, name, options, draw):
    data = with_covariates(draw())
    whole = small(name, epochs=3, **options).fit(data, out=tmp_path / "whole")
    method = small(name, epochs=3, **options)
    monkeypatch.setattr(type(method), "step", _interrupted(type(method).step))
    with pytest.raises(KeyboardInterrupt):
        method.fit(data, out=tmp_path / "stopped", every=0.0)
    monkeypatch.undo()
    again = small(name, epochs=3, **options).fit(data, out=tmp_path / "stopped", resume=True)
    assert (again.transform(data) == whole.transform(data)).all()
    for file in FILES:
        assert (tmp_path / "stopped" / file).read_bytes() == (tmp_path / "whole" / file).read_bytes(), file


def _interrupted(inner):
    """Return a step that is interrupted in the middle of its fifth run."""
    steps = []

    def step(self, batch, t):
        moves = inner(self, batch, t)
        yield next(moves)
        steps.append(t)
        if len(steps) == 5:
            os.kill(os.getpid(), signal.SIGINT)
        yield from moves

    return step


def _stop_early(method, data, out, every=0.0):
    """Interrupt in the middle of the fifth step."""
    steps = []
    inner = method.step

    def step(batch, t):
        moves = inner(batch, t)
        yield next(moves)
        steps.append(t)
        if len(steps) == 5:
            os.kill(os.getpid(), signal.SIGINT)
        yield from moves

    method.step = step
    with pytest.raises(KeyboardInterrupt):
        method.fit(data, out=out, every=every)
