"""Runs are shared by the Hub's own library, here with a folder in place of its server: only the files of a run move."""

import re
import shutil
from fnmatch import fnmatch
from pathlib import Path

import huggingface_hub
import numpy as np
import pytest
from small import small, vectors

import untwine as un
from untwine.runs.names import CHECKPOINT


class Server:
    """A folder that holds repositories, behind the calls of huggingface_hub that are used."""

    def __init__(self, root):
        self.root, self.private = root, None

    def create_repo(self, repo_id, *, private, exist_ok):
        assert exist_ok
        self.private = private
        (self.root / repo_id).mkdir(parents=True, exist_ok=True)

    def upload_folder(self, *, repo_id, folder_path, allow_patterns, commit_message):
        for path in folder_path.rglob("*"):
            name = str(path.relative_to(folder_path))
            if path.is_file() and any(fnmatch(name, pattern) for pattern in allow_patterns):
                shutil.copy(path, self.root / repo_id / name)
        return f"https://hub.example/{repo_id}"

    def snapshot_download(self, repo_id, *, revision, token, allow_patterns):
        huggingface_hub.utils.validate_repo_id(repo_id)
        return str(self.root / repo_id)


@pytest.fixture
def server(tmp_path, monkeypatch):
    server = Server(tmp_path / "hub")
    monkeypatch.setattr(huggingface_hub, "HfApi", lambda token: server)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", server.snapshot_download)
    return server


@pytest.fixture
def run(tmp_path):
    small("principled_vae", epochs=1).fit(vectors(), out=tmp_path / "run")
    return tmp_path / "run"


def test_a_run_comes_back_as_it_went(run, server):
    (run / "patients.csv").write_text("secret")
    (run / "inside").mkdir()
    (run / "inside" / "notes.txt").write_text("secret")
    assert un.push_to_hub(run, "me/brains") == "https://hub.example/me/brains"
    assert server.private
    assert sorted(path.name for path in (server.root / "me" / "brains").iterdir()) == [
        "README.md",
        "history.csv",
        "method.json",
        "weights.safetensors",
    ]
    x = vectors().x
    assert np.array_equal(un.from_hub("me/brains").transform(x), un.load_method(run).transform(x))


def test_a_folder_on_this_machine_is_loaded_without_the_hub(run, monkeypatch):
    monkeypatch.setattr(huggingface_hub, "snapshot_download", lambda *_, **__: pytest.fail("the hub was asked"))
    assert un.from_hub(run).blocks == {"common": 4, "salient": 3}


def test_what_was_tampered_with_is_refused_as_in_any_run_folder(run, server):
    un.push_to_hub(run, "me/brains")
    weights = server.root / "me" / "brains" / "weights.safetensors"
    weights.write_bytes(weights.read_bytes()[:-4] + b"\0\0\0\0")
    with pytest.raises(ValueError, match="must be the weights that were saved"):
        un.from_hub("me/brains")


def test_what_is_no_finished_run_is_not_uploaded(run, server, tmp_path):
    with pytest.raises(ValueError, match="must be a run folder of untwine"):
        un.push_to_hub(tmp_path, "me/brains")
    (run / CHECKPOINT).touch()
    with pytest.raises(ValueError, match="must be a finished run; its fit is under way"):
        un.push_to_hub(run, "me/brains")
    assert not server.root.exists()


def test_a_name_that_is_no_repository_is_refused(server):
    with pytest.raises(ValueError, match="repo_id must be a repository such as 'somebody/brains' or a folder that exists"):
        un.from_hub("runs/that/are/not/there")


def test_the_lines_of_the_page_share_a_run(server, run, tmp_path, monkeypatch):
    page = (Path(__file__).parents[2] / "docs" / "tutorials" / "results_out.md").read_text()
    [code] = [code for code in re.findall(r"^```python no-run\n(.*?)^```", page, re.M | re.S) if "push_to_hub" in code]
    (tmp_path / "runs").mkdir()
    run.rename(tmp_path / "runs" / "cells")
    monkeypatch.chdir(tmp_path)
    names = {"un": un}
    exec(code, names)
    np.testing.assert_array_equal(names["method"].transform(vectors().x), un.load_method("runs/cells").transform(vectors().x))
