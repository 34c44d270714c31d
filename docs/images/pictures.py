"""Draw the pictures of docs/ anew, each by the command that makes it.

    python docs/images/pictures.py [NAME …]
    python docs/images/pictures.py --list

Without a name all are drawn that take seconds. Those of benchmarks are drawn from what is in
benchmarks/results, or while they are measured.
"""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
COMMANDS = {  # from the root of the repository
    "moving-digits.gif": "docs/images/moving_digits.py",
    "live.gif": "docs/images/live_film.py",
    "moments.png": "examples/pooled_sums.py docs/images/moments.png",
    "frontier.png": "benchmarks/inhibition.py --draw docs/images/frontier.png",
    "depth.png": "benchmarks/depth.py --draw docs/images/depth.png",
    "accuracy-by-spikes.png": "benchmarks/recognition.py --draw docs/images/accuracy-by-spikes.png",
}
MEASURED = {  # while benchmarks run
    "accuracy-by-events.png": "benchmarks/decisions.py --figure docs/images/accuracy-by-events.png",
    "growth.png": "benchmarks/growth.py",
    "sparse-growth.png": "benchmarks/sparse_text.py --growth",
    "spiking-convergence.png": "benchmarks/spiking_convergence.py",
    "spiking-layers.png": "benchmarks/spiking_convergence.py",
    "thirty-codes.png": "benchmarks/depth.py --show docs/images/thirty-codes.png --device cuda",
    "deep-parts.png": "benchmarks/depth.py --parts docs/images/deep-parts.png",
}


def network(path: Path) -> None:
    """Iris 4→2, as docs/theory.md draws it."""
    from sklearn.datasets import load_iris

    from lrnn import LRNNAutoencoder, plots

    model = LRNNAutoencoder(2, scale="minmax", random_state=0).fit(load_iris(as_frame=True).data)
    plots.network(model).figure.savefig(path, dpi=110)


def report(path: Path) -> None:
    """The upper part of the report that `lrnn demo` makes. Needs playwright and Chromium."""
    from playwright.sync_api import sync_playwright

    with TemporaryDirectory() as folder, sync_playwright() as driver:
        subprocess.run([sys.executable, "-m", "lrnn", "demo", "--quiet"], cwd=folder, check=True)
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": 1100, "height": 1150})
        page.goto((Path(folder) / "lrnn-demo" / "index.html").as_uri())
        page.screenshot(path=path)
        browser.close()


FUNCTIONS = {"network.png": network, "report.png": report}


def main() -> None:
    """Draw them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="such as frontier.png")
    parser.add_argument(
        "--list", action="store_true", help="which there are, and how they are made"
    )
    asked = parser.parse_args()
    if asked.list:
        for name, command in sorted((COMMANDS | MEASURED).items()):
            print(f"{name}: python {command}")
        for name, function in FUNCTIONS.items():
            print(f"{name}: {function.__doc__.splitlines()[0]}")
        return
    for name in asked.names or [*COMMANDS, *FUNCTIONS]:
        print(name, flush=True)
        if name in FUNCTIONS:
            FUNCTIONS[name](HERE / name)
        else:
            command = (COMMANDS | MEASURED)[name].split()
            subprocess.run([sys.executable, *command], cwd=ROOT, check=True)


if __name__ == "__main__":
    main()
