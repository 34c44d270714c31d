"""What a scaling cuts off is told once, with its number and column, however rows are read."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from lrnn import LRNNAutoencoder, LRNNClassifier, LRNNOutlierDetector, Moment, Scaling, checkpoints
from lrnn.tables.ledger import RangeWarning
from naming import naming

ROWS, WIDTH, GROUP, BEYOND = 300, 6, 30, 50
RANDOM = np.random.default_rng(0)
X = 10 * RANDOM.random((ROWS, WIDTH))
Y = X.copy()
Y[-BEYOND:, 2] = 11 + RANDOM.random(BEYOND)
LABELS = X[:, 0] > 5
SCALE = Scaling.fit(X, "max")


def npy(folder):
    np.save(folder / "x.npy", Y)
    return folder / "x.npy"


def parquet(folder):
    frame = pd.DataFrame(Y, columns=list("abcdef"))
    frame.to_parquet(folder / "x.parquet", row_group_size=GROUP)
    return folder / "x.parquet"


def csv(folder):
    np.savetxt(folder / "x.csv", Y, delimiter=",")
    return folder / "x.csv"


def dask_array(folder):
    da = pytest.importorskip("dask.array", reason="pip install 'lrnn[dask]'")
    return da.from_array(Y, chunks=(GROUP, WIDTH))


KINDS = {
    "dense": lambda folder: Y,
    "frame": lambda folder: pd.DataFrame(Y),
    "sparse": lambda folder: sparse.csr_array(Y),
    "blocks": lambda folder: lambda: (Y[i : i + GROUP] for i in range(0, ROWS, GROUP)),
    "sparse blocks": lambda folder: (
        lambda: (sparse.csr_array(Y[i : i + GROUP]) for i in range(0, ROWS, GROUP))
    ),
    "memory map": lambda folder: np.load(npy(folder), mmap_mode="r"),
    ".npy": npy,
    ".parquet": parquet,
    ".csv": csv,
    "dask": dask_array,
}
FEW = {"scale": SCALE, "max_iter": 4, "random_state": 0}
MODELS = {
    "gram": lambda: LRNNAutoencoder(2, **FEW),
    "implicit": lambda: LRNNAutoencoder(2, moment="implicit", **FEW),
    "minibatch": lambda: LRNNAutoencoder(2, solver="minibatch", **FEW),
    "unit rates": lambda: LRNNAutoencoder(2, rates="unit", **FEW),
    "fine-tuned": lambda: LRNNAutoencoder((3, 2), fine_tune=2, **FEW),
    "inhibition": lambda: LRNNAutoencoder(2, inhibition=True, fine_tune=2, **FEW),
    "complement": lambda: LRNNAutoencoder(2, complement=True, **FEW),
    "filled": lambda: LRNNAutoencoder(2, missing="allow", **FEW),
    "classifier": lambda: LRNNClassifier(2, **FEW),
    "detector": lambda: LRNNOutlierDetector(2, **FEW),
}

THIRD = ("column 2", "column 'c'")

pytestmark = pytest.mark.usefixtures("dask_here")


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Blocks of few rows, and maps that count as large."""
    monkeypatch.setattr("lrnn.tables.sources.BLOCK_BYTES", GROUP * WIDTH * 8)
    monkeypatch.setattr("lrnn.tables.kinds.SMALL_MAP", 0)


@pytest.fixture(params=KINDS)
def data(request, tmp_path):
    return KINDS[request.param](tmp_path)


def labels_for(model):
    return (LABELS,) if isinstance(model, LRNNClassifier) else ()


def assert_told_once(work, *arguments, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        work(*arguments, **options)
    told = [one for one in caught if issubclass(one.category, RangeWarning)]
    assert [one.filename for one in told] == [__file__]
    assert re.search(naming(BEYOND, f"{ROWS * WIDTH:,}", THIRD), str(told[0].message))


@pytest.mark.parametrize("name", MODELS)
def test_in_training(data, name):
    model = MODELS[name]()
    assert_told_once(model.fit, data, *labels_for(model))


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore")
def test_after_training(data, name):
    model = MODELS[name]()
    model.fit(X, *labels_for(model))
    for method in ("transform", "score_samples", "predict", "explain", "arrivals", "audit"):
        if hasattr(model, method):
            assert_told_once(getattr(model, method), data)


@pytest.mark.parametrize("name", ["gram", "minibatch", "inhibition", "classifier", "detector"])
def test_in_parts_of_a_stream(data, name):
    model = MODELS[name]()
    labels, more = labels_for(model), {}
    if labels:
        more = {"classes": [False, True]}
    assert_told_once(model.partial_fit, data, *labels, **more)
    assert_told_once(model.partial_fit, data, *labels)


@pytest.mark.parametrize("name", ["gram", "minibatch", "unit rates", "inhibition"])
def test_where_a_buffer_holds_a_part_of_the_rows(data, name, monkeypatch):
    monkeypatch.setattr("lrnn.rows.base.BUFFER_BYTES", 2 * GROUP * WIDTH * 8)
    assert_told_once(MODELS[name]().fit, data)


def test_in_sums(data):
    assert_told_once(Moment.of, data, scale=SCALE)


@pytest.mark.parametrize("name", ["gram", "minibatch", "inhibition"])
@pytest.mark.filterwarnings("ignore")
def test_where_a_training_is_gone_on_with(data, name, tmp_path):
    """Also if all steps were made, so that no row is needed but to compare it."""
    checkpoints.fit(MODELS[name](), data, tmp_path / "c", every=0)
    assert_told_once(checkpoints.fit, MODELS[name](), data, tmp_path / "c")


def test_rows_left_out_and_texts_never_seen_are_told_once_too(tmp_path, monkeypatch):
    monkeypatch.setattr("lrnn.rows.validation.IN_MEMORY", 0)
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(g=np.where(LABELS, "one", "other"))
    scaling = Scaling.fit(frame, "max", categories="onehot", missing="drop")
    frame.loc[frame.index[-BEYOND:], "g"] = "strange"
    frame.loc[[7, 90], "a"] = np.nan
    frame.to_csv(tmp_path / "x.csv", index=False)
    for name in ("gram", "minibatch"):
        model = MODELS[name]().set_params(scale=scaling)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(tmp_path / "x.csv")
        (told,) = [str(one.message) for one in caught if issubclass(one.category, RangeWarning)]
        assert re.search(naming(BEYOND, "column 'g'", "strange", "2 rows", 7, 90), told)
