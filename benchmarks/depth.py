"""What layers buy: error against spikes of deep networks with inhibition.

    LRNN_DATA_DIR=... python benchmarks/depth.py [--device cuda] [--what mnist …] [--passes 12]
    python benchmarks/depth.py --draw docs/images/depth.png

mnist: networks with a code of 50 neurons behind one wide layer, at some prices of a spike and free;
science: 784→1000→500→250→30, the task that began deep learning (Hinton & Salakhutdinov, Science,
2006, 3.00 per test image; PCA 13.87); yale: 1024→400→50; cifar: 3072→1000→150, the first 50,000
images of CIFAR-10. Errors are means per attribute, and also squared errors per image. What is not
asked for stays as it was measured before. --output takes the networks.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

import lrnn
from common import RESULTS, load_cifar10, load_mnist, report
from lrnn.datasets import load
from lrnn.paper import STRUCTURES
from lrnn.plots.axes import COLOURS, key, levels, logarithmic, plain

GROUPS: dict[str, tuple[tuple[int, ...], tuple[float, ...] | int]] = {
    "mnist": ((1000, 50), (3e-6, 9e-7, 4e-7, 1e-7, 3e-8, 8e-9)),
    "wide": ((2000, 50), (3e-6, 9e-7, 4e-7, 1e-7, 3e-8, 8e-9)),
    "science": ((1000, 500, 250, 30), (4e-8, 1.5e-8, 1e-10, 1e-13)),
    "yale": ((400, 50), 8),
    "cifar": ((1000, 150), (1e-6, 1e-7, 1e-8, 1e-9)),
}
TRAINING = 50_000  # of CIFAR-10's images


def rows_of(what: str) -> tuple[Any, Any]:
    """Images to learn from, and others."""
    if what == "yale":
        return load("yale").data, None
    if what == "cifar":
        images = load_cifar10()
        return images[:TRAINING], images[TRAINING:]
    return load_mnist(dtype=None), load_mnist("test", dtype=None)


def frontier(what: str, output: Path | None, **settings: Any) -> list[dict[str, object]]:
    """One structure's networks, the cheapest first."""
    hidden, penalties = GROUPS[what]
    X, X_new = rows_of(what)
    found = lrnn.frontier(
        X, hidden, X_test=X_new, penalties=penalties, random_state=0, stacking="joint", **settings
    )
    name = found.name.removesuffix(" neurons").replace(" ", "")
    print(name, round(found.seconds), "s", flush=True)
    rows: list[dict[str, object]] = []
    for number, p in enumerate(found.points):
        test = None if p.test_error is None else p.test_error * X.shape[1]
        rows.append({
            "what": name, "penalty": p.penalty, "train": p.error, "test": p.test_error,
            "train, per image": p.error * X.shape[1], "test, per image": test, "spikes": p.spikes,
        })  # fmt: skip
        if output is not None:
            output.mkdir(parents=True, exist_ok=True)
            p.model.save(output / f"{what}-{number:02}.safetensors")
    return [*rows, {"what": f"{name}, all of it", "svd": found.svd, "seconds": found.seconds}]


def known(name: str) -> list[dict[str, Any]]:
    """What was measured before."""
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text())["results"] if path.exists() else []


def draw(path: Path) -> None:
    """Frontiers of MNIST with a code of 50 neurons, as they were measured on a GPU."""
    figure = Figure(figsize=(5.8, 4.0), dpi=150, layout="constrained")
    ax = figure.add_subplot()
    shallow = [r for r in known("inhibition_cuda") if r["what"].startswith("784→50, a spike costs")]
    deep = [r for r in known("depth_cuda") if r.get("penalty") and r["what"].endswith("→50")]
    lines = {"784→50": shallow}
    for r in deep:
        lines.setdefault(r["what"], []).append(r)
    for number, (name, rows) in enumerate(lines.items()):
        colour = COLOURS[number]
        for part, style in (("train", "o-"), ("test", ":")):
            ax.plot(
                [r["spikes"] for r in rows], [r[part] for r in rows], style, color=colour,
                markersize=3, linewidth=1.2, label=name if part == "train" else None,
            )  # fmt: skip
    plain_one = next(r for r in known("inhibition_cuda") if r["what"] == "784→50, excitatory")
    ax.plot([plain_one["spikes"]], [plain_one["train"]], "D", color=COLOURS[5], markersize=5,
            label="784→50, excitatory")  # fmt: skip
    svd = next(r["svd"] for r in known("depth_cuda") if r.get("svd") and "→50," in r["what"])
    papers = STRUCTURES["mnist-50"].paper
    assert papers is not None
    logarithmic(ax, "x")
    levels(ax, {"no linear map is below": svd, "Yin & Gelenbe 2016": papers}, side="right")
    key(ax)
    plain(ax, "spikes per unit time", "mean squared error (dotted: on test images)")
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default=None)
    parser.add_argument("--passes", type=int, default=None, help="at each penalty, on each way")
    parser.add_argument("--output", type=Path, default=None, help="folder for the networks")
    parser.add_argument("--what", nargs="+", choices=GROUPS, default=list(GROUPS))
    parser.add_argument("--draw", type=Path, default=None, help="only the plot of what is known")
    wanted = parser.parse_args()
    if wanted.draw is not None:
        draw(wanted.draw)
        return
    name = f"depth_{wanted.device or 'cpu'}"
    for what in wanted.what:
        new = frontier(what, wanted.output, device=wanted.device, passes=wanted.passes)
        measured = {row["what"] for row in new}
        rows = [row for row in known(name) if row["what"] not in measured]
        report(name, "Error against spikes of deep networks", [*rows, *new])


if __name__ == "__main__":
    main()
