"""A short film of the live page, for the front of the site: ``python docs/images/live_film.py``.

Needs playwright and Chromium (pip install '.[browser]').
"""

import io
import shutil
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from lrnn.cli.demo import demo_page, train
from lrnn.cli.voice import Voice
from lrnn.datasets import load

PLACE = Path(__file__).parent / "live.gif"
SCENES = ((2, 10, "0"), (4, 8, "0"), (6, 6, "0"), (6, 8, "2"), (6, 8, "9"))  # pace, frames, row
EVERY = 150  # milliseconds
WIDTH = 600


def main() -> None:
    """Train the demo's networks, open their page, and take pictures of it."""
    models = train(load("digits").data, hidden=16, seed=0, voice=Voice(quiet=True, as_json=False))
    frames = []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        page_file = demo_page(models, seed=0).save(Path(folder) / "live.html")
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": 1240, "height": 900})
        page.goto(page_file.as_uri())
        page.evaluate("live.tour.close()")
        shown = "0"
        stage = page.locator(".stage").first
        for pace, count, row in SCENES:
            if row != shown:
                page.evaluate(f"live.showRow({row})")
                shown = row
            page.evaluate(f"live.setPace({pace})")
            for _ in range(count):
                page.wait_for_timeout(EVERY)
                frames.append(Image.open(io.BytesIO(stage.screenshot())).convert("RGB"))
        browser.close()
    height = round(WIDTH * frames[0].height / frames[0].width)
    small = [f.resize((WIDTH, height)).quantize(32, dither=Image.Dither.NONE) for f in frames]
    small[0].save(PLACE, save_all=True, append_images=small[1:], duration=EVERY, loop=0)
    print(f"written to {PLACE}")


if __name__ == "__main__":
    main()
