"""A finished run that has kept its checkpoint is trained longer, to the bits of one with more epochs from the start."""

import pytest
from command_line import DATA, exit_code, run
from small import TRAINED, small, vectors

import untwine as un

FILES = ("weights.safetensors", "history.csv")
BY_LENGTH = ("lord", "mm_cvae", "principled_vae", "recombining_vae", "sep_vae", "stargan")  # rates that decay to the last epoch
CONSTANT = [(name, {}) for name in TRAINED if name not in BY_LENGTH] + [("principled_vae", {"schedule": "constant"})]


@pytest.mark.parametrize(("name", "options"), CONSTANT, ids=lambda value: value if isinstance(value, str) else "")
def test_training_longer_is_bit_exact(name, options, tmp_path):
    data = vectors()
    small(name, epochs=3, **options).fit(data, out=tmp_path / "whole")
    small(name, epochs=1, **options).fit(data, out=tmp_path / "run", keep_checkpoint=True)
    for epochs in (2, 3):  # again, since a run that is trained longer keeps its checkpoint
        small(name, epochs=epochs, **options).fit(data, out=tmp_path / "run", resume=True)
    for file in FILES:
        assert (tmp_path / "run" / file).read_bytes() == (tmp_path / "whole" / file).read_bytes(), file
    assert un.load_method(tmp_path / "run").epochs == 3
    assert not (tmp_path / "run" / "checkpoint.safetensors").exists()


@pytest.mark.parametrize(("name", "options"), [*((name, {}) for name in BY_LENGTH), ("dip_vae", {"start": 4.0})])
def test_a_schedule_that_depends_on_the_length_is_refused_before_training(name, options, tmp_path):
    with pytest.raises(ValueError, match=r"only if no step depends on the number of epochs; .* or fit anew with more epochs"):
        small(name, **options).fit(vectors(), out=tmp_path / "run", keep_checkpoint=True)
    assert not (tmp_path / "run" / "method.json").exists()


def test_without_its_checkpoint_or_with_other_options_a_run_is_not_trained_longer(tmp_path):
    data, out = vectors(), tmp_path / "run"
    small("vae", epochs=2).fit(data, out=out)
    with pytest.raises(ValueError, match=r"a finished run of 2 epochs without one; fit it anew .* \(--keep-checkpoint\)"):
        small("vae", epochs=3).fit(data, out=out, resume=True)
    small("vae", epochs=2).fit(data, out=out, keep_checkpoint=True)
    before = [(out / file).read_bytes() for file in FILES]
    for other in ({"epochs": 1}, {"epochs": 3, "lr": 0.5}, {"epochs": 2, "seed": 1}):
        with pytest.raises(ValueError, match="holds a finished run of another method, options or data"):
            small("vae", **other).fit(data, out=out, resume=True)
    with pytest.raises(ValueError, match="holds a finished run of another method, options or data"):
        small("vae", epochs=3).fit(vectors(seed=1), out=out, resume=True)
    assert [(out / file).read_bytes() for file in FILES] == before
    with pytest.raises(ValueError, match="keep_checkpoint needs a run folder to keep it in; got no out"):
        small("vae").fit(data, keep_checkpoint=True)
    small("vae", epochs=2).fit(data, out=out)  # a fit that keeps none leaves no earlier one
    assert not (out / "final_checkpoint.safetensors").exists()


def test_training_longer_can_be_interrupted(tmp_path):
    data, out, seen = vectors(), tmp_path / "run", []
    small("vae", epochs=5).fit(data, out=tmp_path / "whole")
    small("vae", epochs=2).fit(data, out=out, keep_checkpoint=True)

    def stop(method, epoch):
        seen.append(epoch)
        if epoch == 4:
            raise RuntimeError("stopped")

    with pytest.raises(RuntimeError, match="stopped"):
        small("vae", epochs=5).fit(data, out=out, resume=True, every=0, watch=stop)
    assert seen == [3, 4]
    small("vae", epochs=5).fit(data, out=out, resume=True)
    for file in FILES:
        assert (out / file).read_bytes() == (tmp_path / "whole" / file).read_bytes(), file
    assert (out / "final_checkpoint.safetensors").exists()


def test_on_the_command_line(tmp_path, capsys):
    options = ("fit", "vae", *DATA, "--set", "width=8", "--quiet")
    run(*options, "--set", "epochs=1", "--keep-checkpoint", "--out", tmp_path / "run")
    run(*options, "--set", "epochs=3", "--resume", "--out", tmp_path / "run")
    run(*options, "--set", "epochs=3", "--out", tmp_path / "whole")
    for file in FILES:
        assert (tmp_path / "run" / file).read_bytes() == (tmp_path / "whole" / file).read_bytes(), file
    assert exit_code(*options, "--set", "epochs=4", "--resume", "--out", tmp_path / "whole") == 2
    assert "must have kept its last checkpoint to be trained longer" in capsys.readouterr().err
