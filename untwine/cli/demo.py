"""The demonstrations: digits come off grass, or classes apart from contents, within minutes, and a page shows it."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from untwine.data import load
from untwine.evaluation.run import evaluate_fitted
from untwine.method.contract import Method
from untwine.methods import LORD, PCA, PrincipledVAE
from untwine.report.page import report
from untwine.runs.names import has_checkpoint, is_run, report_path
from untwine.runs.scores import Score

# What is known of the data, and the data that shows it. The page shows classes never seen, so training has hundreds of them.
SETTINGS: Mapping[str, tuple[str, dict[str, Any]]] = {
    "contrast": ("grassy_digits", {}),
    "classes": ("posed_digits", {"n_train": 600, "n_poses": 30}),
}


def demo(out: Path, setting: str = "contrast", seed: int = 0, progress: bool = True) -> None:
    """Take apart what one setting allows, score the parts, and write the page.

    Parameters
    ----------
    out
        The run folder, which is made anew; the page is report.html in it.
    setting
        `contrast`: `PrincipledVAE`, and a `PCA` as wide as its salient part, on `grassy_digits`. `classes`: `LORD` on
        `posed_digits`, scored on classes that it never saw.
    seed
        The seed of the fit.
    progress
        Whether to show bars.
    """
    if setting not in SETTINGS:
        raise ValueError(f"setting expected {' or '.join(SETTINGS)}; got {setting!r}.")
    method: Method = PrincipledVAE(seed=seed) if setting == "contrast" else LORD(seed=seed)
    method.check()
    if out.exists():
        if not is_run(out) and not has_checkpoint(out) and any(out.iterdir()):
            raise ValueError(f"--out must be a new folder or an earlier demo, but {out} holds something else; choose another.")
        shutil.rmtree(out)
    name, options = SETTINGS[setting]
    origin: dict[str, Any] = {"name": name, "options": options}
    data = load(name, **options)
    print(f"train {data.train}\ntest  {data.test}", file=sys.stderr)
    method.fit(data.train, out=out, origin=origin, progress=progress)
    if setting == "contrast":
        plain = PCA(n_latent=method.blocks["salient"]).fit(data.train, out=out / "pca", origin=origin)
        fitted = {out: method, out / "pca": plain}
        ours, theirs = (evaluate_fitted(folder, one, data, progress=progress) for folder, one in fitted.items())
        _tell_contrast(ours, theirs)
    else:
        _tell_classes(evaluate_fitted(out, method, data, progress=progress))
    print(f"The page with the images: {report(out, report_path(out))}")


def _tell_contrast(ours: Mapping[str, Score], theirs: Mapping[str, Score]) -> None:
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


def _tell_classes(scores: Mapping[str, Score]) -> None:
    """Print what each part tells of class and content, with chance beside it."""
    from rich.console import Console
    from rich.table import Table

    table = Table("what can be read from", "class part", "content part", "chance", title="Images of digits never seen")
    for words, what in {"which image it is (class)": "class", "its pose (content)": "content"}.items():
        found = (scores[f"{what}_read.class"], scores[f"{what}_read.content"], scores[f"{what}_chance.x"])
        table.add_row(f"{words}, accuracy", *(f"{score.value:.2f}" for score in found))
    moved, still = scores["transfer.x"].value, scores["transfer_unmoved.x"].value
    console = Console()
    console.print(table)
    console.print("Each part should tell its own, and of the other no more than chance.")
    console.print(f"A digit in another's pose, against the true image: error {moved:.3f} a pixel; left as it was: {still:.3f}.")
