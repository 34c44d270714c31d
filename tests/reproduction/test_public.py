"""The experiments use public names of lrnn only, and lrnn knows nothing of them."""

import ast
from pathlib import Path

import pytest

import lrnn

ROOT = Path(__file__).parents[2]
PUBLIC = set((ROOT / "tests/data/public_names.txt").read_text(encoding="utf-8").splitlines())
FILES = sorted((ROOT / "reproduction").glob("*.py"))


def of_lrnn(tree):
    """Names of lrnn that a file imports, or takes from the module itself."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("lrnn."))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "lrnn":
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "lrnn":
            yield f"lrnn.{node.attr}"


def private_names(tree):
    """Private attributes that are not an object's own, but for those of named tuples."""
    for node in ast.walk(tree):
        other = isinstance(node, ast.Attribute) and getattr(node.value, "id", "") != "self"
        if other and node.attr.startswith("_") and not node.attr.startswith("__"):
            yield node.attr


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_names_of_lrnn_are_public(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert not set(of_lrnn(tree)) - PUBLIC
    assert set(private_names(tree)) <= {"_replace"}


def test_private_names_would_be_found():
    text = "import lrnn.rows\nfrom lrnn.weights import Weights\nlrnn.compiled.x\nimport lrnn"
    assert set(of_lrnn(ast.parse(text))) == {"lrnn.rows", "lrnn.weights.Weights", "lrnn.compiled"}
    assert not set(of_lrnn(ast.parse(text))) & PUBLIC
    assert set(private_names(ast.parse("model._fit(X)\nself._held"))) == {"_fit"}


def test_lrnn_does_not_know_them():
    for path in Path(lrnn.__file__).parent.rglob("*.py"):
        assert "reproduction." not in path.read_text(encoding="utf-8"), path
        assert "import reproduction" not in path.read_text(encoding="utf-8"), path
