"""Draw the images of docs/tutorials/explore.md: the explorer on a run, as Chromium shows it.

    python tools/explorer_images.py RUN [FOLDER]

RUN is a run folder, such as of `untwine fit principled_vae --data grassy_digits`; FOLDER is docs/images unless another is
named. Needs the extra `dev` (Playwright) and Chromium. t-SNE is waited for, which takes a minute or two.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
WIDTH, HEIGHT, COLOURS = 1280, 860, 220


def main(arguments: list[str]) -> int:
    """Write explore_map.png and explore_recombine.png."""
    if len(arguments) not in (1, 2):
        print(__doc__, file=sys.stderr)
        return 2
    folder = Path(arguments[1]) if len(arguments) == 2 else ROOT / "docs" / "images"
    command = [sys.executable, "-m", "untwine", "explore", arguments[0], "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as served:  # noqa: S603 (our own command)
        try:
            lines = [] if served.stdout is None else [served.stdout.readline() for _ in range(2)]
            if len(lines) < 2 or not lines[1].startswith("http"):
                return 1
            draw(lines[1].strip(), folder)
        finally:
            served.terminate()
    return 0


def draw(address: str, folder: Path) -> None:
    """Write an image of each view."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        options: dict[str, Any] = {"executable_path": shutil.which("chromium"), "args": ["--no-sandbox", "--disable-gpu"]}
        browser = playwright.chromium.launch(**options)
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
        page.goto(address)
        page.wait_for_selector("section.map[data-plane='tsne'] >> nth=-1", timeout=600_000)
        for map_ in page.locator("section.map").all():
            map_.locator("xpath=self::*[@data-plane='tsne']").wait_for(timeout=600_000)
        page.wait_for_timeout(500)
        write(page.screenshot(), folder / "explore_map.png")
        page.locator("#views a", has_text="Recombine").click()
        page.wait_for_selector("table.grid tbody canvas")
        page.wait_for_selector(".latent")
        page.wait_for_timeout(1_500)
        write(page.screenshot(full_page=True), folder / "explore_recombine.png")
        browser.close()


def write(content: bytes, path: Path) -> None:
    """Write an image with few colours, which takes a third of the space."""
    import io

    from PIL import Image

    with Image.open(io.BytesIO(content)) as image:
        image.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
