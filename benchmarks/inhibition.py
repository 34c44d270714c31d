"""Error against spikes: what inhibition buys, and what it costs.

    LRNN_DATA_DIR=... python benchmarks/inhibition.py [--device cuda] [--what shallow deep …]
    python benchmarks/inhibition.py --draw docs/images/frontier.png

MNIST, all 60,000 images: the frontier of 784→50 (its networks are written to the folder given with
--output), single fits of 784→50, 784→100 and a deep network, with the excitatory network and what
truncated SVD leaves beside them; and 3072→150 on the 50,000 training images of CIFAR-10. What is
not asked for stays as it was measured before.
"""

import argparse
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

import lrnn
from common import Stopwatch, known, load_cifar10, load_mnist, report
from lrnn import LRNNAutoencoder, bounds, plots
from lrnn.analysis.frontiers import Frontier, Point
from lrnn.datasets import DATA_SETS

DEEP: dict[str, Any] = {"hidden_layer_sizes": (1000, 500, 250, 50), "stacking": "joint"}
PENALTIES = 24  # of the frontier
GROUPS = ("shallow", "deep", "frontier", "cifar")
TRAINING = 50_000  # of CIFAR-10's images


def row(what: str, model: LRNNAutoencoder, X: Any, X_new: Any) -> dict[str, object]:
    with Stopwatch() as watch:
        model.fit(X)
    print(what, round(watch.seconds, 1), "s", flush=True)
    return {
        "what": what,
        "train": model.reconstruction_err_,
        "test": -model.score(X_new),
        "spikes": model.spike_cost_,
        "seconds": watch.seconds,
    }


def frontier(X: Any, X_new: Any, output: Path | None, **settings: Any) -> list[dict[str, object]]:
    found = lrnn.frontier(X, 50, X_test=X_new, penalties=PENALTIES, random_state=0, **settings)
    rows: list[dict[str, object]] = [
        {"what": f"784→50, {p.name}", "train": p.error, "test": p.test_error, "spikes": p.spikes}
        for p in found.points
    ]
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
        for number, point in enumerate(found.points):
            assert point.model is not None
            point.model.save(output / f"{number:02}.safetensors")
    return [*rows, {"what": "784→50, the whole frontier", "seconds": found.seconds}]


def draw(path: Path) -> None:
    """The frontier as it was measured on a GPU."""
    rows = known("inhibition_cuda")
    svd = next(r["train"] for r in rows if r["what"] == "784→50, truncated SVD")
    points = []
    for r in rows:
        if r["group"] == "frontier" and r.get("spikes"):
            penalty = {"784→50, excitatory": None, "784→50, spikes are free": 0.0}
            points.append(Point(penalty.get(r["what"], 1.0), r["train"], r["test"], r["spikes"]))
    figure = Figure(figsize=(5.6, 3.8), dpi=150, layout="constrained")
    found = Frontier(((784, 50),), tuple(points), svd, 0.0)
    paper = {"Yin & Gelenbe 2016": DATA_SETS["mnist"].errors["50"]}
    plots.frontier(found, known=paper, ax=figure.add_subplot())
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default=None)
    parser.add_argument("--passes", type=int, default=None, help="of the frontier, at each penalty")
    parser.add_argument("--output", type=Path, default=None, help="folder for its networks")
    parser.add_argument("--what", nargs="+", choices=GROUPS, default=GROUPS)
    parser.add_argument("--single", type=int, default=0, help="passes of single fits, each start")
    parser.add_argument("--draw", type=Path, default=None, help="only the plot of what is known")
    wanted = parser.parse_args()
    if wanted.draw is not None:
        draw(wanted.draw)
        return
    plain = {"device": wanted.device, "random_state": 0}
    full = plain | {"inhibition": True, "fine_tune": wanted.single}
    note = f", {wanted.single} passes" if wanted.single else ""
    new: dict[str, list[dict[str, object]]] = {}
    if set(wanted.what) - {"cifar"}:
        X, X_new = load_mnist(dtype=None), load_mnist("test", dtype=None)
    if "shallow" in wanted.what:
        new["shallow"] = [
            row("784→50, excitatory", LRNNAutoencoder(50, **plain, fine_tune=10), X, X_new),
            row(f"784→50, free{note}", LRNNAutoencoder(50, **full), X, X_new),
            row(f"784→50, 1e-6 a spike{note}",
                LRNNAutoencoder(50, **full, spike_penalty=1e-6), X, X_new),
            row(f"784→50, 1e-7 a spike{note}",
                LRNNAutoencoder(50, **full, spike_penalty=1e-7), X, X_new),
            row(f"784→100, free{note}", LRNNAutoencoder(100, **full), X, X_new),
        ]  # fmt: skip
    if "deep" in wanted.what:
        deep = "784→1000→500→250→50"
        new["deep"] = [
            row(f"{deep}, excitatory", LRNNAutoencoder(**DEEP, **plain, fine_tune=10), X, X_new),
            row(f"{deep}, free{note}", LRNNAutoencoder(**DEEP, **full), X, X_new),
            row(f"{deep}, 3e-8 a spike{note}",
                LRNNAutoencoder(**DEEP, **full, spike_penalty=3e-8), X, X_new),
        ]  # fmt: skip
    if "frontier" in wanted.what:
        new["frontier"] = [
            *frontier(X, X_new, wanted.output, device=wanted.device, passes=wanted.passes),
            *({"what": f"784→{h}, truncated SVD", "train": bounds.svd(X, h)} for h in (50, 100)),
        ]
    if "cifar" in wanted.what:
        images = load_cifar10()
        X, X_new = images[:TRAINING], images[TRAINING:]
        new["cifar"] = [
            row("3072→150, excitatory", LRNNAutoencoder(150, **plain, fine_tune=2), X, X_new),
            row(f"3072→150, free{note}", LRNNAutoencoder(150, **full), X, X_new),
            row(f"3072→150, 1e-9 a spike{note}",
                LRNNAutoencoder(150, **full, spike_penalty=1e-9), X, X_new),
            {"what": "3072→150, truncated SVD", "train": bounds.svd(X, 150)},
        ]  # fmt: skip
    name = f"inhibition_{wanted.device or 'cpu'}"
    rows = [r for r in known(name) if r["group"] not in new]  # as it was measured before
    rows += [r | {"group": group} for group, found in new.items() for r in found]
    report(name, "Error against spikes", rows)


if __name__ == "__main__":
    main()
