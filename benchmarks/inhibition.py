"""Error against spikes: what inhibition buys, and what it costs.

    LRNN_DATA_DIR=... python benchmarks/inhibition.py [--device cuda]

MNIST, all 60,000 images: 784→50 at several prices of a spike, free of charge, wider and deeper; the
excitatory network and what truncated SVD leaves stand beside them.
"""

import argparse
from time import perf_counter

from common import load_mnist, report
from lrnn import LRNNAutoencoder, bounds

PENALTIES = (1e-5, 3e-6, 1e-6, 3e-7, 1.5e-7, 1e-7, 6e-8, 4e-8, 3e-8, 1e-8, 1e-9, 1e-10)


def row(what: str, model: LRNNAutoencoder, X: object, X_new: object) -> dict[str, object]:
    began = perf_counter()
    model.fit(X)
    seconds = perf_counter() - began
    return {
        "what": what,
        "train": model.reconstruction_err_,
        "test": -model.score(X_new),
        "spikes": model.spike_cost_,
        "seconds": seconds,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default=None)
    wanted = parser.parse_args()
    X, X_new = load_mnist(dtype=None), load_mnist("t10k", dtype=None)
    plain = {"device": wanted.device, "random_state": 0}
    full = plain | {"inhibition": True}
    rows = [row("784→50, excitatory", LRNNAutoencoder(50, **plain, fine_tune=10), X, X_new)]
    rows += [
        row(f"784→50, a spike costs {price:g}",
            LRNNAutoencoder(50, **full, spike_penalty=price), X, X_new)
        for price in PENALTIES
    ]  # fmt: skip
    rows += [
        row("784→50, spikes are free", LRNNAutoencoder(50, **full), X, X_new),
        row("784→50, free, 40 passes", LRNNAutoencoder(50, **full, fine_tune=40), X, X_new),
        row("784→100, free", LRNNAutoencoder(100, **full), X, X_new),
        row("784→100, free, 40 passes", LRNNAutoencoder(100, **full, fine_tune=40), X, X_new),
    ]
    deep = {"hidden_layer_sizes": (1000, 500, 250, 50), "stacking": "joint"}
    rows += [
        row("784→1000→500→250→50, excitatory",
            LRNNAutoencoder(**deep, **plain, fine_tune=10), X, X_new),
        row("784→1000→500→250→50, free", LRNNAutoencoder(**deep, **full), X, X_new),
        row("784→1000→500→250→50, a spike costs 3e-08",
            LRNNAutoencoder(**deep, **full, spike_penalty=3e-8), X, X_new),
    ]  # fmt: skip
    rows += [{"what": f"784→{h}, truncated SVD", "train": bounds.svd(X, h)} for h in (50, 100)]
    report("inhibition", "Error against spikes, MNIST", rows)


if __name__ == "__main__":
    main()
