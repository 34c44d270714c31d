"""Sparse text beside scikit-learn's NMF: time, error and memory, by one thread and by two.

    python benchmarks/corpus.py FOLDER
    python benchmarks/sparse_text.py FOLDER/manual.npz [--codes 50] [--threads 1 2] [--memory]
    python benchmarks/sparse_text.py FOLDER --widths
    python benchmarks/sparse_text.py --growth

A matrix is given as a file of SciPy (.npz). NMF (coordinate descent, scikit-learn's default start)
makes 10 iterations, and 20; lrnn makes as many steps as it needs for the error of those 10, and as
many as it likes. All train from the beginning, on the same float32 data, in turns; the seconds are
the medians of whole fits. Errors are relative: ‖X − reconstruction‖ / ‖X‖, with the codes that NMF
chooses freely for each row, and with those of lrnn's encoder. Memory is the most that a fit's
arrays took at a time, without the input (``--memory``: by tracemalloc, in fits that are not timed).

``--widths`` takes the three real corpora with 10 to 100 codes, by one thread, the least of two
fits, and tells the error of codes that are refined (``transform(X, refine=1)``) besides.

``--growth`` takes synthetic documents instead, with ever more nonzeros, terms or codes, and tells
the seconds of NMF's 10 iterations and those that lrnn needs for their error. It draws
docs/images/sparse-growth.png.
"""

import argparse
import tracemalloc
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from scipy import sparse
from sklearn.decomposition import NMF
from threadpoolctl import threadpool_limits

from common import Stopwatch, console, report
from corpus import synthetic
from lrnn import LRNNAutoencoder

MOST = 40  # steps in which lrnn has to reach NMF's error
CORPORA, WIDTHS = ("manual", "python", "bible"), (10, 20, 50, 100)
ROWS, TERMS, CODES = 25_000, 20_000, 50
SWEEPS = {
    "nonzeros": [(rows, TERMS, CODES) for rows in (6_250, 12_500, 25_000, 50_000, 100_000)],
    "terms": [(ROWS, terms, CODES) for terms in (5_000, 10_000, 20_000, 40_000, 80_000)],
    "codes": [(ROWS, TERMS, codes) for codes in (10, 20, 50, 100, 200)],
}


def relative_error(X: sparse.csr_array, codes: np.ndarray, components: np.ndarray) -> float:
    """‖X − codes @ components‖ / ‖X‖, without forming the product."""
    square = float((X.data.astype(np.float64) ** 2).sum())
    linear = float(((X.T @ codes) * components.T).sum(dtype=np.float64))
    product = float(((codes.T @ codes) * (components @ components.T)).sum(dtype=np.float64))
    return float(np.sqrt(max(square - 2 * linear + product, 0) / square))


def steps_to(X: sparse.csr_array, codes: int, error: float) -> int | None:
    """How many steps lrnn takes until its relative error is this one."""
    model = LRNNAutoencoder(codes, max_iter=MOST, random_state=0).fit(X)
    square = float((X.data.astype(np.float64) ** 2).sum())
    errors = np.sqrt(model.history_[0].errors * X.shape[0] * X.shape[1] / square)
    reached = np.flatnonzero(errors <= error)
    return max(1, int(reached[0])) if len(reached) else None


def fit(model: Any, X: sparse.csr_array) -> tuple[float, float]:
    """Seconds of a fit, and its relative error."""
    with Stopwatch() as watch:
        codes = model.fit_transform(X) if isinstance(model, NMF) else model.fit(X)
    if codes is model:
        codes = model.transform(X)
    return watch.seconds, relative_error(X, np.asarray(codes), model.components_)


def warm_up() -> None:
    """Load and compile what is needed on first use."""
    X = sparse.csr_array(synthetic(2_000, 3_000))
    LRNNAutoencoder(20, max_iter=1).fit(X)
    NMF(5, max_iter=1).fit(X)


def compared(X: sparse.csr_array, codes: int, rounds: int, traced: bool) -> list[dict[str, Any]]:
    """Rows of the table, for as many threads as there are now."""
    target = fit(NMF(codes, max_iter=10, tol=0, random_state=0), X)[1]
    steps = steps_to(X, codes, target)
    models: dict[str, Callable[[], Any]] = {
        "NMF, 10 iterations": lambda: NMF(codes, max_iter=10, tol=0, random_state=0),
        "NMF, 20 iterations": lambda: NMF(codes, max_iter=20, tol=0, random_state=0),
        "lrnn": lambda: LRNNAutoencoder(codes, random_state=0),
    }
    if steps is not None:
        models[f"lrnn, to the error of 10 iterations ({steps} steps)"] = lambda: LRNNAutoencoder(
            codes, max_iter=steps, random_state=0
        )
    seconds: dict[str, list[float]] = {name: [] for name in models}
    errors, memory = {}, {}
    for _ in range(rounds):
        for name, make in models.items():
            took, errors[name] = fit(make(), X)
            seconds[name].append(took)
    for name, make in models.items() if traced else ():
        tracemalloc.start()
        make().fit(X)
        memory[name] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return [
        {
            "": name,
            "seconds": median(seconds[name]),
            "least": min(seconds[name]),
            "error": f"{errors[name]:.5f}",
            "MB above the input": memory[name] / 1e6 if traced else None,
        }
        for name in models
    ]


def widths(folder: Path) -> None:
    """Several numbers of codes."""
    results = []
    for corpus in CORPORA:
        X = read(folder / f"{corpus}.npz")
        for codes in WIDTHS:
            with threadpool_limits(1):
                found = compared(X, codes, 2, False)
                model = LRNNAutoencoder(codes, random_state=0).fit(X)
                refined = relative_error(X, model.transform(X, refine=1), model.components_)
            found.append({"": "lrnn, refine=1", "error": f"{refined:.5f}"})
            results += [{"corpus": corpus, "codes": codes, **row} for row in found]
    report("sparse_text_widths", "Sparse text, by the number of codes, one thread", results)


def growth() -> None:
    """Time against size."""
    results = []
    for name, shapes in SWEEPS.items():
        for rows, terms, codes in shapes:
            X = synthetic(rows, terms)
            theirs, error = fit(NMF(codes, max_iter=10, tol=0, random_state=0), X)
            steps = steps_to(X, codes, error)
            ours, reached = fit(LRNNAutoencoder(codes, max_iter=steps or MOST, random_state=0), X)
            size = {"rows": rows, "terms": terms, "nonzeros": X.nnz, "codes": codes}
            of_nmf = {"NMF s": theirs, "NMF's error": f"{error:.4f}"}
            of_lrnn = {"lrnn s": ours, "lrnn's error": f"{reached:.4f}", "steps": steps}
            results.append({"varied": name, **size, **of_nmf, **of_lrnn})
            console.print(results[-1])
    draw(results)
    report("sparse_growth", "Growth of time with sparse data", results)


def draw(results: list[dict[str, Any]]) -> None:
    """Draw docs/images/sparse-growth.png; hollow where lrnn ended above NMF's error."""
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), sharey=True, layout="constrained")
    for name, axis in zip(SWEEPS, axes, strict=True):
        measured = [row for row in results if row["varied"] == name]
        across = [row[name] for row in measured]
        axis.loglog(across, [row["NMF s"] for row in measured], "s--", label="NMF, 10 iterations")
        axis.loglog(across, [row["lrnn s"] for row in measured], "C1-", alpha=0.4)
        for reached, fill, label in (
            (True, "C1", "lrnn, to their error"),
            (False, "none", "lrnn, ended above it"),
        ):
            some = [row for row in measured if (row["steps"] is not None) == reached]
            axis.loglog([row[name] for row in some], [row["lrnn s"] for row in some], "o",
                        color="C1", markerfacecolor=fill, label=label)  # fmt: skip
        axis.set(xlabel=name)
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("seconds")
    axes[0].legend(fontsize="small")
    figure.savefig(Path(__file__).parent.parent / "docs" / "images" / "sparse-growth.png", dpi=110)


def read(path: Path) -> sparse.csr_array:
    """A corpus, in float32."""
    return sparse.csr_array(sparse.load_npz(path)).astype(np.float32)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("matrix", type=Path, nargs="?", help="a file of SciPy, .npz")
    parser.add_argument("--codes", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--memory", action="store_true", help="trace the memory of fits besides")
    parser.add_argument("--widths", action="store_true", help="10 to 100 codes; name the folder")
    parser.add_argument("--growth", action="store_true", help="time against size, instead")
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # that either of them could go on
    warm_up()
    if given.growth:
        growth()
        return
    if given.matrix is None:
        parser.error("name a matrix, or --growth")
    if given.widths:
        widths(given.matrix)
        return
    X = read(given.matrix)
    rows = []
    for threads in given.threads:
        with threadpool_limits(threads):
            found = compared(X, given.codes, given.rounds, given.memory)
        rows += [{"threads": threads, **row} for row in found]
    stored = (X.data.nbytes + X.indices.nbytes + X.indptr.nbytes) / 1e6
    title = f"{given.matrix.stem}: {X.shape[0]:,} rows × {X.shape[1]:,} terms, {X.nnz:,} nonzeros"
    title += f" ({stored:.0f} MB), {given.codes} codes"
    report(f"sparse_text_{given.matrix.stem}", title, rows)


if __name__ == "__main__":
    main()
