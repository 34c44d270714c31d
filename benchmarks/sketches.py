"""Wide rows that are not in memory: how often they are read, with a sketch of G and without.

    python benchmarks/corpus.py FOLDER
    python benchmarks/sketches.py FOLDER/manual.npz [--codes 50]
    LRNN_DATA_DIR=... OMP_NUM_THREADS=1 python benchmarks/sketches.py --images
    OMP_NUM_THREADS=1 python benchmarks/sketches.py --matrix

A matrix of SciPy is given block by block by a function, as a file larger than memory would be, and
G is not formed. "Read" counts how often all rows were gone through. The same rows go to
scikit-learn's MiniBatchNMF by ``partial_fit``, as often. Errors are relative:
‖X − reconstruction‖ / ‖X‖, each with the model's own codes.

``--images`` takes every fourth image of CIFAR-10 in memory, 3072→150, instead, with a sketch and
without; ``--matrix`` streams synthetic text of 8,000 terms, with G as a matrix and by products.
"""

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy import sparse
from sklearn.decomposition import MiniBatchNMF

from common import Stopwatch, load_cifar10, report
from corpus import synthetic
from lrnn import LRNNAutoencoder
from sparse_text import relative_error

BLOCK = 4_096  # rows


class Stream:
    """Rows that can only be read in order; it counts how often."""

    def __init__(self, X: sparse.csr_array) -> None:
        self._X, self.read = X, 0

    def __call__(self) -> Iterator[sparse.csr_array]:
        """Blocks in order."""
        self.read += 1
        for first in range(0, self._X.shape[0], BLOCK):
            yield self._X[first : first + BLOCK]


def fitted(X: sparse.csr_array, codes: int, name: str) -> tuple[dict[str, Any], int]:
    """A row of the table, and how often the rows were read."""
    stream = Stream(X)
    model = LRNNAutoencoder(codes, moment="implicit", random_state=0)
    with Stopwatch() as watch:
        model.fit(stream)
    error = relative_error(X, model.transform(X), model.components_)
    steps = model.n_iter_
    row = {"": name, "seconds": watch.seconds, "read": stream.read, "steps on all rows": steps}
    return {**row, "error": f"{error:.4f}"}, stream.read


def minibatches(X: sparse.csr_array, codes: int, passes: int) -> dict[str, Any]:
    """The peer's row."""
    stream, model = Stream(X), MiniBatchNMF(codes, random_state=0)
    with Stopwatch() as watch:
        for _ in range(passes):
            for block in stream():
                model.partial_fit(block)
    error = relative_error(X, model.transform(X), model.components_)
    return {"": "MiniBatchNMF", "seconds": watch.seconds, "read": passes, "error": f"{error:.4f}"}


def without_sketch() -> Any:
    """All steps are made on the moment itself, meanwhile."""
    return patch("lrnn.training.gram.sketch_pays", lambda moment, hidden: False)


def timed(name: str, X: Any, codes: int, **settings: Any) -> dict[str, Any]:
    """A row of a table of whole fits."""
    model = LRNNAutoencoder(codes, random_state=0, **settings)
    with Stopwatch() as watch:
        model.fit(X)
    return {"": name, "seconds": watch.seconds, "error": model.reconstruction_err_}


def images() -> None:
    """Full rows in memory."""
    X = load_cifar10()[::4]
    rows = [timed("with a sketch", X, 150)]
    with without_sketch():
        rows.append(timed("without", X, 150))
    report("sketches_images", "CIFAR-10, every fourth image, 3072→150", rows)


def matrix() -> None:
    """Sparse rows that are streamed, and not too wide for G."""
    stream = Stream(synthetic(40_000, 8_000))
    kinds = {"through products": "implicit", "as a matrix": "dense"}
    rows = [timed(name, stream, 50, moment=kind) for name, kind in kinds.items()]
    report("sketches_matrix", "G of 40,000 rows × 8,000 terms, streamed, 50 codes", rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, nargs="?", help="a file of SciPy, .npz")
    parser.add_argument("--codes", type=int, default=50)
    parser.add_argument("--images", action="store_true", help="CIFAR-10 in memory, instead")
    parser.add_argument("--matrix", action="store_true", help="G as a matrix, instead")
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # that either of them could go on
    if given.images:
        return images()
    if given.matrix:
        return matrix()
    if given.file is None:
        parser.error("name a matrix, or --images, or --matrix")
    X = sparse.csr_array(sparse.load_npz(given.file)).astype(np.float32)
    found, read = fitted(X, given.codes, "lrnn")
    with without_sketch():
        rows = [found, fitted(X, given.codes, "lrnn without a sketch")[0]]
    rows.append(minibatches(X, given.codes, read))
    title = f"{given.file.stem}: {X.shape[0]:,} rows × {X.shape[1]:,} terms, {X.nnz:,} nonzeros"
    report(f"sketches_{given.file.stem}", f"{title}, {given.codes} codes, streamed", rows)


if __name__ == "__main__":
    main()
