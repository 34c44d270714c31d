"""Minibatches of rows that come only from the first to the last: through a buffer."""

import copy
import re
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from lrnn import LRNNAutoencoder, checkpoints, frontier
from lrnn.arrays import backend_of
from lrnn.rows import base
from lrnn.rows.validation import check_data, check_matrix
from lrnn.tables import sources
from lrnn.tables.sources import Blocks
from lrnn.training import Observer
from lrnn.training.history import Batches
from naming import naming
from nearness import assert_near, of_training

ROWS = 250  # in the small buffer
AT_A_TIME = 225  # 1797 rows in eight parts


def one_parquet(data, folder):
    return _parquet(data, folder / "data.parquet", row_group_size=50)


def folder_of_parquet(data, folder):
    for i, part in enumerate(np.array_split(data, 5)):
        _parquet(part, folder / f"{i}.parquet", row_group_size=77)
    return folder


def _parquet(data, path, **options):
    names = [f"pixel{i}" for i in range(data.shape[1])]
    pd.DataFrame(data, columns=names).to_parquet(path, **options)
    return path


def function(data, folder):
    return lambda: iter(np.array_split(data, 7))


def sparse_blocks(data, folder):
    return lambda: map(sparse.csr_array, np.array_split(data, 7))


def dask_array(data, folder):
    return pytest.importorskip("dask.array", reason="pip install 'lrnn[dask]'").from_array(
        data, chunks=(130, data.shape[1])
    )


def dask_frame(data, folder):
    names = [f"pixel{i}" for i in range(data.shape[1])]
    frame = pd.DataFrame(data, columns=names)
    return pytest.importorskip("dask.dataframe", reason="pip install 'lrnn[dask]'").from_pandas(
        frame, npartitions=6
    )


KINDS = [one_parquet, folder_of_parquet, function, sparse_blocks, dask_array, dask_frame]
WAYS = {
    "printed": {"solver": "minibatch", "max_iter": 4},
    "printed, unit rates": {"solver": "minibatch", "rates": "unit", "max_iter": 3},
    "printed, layer by layer": {
        "solver": "minibatch", "hidden_layer_sizes": (20, 6), "max_iter": 3, "fine_tune": 1,
    },
    "printed, together": {
        "solver": "minibatch", "hidden_layer_sizes": (20, 6), "stacking": "joint", "max_iter": 3,
    },
    "unit rates": {"rates": "unit", "max_iter": 3},
    "fine-tuned": {"fine_tune": 2},
    "inhibition": {"inhibition": True, "fine_tune": 2},
}  # fmt: skip
every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
every_way = pytest.mark.parametrize("way", WAYS)
pytestmark = pytest.mark.usefixtures("dask_here")
unseen = pytest.mark.filterwarnings("ignore::lrnn.tables.messages.SettingWarning")


@pytest.fixture
def small_buffer(monkeypatch):
    """It holds some of the digits in float64, which come in smaller blocks still."""
    monkeypatch.setattr(base, "BUFFER_BYTES", ROWS * 64 * 8)
    monkeypatch.setattr(sources, "BLOCK_BYTES", 100 * 64 * 8)


def make(way, **more):
    settings = {"hidden_layer_sizes": (6,), "max_iter": 8, "random_state": 3, "batch_size": 60}
    return LRNNAutoencoder(**{**settings, **WAYS[way], **more})


def assert_same(one, other, compare=np.testing.assert_array_equal):
    for ours, theirs in zip(one.weights_.layers, other.weights_.layers, strict=True):
        compare(ours, theirs)
    compare(one.reconstruction_err_, other.reconstruction_err_)
    for a, b in zip(one.history_, other.history_, strict=True):
        assert (a.layer, a.passes, a.stopped) == (b.layer, b.passes, b.stopped)
        compare(a.batch_errors, b.batch_errors)
        compare(a.errors, b.errors)


def assert_alike(one, other):
    """Other blocks of rows go into the errors, and into what the weights are scaled by."""
    terms = of_training(8 * 30, 60, 64, 20)
    assert_same(one, other, partial(assert_near, terms=terms))


@every_way
@every_kind
def test_a_buffer_that_holds_all_rows_gives_what_memory_gives(kind, way, digits, tmp_path):
    X = sparse.csr_array(digits) if kind is sparse_blocks else digits
    assert_alike(make(way).fit(kind(digits, tmp_path)), make(way).fit(X))


@pytest.mark.parametrize("dtype", ["float32", "uint8", "uint16", "bool"])
def test_so_does_it_for_other_numbers(dtype, digits, tmp_path):
    scale = {"uint8": 255, "uint16": 65_535}.get(dtype, 1)
    values = np.round(digits * scale) if dtype != "float32" else digits
    values = values.astype(dtype)
    assert_alike(make("printed").fit(one_parquet(values, tmp_path)), make("printed").fit(values))


def test_early_stopping_and_a_frontier_through_a_buffer_that_holds_all(digits, tmp_path):
    X, path = digits[:300], one_parquet(digits[:300], tmp_path)
    assert_alike(
        make("inhibition", early_stopping=True).fit(path),
        make("inhibition", early_stopping=True).fit(X),
    )
    settings = {"penalties": 2, "passes": 1, "random_state": 0}
    found, known = (frontier(data, 4, **settings) for data in (path, X))
    errors = [[point.error for point in one.points] for one in (found, known)]
    assert_near(*errors, of_training(8 * 30, 60, 64, 20))


def test_parts_of_a_stream_may_be_streams(digits, tmp_path):
    parts = np.array_split(digits, 3)
    found, known = make("printed"), make("printed")
    for part in parts:
        found.partial_fit(one_parquet(part, tmp_path))
        known.partial_fit(part)
    assert_alike(found, known)


@every_kind
def test_every_row_is_used_once_in_each_pass(kind, digits, tmp_path, small_buffer):
    data = np.arange(len(digits) * 64).reshape(-1, 64) / (len(digits) * 64)
    rows = check_matrix(kind(data, tmp_path), "test")
    random = np.random.RandomState(0)
    if kind is sparse_blocks:  # these hold less
        assert 100 < rows.buffered < ROWS
    else:
        assert max(rows.heights) == AT_A_TIME
    batches = Batches(rows, 60, random)
    orders = []
    for _ in range(2):
        seen, longest, count = [], 0, 0
        for numbers in batches:
            part, count = batches.part, count + 1
            assert 45 <= len(numbers) <= 75
            longest = max(longest, part.shape[0])
            batch = part.take(numbers)
            seen.append((batch.toarray() if sparse.issparse(batch) else batch)[:, 0])
        assert count == len(batches)
        assert longest == max(rows.heights)
        assert batches.part is rows  # nothing is held between the passes
        orders.append(np.concatenate(seen))
        np.testing.assert_array_equal(np.sort(orders[-1]), data[:, 0])
    assert (orders[0] != orders[1]).mean() > 0.9


@every_kind
def test_parts_come_in_random_order_where_reading_may_begin_there(
    kind, digits, tmp_path, small_buffer
):
    data = np.arange(len(digits) * 64).reshape(-1, 64) / (len(digits) * 64)
    rows = check_matrix(kind(data, tmp_path), "test")
    means = [
        part.take(slice(None)).sum() / part.shape[0]
        for part in rows.windows(np.random.RandomState(0))
    ]
    in_order = kind in (function, sparse_blocks)
    assert (len(rows.parts) == 2) == in_order
    assert (np.diff(means) > 0).all() == in_order


def test_blocks_may_be_of_two_kinds(digits, small_buffer):
    full = np.array_split(digits, 3)
    thin = [sparse.csr_array(block) for block in full]
    for blocks in ([thin[0], full[1], full[2]], [full[0], thin[1], full[2]]):
        rows = check_matrix(lambda blocks=blocks: iter(blocks), "test")
        first = 0
        for part in rows.windows(np.random.RandomState(0)):
            found = part.take(slice(None))
            found = found.toarray() if sparse.issparse(found) else found
            np.testing.assert_array_equal(found, digits[first : first + len(found)])
            first += len(found)
        assert first == len(digits)


@pytest.mark.parametrize("size", [7, 100, 1797, 5000])
def test_one_window_is_drawn_from_as_memory_is(size, digits):
    stream = Batches(check_matrix(lambda: iter([digits]), "test"), size, np.random.RandomState(1))
    array = Batches(check_matrix(digits, "test"), size, np.random.RandomState(1))
    assert len(stream) == len(array)
    for _ in range(2):
        for ours, known in zip(stream, array, strict=True):
            np.testing.assert_array_equal(ours, known)
            np.testing.assert_array_equal(stream.part.take(ours), digits[known])


@unseen
@every_way
@pytest.mark.parametrize(
    ("kind", "count"),  # which also tells where the kills fall
    [(one_parquet, 700), (function, 700), (dask_array, 700), (dask_array, 400)],
    ids=lambda one: getattr(one, "__name__", None),
)
def test_killed_again_and_again_it_ends_as_if_nothing_had_happened(
    kind, count, way, digits, tmp_path, small_buffer, monkeypatch
):
    class Killed(Exception):  # noqa: N818
        """Stands for SIGKILL."""

    written = checkpoints.write
    left = 0

    def write(*arguments):
        nonlocal left
        written(*arguments)
        left -= 1
        if left < 0:
            raise Killed

    X, path = kind(digits[:count], tmp_path), tmp_path / "checkpoint"
    undisturbed = make(way).fit(X)
    monkeypatch.setattr(checkpoints, "write", write)
    deaths = 0
    while True:
        left = 2 + deaths % 3
        try:
            model = checkpoints.fit(make(way), X, path, every=0)
            break
        except Killed:
            deaths += 1
    assert deaths > 0
    assert_same(model, undisturbed)


@pytest.mark.parametrize(
    ("kind", "order"), [(one_parquet, ["36 parts"]), (function, ["first", "last"])]
)
def test_what_a_buffer_does_not_hold_is_told(kind, order, digits, tmp_path, small_buffer):
    X = kind(digits, tmp_path)
    said = []

    class Watcher(Observer):
        def stage(self, task, iterations):
            said.append((task, iterations))

    with pytest.warns(UserWarning, match=naming("solver='minibatch'", *order, "1,797", 225)):
        make("printed")._fit(X, Watcher())
    ((task, iterations),) = said
    assert re.search(naming(225, "1,797"), task)
    assert iterations == 4 * 8 * 4
    with pytest.warns(UserWarning, match=naming("rates='unit'", *order)):
        make("unit rates").fit(X)
    with pytest.warns(UserWarning, match=naming("fine_tune", *order)):
        make("fine-tuned").fit(X)
    with pytest.raises(ValueError, match=naming("early_stopping=True", "1,797", 250)):
        make("inhibition", early_stopping=True).fit(X)
    make("printed", solver="gram").fit(X)  # does without, and without a warning


def test_files_that_give_rows_in_any_order_need_no_buffer(digits, tmp_path, small_buffer):
    np.save(tmp_path / "digits.npy", digits)
    for way in WAYS:
        model = make(way).fit(tmp_path / "digits.npy")
        known = make(way).fit(digits)
        assert model.reconstruction_err_ == pytest.approx(known.reconstruction_err_, rel=1e-9)


@unseen
@pytest.mark.slow
def test_sorted_rows_are_mixed_by_small_parts(digits, tmp_path, small_buffer):
    """As far as a buffer can; what comes only in order stays far above."""
    ordered = digits[np.argsort(digits @ np.linspace(-1, 1, 64))]
    settings = {"max_iter": 15, "hidden_layer_sizes": 16}
    shuffled = make("printed", **settings).fit(ordered).reconstruction_err_
    mixed, in_order = (
        make("printed", **settings).fit(kind(ordered, tmp_path)).reconstruction_err_
        for kind in (one_parquet, function)
    )
    assert mixed < shuffled * 1.15
    assert in_order > shuffled * 1.15


@unseen
@pytest.mark.parametrize("kind", [one_parquet, sparse_blocks], ids=lambda kind: kind.__name__)
def test_on_a_device(kind, digits, tmp_path, small_buffer, monkeypatch):
    """PyTorch's CPU stands for a GPU; sparse blocks are full there, and fill the buffer sooner."""
    torch = pytest.importorskip("torch", reason="pip install 'lrnn[torch]'")
    device = backend_of(torch.empty(0))
    monkeypatch.setattr("lrnn.rows.validation.backend_named", lambda name: device)
    model, known = make("printed", device="cuda"), make("printed")
    X = kind(digits, tmp_path)
    rows = check_data(copy.copy(model), X, reset=True)
    assert rows.buffered == ROWS
    for part in rows.windows(np.random.RandomState(0)):
        assert part.held_on_device
        assert part.backend == device
    known.fit(X if kind is one_parquet else function(digits, tmp_path))
    assert model.fit(X).reconstruction_err_ == pytest.approx(known.reconstruction_err_, rel=1e-6)


def test_what_fits_is_read_once(digits, tmp_path):
    calls = []

    def counted():
        calls.append(1)
        return iter(np.array_split(digits, 7))

    source = Blocks(counted, shape=digits.shape)
    before = len(calls)
    make("printed").fit(source)
    assert len(calls) == before + 2  # once to see whether blocks are sparse, and once for all
    rows = check_matrix(source, "test")
    assert rows.in_memory().resident
    assert rows.in_memory().in_memory().resident


@unseen
def test_a_source_that_changes_is_noticed(digits, small_buffer):
    for count in (900, 1800):
        lengths = iter([1797, 1797, 1797])
        more = np.vstack([digits, digits[:10]])

        def fickle(lengths=lengths, count=count, more=more):
            yield more[: next(lengths, count)]

        with pytest.raises(ValueError, match=naming("fickle", count, 1797)):
            make("printed").fit(fickle)


@unseen
def test_a_bad_cell_is_named_by_its_row_in_the_whole(digits, tmp_path, small_buffer):
    bad = digits.copy()
    bad[1_234, 5] = np.nan
    for kind in (one_parquet, function, dask_array):
        with pytest.raises(
            ValueError, match=naming("NaN", "row 1234", ("column 5", "column 'pixel5'"))
        ):
            make("printed").fit(kind(bad, tmp_path))
