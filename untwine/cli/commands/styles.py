"""`untwine styles`: cluster the images of each domain by style."""

from __future__ import annotations

import io
from pathlib import Path

from untwine.cli.flags import DataSettings, Json, Overwrite
from untwine.cli.outputs import check_new, next_command, print_json, write_arrays
from untwine.cli.settings import parse_settings

ORDER = 110


def command(
    data: str,
    *,
    out: Path,
    clusters: int = 100,
    features: str = "vgg16",
    image: Path | None = None,
    data_set: DataSettings = (),
    seed: int = 0,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Cluster the images of each domain by style, to use the clusters as classes: `untwine fit lord --data` reads the result.

    Example: `untwine styles shoes.npz --clusters 100 --out styled.npz --image styles.png`.

    Parameters
    ----------
    data
        A name that `untwine list data` shows, or a path; its labels are the domains. Styles are those of the training split; a
        test image gets the nearest one of its domain.
    out
        The .npz to write: images, styles as labels, the domain as a factor, and the split of each image.
    clusters
        The number of styles per domain.
    features
        The features that are clustered: `vgg16` or `squeezenet` (their weights must be present), or `pixels`.
    image
        A .png to write with example images of some styles.
    seed
        The random seed of k-means.
    """
    import numpy as np

    from untwine import plots
    from untwine.data import load
    from untwine.methods.shared.styles import cluster_split_styles
    from untwine.runs import files

    check_new(out, (".npz",), overwrite)
    if image is not None:
        check_new(image, (".png",), overwrite)
    splits = load(data, **parse_settings(data_set, "--data-set"))
    styled, test = cluster_split_styles(splits, clusters, features=features, seed=seed)
    names = {name: np.array(getattr(styled, name)) for name in ("label_names", "factor_names")}
    columns = {name: np.concatenate([getattr(one, name) for one in (styled, test)]) for name in ("x", "labels", "factors")}
    write_arrays(out, columns | names | {"split": np.repeat(["train", "test"], [len(styled), len(test)])})
    if image is not None:
        content = io.BytesIO()
        figure = plots.class_samples(styled.x, np.asarray(styled.labels), styled.label_names, seed=seed)
        figure.savefig(content, format="png", dpi=100)
        files.write(image, content.getvalue())
    if json:
        counts = {"samples": len(styled) + len(test), "train": len(styled), "test": len(test)}
        print_json({"out": str(out), "styles": len(styled.label_names), **counts})
    else:
        hint = next_command("fit", "lord", "--data", out, "--out", Path("runs") / out.stem)
        print(f"{len(styled):,} train and {len(test):,} test images in {len(styled.label_names)} styles: {out}  {hint}")
