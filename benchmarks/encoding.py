"""Encoding throughput: ``transform`` against a bare BLAS product, and against ``NMF.transform``.

    LRNN_DATA_DIR=... python benchmarks/encoding.py

``transform`` also checks that the data are numbers in [0, 1], and saturates. The bare product has
the same shapes and types, and its result's memory is ready. All are the best of several runs, taken
in turns, with pauses: after a product BLAS threads wait for the next one, and keep cores busy, for
some hundredths of a second. NMF goes on until scikit-learn's own tolerance, as in
``side_by_side.py encode``.
"""

from typing import Any

import numpy as np

from common import Stopwatch, in_turns, load_mnist, report
from lrnn import LRNNAutoencoder
from peers import train_nmf_cd
from side_by_side import PAUSE


def main() -> None:
    rows = []
    for dtype in (np.float32, np.float64):
        X = load_mnist(dtype=dtype)
        for sizes in ((50,), (100,), (500, 100)):
            model = LRNNAutoencoder(sizes, stacking="joint", max_iter=5, random_state=0).fit(X)
            outs = [np.empty((len(X), width), dtype) for width in sizes]

            def bare(X: Any = X, model: LRNNAutoencoder = model, outs: Any = outs) -> None:
                layer = X
                for weight, out in zip(model.encoders_, outs, strict=True):
                    layer = np.matmul(layer, weight, out=out)

            def ours(X: Any = X, model: LRNNAutoencoder = model) -> None:
                model.transform(X)

            least = in_turns({"bare": bare, "ours": ours}, 15, PAUSE)
            row = {
                "": f"784→{'→'.join(map(str, sizes))}, {np.dtype(dtype)}",
                "bare product s": least["bare"],
                "transform s": least["ours"],
                "share of the bare speed": f"{least['bare'] / least['ours']:.0%}",
                "rows/s": f"{len(X) / least['ours']:,.0f}",
            }
            if sizes == (100,) and dtype == np.float32:
                few = X[:10_000]
                nmf = train_nmf_cd(few, 100, 20)
                with Stopwatch() as watch:
                    nmf.encode(few)
                ratio = (watch.seconds / len(few)) / (least["ours"] / len(X))
                row["times faster than NMF.transform"] = ratio
            rows.append(row)
    report("encoding", "Encoding 60,000 rows of MNIST", rows)


if __name__ == "__main__":
    main()
