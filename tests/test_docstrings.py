"""Public names say what they take and give, in numpydoc's sections."""

import importlib
import inspect
import tomllib
from pathlib import Path

import pytest

import lrnn

validation = pytest.importorskip("numpydoc.validate", reason="pip install numpydoc")

PYPROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))
CHECKS = set(PYPROJECT["tool"]["numpydoc_validation"]["checks"])
MORE = ("network", "spiking")  # rooms whose names are given back by public ones


def functions_of(place, kind):
    """A class, and its own methods."""
    yield place
    for name, value in vars(kind).items():
        if not name.startswith(("_", "set_")) and not isinstance(value, property):
            function = getattr(value, "__func__", value)
            if inspect.isfunction(function):
                yield f"{place}.{name}"


def documented():
    """Where public functions, classes and methods are."""
    modules = {name: getattr(lrnn, name) for name in lrnn.__all__}
    modules |= {name: importlib.import_module(f"lrnn.{name}") for name in MORE}
    things = []
    for name, found in modules.items():
        if inspect.ismodule(found):
            own = [
                n for n, v in vars(found).items() if getattr(v, "__module__", 0) == found.__name__
            ]
            names = [n for n in getattr(found, "__all__", own) if not n.startswith("_")]
            things += [(f"{found.__name__}.{inner}", getattr(found, inner)) for inner in names]
        else:
            things.append((f"{found.__module__}.{name}", found))
    for place, thing in things:
        if inspect.isclass(thing):
            yield from functions_of(place, thing)
        elif inspect.isfunction(thing):
            yield place


@pytest.mark.parametrize("place", sorted(set(documented())))
def test_docstrings_are_complete(place):
    report = validation.validate(place)
    errors = dict(error for error in report["errors"] if error[0] in CHECKS)
    if report["type"] == "type" and "\nParameters\n---" not in report["docstring"]:
        errors.pop("PR01", None)  # made by us, and never by hand
    assert not errors
