"""The scripts in benchmarks/: they import what is there, and of lrnn only what is public."""

import ast
import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "benchmarks"
SCRIPTS = sorted(FOLDER.glob("*.py"))
PUBLIC = set((ROOT / "tests" / "data" / "public_names.txt").read_text().splitlines())
PRIVATE = {  # scripts that need private names, and why
    "depth": "figures of the docs in the style of lrnn.plots",
    "engines": "one engine alone, without the choice between them",
    "gpu": "the parts of a fit alone",
    "growth": "the parts of a fit alone",
    "minibatch_streams": "files that are larger than buffers, which are made smaller for it",
    "moments": "the parts of a fit alone",
    "partitioned": "the parts of an engine alone",
    "recognition": "figures of the docs in the style of lrnn.plots",
    "saturation": "starts of a training that no parameter chooses",
    "scaling": "constants of the solver, from which it predicts times",
    "sharpening": "powers of the solver that no parameter chooses",
    "simulation": "what an engine counts while it runs",
    "simulation_gpu": "one engine alone, without the choice between them",
    "sketches": "the solver without sketches, which no parameter chooses",
    "starts": "the solver without its rule for starts, which no parameter chooses",
    "streaming": "the parts of a fit alone",
    "unit_rates": "the errors of all steps of a training",
    "widths": "held-out errors of the parts of another library",
}


def defined(path):
    """Names at the top of a script."""
    found = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {name.id for target in targets for name in ast.walk(target)
                      if isinstance(name, ast.Name)}  # fmt: skip
    return found


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_what_it_imports_is_there(script):
    siblings = {path.stem: path for path in SCRIPTS}
    for node in ast.walk(ast.parse(script.read_text())):
        if not isinstance(node, ast.ImportFrom) or node.module is None:
            continue
        names = {alias.name for alias in node.names}
        if node.module in siblings:
            assert names <= defined(siblings[node.module]), node.module
        elif node.module.split(".")[0] == "lrnn":
            module = importlib.import_module(node.module)
            for name in names:
                if not hasattr(module, name):
                    importlib.import_module(f"{node.module}.{name}")


def is_public(name):
    """Whether a full name is that of the library, of what it lists, or of a result's class."""
    return name == "lrnn" or name in PUBLIC or name.rpartition(".")[2] in PUBLIC


def names_of_lrnn(path):
    """Full names that a script imports, or writes as text in order to replace them."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (a.name for a in node.names if a.name.split(".")[0] == "lrnn")
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "lrnn":
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from re.findall(r"^lrnn(?:\.\w+)+$", node.value)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_scripts_use_public_names_of_lrnn(script):
    private = {name for name in names_of_lrnn(script) if not is_public(name)}
    if script.stem in PRIVATE:
        assert private, "it needs no private name any more: take it out of PRIVATE"
    else:
        assert not private


def test_private_names_are_those_of_scripts_that_are_there():
    assert PRIVATE.keys() <= {script.stem for script in SCRIPTS}


@pytest.mark.parametrize(
    ("line", "public"),
    [
        ("import lrnn", True),
        ("from lrnn import LRNNAutoencoder, datasets", True),
        ("from lrnn.datasets import load", True),
        ("from lrnn.spiking import Decision", True),
        ("import lrnn.training", False),
        ("from lrnn.training import gram", False),
        ("from lrnn import training", False),
        ("from lrnn.datasets import fetch", False),
        ("patch('lrnn.training.gram.sketch_pays', None)", False),
    ],
)
def test_private_names_are_recognised(tmp_path, line, public):
    (tmp_path / "script.py").write_text(line)
    found = list(names_of_lrnn(tmp_path / "script.py"))
    assert found
    assert all(map(is_public, found)) == public
