"""Public names, their parameters, and the options of commands are those that are written down.

What is written down is a promise (docs/stability.md). After a deliberate change write it anew:
``python tests/test_public_names.py``.
"""

import dataclasses
import inspect
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import typer

import lrnn
from lrnn.cli.app import app

WRITTEN = Path(__file__).parent / "data" / "public_names.txt"
RESULTS = (  # what public functions return, raise or take, and lrnn itself does not name
    "lrnn.audit.Audit",
    "lrnn.audit.LayerAudit",
    "lrnn.audit.Recognised",
    "lrnn.audit.Standing",
    "lrnn.explanations.Explanation",
    "lrnn.frontiers.Frontier",
    "lrnn.frontiers.Point",
    "lrnn.live.LivePage",
    "lrnn.network.Gradient",
    "lrnn.network.SteadyState",
    "lrnn.spiking.Convergence",
    "lrnn.spiking.Decision",
    "lrnn.spiking.Precision",
    "lrnn.spiking.Raster",
    "lrnn.spiking.Simulation",
    "lrnn.spiking.SpikeCount",
    "lrnn.spiking.Transient",
    "lrnn.storage.model_files.ModelFileError",
    "lrnn.storage.moment_files.MomentFileError",
    "lrnn.training.LearningCurve",
    "lrnn.width_paths.WidthPath",
    "lrnn.width_paths.WidthPoint",
)
CALLED = {  # classes that users make objects of; of others only what their objects have counts
    "lrnn.LRNNAutoencoder",
    "lrnn.LRNNClassifier",
    "lrnn.LRNNOutlierDetector",
    "lrnn.RandomNeuralNetwork",
    "lrnn.datasets.Reading",
    "lrnn.spiking.Decision",
    "lrnn.spiking.Precision",
    "lrnn.spiking.SpikeCount",
    "lrnn.streaming.Beside",
}
TYPERS_OWN = {"--install-completion", "--show-completion", "--help"}


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


def parameters(function):
    """Names, and how they may be given; no defaults, no types."""
    shown, keyword_only = [], False
    for name, parameter in inspect.signature(function).parameters.items():
        if name in ("self", "cls"):
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not keyword_only:
            shown.append("*")
            keyword_only = True
        keyword_only |= parameter.kind is parameter.VAR_POSITIONAL
        mark = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        shown.append(mark + name)
        if parameter.kind is parameter.POSITIONAL_ONLY:
            shown.append("/")
    return ", ".join(shown)


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


def lines_of(name, thing):
    """A line for a function, a line for each public member of a class."""
    if inspect.isclass(thing):
        yield f"{name}({parameters(thing)})" if name in CALLED else name
        for member, value in members(thing).items():
            function = getattr(value, "__func__", value)
            called = inspect.isfunction(function)
            yield f"{name}.{member}" + (f"({parameters(function)})" if called else "")
    elif inspect.ismodule(thing):
        for inner in thing.__all__:
            yield from lines_of(f"{name}.{inner}", getattr(thing, inner))
    else:
        yield name + (f"({parameters(thing)})" if callable(thing) else "")


def commands(group, name):
    """Each command with its arguments, each of its options."""
    for word, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{name} {word}")
            continue
        given = [p.name.upper() for p in command.params if p.param_type_name == "argument"]
        yield " ".join([f"$ {name} {word}", *given])
        for parameter in command.params:
            if parameter.param_type_name == "option":
                yield from (
                    f"$ {name} {word} {option}"
                    for option in (*parameter.opts, *parameter.secondary_opts)
                    if option not in TYPERS_OWN
                )


def found():
    """Everything public, one line each, in order."""
    lines = {"lrnn.__version__"}
    for name in lrnn.__all__:
        lines |= set(lines_of(f"lrnn.{name}", getattr(lrnn, name)))
    for name in RESULTS:
        room, _, inner = name.rpartition(".")
        lines |= set(lines_of(name, getattr(import_module(room), inner)))
    for name, thing in objects():
        lines |= {f"{name}.{attribute}" for attribute in vars(thing) if is_ours(attribute)}
    lines |= set(commands(typer.main.get_command(app), "lrnn"))
    return sorted(lines)


def written():
    return WRITTEN.read_text(encoding="utf-8").splitlines()


@pytest.fixture(scope="module")
def names():
    return found()


def test_nothing_public_has_gone_or_changed(names):
    gone = sorted(set(written()) - set(names))
    assert not gone, (
        "these were promised, and are no longer there or have other parameters:\n  "
        + "\n  ".join(gone)
        + "\nKeep them, or deprecate them first (docs/stability.md). If parameters were only "
        "added, at the end or as keywords, or it has been deprecated long enough, write the list "
        "anew:\n  python tests/test_public_names.py"
    )


def test_nothing_has_become_public_by_chance(names):
    new = sorted(set(names) - set(written()))
    assert not new, (
        "these are public, and not written down:\n  "
        + "\n  ".join(new)
        + "\nA public name is a promise (docs/stability.md). If it is meant, write the list anew, "
        "and tell of it in CHANGELOG.md:\n  python tests/test_public_names.py"
    )


def test_the_list_is_in_order():
    assert written() == sorted(set(written()))


if __name__ == "__main__":
    WRITTEN.write_text("".join(f"{line}\n" for line in found()), encoding="utf-8")
