"""The scripts in benchmarks/: what they take from each other and from lrnn is there."""

import ast
import importlib
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"
SCRIPTS = sorted(FOLDER.glob("*.py"))


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
