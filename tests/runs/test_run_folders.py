"""A run folder is read back whole, or refused in one sentence; nothing in it is ever executed."""

import json
import os
import pickle
import shutil

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from small import small, vectors

import untwine as un
from untwine.runs import files
from untwine.runs.saving import seal


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run") / "run"
    small("principled_vae", epochs=1).fit(vectors(), out=folder)
    return folder


@pytest.fixture
def run(fitted, tmp_path):
    return shutil.copytree(fitted, tmp_path / "run")


def reseal(run, **changes):
    """Change method.json as one who knows how it is sealed; None drops an entry."""
    card = json.loads((run / "method.json").read_text())
    card.pop("sha256")
    card = {key: value for key, value in {**card, **changes}.items() if value is not None}
    (run / "method.json").write_text(json.dumps({**card, "sha256": seal(card)}))


def edit(run, **changes):
    """Change method.json as one who does not know about the seal."""
    card = json.loads((run / "method.json").read_text())
    (run / "method.json").write_text(json.dumps({**card, **changes}))


def flip(path, at):
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(content)


class Payload:
    """What runs on unpickling; it would leave a file behind."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return os.mkdir, (str(self.mark),)


def pickle_weights(run):
    content = pickle.dumps(Payload(run / "executed"))
    (run / "weights.safetensors").write_bytes(content)
    reseal(run, weights_sha256=files.sha256(run / "weights.safetensors"))


def torch_pickle_weights(run):
    torch.save({"x": Payload(run / "executed")}, run / "weights.safetensors")
    reseal(run, weights_sha256=files.sha256(run / "weights.safetensors"))


def truncate(run):
    path = run / "weights.safetensors"
    path.write_bytes(path.read_bytes()[:-100])


def truncate_and_reseal(run):
    truncate(run)
    reseal(run, weights_sha256=files.sha256(run / "weights.safetensors"))


def replace_weights(run):
    tensors = load_file(run / "weights.safetensors")
    name = next(iter(tensors))
    save_file({**tensors, name: torch.zeros(3, 3)}, run / "weights.safetensors")
    reseal(run, weights_sha256=files.sha256(run / "weights.safetensors"))


DAMAGE = {
    "not a folder": (shutil.rmtree, "must be a run folder of untwine; there is no such folder; make one with method.save"),
    "no method.json": (lambda run: (run / "method.json").unlink(), "; there is no method.json in it; make one with"),
    "not JSON": (lambda run: (run / "method.json").write_text("{'a'}"), r"must be JSON; it is truncated or something else"),
    "truncated JSON": (
        lambda run: (run / "method.json").write_bytes((run / "method.json").read_bytes()[:200]),
        "must be JSON; it is truncated or something else",
    ),
    "a list": (lambda run: (run / "method.json").write_text("[1]"), "must be a JSON object; got a list; restore it"),
    "not ours": (
        lambda run: (run / "method.json").write_text('{"name": "x"}'),
        "must have an integer format_version and the name of a method; got None and None; it was not written by untwine",
    ),
    "a version in words": (
        lambda run: edit(run, format_version="1"),
        "must have an integer format_version .*; got '1' and 'principled_vae'",
    ),
    "too new": (lambda run: reseal(run, format_version=99), "must have format 1 or older; got 99; upgrade untwine"),
    "changed params": (lambda run: edit(run, params={"epochs": 2}), "must be as it was saved; it was changed"),
    "changed method": (lambda run: edit(run, method="vae"), "must be as it was saved; it was changed"),
    "unknown method": (
        lambda run: reseal(run, method="mystery"),
        "is a run of the method 'mystery', which is not known here; install the package that has it",
    ),
    "unknown option": (
        lambda run: reseal(run, params={"epoch": 3}),
        "knows: .*PrincipledVAE .*'epoch'",
    ),
    "bad option": (
        lambda run: reseal(run, params={"epochs": 0}),
        "knows: PrincipledVAE: epochs must be an integer >= 1 or 'auto'; got 0",
    ),
    "no shape": (lambda run: reseal(run, shape=None), "this version knows: it has no shape"),
    "no params": (lambda run: reseal(run, params=None, data=None), "knows: it has no data and no params"),
    "missing weights": (
        lambda run: (run / "weights.safetensors").unlink(),
        "must have weights.safetensors beside method.json; it is missing; restore it",
    ),
    "truncated weights": (truncate, "must be the weights that were saved; they were changed or cut short"),
    "flipped byte of a number": (
        lambda run: flip(run / "weights.safetensors", -1),
        "must be the weights that were saved; they were changed or cut short",
    ),
    "flipped byte of a name": (
        lambda run: flip(run / "weights.safetensors", 12),
        "must be the weights that were saved; they were changed or cut short",
    ),
    "truncated and resealed": (truncate_and_reseal, "must be a whole safetensors file; it is truncated or damaged"),
    "weights of other networks": (replace_weights, "got those of other networks; restore the file"),
    "another width": (
        lambda run: reseal(run, params={**small("principled_vae", epochs=1).get_params(), "width": 9}),
        "must hold the weights of 'principled_vae' as configured; got those of other networks; restore",
    ),
    "a pickle": (pickle_weights, "must be a whole safetensors file; it is truncated or damaged"),
    "a pickle by torch": (torch_pickle_weights, "must be a whole safetensors file; it is truncated or damaged"),
    "a history in words": (
        lambda run: (run / "history.csv").write_text("stage,epoch,player,term,value\na,first,b,c,d\n"),
        "must have the columns stage, epoch, player, term, value as they were saved; it cannot be read",
    ),
    "a history of another table": (
        lambda run: (run / "history.csv").write_text("a,b\n1,2\n"),
        "history.csv must have the columns",
    ),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_what_is_not_whole_and_ours_is_refused_with_one_error_message(run, kind):
    damage, sentence = DAMAGE[kind]
    damage(run)
    before = sorted(run.rglob("*"))
    with pytest.raises(ValueError, match=sentence) as caught:
        un.load_method(run)
    text = str(caught.value)
    assert text.endswith((".", "?"))
    assert "\n" not in text
    assert text.startswith(str(run))
    assert sorted(run.rglob("*")) == before
    assert not (run / "executed").exists()


def test_the_payload_would_have_run(tmp_path):
    pickle.loads(pickle.dumps(Payload(tmp_path / "executed")))
    assert (tmp_path / "executed").exists()


def test_other_networks_than_those_it_was_fitted_with_are_refused(run):
    with pytest.raises(ValueError, match=r"modules that .* was fitted with: none; got encoder; pass load_method"):
        un.load_method(run, networks={"encoder": torch.nn.Linear(6, 14)})


def test_the_folder_holds_plain_files_of_text_and_numbers(run):
    assert sorted(path.name for path in run.iterdir()) == [
        "README.md",
        "history.csv",
        "method.json",
        "weights.safetensors",
    ]
    card = json.loads((run / "method.json").read_text())
    assert card["shape"] == [6]
    assert card["blocks"] == {"common": 4, "salient": 3}
    assert set(card["versions"]) == {"untwine", "python", "torch", "numpy"}
    assert list(load_file(run / "weights.safetensors")) == sorted(load_file(run / "weights.safetensors"))
    head = (run / "history.csv").read_text().splitlines()
    assert head[0] == "stage,epoch,player,term,value"
    assert head[1].startswith("training,0,vae,")


def test_a_run_can_move_and_still_be_read(run, tmp_path):
    data = vectors()
    before = un.load_method(run).transform(data.x)
    moved = shutil.move(run, tmp_path / "elsewhere")
    assert np.array_equal(un.load_method(moved).transform(data.x), before)


@pytest.mark.parametrize("step", range(4))
def test_a_save_that_fails_leaves_no_readable_half(tmp_path, monkeypatch, step):
    method, replace_file, targets = small("vae", epochs=1).fit(vectors()), os.replace, []

    def replace(source, target):
        targets.append(target)
        if len(targets) > step:
            raise OSError(28, "No space left on device")
        replace_file(source, target)

    monkeypatch.setattr(os, "replace", replace)
    with pytest.raises(OSError, match="No space left"):
        method.save(tmp_path / "run")
    # method.json comes last: without it the folder is no run.
    assert len(list((tmp_path / "run").iterdir())) == step
    with pytest.raises(ValueError, match=r"there is no method\.json in it"):
        un.load_method(tmp_path / "run")


def test_a_failed_checkpoint_leaves_the_one_before(tmp_path, monkeypatch):
    out, replace_file, targets = tmp_path / "run", os.replace, []

    def replace(source, target):
        targets.append(target)
        if len(targets) > 3:
            raise OSError(28, "No space left on device")
        replace_file(source, target)

    monkeypatch.setattr(os, "replace", replace)
    data = vectors()
    with pytest.raises(OSError, match="No space left"):
        small("vae").fit(data, out=out, every=0)
    assert [path.name for path in out.iterdir()] == ["checkpoint.safetensors"]
    assert files.read_tensors(out / "checkpoint.safetensors")[1]["at"]["step"] == 3
    monkeypatch.undo()
    again = small("vae").fit(data, out=out, resume=True)
    assert np.array_equal(again.transform(data.x), small("vae").fit(data).transform(data.x))
