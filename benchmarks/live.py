"""The live page in Chromium: events per second in its worker, frames per second that it draws.

    LRNN_DATA_DIR=... python benchmarks/live.py

MNIST 784→100, excitatory and with inhibition at a price, and scikit-learn's digits 64→16, alone and
two side by side; as fast as it can, for some seconds, and one input after another. Needs playwright
and Chromium (pip install '.[browser]'). Beside it the compiled kernel, one thread, same network.
"""

import shutil
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np
from playwright.sync_api import Page, sync_playwright

from common import load_mnist, report
from lrnn import LRNNAutoencoder
from lrnn.datasets import load

SECONDS = 6.0
EVENTS = 20_000_000


def measured(page: Page, address: str) -> dict[str, float]:
    """Events and frames per second once it runs, and milliseconds until a new input is shown."""
    began = perf_counter()
    page.goto(address)
    while not page.evaluate("Boolean(window.live?.news)"):
        page.wait_for_timeout(5)
    opened = perf_counter() - began
    page.evaluate("live.setPace(7)")
    page.wait_for_timeout(2000)
    counts = """() => { const e = live.news.engines; return [e.reduce((s, x) => s + x.events, 0),
                        performance.now(), live.counted ?? 0] }"""
    page.evaluate(
        "() => { const count = () => { live.counted = (live.counted ?? 0) + 1;"
        " requestAnimationFrame(count) }; requestAnimationFrame(count) }"
    )
    first = page.evaluate(counts)
    page.wait_for_timeout(1000 * SECONDS)
    last = page.evaluate(counts)
    seconds = (last[1] - first[1]) / 1000
    change = page.evaluate(
        """() => new Promise((done) => { const began = performance.now(); live.showRow(1);
             const look = () => live.news ? done(performance.now() - began) : setTimeout(look, 0);
             look() })"""
    )
    return {
        "opened, s": opened,
        "10⁶ events per s": (last[0] - first[0]) / seconds / 1e6,
        "frames per s": (last[2] - first[2]) / seconds,
        "new input, ms": change,
    }


def compiled(model: LRNNAutoencoder, row: np.ndarray) -> float:
    """Millions of events per second of the compiled kernel, one thread."""
    network, arrivals = model.to_network(), model.arrivals(row[None, :])[0]
    network.simulate(arrivals, events=100_000, engine="clock", random_state=0, progress=False)
    began = perf_counter()
    network.simulate(
        arrivals, events=EVENTS, engine="clock", random_state=0, progress=False, threads=1
    )
    return EVENTS / (perf_counter() - began) / 1e6


def main() -> None:
    """Measure, print and write down."""
    X, digits = load_mnist(dtype=np.float32)[:10_000], load("digits").data
    plain = LRNNAutoencoder(100, random_state=0).fit(X)
    priced = LRNNAutoencoder(
        100, inhibition=True, spike_penalty=1e-6, fine_tune=10, random_state=0
    ).fit(X)
    small = LRNNAutoencoder(16, random_state=0).fit(digits)
    scenes = {
        "MNIST 784→100": (plain, {}, X, (28, 28)),
        "MNIST 784→100, inhibition": (priced, {}, X, (28, 28)),
        "both side by side": (plain, {"inhibition": priced}, X, (28, 28)),
        "digits 64→16": (small, {}, digits, (8, 8)),
    }
    rows = []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for name, (model, others, data, shape) in scenes.items():
            live = model.live(data, shape=shape, against=others)
            path = live.save(Path(folder) / "live.html")
            page = browser.new_page(viewport={"width": 1300, "height": 900})
            found = measured(page, path.as_uri())
            page.close()
            kernel = compiled(model, data[0])
            size = path.stat().st_size / 1e6
            rows.append({"what": name, "MB": size, **found, "compiled, 10⁶ per s": kernel})
        browser.close()
    report("live", "The live page in Chromium", rows)


if __name__ == "__main__":
    main()
