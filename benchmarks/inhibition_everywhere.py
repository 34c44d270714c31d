"""Is a network with inhibition ever worse than the excitatory one? On all data sets.

    LRNN_DATA_DIR=... python benchmarks/inhibition_everywhere.py [--device cuda] [NAME …]

Each data set with the paper's width: the excitatory network, without and with as many passes of
training end to end; inhibition with free spikes; and at a penalty of a spike that is 1.4 % of the
excitatory network's error over its spikes. Beside the last one stands the excitatory network's
error plus price, which it must not pass. Data sets that are not named stay as they were measured
before.
"""

import argparse
import json
from typing import Any

from common import MODEST, RESULTS, WIDTHS, Stopwatch, report
from lrnn import LRNNAutoencoder, bounds
from lrnn.datasets import DATA_SETS, load


def compared(name: str, device: str | None) -> dict[str, Any]:
    X = load(name, scaled=DATA_SETS[name].white is None).data
    width = WIDTHS[name]
    common: dict[str, Any] = {"device": device, "random_state": 0}
    plain = LRNNAutoencoder(width, **common).fit(X)
    tuned = LRNNAutoencoder(width, fine_tune=20, **common).fit(X)
    penalty = MODEST * plain.reconstruction_err_ / plain.spike_cost_
    with Stopwatch() as watch:
        free = LRNNAutoencoder(width, inhibition=True, **common).fit(X)
    modest = LRNNAutoencoder(width, inhibition=True, spike_penalty=penalty, **common).fit(X)
    price = modest.reconstruction_err_ + penalty * modest.spike_cost_
    limit = plain.reconstruction_err_ + penalty * plain.spike_cost_
    return {
        "data": name,
        "device": device or "cpu",
        "structure": f"{X.shape[1]}→{width}",
        "excitatory": plain.reconstruction_err_,
        "tuned": tuned.reconstruction_err_,
        "svd": bounds.svd(X, width),
        "free": free.reconstruction_err_,
        "modest": modest.reconstruction_err_,
        "spikes": f"{plain.spike_cost_:.4g} → {modest.spike_cost_:.4g}",
        "price": price,
        "limit": limit,
        "never worse": free.reconstruction_err_ <= plain.reconstruction_err_ and price <= limit,
        "valid": free.audit().valid and modest.audit().valid,
        "seconds": watch.seconds,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=[])
    parser.add_argument("--device", default=None)
    wanted = parser.parse_args()
    known = list(WIDTHS)
    path = RESULTS / "inhibition_everywhere.json"
    before = json.loads(path.read_text())["results"] if path.exists() else []
    found = {row["data"]: row for row in before}
    for name in wanted.names or known:
        found[name] = compared(name, wanted.device)
        rows = [found[name] for name in known if name in found]
        report("inhibition_everywhere", "Inhibition on all data sets", rows)


if __name__ == "__main__":
    main()
