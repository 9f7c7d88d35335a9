"""The images of one run: each part alone, reconstructions, swaps, interpolation, planes."""

from __future__ import annotations

from collections.abc import Mapping

from untwine import plots
from untwine._typing import Array
from untwine.report.markup import Markup, image, join, tag
from untwine.runs.reading import Run

MOST = 10  # images in a row
SWAPPED = 8  # rows and columns of the grid of swaps
VECTORS = 6  # vectors that are drawn as lines


def alone(run: Run) -> Markup:
    """Return originals with both parts, with the common part only and with the salient part only."""
    rows = _rows(run, {"original": "originals", "[z, s]": "reconstructions", "[z, 0]": "only_common", "[0, s]": "only_salient"})
    if "[z, 0]" not in rows or "[0, s]" not in rows:
        return missing(run, "each part alone", needs_salient=True)
    alt = "Targets, decoded from both parts, from the common part alone and from the salient part alone."
    caption = (
        "From top to bottom: targets; both parts, [z, s]; the common part alone, [z, 0]; the salient part alone, [0, s]. "
        "Here z is the common part and s the salient one, and 0 stands for a part that was taken out."
    )
    return _drawn(rows, alt, caption)


def reconstructions(run: Run) -> Markup:
    """Return originals above what encoding and decoding makes of them, for targets and for the background."""
    rows = _rows(run, {"original": "originals", "reconstruction": "reconstructions"})
    if len(rows) < 2:
        return missing(run, "originals and reconstructions")
    back = _rows(run, {"background": "background_originals", "its reconstruction": "background_reconstructions"})
    back = back if len(back) == 2 else {}
    if _are_images(rows):
        return _drawn({**rows, **back}, "Originals, and below them their reconstructions.")
    figures = [_drawn(rows, "Samples and their reconstructions as lines over the features.")]
    figures += [_drawn(back, "Background and its reconstructions as lines over the features.")] if back else []
    return join(*figures)


def swaps(run: Run) -> Markup:
    """Return every common part with every salient part."""
    parts = _rows(run, {name: f"swap_{name}" for name in ("common", "salient", "grid")})
    if len(parts) < 3:
        return missing(run, "swaps", needs_salient=True)
    k = SWAPPED
    figure = plots.swap_grid(parts["common"][:k], parts["salient"][:k], parts["grid"][:k, :k])
    caption = (
        "Each image joins the common part of the image at the left of its row with the salient part of the image at the "
        "top of its column. Where the parts came apart, a row keeps its background and a column keeps what is salient."
    )
    return image(figure, "A grid of images whose parts were swapped.", caption)


def interpolation(run: Run) -> Markup:
    """Return the walk between four salient parts."""
    grid = (run.gallery or {}).get("interpolation")
    if grid is None:
        return missing(run, "the interpolation", needs_salient=True)
    caption = (
        "The salient parts of four images are in the framed corners and mixtures of them between; "
        "all have the common part of the first, at the upper left."
    )
    return image(plots.interpolation(grid), "A grid of images that change smoothly between four corners.", caption)


def exchanged(run: Run) -> Markup:
    """Return targets and backgrounds with their reconstructions, and each after its salient part was taken out or put in."""
    names = {
        "target": "originals",
        "again": "reconstructions",
        "without s": "only_common",
        "background": "background_originals",
    }
    names |= {"made again": "background_reconstructions", "with s above": "background_with_salient"}
    rows = _rows(run, names)
    if "with s above" not in rows:
        return Markup("")
    caption = "Each background in the last row has the salient part of the target at the top of its column."
    return _drawn(rows, "Targets without their salient part, and backgrounds with it.", caption)


def made(run: Run) -> Markup:
    """Return images made from drawn codes, a common part in each row."""
    grid = (run.gallery or {}).get("made")
    if grid is None:
        return Markup("")
    caption = "All codes are drawn. Each row has one common part: at the left without a salient part, then with several."
    figure = plots.strips(grid[:, 1:], grid[:, 0], titles=("s = 0", "several s", ""))
    return image(figure, "Images made from drawn codes.", caption)


def planes(run: Run) -> Markup:
    """Return the plane of every block, of the run and of its baselines."""
    figures = [figure for one in (run, *run.baselines) for figure in _planes(one, "" if one is run else f"{one.path.name}: ")]
    if not figures:
        return missing(run, "the codes in a plane")
    apart, mixed, also = ("salient", "common", ", and so are target and background")
    if "content" in run.blocks:
        apart, mixed, also = ("class", "content", "")
    text = (
        "Each point is a sample, placed by t-SNE of its codes; the background is grey. A class's name stands where the class "
        f"sits together. In a {apart} part that works the classes stand apart; in a {mixed} part that works they are "
        f"mixed{also}."
    )
    return join(tag("p", text, class_="note"), tag("div", *figures, class_="pair"))


def _planes(run: Run, prefix: str) -> list[Markup]:
    gallery = run.gallery or {}
    blocks = [name.removeprefix("plane_") for name in gallery if name.startswith("plane_")]
    figures = []
    for block in blocks:
        if block in ("labels", "groups"):
            continue
        title = f"{prefix}{block}" if block == "z" else f"{prefix}{block} part"
        figure = plots.embedding_scatter(
            gallery[f"plane_{block}"],
            gallery.get("plane_labels"),
            gallery.get("plane_groups"),
            label_names=[str(name) for name in gallery.get("label_names", ())],
            group_names=[str(name) for name in gallery.get("group_names", ())],
            title=title,
        )
        figures.append(image(figure, f"Codes in two dimensions, coloured by class: {title}."))
    return figures


def _rows(run: Run, names: Mapping[str, str]) -> dict[str, Array]:
    gallery = run.gallery or {}
    return {title: gallery[name] for title, name in names.items() if name in gallery}


def _are_images(rows: Mapping[str, Array]) -> bool:
    return next(iter(rows.values())).ndim == 4


def _drawn(rows: Mapping[str, Array], alt: str, caption: str = "") -> Markup:
    draw, most = (plots.image_rows, MOST) if _are_images(rows) else (plots.feature_profiles, VECTORS)
    return image(draw({name: row[:most] for name, row in rows.items()}), alt, caption, wide=True)


def missing(run: Run, what: str, needs_salient: bool = False) -> Markup:
    """Say what to run; nothing for what this kind of method cannot have."""
    if needs_salient and run.blocks and "salient" not in run.blocks:
        return Markup("")
    originals = (run.gallery or {}).get("originals")
    if needs_salient and originals is not None and originals.ndim != 4:
        return tag("p", f"Images of {what} are drawn where the samples are images; these are vectors.")
    return tag("p", f"There are no images of {what} yet. Make them with ", tag("code", f"untwine evaluate {run.path}"), ".")
