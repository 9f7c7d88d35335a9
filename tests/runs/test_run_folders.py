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
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run") / "run"
    small("principled_vae", epochs=1).fit(vectors(), out=folder)
    return folder


@pytest.fixture
def run(made, tmp_path):
    return shutil.copytree(made, tmp_path / "run")


def resealed(run, **changes):
    """Change method.json as one who knows how it is sealed; None drops an entry."""
    card = json.loads((run / "method.json").read_text())
    card.pop("sha256")
    card = {key: value for key, value in {**card, **changes}.items() if value is not None}
    (run / "method.json").write_text(json.dumps({**card, "sha256": seal(card)}))


def edited(run, **changes):
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


def pickled(run):
    content = pickle.dumps(Payload(run / "executed"))
    (run / "weights.safetensors").write_bytes(content)
    resealed(run, weights_sha256=files.sha256(run / "weights.safetensors"))


def torch_pickled(run):
    torch.save({"x": Payload(run / "executed")}, run / "weights.safetensors")
    resealed(run, weights_sha256=files.sha256(run / "weights.safetensors"))


def truncated(run):
    path = run / "weights.safetensors"
    path.write_bytes(path.read_bytes()[:-100])


def truncated_and_resealed(run):
    truncated(run)
    resealed(run, weights_sha256=files.sha256(run / "weights.safetensors"))


def other_weights(run):
    tensors = load_file(run / "weights.safetensors")
    name = next(iter(tensors))
    save_file({**tensors, name: torch.zeros(3, 3)}, run / "weights.safetensors")
    resealed(run, weights_sha256=files.sha256(run / "weights.safetensors"))


DAMAGE = {
    "not a folder": (shutil.rmtree, "expected a run folder of untwine, but there is no such folder; make one with method.save"),
    "no method.json": (lambda run: (run / "method.json").unlink(), "but there is no method.json in it; make one with"),
    "not JSON": (lambda run: (run / "method.json").write_text("{'a'}"), r"expected JSON, but it is truncated or not JSON"),
    "truncated JSON": (
        lambda run: (run / "method.json").write_bytes((run / "method.json").read_bytes()[:200]),
        "expected JSON, but it is truncated or not JSON",
    ),
    "a list": (lambda run: (run / "method.json").write_text("[1]"), "expected a JSON object, but holds a list; restore it"),
    "not ours": (
        lambda run: (run / "method.json").write_text('{"name": "x"}'),
        "expected a run folder of untwine, but its method.json has no format_version; it is not ours",
    ),
    "a version in words": (lambda run: edited(run, format_version="1"), "method.json has no format_version; it is not ours"),
    "too new": (lambda run: resealed(run, format_version=99), "expected format 1 or older, but has 99; update untwine"),
    "changed params": (lambda run: edited(run, params={"epochs": 2}), "expected to be as it was saved, but it was changed"),
    "changed method": (lambda run: edited(run, method="vae"), "expected to be as it was saved, but it was changed"),
    "unknown method": (
        lambda run: resealed(run, method="mystery"),
        "expected a method and options that this version knows, but: the method must be a name from the catalogue",
    ),
    "unknown option": (
        lambda run: resealed(run, params={"epoch": 3}),
        "knows, but: PrincipledVAE must be one of .*; got 'epoch'",
    ),
    "bad option": (lambda run: resealed(run, params={"epochs": 0}), "knows, but: PrincipledVAE: epochs must be a whole number >= 1; got 0"),
    "no shape": (lambda run: resealed(run, shape=None), "this version knows, but: it does not say its shape"),
    "no params": (lambda run: resealed(run, params=None, data=None), "knows, but: it does not say its data and params"),
    "missing weights": (
        lambda run: (run / "weights.safetensors").unlink(),
        "expected weights.safetensors beside method.json, but it is missing; restore it",
    ),
    "truncated weights": (truncated, "expected the weights that were saved, but they were changed or cut short"),
    "flipped byte of a number": (
        lambda run: flip(run / "weights.safetensors", -1),
        "expected the weights that were saved, but they were changed or cut short",
    ),
    "flipped byte of a name": (
        lambda run: flip(run / "weights.safetensors", 12),
        "expected the weights that were saved, but they were changed or cut short",
    ),
    "truncated and resealed": (truncated_and_resealed, "expected whole safetensors, but it is truncated or damaged"),
    "weights of other networks": (other_weights, "but they belong to other networks"),
    "another width": (
        lambda run: resealed(run, params={**small("principled_vae", epochs=1).get_params(), "width": 9}),
        "expected the weights of 'principled_vae' as configured, but they belong to other networks",
    ),
    "a pickle": (pickled, "expected whole safetensors, but it is truncated or damaged"),
    "a pickle by torch": (torch_pickled, "expected whole safetensors, but it is truncated or damaged"),
    "a history in words": (
        lambda run: (run / "history.csv").write_text("stage,epoch,player,term,value\na,first,b,c,d\n"),
        "expected the columns stage, epoch, player, term, value as they were saved, but it was changed",
    ),
    "a history of another table": (
        lambda run: (run / "history.csv").write_text("a,b\n1,2\n"),
        "history.csv expected the columns",
    ),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_what_is_not_whole_and_ours_is_refused_in_one_sentence(run, kind):
    damage, sentence = DAMAGE[kind]
    damage(run)
    before = sorted(run.rglob("*"))
    with pytest.raises(ValueError, match=sentence) as caught:
        un.load_method(run)
    text = str(caught.value)
    assert text.endswith(".")
    assert "\n" not in text
    assert text.startswith(str(run))
    assert sorted(run.rglob("*")) == before
    assert not (run / "executed").exists()


def test_the_payload_would_have_run(tmp_path):
    pickle.loads(pickle.dumps(Payload(tmp_path / "executed")))
    assert (tmp_path / "executed").exists()


def test_other_networks_than_those_it_was_fitted_with_are_refused(run):
    with pytest.raises(ValueError, match=r"expected own networks for nothing; got \['encoder'\]; pass the modules"):
        un.load_method(run, networks={"encoder": torch.nn.Linear(6, 14)})


def test_the_folder_holds_plain_files_of_text_and_numbers(run):
    assert sorted(path.name for path in run.iterdir()) == ["history.csv", "method.json", "weights.safetensors"]
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


@pytest.mark.parametrize("step", range(3))
def test_a_save_that_fails_leaves_no_readable_half(tmp_path, monkeypatch, step):
    method, whole, seen = small("vae", epochs=1).fit(vectors()), os.replace, []

    def replace(source, target):
        seen.append(target)
        if len(seen) > step:
            raise OSError(28, "No space left on device")
        whole(source, target)

    monkeypatch.setattr(os, "replace", replace)
    with pytest.raises(OSError, match="No space left"):
        method.save(tmp_path / "run")
    # method.json comes last: without it the folder is no run.
    assert len(list((tmp_path / "run").iterdir())) == step
    with pytest.raises(ValueError, match=r"there is no method\.json in it"):
        un.load_method(tmp_path / "run")


def test_a_failed_checkpoint_leaves_the_one_before(tmp_path, monkeypatch):
    out, whole, seen = tmp_path / "run", os.replace, []

    def replace(source, target):
        seen.append(target)
        if len(seen) > 3:
            raise OSError(28, "No space left on device")
        whole(source, target)

    monkeypatch.setattr(os, "replace", replace)
    data = vectors()
    with pytest.raises(OSError, match="No space left"):
        small("vae").fit(data, out=out, every=0)
    assert [path.name for path in out.iterdir()] == ["checkpoint.safetensors"]
    assert files.read_tensors(out / "checkpoint.safetensors")[1]["at"]["step"] == 3
    monkeypatch.undo()
    again = small("vae").fit(data, out=out, resume=True)
    assert np.array_equal(again.transform(data.x), small("vae").fit(data).transform(data.x))
