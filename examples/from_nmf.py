"""From NMF to an autoencoder: parts too, but sooner
=================================================

    python examples/from_nmf.py [FIGURE]

Nonnegative matrix factorisation writes data as codes × parts, none of them negative. Its codes
are what an iteration ends with: for a new row there has to be another one, and for the old rows
that gives slightly other codes than before. An `LRNNAutoencoder` is used in the same way and also
learns parts, but its codes are a function of the data, ``min(X @ W, 1)``: to transform what was
learnt from is to get the same codes again, in a small part of the time. The price is some error,
for codes that a matrix product can give are not the best for each row.
"""

import sys
from time import perf_counter

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_digits
from sklearn.decomposition import NMF

from lrnn import LRNNAutoencoder, bounds, plots

PARTS = 16
REPEATS = 2  # of which the fastest counts


def timed(work, X):
    """How many seconds ``work(X)`` takes, and what it gives."""
    times = []
    for _ in range(REPEATS):
        began = perf_counter()
        made = work(X)
        times.append(perf_counter() - began)
    return min(times), made


def main(figure_path="from_nmf.png"):
    """Train both on digits, and compare."""
    X = load_digits().data / 16  # 1,797 images of 8×8 pixels in [0, 1]
    models = {
        "NMF": NMF(PARTS, max_iter=2_000),
        "LRNNAutoencoder": LRNNAutoencoder((PARTS,), random_state=0),
    }
    fitting, encoding, errors = {}, {}, {}
    for name, model in models.items():
        fitting[name], codes = timed(model.fit_transform, X)
        encoding[name], again = timed(model.transform, X)
        errors[name] = np.mean((model.inverse_transform(codes) - X) ** 2)
        print(f"{name}: mean squared error {errors[name]:.4f}")
        print(f"    transform(X) differs from fit_transform(X) by {abs(again - codes).max():.0e}")
    least = bounds.svd(X, PARTS)
    print(f"no linear map of rank {PARTS} has an error below {least:.4f}")
    for what, took in (("training", fitting), ("encoding", encoding)):
        print(f"{what} is {took['NMF'] / took['LRNNAutoencoder']:.1f} times as fast as NMF's")

    # what theory promises: codes are a function of the data, and no product of rank 16 does better
    np.testing.assert_array_equal(again, codes)
    assert errors["NMF"] >= least * (1 - 1e-9)

    autoencoder = models["LRNNAutoencoder"]
    figure = Figure(figsize=(9, 3.2), layout="constrained", dpi=150)
    left, middle, right = figure.subplots(1, 3)
    for ax, (name, model) in zip((left, middle), models.items(), strict=True):
        plots.parts(model, shape=(8, 8), ax=ax)
        ax.set_title(f"{name}: {PARTS} parts", fontsize=9, loc="left")
    plots.learning_curves(
        autoencoder, bounds={"NMF": errors["NMF"], "best linear map": least}, ax=right
    )
    figure.savefig(figure_path)
    print(f"figure: {figure_path}")


if __name__ == "__main__":
    main(*sys.argv[1:])
