"""Run folders written by hand, in sizes that fit in a glance."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from untwine.runs.gallery import Gallery, read_gallery
from untwine.runs.names import GALLERY, HISTORY, METHOD

CARD: dict[str, Any] = {
    "format_version": 1,
    "method": "principled_vae",
    "params": {"n_common": 4, "n_salient": 2, "lr": 0.001, "clip": None, "networks": "conv"},
    "shape": [3, 8, 8],
    "blocks": {"common": 4, "salient": 2},
    "data": {"name": "grassy_digits", "options": {"size": 8}, "fingerprint": "abc123"},
    "versions": {"untwine": "0.1.0", "python": "3.11.2"},
    "seconds": {"fit": 12.5},
    "weights_sha256": "feed",
}
ONE_BLOCK = {**CARD, "method": "pca", "params": {"n_latent": 6}, "blocks": {"z": 6}}
TERMS = ("reconstruction", "kl_common", "kl_salient")


def score(value: float, direction: str = "higher", width: float = 0.02, n: int = 500) -> dict[str, Any]:
    return {"value": value, "low": value - width, "high": value + width, "n": n, "seconds": 0.1, "direction": direction}


def scores(salient: float = 0.91, common: float = 0.13) -> dict[str, Any]:
    return {
        "probe.common": score(common, "lower"),
        "probe.salient": score(salient, "higher"),
        "factors.common": score(0.8765, "higher"),
        "factors.salient": score(0.0432, "lower"),
        "reconstruction.x": score(0.00421, "lower", 0.0001),
    }


def stored_gallery(images: bool = True, blocks: tuple[str, ...] = ("common", "salient")) -> dict[str, Any]:
    """Return the arrays of a gallery under the names that they have in the file."""
    rng = np.random.default_rng(0)
    shape = (3, 8, 8) if images else (5,)
    names = ["originals", "reconstructions"]
    if images and "salient" in blocks:
        names += ["only_common", "only_salient", "background_originals", "background_reconstructions"]
    arrays: dict[str, Any] = {name: rng.random((4, *shape), dtype=np.float32) for name in names}
    if images and "salient" in blocks:
        arrays |= {name: rng.random((3, *shape), dtype=np.float32) for name in ("swap_common", "swap_salient")}
        arrays |= {name: rng.random((3, 3, *shape), dtype=np.float32) for name in ("swap_grid", "interpolation", "made")}
        arrays["background_with_salient"] = rng.random((4, *shape), dtype=np.float32)
    for block, width in zip(blocks, (4, 2) if len(blocks) > 1 else (6,), strict=True):
        arrays |= {f"spread_{block}": rng.random((2, width)), f"told_{block}": rng.random((width, 2))}
        if images:
            arrays |= {
                f"walk_{block}": rng.random((width, 3, *shape), dtype=np.float32),
                f"walk_latents_{block}": np.arange(width),
            }
            arrays |= {f"walk_values_{block}": rng.normal(size=(width, 3)), f"walk_change_{block}": np.ones(width)}
    arrays["factor_names"] = np.array(["left", "right"])
    arrays |= {f"plane_{block}": rng.normal(size=(60, 2)) for block in blocks}
    labels = np.r_[np.arange(40) % 10, np.full(20, -1)]
    arrays |= {"plane_labels": labels, "plane_groups": np.r_[np.ones(40, int), np.zeros(20, int)]}
    return arrays | {"label_names": np.array(list("0123456789")), "group_names": np.array(["background", "target"])}


def gallery_of(path: Path, arrays: dict[str, Any]) -> Gallery:
    """Return stored arrays as the gallery that is read from them."""
    np.savez(path / GALLERY, **arrays)
    gallery = read_gallery(path)
    assert gallery is not None
    return gallery


def contrast(p_value: float = 0.005, n_salient: int = 2) -> dict[str, Any]:
    """Return the result of a contrast test in ten directions, as it is stored."""
    contrasts = [0.9 - 0.1 * i for i in range(n_salient)] + [0.2 - 0.05 * i for i in range(10 - n_salient)]
    chance = [0.25] * (n_salient + 1)
    counts = {"target": 600, "background": 500}
    return {"p_value": p_value, "n_salient": n_salient, "contrasts": contrasts, "chance": chance, "permutations": 199, **counts}


def codes(
    target: float = 0.9, background: float = 0.01, effect: float = 0.3, common: float = 1.0, varies: bool = True
) -> dict[str, Any]:
    """Return statistics of codes, as they are stored: the salient ones have this variance in each group and this effect.

    The common ones and their effect are `common` times as large as usual, of samples that vary or not.
    """
    salient = {
        "target": {"variance": [target, target / 2], "energy": 2 * target, "effect": effect},
        "background": {"variance": [background] * 2, "energy": 2 * background, "effect": effect * background},
    }
    same = {"variance": [common * v for v in (1.0, 0.8, 0.5, 0.5)], "energy": 2.8 * common, "effect": 0.6 * common}
    same |= {"varies": varies}
    return {"common": {"target": same, "background": same}, "salient": salient, "rows": {"target": 500, "background": 400}}


class Folder:
    """Writes run folders by hand."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def write(self, name: str = "demo", card: Any = CARD, gallery: Any = None, history: Any = None, **measured: Any) -> Path:
        """Write a run; `scores`, `contrast` and `codes` are files of their own."""
        path = self.root / name
        path.mkdir(parents=True)
        (path / METHOD).write_text(json.dumps(card))
        for what, content in measured.items():
            if content is not None:
                (path / f"{what}.json").write_text(json.dumps(content))
        if gallery is not None:
            np.savez(path / GALLERY, **gallery)
        if history is not None:
            lines = ["stage,epoch,player,term,value", *(",".join(map(str, row)) for row in history)]
            (path / HISTORY).write_text("\n".join(lines) + "\n")
        return path

    def full(self, name: str = "demo", **changes: Any) -> Path:
        history = [("fit", epoch, "vae", term, 10.0 / (epoch + 1)) for epoch in range(5) for term in TERMS]
        measured = {"scores": scores(), "contrast": contrast(), "codes": codes()}
        return self.write(name, **{"gallery": stored_gallery(), "history": history, **measured, **changes})
