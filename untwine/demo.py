"""The demonstration: digits come off grass within a minute or two, and a page shows it."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from untwine.data import Splits, load
from untwine.diagnosis import diagnose
from untwine.evaluate import Score, evaluate, write_scores
from untwine.gallery import gallery, save_gallery
from untwine.method import Method
from untwine.methods import PCA, PrincipledVAE
from untwine.report import report


def demo(out: Path, seed: int = 0, progress: bool = True) -> None:
    """Fit `PrincipledVAE` and a `PCA` as wide as the salient part on `grassy_digits`, score both, and write the page."""
    method = PrincipledVAE(seed=seed)
    method.check()
    if out.exists():
        if not (out / "method.json").exists() and not (out / "checkpoint.safetensors").exists() and any(out.iterdir()):
            raise ValueError(f"--out expected a new folder or an earlier demo, but {out} holds something else; choose another.")
        shutil.rmtree(out)
    origin = {"name": "grassy_digits", "options": {}}
    data = load("grassy_digits")
    print(f"train {data.train}\ntest  {data.test}", file=sys.stderr)
    method.fit(data.train, out=out, origin=origin, progress=progress)
    plain = PCA(n_latent=method.blocks["salient"]).fit(data.train, out=out / "pca", origin=origin)
    ours, theirs = (_scored(one, data, folder, progress) for one, folder in ((method, out), (plain, out / "pca")))
    page = report(out, out / "report.html")
    _tell(ours, theirs, page)


def _scored(method: Method, data: Splits, folder: Path, progress: bool) -> dict[str, Score]:
    scores = evaluate(method, data.test, progress=progress)
    write_scores(folder / "scores.json", scores)
    save_gallery(folder / "gallery.npz", gallery(method, data.test))
    diagnose(folder, method, data.train, data.test)
    return scores


def _tell(ours: dict[str, Score], theirs: dict[str, Score], page: Path) -> None:
    """Print what came apart: for each block what should be in it and what should not."""
    from rich.console import Console
    from rich.table import Table

    rows = {
        "which digit it is (linear probe, accuracy; chance 0.10)": "probe",
        "which digit it is (clustering, accuracy)": "clustering",
        "brightness and hue of the grass (R2)": "factors",
    }
    table = Table("what can be read from", "salient", "common", "PCA, all in one", title="Digits off grass, unseen digits")
    for words, metric in rows.items():
        table.add_row(
            words,
            *(f"{score.value:.2f}" for score in (ours[f"{metric}.salient"], ours[f"{metric}.common"], theirs[f"{metric}.z"])),
        )
    console = Console()
    console.print(table)
    console.print("The digit should be in the salient part alone, the grass in the common part alone; PCA keeps both together.")
    console.print(f"The page with the pictures: {page}", soft_wrap=True)
