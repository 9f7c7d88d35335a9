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
        A name that `untwine list data` shows, or a path; its labels are the domains. The train split is used.
    out
        The .npz to write: images, styles as labels, and the domain as a factor.
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
    from untwine.methods.shared.styles import cluster_styles
    from untwine.runs import files

    check_new(out, (".npz",), overwrite)
    if image is not None:
        check_new(image, (".png",), overwrite)
    train = load(data, **parse_settings(data_set, "--data-set")).train
    styled = cluster_styles(train, clusters, features=features, seed=seed)
    names = {name: np.array(getattr(styled, name)) for name in ("label_names", "factor_names")}
    columns = {name: np.asarray(getattr(styled, name)) for name in ("x", "labels", "factors")}
    write_arrays(out, columns | names)
    if image is not None:
        content = io.BytesIO()
        plots.class_samples(styled.x, columns["labels"], styled.label_names, seed=seed).savefig(content, format="png", dpi=100)
        files.write(image, content.getvalue())
    if json:
        print_json({"out": str(out), "styles": len(styled.label_names), "samples": len(styled)})
    else:
        hint = next_command("fit", "lord", "--data", out, "--out", Path("runs") / out.stem)
        print(f"{len(styled):,} images in {len(styled.label_names)} styles: {out}  {hint}")
