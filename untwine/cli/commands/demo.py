"""`untwine demo`: disentangle digits in minutes, and show it on a page."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from untwine.cli.flags import Quiet, Threads
from untwine.cli.out_folder import is_run
from untwine.cli.outputs import print_table

if TYPE_CHECKING:
    from untwine.method.contract import Method
    from untwine.runs.scores import Score

ORDER = 150

# The data of each setting. The page of `classes` shows unseen classes, so training has hundreds of them.
DATA: Mapping[str, tuple[str, dict[str, Any]]] = {
    "contrast": ("grassy_digits", {}),
    "classes": ("posed_digits", {"n_train": 600, "n_poses": 30}),
}


def command(
    *,
    setting: Literal["contrast", "classes"] = "contrast",
    out: Path = Path("runs/demo"),
    seed: int = 0,
    threads: Threads = None,
    quiet: Quiet = False,
) -> None:
    """Disentangle digits: train for a few minutes, score both latent blocks, and write a page about it.

    For example:

    - `untwine demo` separates digits from the grass that they are blended with, given targets (digits on grass) and a
      background (grass alone): `principled_vae` beside PCA on `grassy_digits`
    - `untwine demo --setting classes --out runs/classes` separates digits from their poses, given only which images show the
      same digit, and puts unseen digits into each other's poses: `lord` on `posed_digits`

    Parameters
    ----------
    setting
        The supervision: `contrast`, whether an image is target or background; `classes`, which class it belongs to.
    out
        The run folder, which is created anew; the page is report.html in it.
    seed
        The random seed of the fit.
    """
    from untwine.training.threads import set_threads

    set_threads(threads)  # before the numerical libraries are imported
    from untwine.data import load
    from untwine.evaluation.run import evaluate_run
    from untwine.methods import LORD, PCA, PrincipledVAE
    from untwine.report.page import report
    from untwine.runs.names import report_path

    method: Method = PrincipledVAE.fixed(seed=seed) if setting == "contrast" else LORD.fixed(seed=seed)
    method.check()
    if out.exists():
        if not is_run(out) and any(out.iterdir()):
            raise ValueError(f"--out must be a new folder or an earlier demo; {out} holds other files; choose another.")
        shutil.rmtree(out)
    name, options = DATA[setting]
    origin: dict[str, Any] = {"name": name, "options": options}
    data = load(name, **options)
    print(f"train {data.train}\ntest  {data.test}", file=sys.stderr)
    method.fit(data.train, out=out, origin=origin, progress=not quiet)
    scores = evaluate_run(out, method=method, data=data, progress=not quiet)
    if setting == "contrast":
        pca = PCA(n_latent=method.blocks["salient"]).fit(data.train, out=out / "pca", origin=origin)
        _print_contrast(scores, evaluate_run(out / "pca", method=pca, data=data, progress=not quiet))
    else:
        _print_classes(scores)
    print(f"The page with the images: {report(out, report_path(out))}")


def _print_contrast(scores: Mapping[str, Score], pca: Mapping[str, Score]) -> None:
    """Print how well each block predicts the digit and the grass."""
    metrics = {
        "digit (linear-probe accuracy; chance level 0.10)": "probe",
        "digit (clustering accuracy)": "clustering",
        "brightness and hue of the grass (R2)": "factors",
    }
    rows = [
        (
            name,
            *(f"{score.value:.2f}" for score in (scores[f"{metric}.salient"], scores[f"{metric}.common"], pca[f"{metric}.z"])),
        )
        for name, metric in metrics.items()
    ]
    print_table(("predicted from", "salient", "common", "PCA"), rows, title="Digits on grass, test split")
    print("The salient block alone should encode the digit, the common block alone the grass; PCA mixes both.")


def _print_classes(scores: Mapping[str, Score]) -> None:
    """Print how well each block predicts class and content, beside the chance level."""
    rows = []
    for name, what in {"which digit it is (class)": "class", "its pose (content)": "content"}.items():
        values = (scores[f"{what}_read.class"], scores[f"{what}_read.content"], scores[f"{what}_chance.x"])
        rows.append((f"{name}, accuracy", *(f"{score.value:.2f}" for score in values)))
    header = ("predicted from", "class block", "content block", "chance level")
    print_table(header, rows, title="Images of unseen digits")
    print("Each block should predict its own, and the other no better than chance.")
    transferred, unchanged = scores["transfer.x"].value, scores["transfer_unmoved.x"].value
    print(f"Mean error per pixel of a digit in another's pose: {transferred:.3f}; of the unchanged image: {unchanged:.3f}.")
