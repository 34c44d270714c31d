"""The public names of the library are those that are written down.

A name that goes or comes is meant, and has its line in the changelog (docs/stability.md). After a
deliberate change write the list anew: ``python tests/test_public_names.py``.
"""

import dataclasses
import inspect
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import lrnn
from lrnn.analysis.audit import Audit, LayerAudit, Recognised, Standing
from lrnn.analysis.explanations import Explanation
from lrnn.analysis.frontiers import Frontier, Point
from lrnn.analysis.widths import WidthPath, WidthPoint
from lrnn.live import LivePage
from lrnn.network import Gradient, SteadyState
from lrnn.spiking import (
    Convergence,
    Decision,
    Precision,
    Raster,
    Simulation,
    SpikeCount,
    Transient,
)
from lrnn.storage.model_files import ModelFileError
from lrnn.storage.moment_files import MomentFileError
from lrnn.training import LearningCurve

WRITTEN = Path(__file__).parent / "data" / "public_names.txt"
RESULTS = (  # what public functions return, raise or take, and lrnn itself does not name
    Audit, LayerAudit, Recognised, Standing, Explanation, Frontier, Point, LivePage, Gradient,
    SteadyState, Convergence, Decision, Precision, Raster, Simulation, SpikeCount, Transient,
    ModelFileError, MomentFileError, LearningCurve, WidthPath, WidthPoint,
)  # fmt: skip


def objects():
    """Objects whose attributes are not all told by their class."""
    X = np.random.default_rng(0).random((20, 4))
    classes = np.arange(20) % 2
    frame = pd.DataFrame(X, columns=list("abcd"))
    yield "lrnn.LRNNAutoencoder", lrnn.LRNNAutoencoder(2, max_iter=2, random_state=0).fit(frame)
    yield (
        "lrnn.LRNNClassifier",
        lrnn.LRNNClassifier(2, max_iter=9, random_state=0).fit(frame, classes),
    )
    yield "lrnn.LRNNOutlierDetector", lrnn.LRNNOutlierDetector(2, random_state=0).fit(frame)
    yield "lrnn.RandomNeuralNetwork", lrnn.RandomNeuralNetwork([1], [[0]])


def is_ours(name):
    """Whether a name is public, and not one that scikit-learn adds."""
    return not (name.startswith("_") or name.endswith("_request"))


def members(kind):
    """Public names that a class has from lrnn, not from what it inherits from elsewhere."""
    found = {}
    for base in reversed(kind.__mro__):
        if base.__module__.startswith("lrnn."):
            found |= {n: v for n, v in vars(base).items() if is_ours(n)}
    if dataclasses.is_dataclass(kind):
        found |= {f.name: None for f in dataclasses.fields(kind) if is_ours(f.name)}
    return found


def names_of(name, thing):
    """That of a function, those of a class or a module and of what is in it."""
    yield name
    if inspect.isclass(thing):
        yield from (f"{name}.{member}" for member in members(thing))
    elif inspect.ismodule(thing):
        for inner in thing.__all__:
            yield from names_of(f"{name}.{inner}", getattr(thing, inner))


def found():
    """Everything public, one line each, in order."""
    lines = {"lrnn.__version__"}
    for name in lrnn.__all__:
        lines |= set(names_of(f"lrnn.{name}", getattr(lrnn, name)))
    for kind in RESULTS:
        lines |= set(names_of(kind.__name__, kind))
    for name, thing in objects():
        lines |= {f"{name}.{attribute}" for attribute in vars(thing) if is_ours(attribute)}
    return sorted(lines)


def written():
    return WRITTEN.read_text(encoding="utf-8").splitlines()


@pytest.fixture(scope="module")
def names():
    return found()


AGAIN = "If it is meant: a line in CHANGELOG.md, and python tests/test_public_names.py"


def test_no_public_name_has_gone(names):
    gone = sorted(set(written()) - set(names))
    assert not gone, "no longer there:\n  " + "\n  ".join(gone) + f"\n{AGAIN}"


def test_nothing_has_become_public_by_chance(names):
    new = sorted(set(names) - set(written()))
    assert not new, "public, and not written down:\n  " + "\n  ".join(new) + f"\n{AGAIN}"


def test_the_list_is_in_order():
    assert written() == sorted(set(written()))


if __name__ == "__main__":
    WRITTEN.write_text("".join(f"{line}\n" for line in found()), encoding="utf-8")
