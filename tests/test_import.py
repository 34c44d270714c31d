"""What ``import lrnn`` costs."""

import subprocess
import sys

import pytest

import lrnn
from naming import naming


def test_importing_is_quick_and_loads_nothing_heavy():
    code = """
import sys, time
before = time.perf_counter()
import lrnn
seconds = time.perf_counter() - before
heavy = {"numba", "torch", "matplotlib", "sklearn", "scipy"} & set(sys.modules)
print(seconds, *sorted(heavy))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    seconds, *heavy = done.stdout.split()
    assert float(seconds) < 0.5
    assert heavy == []


def test_using_the_estimator_loads_neither_numba_nor_torch_nor_matplotlib():
    code = """
import sys
from lrnn import LRNNAutoencoder, RandomNeuralNetwork, load
LRNNAutoencoder(2, max_iter=1).fit([[0.5, 0.1], [0.2, 0.3]]).to_network()
print(*sorted({"numba", "torch", "matplotlib"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_pyarrow_is_loaded_where_a_table_is_read_and_not_before(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n0.5,0.1\n0.2,0.3\n")
    code = """
import sys

class NoPandas:  # which imports pyarrow itself, and is imported by scikit-learn
    def find_spec(self, name, *_):
        if name == "pandas":
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, NoPandas())
from lrnn import LRNNAutoencoder
model = LRNNAutoencoder(2, max_iter=1).fit([[0.5, 0.1], [0.2, 0.3]])
print("pyarrow" in sys.modules)
sys.meta_path.pop(0)
model.transform("t.csv")
print("pyarrow" in sys.modules)
"""
    line = [sys.executable, "-c", code]
    done = subprocess.run(line, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.split() == ["False", "True"]


NAMES = {
    "LRNNAutoencoder",
    "LRNNClassifier",
    "LRNNOutlierDetector",
    "Moment",
    "RandomNeuralNetwork",
    "Scaling",
    "factorize",
    "frontier",
    "load",
    "load_moment",
    "score_entries",
    "widths",
}
MODULES = {
    "bounds", "checkpoints", "datasets", "decisions", "export", "functional", "plots", "streaming",
}  # fmt: skip


def test_the_public_names_are_there_and_no_others():
    assert set(lrnn.__all__) == NAMES | MODULES
    assert set(dir(lrnn)) == NAMES | MODULES | {"__version__"}
    for name in NAMES:
        assert callable(getattr(lrnn, name))
    with pytest.raises(AttributeError, match=naming("lrnn", "nothing")):
        lrnn.nothing  # noqa: B018


@pytest.mark.parametrize("name", sorted(MODULES))
def test_a_public_module_says_what_is_public(name):
    module = getattr(lrnn, name)
    assert list(module.__all__) == sorted(set(module.__all__))
    for public in module.__all__:
        assert getattr(module, public).__doc__
        assert not public.startswith("_")


def test_modules_that_the_readme_names_are_there_after_the_import():
    code = "import lrnn; print(lrnn.export.to_onnx.__name__, lrnn.streaming.encode.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["to_onnx", "encode"]
