"""The explorer in Chromium on many samples: the first points, a map that is moved, the sample under the pointer, a swap."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

import untwine as un

TRAIN = 1_000
OPTIONS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]
# Milliseconds from a movement of the pointer to the image of the sample under it, from another A to the swapped images, and
# from a movement of a latent's slider to the decoded image.
TURN = "new Promise((done) => { const c = new MessageChannel(); c.port1.onmessage = done; c.port2.postMessage(0); })"
HOVER = """async (i) => {
  const plot = document.querySelector(".plot"), tip = document.getElementById("tip"), box = plot.getBoundingClientRect();
  for (let step = 0; step < 400; step += 1) {
    const x = box.left + box.width * ((i * 0.37 + step * 0.011) % 1);
    const y = box.top + box.height * (0.3 + 0.4 * ((i * 0.61 + step * 0.007) % 1));
    const begun = performance.now(), before = tip.dataset.sample;
    plot.dispatchEvent(new PointerEvent("pointermove", { clientX: x, clientY: y, bubbles: true }));
    if (tip.hidden || tip.dataset.sample === before) continue;
    while (!tip.dataset.sample && performance.now() - begun < 3000) await TURN;
    return performance.now() - begun;
  }
  return 3000;
}""".replace("TURN", TURN)
SWAP = """async (sample) => {
  const field = document.querySelector(".slot input"), card = document.querySelector("[aria-labelledby=swap-title]");
  const begun = performance.now();
  field.value = sample;
  field.dispatchEvent(new Event("change"));
  while (!(card.dataset.made ?? "").startsWith(`${sample} `) && performance.now() - begun < 10000) await TURN;
  return performance.now() - begun;
}""".replace("TURN", TURN)
# A map is dragged in loops and zoomed in and out, a movement for each frame that the browser shows.
MOVE = """async (seconds) => {
  const plot = document.querySelector(".plot"), box = plot.getBoundingClientRect();
  const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
  const send = (Kind, name, dx, dy, more) => plot.dispatchEvent(
    new Kind(name, { pointerId: 1, bubbles: true, cancelable: true, clientX: x + dx, clientY: y + dy, ...more }));
  plot.setPointerCapture = () => {};
  const frames = [], draws = [];
  send(PointerEvent, "pointerdown", 0, 0);
  const begun = performance.now();
  for (let k = 1; performance.now() - begun < 1000 * seconds; k += 1) {
    send(PointerEvent, "pointermove", 80 * Math.sin(k / 15), 60 * Math.cos(k / 11));
    if (k % 3 === 0) send(WheelEvent, "wheel", 0, 0, { deltaY: 12 * Math.sign(Math.sin(k / 40)) });
    frames.push(await new Promise((done) => requestAnimationFrame(done)));
    if (plot.dataset.drawn) draws.push(Number(plot.dataset.drawn));
  }
  send(PointerEvent, "pointerup", 0, 0);
  draws.sort((one, other) => one - other);
  return [1000 * (frames.length - 1) / (frames.at(-1) - frames[0]), draws[Math.floor(draws.length / 2)]];
}"""
LATENT = """async (share) => {
  const slider = document.querySelector(".latent input"), card = document.querySelector("[aria-labelledby=latents-title]");
  const before = card.dataset.made, begun = performance.now();
  slider.value = Number(slider.min) + share * (slider.max - slider.min);
  slider.dispatchEvent(new Event("input"));
  while (card.dataset.made === before && performance.now() - begun < 10000) await TURN;
  return performance.now() - begun;
}""".replace("TURN", TURN)


def browser() -> str | None:
    """Return where Chromium is."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


def measure(samples: int, rounds: int) -> dict[str, list[float]]:
    """Return milliseconds until there are points, until the sample under the pointer is shown, of a swap, of one decoded image.

    And the frames per second of a map that is moved, with the milliseconds that drawing one takes. The first round opens the
    page while t-SNE of all samples is computed on the same cores, and so do the others as long as it takes: these are the times
    of a person who begins at once.
    """
    from playwright.sync_api import sync_playwright

    measured: dict[str, list[float]] = {name: [] for name in ("points", "frames", "draw", "hover", "swap", "latent")}
    with (
        tempfile.TemporaryDirectory() as folder,
        served(run_of(samples, Path(folder))) as address,
        sync_playwright() as playwright,
    ):
        chromium = playwright.chromium.launch(executable_path=browser(), args=OPTIONS)
        for turn in range(rounds):
            page = chromium.new_page(viewport={"width": 1280, "height": 900})
            page.set_default_timeout(600_000)
            start = time.perf_counter()
            page.goto(address)
            page.wait_for_selector("section.map[data-plane] >> nth=1")
            measured["points"].append(1000 * (time.perf_counter() - start))
            page.wait_for_selector(".panel[data-sample]")
            for hover in range(5):
                measured["hover"].append(float(page.evaluate(HOVER, 5 * turn + hover + 1)))
            page.locator("label", has_text="PCA").first.click()  # whose points stay while the map is moved
            page.locator("label", has_text="Move").click()
            page.wait_for_selector("section.map[data-plane=pca] >> nth=1")
            for name, value in zip(("frames", "draw"), page.evaluate(MOVE, 2), strict=True):
                measured[name].append(float(value))
            page.goto(f"{address}#recombine")
            page.wait_for_selector("[aria-labelledby=swap-title][data-made]")
            page.wait_for_timeout(1_000)
            for swap in range(5):
                measured["swap"].append(float(page.evaluate(SWAP, 17 * turn + swap + 1)))
            page.wait_for_timeout(1_000)
            for step in range(5):
                measured["latent"].append(float(page.evaluate(LATENT, (turn + step / 5) / rounds)))
            page.close()
        chromium.close()
    return measured


def run_of(samples: int, folder: Path) -> Path:
    """Fit a method for one epoch on images whose test split has so many samples; return its run folder."""
    rng = np.random.default_rng(0)
    n = TRAIN + samples
    x = rng.integers(0, 256, size=(n, 1, 64, 64), dtype=np.uint8)
    split = np.where(np.arange(n) < TRAIN, "train", "test")
    np.savez(folder / "data.npz", allow_pickle=False, x=x, groups=np.arange(n) % 2, labels=np.arange(n) % 10, split=split)
    data = un.load(folder / "data.npz")
    method = un.PrincipledVAE(epochs=1, n_common=16, n_salient=8)
    method.fit(data.train, out=folder / "run", origin={"name": str(folder / "data.npz"), "options": {}})
    return folder / "run"


@contextmanager
def served(run: Path) -> Iterator[str]:
    """Explore a run, wait until its samples are encoded, and give the address."""
    command = [sys.executable, "-m", "untwine", "explore", str(run), "--no-browser", "--threads", "2"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            lines = [] if process.stdout is None else [process.stdout.readline() for _ in range(2)]
            address = lines[1].strip()
            state = address.replace("/?", "/api/runs/0?")
            while b'"opening"' in urllib.request.urlopen(state, timeout=60).read():
                time.sleep(0.5)
            yield address
        finally:
            process.terminate()
