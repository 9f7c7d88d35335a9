"""Draw docs/images/metrics: for a metric, codes or decoded images that score high and low, with the scores of its own function.

    python tools/metric_images.py              every metric below, about a minute in all
    python tools/metric_images.py NAME ...     these metrics

`transfer_lpips` needs the weights of SqueezeNet and LPIPS in the data folder; without names it is left out where they are not.
Each image has a few panels: codes whose answer is known, and below them what the metric gives.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from method_images import write

from untwine import metrics
from untwine.metrics.changed_features import changed_features
from untwine.metrics.counterfactual import Changed
from untwine.networks.pretrained.lpips import lpips
from untwine.plots.style import CLASSES, FAINT, INK

FOLDER = Path(__file__).parents[1] / "docs" / "images" / "metrics"
SIDE, N = 1.75, 300  # inches a panel; codes in one


class Panel(NamedTuple):
    """What is drawn, the words above it, and the score below it."""

    draw: Callable[[Axes], None]
    title: str
    score: str


def scatter(codes: Any, colours: Any) -> Callable[[Axes], None]:
    """Draw codes (n, 2): integers colour classes, floats a gradient."""

    def draw(axes: Axes) -> None:
        values = np.asarray(colours)
        colour = {"c": values, "cmap": "viridis"} if values.dtype.kind == "f" else {"c": [CLASSES[i] for i in values]}
        axes.scatter(*np.asarray(codes).T, s=5, linewidths=0, **colour)

    return draw


def arrows(samples: Any, changed: Any, colours: Any) -> Callable[[Axes], None]:
    """Draw samples (n, 2), and an arrow from each to what it is changed into."""

    def draw(axes: Axes) -> None:
        x, step = np.asarray(samples), np.asarray(changed) - np.asarray(samples)
        axes.quiver(*x.T, *step.T, color=[CLASSES[i] for i in colours], angles="xy", scale_units="xy", scale=1, width=0.007)
        axes.scatter(*x.T, c=[CLASSES[i] for i in colours], s=5, linewidths=0)
        axes.set_aspect("equal", "datalim")

    return draw


def matrix(values: Any) -> Callable[[Axes], None]:
    """Draw the information of latents (rows) about factors (columns), darker is more."""

    def draw(axes: Axes) -> None:
        axes.imshow(values, cmap="Blues", vmin=0, vmax=1, aspect="auto")
        axes.set_xlabel("factors", fontsize=8, color=FAINT, labelpad=2)
        axes.set_ylabel("latents", fontsize=8, color=FAINT, labelpad=2)

    return draw


def picked(values: Any) -> Callable[[Axes], None]:
    """Draw a grey image."""
    return lambda axes: axes.imshow(values, cmap="gray", vmin=0, vmax=1, interpolation="nearest") and None


def figure(panels: Sequence[Panel]) -> Figure:
    """Draw panels side by side."""
    drawn = Figure(figsize=(SIDE * len(panels), SIDE + 0.7))
    for i, panel in enumerate(panels):
        axes = drawn.add_axes(((i + 0.12) / len(panels), 0.24, 0.84 / len(panels), 0.6))
        panel.draw(axes)
        axes.set_xticks([])
        axes.set_yticks([])
        axes.margins(0.08)
        axes.set_title(panel.title, fontsize=9, color=INK, pad=4)
        axes.text(
            0.5, -0.24, panel.score, transform=axes.transAxes, ha="center", va="center", fontsize=9.5, color=INK, weight="bold"
        )
    return drawn


# --- codes whose answer is known


def by_class() -> tuple[Any, Mapping[str, Any]]:
    """Return three classes, and codes that encode them in four ways."""
    rng = np.random.default_rng(0)
    labels = np.arange(N) % 3
    angle, noise = 2 * np.pi * labels / 3, rng.normal(size=(N, 2))
    centres = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    turn = rng.uniform(0, 2 * np.pi, N)
    rings = (1 + labels)[:, None] * np.stack([np.cos(turn), np.sin(turn)], axis=1) + 0.1 * noise
    return labels, {"separate": 4 * centres + 0.5 * noise, "overlapping": centres + noise, "rings": rings, "unrelated": noise}


def by_factor() -> tuple[Any, Mapping[str, Any]]:
    """Return a factor, and codes that encode it in four ways."""
    rng = np.random.default_rng(0)
    factor, other, noise = rng.uniform(-1, 1, (3, N))
    factor_code = np.stack([factor, other], axis=1)
    turn = np.array([[1, 1], [-1, 1]]) / np.sqrt(2)
    bent = np.stack([np.abs(factor) + 0.1 * noise, other], axis=1)
    return factor, {
        "one latent": factor_code,
        "rotated": factor_code @ turn,
        "folded": bent,
        "unrelated": rng.normal(size=(N, 2)),
    }


def by_group() -> tuple[Any, Mapping[str, Any]]:
    """Return groups (0 is the background), and codes of both that lie apart more and more."""
    rng = np.random.default_rng(0)
    groups, noise = np.arange(N) % 2, rng.normal(size=(N, 2))
    return groups, {name: noise + groups[:, None] * by for name, by in (("alike", 0), ("shifted", 1.5), ("apart", 6))}


def by_latent() -> tuple[Any, Mapping[str, Any]]:
    """Return three factors, and codes with one latent for each, two for each, rotated ones and random ones."""
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 8, (2000, 3))
    y = (factors - 3.5) / 2.3 + rng.normal(0, 0.02, factors.shape)
    turn = np.linalg.qr(np.array([[1, 1, 1], [1, -1, 0.5], [1, 0.2, -1.2]]))[0]
    return factors, {
        "one for each": np.hstack([y[:, [2, 0, 1]], rng.normal(0, 0.01, (2000, 1))]),
        "two for each": np.hstack([y, 0.8 * y]),
        "rotated": y @ turn,
        "unrelated": rng.normal(size=(2000, 4)),
    }


# --- metrics


def of_classes(score: Callable[[Any, Any], float], name: str) -> list[Panel]:
    """Return panels of codes of classes."""
    labels, codes = by_class()
    return [Panel(scatter(z, labels), title, f"{name} {score(z, labels):.2f}") for title, z in codes.items()]


def of_factor(score: Callable[[Any, Any], float], name: str) -> list[Panel]:
    """Return panels of codes of one factor."""
    factor, codes = by_factor()
    return [Panel(scatter(z, factor), title, f"{name} {score(z, factor[:, None]):.2f}") for title, z in codes.items()]


def of_groups(score: Callable[[Any, Any], float], name: str) -> list[Panel]:
    """Return panels of codes of a target and a background."""
    groups, codes = by_group()
    return [Panel(scatter(z, groups), title, f"{name} {score(z, groups):.2f}") for title, z in codes.items()]


def of_latents(score: Callable[[Any, Any], str]) -> list[Panel]:
    """Return panels of what latents encode about factors."""
    factors, codes = by_latent()
    return [Panel(matrix(metrics.information_matrix(z, factors)), title, score(z, factors)) for title, z in codes.items()]


def of_decoded(score: Callable[[Any, Any], float], name: str) -> list[Panel]:
    """Return panels of a decoded digit, scored over many."""
    from sklearn.datasets import load_digits

    x = load_digits().images[:N] / 16
    blurred = (x + np.roll(x, 1, 1) + np.roll(x, -1, 1) + np.roll(x, 1, 2) + np.roll(x, -1, 2)) / 5
    decoded = {"image": x, "equal": x, "blurred": blurred, "the mean image": np.broadcast_to(x.mean(0), x.shape)}
    return [
        Panel(picked(images[5]), title, "" if title == "image" else f"{name} {score(x[:, None], images[:, None]):.3f}")
        for title, images in decoded.items()
    ]


def of_removal(score: Callable[[Any, Any, Any, Any], float], name: str) -> list[Panel]:
    """Return panels of samples, and where each goes when its salient block is removed."""
    rng = np.random.default_rng(0)
    background, target = rng.normal(size=(2, 40, 2))
    target = [*target, 5, 0]
    back = target - [5, 0]
    cases = {
        "targets alone": (back, background),
        "both": (back, background - [3, 0]),
        "to one point": (np.zeros_like(target), 0 * background),
    }
    groups = np.repeat([1, 0], 40)
    return [
        Panel(
            arrows(np.vstack([target, background]), np.vstack([h, b]), groups),
            title,
            f"{name} {score(target, h, background, b):.2f}",
        )
        for title, (h, b) in cases.items()
    ]


def of_maps() -> list[Panel]:
    """Return panels of a mask, and of maps that find it more or less."""
    rng, grid = np.random.default_rng(0), np.stack(np.meshgrid(*2 * [np.linspace(-1, 1, 24)]), -1)
    inside = np.linalg.norm(grid, axis=-1) < 0.95
    mask = np.linalg.norm(grid - [0.3, -0.2], axis=-1) < 0.3
    noise = rng.uniform(size=mask.shape)
    maps = {
        "the lesion": 0.5 * mask + 0.5 * noise,
        "near it": np.exp(-np.linalg.norm(grid - [-0.1, 0.1], axis=-1)) * 0.8 + 0.2 * noise,
    }
    panels = [Panel(picked(np.where(inside, 0.3 + 0.7 * mask, 0)), "mask", "")]
    for title, one in (maps | {"unrelated": noise}).items():
        score = f"AUC {metrics.map_auc(one[None], mask[None], inside[None]):.2f}"
        panels.append(Panel(picked(np.where(inside, one, 0)), title, score))
    return panels


def of_two_blocks() -> list[Panel]:
    """Return panels of common codes, beside a salient block whose codes separate the classes."""
    labels, codes = by_class()
    own = codes["separate"]
    return [
        Panel(scatter(z, labels), f"common: {title}", f"leakage {metrics.leakage_score(z, own, labels).leakage:.2f}")
        for title, z in codes.items()
    ]


def of_generated() -> list[Panel]:
    """Return panels of features of real and generated images."""
    rng = np.random.default_rng(0)
    real, noise = rng.normal(size=(2, N // 2, 2))
    cases = {"alike": noise, "less varied": 0.3 * noise, "elsewhere": noise + 3}
    groups = np.repeat([0, 1], N // 2)
    return [
        Panel(scatter(np.vstack([real, z]), groups), title, f"distance {metrics.frechet(real, z):.2f}")
        for title, z in cases.items()
    ]


def of_counterparts() -> list[Panel]:
    """Return panels of targets that are moved to the background, and backgrounds that are moved to the target."""
    rng = np.random.default_rng(0)
    groups = np.arange(1200) % 2
    x = rng.normal(size=(1200, 2)) + groups[:, None] * [5, 0]
    targets, backgrounds = x[groups == 1][:40], x[groups == 0][:40]
    panels = []
    for title, share in (("the whole step", 1.0), ("half of it", 0.5), ("none", 0.0), ("elsewhere", 1.0)):
        step = np.array([0, 5] if title == "elsewhere" else [5, 0]) * share
        removed, _ = metrics.counterfactual_validity(
            (x[:800], groups[:800]),
            (x[800:], groups[800:]),
            Changed(targets, targets - step),
            Changed(backgrounds, backgrounds + step),
        )
        drawn = arrows(
            np.vstack([targets, backgrounds]), np.vstack([targets - step, backgrounds + step]), np.repeat([1, 0], 40)
        )
        panels.append(Panel(drawn, title, f"removed {removed.value:.2f}"))
    return panels


def of_genes() -> list[Panel]:
    """Return panels of how much each of 20 features changes; the five of the other colour are those that respond."""
    rng, responds = np.random.default_rng(0), np.arange(20) < 5
    decoded = rng.normal(size=(200, 20))
    noise = np.abs(rng.normal(size=20))
    changes = {"those alone": np.where(responds, 2.0, 0.2 * noise), "most of all": 0.9 * responds + 0.6 * noise, "any": noise}
    panels = []
    for title, change in changes.items():
        score = changed_features(decoded, decoded - change, np.ones(20), responds).precision
        colours = [CLASSES[int(one)] for one in responds]
        draw = lambda axes, change=change, colours=colours: axes.bar(np.arange(20), change, color=colours) and None  # noqa: E731
        panels.append(Panel(draw, title, f"precision {score:.2f}"))
    return panels


def of_landmarks() -> list[Panel]:
    """Return panels of codes of where a landmark is, from left to right."""
    factor, codes = by_factor()
    points = np.stack([10 + 5 * factor, np.full(N, 8.0)], axis=1)[:, None]
    error = lambda z: metrics.landmark_error(z, points).error  # noqa: E731
    return [Panel(scatter(z, factor), title, f"{error(z):.2f} pixels") for title, z in codes.items()]


def digits(kind: str) -> list[Panel]:
    """Return panels of digits that should have become threes of another writer, as classifiers and errors judge them."""
    from sklearn.datasets import load_digits

    data = load_digits()
    x, y = data.images[:, None] / 16, data.target
    wanted, before, panels = x[y == 3][:150], x[y == 8][:150], []
    for title, images in (("as wanted", wanted), ("half way", (wanted + before) / 2), ("unchanged", before)):
        if kind == "accuracy":
            value = metrics.swap_accuracy(x[:1200], y[:1200], images, np.full(150, 3)).value
            score = f"accuracy {value:.2f}"
        elif kind == "lpips":
            larger = [np.kron(one, np.ones((1, 1, 8, 8))).astype(np.float32) for one in (images, wanted)]
            score = f"LPIPS {lpips(*larger).mean():.2f}"
        else:
            score = f"error {metrics.transfer_errors(images, wanted).mean():.3f}"
        panels.append(Panel(picked(images[2, 0]), title, score))
    return panels


def of_trivial_maps() -> list[Panel]:
    """Return panels of an image with a lesion, and of maps that need no method."""
    rng, grid = np.random.default_rng(0), np.stack(np.meshgrid(*2 * [np.linspace(-1, 1, 24)]), -1)
    inside = np.linalg.norm(grid, axis=-1) < 0.95
    mask = np.linalg.norm(grid - [0.3, -0.2], axis=-1) < 0.3
    healthy = inside * (0.4 + 0.2 * rng.uniform(size=(60, 24, 24)))
    patients = healthy[:20] - 0.25 * mask
    maps = metrics.baseline_maps(patients, healthy[20:])
    masks, brains = (np.broadcast_to(one, patients.shape) for one in (mask, inside))
    panels = [Panel(picked(patients[0]), "image", "")]
    for name, title in (("mean_minus_image", "mean - image"), ("brightness", "brightness"), ("brain", "the brain")):
        one, score = maps[name], metrics.map_auc(maps[name], masks, brains)
        shown = (one[0] - one.min()) / max(float(np.ptp(one)), 1e-9) if name != "brain" else inside
        panels.append(Panel(picked(np.where(inside, shown, 0)), title, f"AUC {score:.2f}"))
    return panels


def _split(score: Callable[[Any, Any], float]) -> Callable[[Any, Any], float]:
    """Return a score of codes and groups from one of targets and backgrounds."""
    return lambda z, groups: score(z[groups == 1], z[groups == 0])


def _dci(z: Any, y: Any) -> str:
    scores = metrics.dci_scores(z, y)
    return f"D {scores.disentanglement:.2f}  C {scores.completeness:.2f}  I {scores.informativeness:.2f}"


IMAGES: Mapping[str, Callable[[], list[Panel]]] = {
    "probe": lambda: of_classes(lambda z, y: metrics.probe_accuracy(z, y).accuracy, "accuracy"),
    "probe_strong": lambda: of_classes(lambda z, y: metrics.strong_probe_accuracy(z, y).accuracy, "accuracy"),
    "reading": lambda: of_classes(lambda z, y: metrics.mlp_probe_accuracy(z, y).accuracy, "accuracy"),
    "per_class": lambda: of_classes(lambda z, y: metrics.per_class_accuracy(z, y).mean, "mean"),
    "clustering": lambda: of_classes(lambda z, y: metrics.clustering_accuracy(z, y).accuracy, "accuracy"),
    "agreement": lambda: of_classes(lambda z, y: metrics.cluster_agreement(z, y).ari, "adjusted Rand"),
    "leakage": of_two_blocks,
    "leakage_covariates": lambda: of_groups(lambda z, y: metrics.covariate_leakage(z, y).leakage, "leakage"),
    "factors": lambda: of_factor(lambda z, y: metrics.factor_r2(z, y).r2, "R2"),
    "regression": lambda: of_factor(lambda z, y: metrics.regression_error(z, y).error, "error"),
    "groups": lambda: of_groups(_split(lambda t, b: metrics.group_silhouette(t, b).silhouette), "silhouette"),
    "w2": lambda: of_groups(_split(lambda t, b: metrics.w2_distance(t, b).value), "W2"),
    "per_target": lambda: of_groups(lambda z, y: metrics.per_target_accuracy(z, y)[1].accuracy, "accuracy"),
    "attributes": lambda: of_groups(lambda z, y: metrics.attribute_accuracy(z, y[:, None]).accuracy, "accuracy"),
    "sap": lambda: of_latents(lambda z, y: f"SAP {metrics.sap_score(z, y).sap:.2f}"),
    "mig": lambda: of_latents(lambda z, y: f"MIG {metrics.mig_score(z, y).mig:.2f}"),
    "dci": lambda: of_latents(_dci),
    "modularity": lambda: of_latents(lambda z, y: f"modularity {metrics.modularity_score(z, y).modularity:.2f}"),
    "explicitness": lambda: of_latents(lambda z, y: f"explicitness {metrics.explicitness_score(z, y).explicitness:.2f}"),
    "z_diff": lambda: of_latents(lambda z, y: f"accuracy {metrics.z_diff_score(z, y, train=500, test=300).accuracy:.2f}"),
    "factor_vae_score": lambda: of_latents(lambda z, y: f"accuracy {metrics.factor_vae_score(z, y).accuracy:.2f}"),
    "unsupervised": lambda: of_latents(lambda z, _: f"total corr. {metrics.unsupervised_scores(z).total_correlation:.2f}"),
    "reconstruction": lambda: of_decoded(metrics.reconstruction_error, "error"),
    "explained": lambda: of_decoded(lambda x, y: metrics.explained_variance(x, y).value, "share"),
    "background_quiet": lambda: of_removal(lambda t, h, b, c: metrics.background_change((t, h), (b, c)).value, "change"),
    "minimality": lambda: of_removal(lambda t, h, b, _: metrics.minimality_score(t, h, b).value, "change"),
    "salient_map": of_maps,
    "realism": of_generated,
    "probe_factors": lambda: of_classes(lambda z, y: metrics.probe_accuracy(z, y).accuracy, "accuracy"),
    "probe_strong_factors": lambda: of_classes(lambda z, y: metrics.strong_probe_accuracy(z, y).accuracy, "accuracy"),
    "per_attribute": lambda: of_groups(lambda z, y: metrics.attribute_accuracy(z, y[:, None]).per_attribute[0], "accuracy"),
    "factor_vae_salient": lambda: of_latents(lambda z, y: f"accuracy {metrics.factor_vae_score(z, y).accuracy:.2f}"),
    "responses": lambda: of_factor(lambda z, y: metrics.strong_factor_r2(z, y).r2, "R2"),
    "landmarks": of_landmarks,
    "changed_features": of_genes,
    "counterfactual": of_counterparts,
    "swap": lambda: digits("accuracy"),
    "translation": lambda: digits("accuracy"),
    "transfer": lambda: digits("error"),
    "transfer_lpips": lambda: digits("lpips"),
    "trivial_maps": of_trivial_maps,
}


def main(arguments: Sequence[str]) -> int:
    """Draw the image of each metric that is named, or of all."""
    for name in arguments or IMAGES:
        try:
            panels = IMAGES[name]()
        except OSError as error:
            if arguments:
                raise
            print(f"{name}: left out: {error}", flush=True)
            continue
        write(figure(panels), FOLDER / f"{name}.png", dpi=110)
        print(name, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
