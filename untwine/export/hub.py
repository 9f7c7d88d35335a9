"""Share run folders on the Hugging Face Hub: its own library moves the files, and `load_method` reads them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from torch import nn

from untwine.method.contract import Method
from untwine.methods import load_method
from untwine.registry.extras import optional
from untwine.runs.names import SHARED, is_finished
from untwine.runs.saving import read_sealed_card


def push_to_hub(
    folder: str | os.PathLike[str],
    repo_id: str,
    *,
    private: bool = True,
    token: str | None = None,
    message: str = "Upload a run of untwine",
) -> str:
    """Upload a finished run folder to a model repository of the Hugging Face Hub, which is made where it does not exist.

    Only the files of a run are uploaded: configuration, weights, history, scores, gallery and model card. Configuration and
    history name the data of the fit, the gallery shows some of its samples.

    Parameters
    ----------
    folder
        A run folder.
    repo_id
        The repository, such as "somebody/brains".
    private
        Whether a new repository is private; an existing one stays as it is.
    token
        An access token; by default the one that `hf auth login` stored.
    message
        What the commit says.

    Returns
    -------
    url
        Where the commit is.
    """
    hub = optional("huggingface_hub", "sharing a run on the Hugging Face Hub")
    read_sealed_card(folder)
    if not is_finished(folder):
        raise ValueError(f"{folder} must be a finished run; its fit is under way; finish it with resume first.")
    api = hub.HfApi(token=token)
    api.create_repo(repo_id, private=private, exist_ok=True)
    commit = api.upload_folder(repo_id=repo_id, folder_path=Path(folder), allow_patterns=list(SHARED), commit_message=message)
    return str(getattr(commit, "commit_url", commit))


def from_hub(
    repo_id: str | os.PathLike[str],
    *,
    revision: str | None = None,
    token: str | None = None,
    networks: Mapping[str, nn.Module] | None = None,
) -> Method:
    """Load a fitted method from a model repository of the Hugging Face Hub, or from a run folder on this machine.

    Only the files of a run are downloaded, and they are read as any run folder: JSON and safetensors, nothing is executed.

    Parameters
    ----------
    repo_id
        The repository, such as "somebody/brains"; a path to an existing folder is loaded as it is.
    revision
        A branch, tag or commit; a commit is sure to stay what it is.
    token
        An access token; by default the one that `hf auth login` stored.
    networks
        The user's own modules, if the method was fitted with some.
    """
    if Path(repo_id).is_dir():
        return load_method(repo_id, networks=networks)
    hub = optional("huggingface_hub", "loading a run from the Hugging Face Hub")
    try:
        folder = hub.snapshot_download(str(repo_id), revision=revision, token=token, allow_patterns=list(SHARED))
    except hub.errors.HFValidationError:
        raise ValueError(
            f"repo_id must be a repository such as 'somebody/brains' or a folder that exists; got {str(repo_id)!r}; correct it."
        ) from None
    return load_method(folder, networks=networks)
