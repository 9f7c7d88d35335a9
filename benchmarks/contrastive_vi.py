"""scvi-tools' ContrastiveVI, in a process and an environment of its own: it needs scvi-tools and nothing of untwine.

`python contrastive_vi.py IN.npz OUT.npz OPTIONS` fits it with its defaults but for the options of `train`, and encodes and
decodes the test cells. With `-` in place of OUT.npz it fits once for every line of standard input, and prints the seconds.
"""

from __future__ import annotations

import json
import logging
import sys
import time
import warnings
from typing import Any

import numpy as np

QUIET: dict[str, Any] = {"enable_progress_bar": False, "logger": False, "enable_checkpointing": False, "accelerator": "cpu"}


def main(cells: str, out: str, options: dict[str, Any]) -> None:
    """Fit, encode and decode; the seconds are those of `train` alone."""
    import scvi
    import torch
    from scvi.external import ContrastiveVI

    torch.set_num_threads(1)
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    logging.getLogger("scvi").setLevel(logging.ERROR)
    scvi.settings.seed = options["seed"]
    with np.load(cells) as given:
        train, test = anndata_of(given["x"], given["batch"]), anndata_of(given["test_x"], given["test_batch"])
        groups = given["groups"]
    ContrastiveVI.setup_anndata(train, batch_key="batch")
    sides = {"background_indices": np.flatnonzero(groups == 0).tolist(), "target_indices": np.flatnonzero(groups).tolist()}

    def fit() -> tuple[Any, dict[str, float]]:
        model = ContrastiveVI(train)
        wall, cpu = time.perf_counter(), time.process_time()
        model.train(**sides, **QUIET, **options["train"])
        return model, {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}

    if out == "-":
        for _ in sys.stdin:
            sys.stdout.write(json.dumps(fit()[1]) + "\n")
            sys.stdout.flush()
        return
    model, seconds = fit()
    kinds = {"common": "background", "salient": "salient"}
    codes = {name: model.get_latent_representation(test, representation_kind=kind) for name, kind in kinds.items()}
    decoded = model.get_normalized_expression(test, library_size="latent", return_numpy=True)
    epochs = model.trainer.current_epoch
    np.savez(out, **codes, decoded=decoded["salient"], without=decoded["background"])
    sys.stdout.write(json.dumps({**seconds, "epochs": epochs, "scvi-tools": scvi.__version__, "torch": torch.__version__}))


def anndata_of(x: np.ndarray, batch: np.ndarray) -> Any:
    """Return counts as AnnData with the batch of every cell."""
    import anndata
    import pandas as pd

    obs = pd.DataFrame({"batch": pd.Categorical(batch)}, index=[f"cell {i}" for i in range(len(x))])
    return anndata.AnnData(x, obs=obs)


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    main(sys.argv[1], sys.argv[2], json.loads(sys.argv[3]))
