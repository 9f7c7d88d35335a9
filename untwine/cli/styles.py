"""The commands of domain translation: styles and translate."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from untwine.cli.arguments import pairs, test_samples
from untwine.cli.rows import SHOWN, check_few, check_new, open_run, print_json, rows_from, tell, write_made
from untwine.cli.tasks import Data, File, Json, Out, Overwrite, Plain, Rows, Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def styles(
    data: str,
    *,
    out: Path,
    clusters: int = 100,
    features: str = "vgg16",
    image: Path | None = None,
    data_set: Settings = (),
    seed: int = 0,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Put the images of each domain into clusters by style, which then are classes: `fit lord --data` takes what it writes.

    Example: `untwine styles shoes.npz --clusters 100 --out styled.npz --image styles.png`.

    Parameters
    ----------
    data
        A name that `untwine list data` shows, or a path; labels are domains. The training part is taken.
    out
        The .npz to write: images, styles as labels, and the domain as a factor.
    clusters
        How many styles each domain has.
    features
        `vgg16` or `squeezenet`, whose weights must be there, or `pixels`.
    image
        A .png to draw some images of some styles in.
    seed
        Where k-means begins.
    """
    from untwine import plots
    from untwine.data import load
    from untwine.evaluation.gallery import save_gallery as save_arrays
    from untwine.methods.shared.styles import cluster_styles
    from untwine.runs import files

    check_new(out, (".npz",), overwrite)
    if image is not None:
        check_new(image, (".png",), overwrite)
    found = cluster_styles(load(data, **pairs(data_set, "--data-set")).train, clusters, features=features, seed=seed)
    names = {name: np.array(getattr(found, name)) for name in ("label_names", "factor_names")}
    columns = {name: np.asarray(getattr(found, name)) for name in ("x", "labels", "factors")}
    save_arrays(out, columns | names)
    if image is not None:
        import io

        content = io.BytesIO()
        plots.class_samples(found.x, columns["labels"], found.label_names, seed=seed).savefig(content, format="png", dpi=100)
        files.write(image, content.getvalue())
    if json:
        print_json({"out": str(out), "styles": len(found.label_names), "rows": len(found)})
    else:
        print(f"{len(found):,} images in {len(found.label_names)} styles: {out}  (next: untwine fit lord --data {out})")


def translate(
    run: Path,
    a: File = None,
    /,
    *,
    out: Out,
    to: str | None = None,
    style: File = None,
    n: int = SHOWN,
    rows: Rows = None,
    data: Data = None,
    data_set: Settings = (),
    seed: int = 0,
    plain: Plain = False,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Draw the content of each row of A with the class of others: of a domain's styles, or of images of your own.

    Examples: diverse, `untwine translate runs/x edge.png --to shoes --n 6 --out shoes.png`; guided by a style,
    `untwine translate runs/x edge.png --style red_shoe.png --out red.png`.

    Parameters
    ----------
    run
        A run folder of a method with the parts class and content.
    to
        A domain of the run's data, whose test part gives images of different styles; or a class.
    style
        Images that give the class, in place of a domain's.
    n
        How many styles of the domain.
    seed
        Which rows of the data.
    """
    from untwine import manipulate, plots
    from untwine.methods.shared.styles import domain_rows
    from untwine.metrics.scored_samples import class_balanced_order
    from untwine.registry.checks import check_int

    if (to is None) == (style is None):
        raise ValueError("translate must be either --to or --style; got both or none; choose one.")
    method = open_run(run, out, overwrite)
    rest = manipulate.other_block(method, "class")
    check_int("--n", n, 1)
    if to is None:
        (x, y), notes = rows_from((a, style), method.shape_, lambda: test_samples(method, run, data, data_set), rows, seed)
    else:
        test = test_samples(method, run, data, data_set)
        inside = domain_rows(test, to)
        order = class_balanced_order(test.labels, np.flatnonzero(inside), np.random.default_rng(seed))
        # Rows to translate come from the other domains, where there are any.
        (x,), notes = rows_from((a,), method.shape_, lambda: test if inside.all() else test[~inside], rows, seed)
        y = test.x[order[:n]]
    check_few(out, len(x), len(y))
    made = manipulate.grid(method, x, y, "class")

    def draw() -> Figure:
        return plots.swap_grid(x, y, made, (rest, "class"))

    write_made(out, {"a": x, "styles": y}, "translated", made, draw, plain)
    tell(out, "translate", "class", made, f"{len(x)} x {len(y)} translated, {rest} by row, class by column", notes, json)
