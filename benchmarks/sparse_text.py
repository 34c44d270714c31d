"""Sparse text beside scikit-learn's NMF: time and error on real docstrings.

    python benchmarks/sparse_text.py [--codes 50] [--limit 20000]

The text is what every Python environment holds: the docstrings of at least 20 words in all modules
that are installed (so the corpus differs from one machine to the next; its size is reported). Terms
are weighted by tf-idf, rows have length 1. Errors are relative: ‖X − reconstruction‖ / ‖X‖, codes
being those of each method's own encoder.
"""

import argparse
import ast
import sysconfig
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.decomposition import NMF
from sklearn.feature_extraction.text import TfidfVectorizer

from common import Stopwatch, report
from lrnn import LRNNAutoencoder

NODES = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def docstrings() -> Iterator[str]:
    """Docstrings of the standard library and of all packages that are installed, in order."""
    for folder in (sysconfig.get_path("stdlib"), sysconfig.get_path("purelib")):
        for path in sorted(Path(folder).rglob("*.py")):
            if folder == sysconfig.get_path("stdlib") and "site-packages" in path.parts:
                continue
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    tree = ast.parse(path.read_text(encoding="utf-8"))
            except (SyntaxError, UnicodeDecodeError, ValueError):
                continue
            for node in ast.walk(tree):
                text = ast.get_docstring(node) if isinstance(node, NODES) else None
                if text and len(text.split()) >= 20:
                    yield text


def relative_error(X: sparse.csr_array, codes: np.ndarray, components: np.ndarray) -> float:
    """‖X − codes @ components‖ / ‖X‖, without forming the product."""
    square = float((X.data.astype(np.float64) ** 2).sum())
    linear = float(((X.T @ codes) * components.T).sum(dtype=np.float64))
    product = float(((codes.T @ codes) * (components @ components.T)).sum(dtype=np.float64))
    return float(np.sqrt(max(square - 2 * linear + product, 0) / square))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--codes", type=int, default=50)
    parser.add_argument("--limit", type=int, default=20_000, help="documents at most")
    given = parser.parse_args()
    texts = list(dict.fromkeys(docstrings()))
    texts = [texts[i] for i in np.random.default_rng(0).permutation(len(texts))[: given.limit]]
    words = TfidfVectorizer(min_df=3, max_features=20_000, stop_words="english", dtype=np.float32)
    X = sparse.csr_array(words.fit_transform(texts))
    about = {"rows": X.shape[0], "terms": X.shape[1], "nonzeros": X.nnz, "codes": given.codes}

    LRNNAutoencoder(2, max_iter=1).fit(X[:50, :50])  # what is loaded on first use
    rows = []
    for title, model in (
        ("lrnn", LRNNAutoencoder(given.codes, random_state=0)),
        ("lrnn, 20 steps", LRNNAutoencoder(given.codes, max_iter=20, random_state=0)),
        ("NMF (cd), 10 iterations", NMF(given.codes, init="nndsvda", max_iter=10, random_state=0)),
        ("NMF (cd), 20 iterations", NMF(given.codes, init="nndsvda", max_iter=20, random_state=0)),
    ):
        with warnings.catch_warnings(), Stopwatch() as watch:
            warnings.simplefilter("ignore")  # NMF's, that it could go on
            model.fit(X)
        error = relative_error(X, np.asarray(model.transform(X)), model.components_)
        rows.append({"": title, "seconds": watch.seconds, "error": error, "steps": model.n_iter_})
    fastest = min(row["seconds"] for row in rows if row[""].startswith("NMF"))
    report("sparse_text", f"Sparse text: {about}", [
        row | {"times NMF's quickest": row["seconds"] / fastest} for row in rows
    ])  # fmt: skip


if __name__ == "__main__":
    main()
