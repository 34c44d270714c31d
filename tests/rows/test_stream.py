"""Rows that are not in memory: the same model, in one pass for the moment and one for the scale."""

import os
import threading
import time

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet
from scipy import sparse

import lrnn.moments.sums
from lrnn import LRNNAutoencoder, bounds, checkpoints, streaming
from lrnn.moments import DenseMoment, second_moment
from lrnn.rows import encoded
from lrnn.rows.checks import SaturationWarning
from lrnn.rows.validation import check_matrix
from lrnn.tables import sources as sources_module
from lrnn.tables.read import open_source
from lrnn.tables.scaling import Scaling
from lrnn.tables.sources import ArraySource, Blocks, NpyFile, ParquetFiles, read_ahead
from naming import naming

ROWS = 300  # of a block in these tests


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(sources_module, "BLOCK_BYTES", ROWS * 64 * 8)


def npy(data, folder):
    np.save(folder / "data.npy", data)
    return str(folder / "data.npy")


def npy_by_columns(data, folder):
    np.save(folder / "data.npy", np.asfortranarray(data))
    return folder / "data.npy"


def frame(data):
    return pd.DataFrame(data, columns=[f"pixel{i}" for i in range(data.shape[1])])


def one_parquet(data, folder):
    frame(data).to_parquet(folder / "data.parquet", row_group_size=130)
    return folder / "data.parquet"


def folder_of_parquet(data, folder):
    (folder / "parts").mkdir()
    for i, part in enumerate(np.array_split(data, 5)):
        frame(part).to_parquet(folder / "parts" / f"{i}.parquet", row_group_size=77)
    return folder / "parts"


def zarr_array(data, folder):
    zarr = pytest.importorskip("zarr", reason="pip install zarr")
    array = zarr.create_array(
        store=str(folder / "data.zarr"), shape=data.shape, dtype=data.dtype, chunks=(60, 64)
    )
    array[:] = data
    return array


def zarr_file(data, folder):
    zarr_array(data, folder)
    return folder / "data.zarr"


def hdf5_dataset(data, folder):
    h5py = pytest.importorskip("h5py", reason="pip install h5py")
    with h5py.File(folder / "data.h5", "w") as file:
        file.create_dataset("data", data=data, chunks=(60, 64))
    return h5py.File(folder / "data.h5")["data"]


def hdf5_file(data, folder):
    hdf5_dataset(data, folder).file.close()
    return folder / "data.h5"


def memory_map(data, folder):
    return ArraySource(np.load(npy(data, folder), mmap_mode="r"))


def factory(data, folder):
    return lambda: iter(np.array_split(data, 7))


def sparse_blocks(data, folder):
    return Blocks(lambda: (sparse.csr_array(part) for part in np.array_split(data, 7)))


def frames(data, folder):
    return lambda: (frame(part) for part in np.array_split(data, 3))


SOURCES = [
    npy, npy_by_columns, one_parquet, folder_of_parquet, zarr_array, zarr_file, hdf5_dataset,
    hdf5_file, memory_map, factory, sparse_blocks, frames,
]  # fmt: skip
sources = pytest.mark.parametrize("make", SOURCES, ids=lambda f: f.__name__)


FITS = [(make, {}) for make in SOURCES] + [
    (make, settings)
    for make in (npy, sparse_blocks)
    for settings in ({"hidden_layer_sizes": (20, 8), "max_iter": 2}, {"moment": "implicit"})
]


@pytest.mark.parametrize(("make", "settings"), FITS)
def test_the_model_is_that_of_data_in_memory(digits, tmp_path, make, settings):
    settings = {"hidden_layer_sizes": 8, "max_iter": 4, "random_state": 0} | settings
    expected = LRNNAutoencoder(**settings).fit(digits)
    model = LRNNAutoencoder(**settings).fit(make(digits, tmp_path))
    assert model.reconstruction_err_ == pytest.approx(expected.reconstruction_err_, rel=1e-9)
    assert model.spike_cost_ == pytest.approx(expected.spike_cost_, rel=1e-8)
    for found, known in zip(model.encoders_, expected.encoders_, strict=True):
        np.testing.assert_allclose(found, known, atol=1e-9)


@sources
def test_codes_and_errors_are_those_of_data_in_memory(digits, tmp_path, make):
    X = make(digits, tmp_path)
    model = LRNNAutoencoder(8, max_iter=5).fit(digits)
    np.testing.assert_allclose(model.transform(X), model.transform(digits), atol=1e-14)
    np.testing.assert_allclose(model.reconstruct(X), model.reconstruct(digits), atol=1e-14)
    assert model.score(X) == pytest.approx(model.score(digits), rel=1e-12)
    assert bounds.svd(X, 8) == pytest.approx(bounds.svd(digits, 8), rel=1e-9)


ALL_WAYS = (npy, npy_by_columns, one_parquet, folder_of_parquet, zarr_array, memory_map)
WRITTEN = [(make, ".npy") for make in SOURCES] + [
    (make, suffix) for make in ALL_WAYS for suffix in (".csv", ".tsv", ".parquet", ".zarr")
]


@pytest.mark.parametrize(("make", "suffix"), WRITTEN)
def test_codes_are_written_as_they_are_computed(digits, tmp_path, make, suffix):
    if suffix == ".zarr":
        pytest.importorskip("zarr", reason="pip install 'lrnn[files]'")
    model = LRNNAutoencoder(8, max_iter=5).fit(digits)
    told = []
    path = tmp_path / f"codes{suffix}"
    X = make(digits, tmp_path)
    assert streaming.encode(model, X, path, progress=told.append) == (1797, 8)
    assert told[-1] == 1797
    assert len(told) >= 3
    assert not [p for p in tmp_path.iterdir() if p.name.startswith(".")]
    if suffix in (".csv", ".tsv"):
        found = pd.read_csv(path, sep="," if suffix == ".csv" else "\t")
        assert list(found.columns) == [f"code{i}" for i in range(8)]
        found = found.to_numpy()
    else:
        (block,) = (
            open_source(path).blocks(0, 2_000)
            if suffix != ".parquet"
            else (pd.read_parquet(path).to_numpy(),)
        )
        found = block
    np.testing.assert_allclose(found, model.transform(digits), atol=1e-14)
    streaming.reconstruct(model, X, path)  # replaces it
    assert open_source(path).shape == (1797, 64) if suffix not in (".csv", ".tsv") else True


def test_every_row_is_read_twice_and_never_all_at_once(digits, tmp_path):
    source = NpyFile(tmp_path / "data.npy") if npy(digits, tmp_path) else None
    passes, longest = [], []
    plain = source.blocks

    def watched(first, height):
        passes.append(first)
        for block in plain(first, height):
            longest.append(len(block))
            yield block

    source.blocks = watched
    LRNNAutoencoder(8, max_iter=10).fit(source)
    assert passes == [0, 0]
    assert max(longest) == ROWS


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32, np.int64, np.bool_])
def test_types_are_read_as_those_of_arrays_are(digits, tmp_path, dtype):
    scale = {np.uint8: 255, np.uint16: 65_535}.get(dtype, 1)
    data = np.round(digits * scale).astype(dtype)
    path = npy(data, tmp_path)
    expected = LRNNAutoencoder(4, max_iter=5).fit(data)
    model = LRNNAutoencoder(4, max_iter=5).fit(path)
    assert model.encoders_[0].dtype == expected.encoders_[0].dtype
    assert model.reconstruction_err_ == pytest.approx(expected.reconstruction_err_, rel=1e-4)


@pytest.mark.parametrize("make", [npy, one_parquet, factory, sparse_blocks])
@pytest.mark.parametrize(("value", "told"), [(np.nan, "NaN"), (-1.0, -1), (np.inf, "inf")])
def test_a_bad_cell_is_named_by_its_row_in_the_whole(digits, tmp_path, make, value, told):
    bad = digits.copy()
    bad[1_234, 5] = value
    with pytest.raises(ValueError, match=naming(told, "row 1234", ("column 5", "column 'pixel5'"))):
        LRNNAutoencoder(4).fit(make(bad, tmp_path))


def test_values_above_one_saturate(digits, tmp_path):
    high = digits.copy()
    high[1_500, 2] = 3
    with pytest.warns(SaturationWarning, match=naming(3, "row 1500", "column 2")):
        model = LRNNAutoencoder(4, max_iter=3).fit(npy(high, tmp_path))
    expected = LRNNAutoencoder(4, max_iter=3).fit(np.minimum(high, 1))
    assert model.reconstruction_err_ == pytest.approx(expected.reconstruction_err_, rel=1e-9)


def test_a_file_that_is_cut_off_between_the_passes(digits, tmp_path):
    path = npy(digits, tmp_path)
    source = NpyFile(tmp_path / "data.npy")
    plain, passes = source.blocks, []

    def watched(first, height):
        passes.append(first)
        if len(passes) == 2:
            os.truncate(path, 500_000)
        return plain(first, height)

    source.blocks = watched
    with pytest.raises(ValueError, match=naming("data.npy", "rows")):
        LRNNAutoencoder(4, max_iter=3).fit(source)


def test_a_source_that_changes_is_noticed(digits):
    lengths = iter([1797, 1797, 1797, 900])

    def fickle():
        yield digits[: next(lengths)]

    with pytest.raises(ValueError, match=naming("fickle", 900, 1797)):
        LRNNAutoencoder(4, max_iter=3).fit(fickle)


def test_blocks_must_be_alike(digits):
    def uneven():
        yield digits
        yield digits[:, :60]

    with pytest.raises(ValueError, match=naming("uneven", "row 1797", 60, 64)):
        LRNNAutoencoder(4).fit(Blocks(uneven, shape=(3594, 64)))


def test_an_interrupted_pass_goes_on_from_its_last_block(digits, tmp_path, monkeypatch):
    path = npy(digits, tmp_path)
    worked_on = []

    def products(block, real=lrnn.moments.sums.products):
        worked_on.append(block.shape[0])
        return real(block)

    monkeypatch.setattr("lrnn.moments.sums.products", products)

    class StoppedError(Exception):
        pass

    def source(stop_after):
        found = NpyFile(tmp_path / "data.npy")
        plain, found.read = found.blocks, []

        def watched(first, height):
            for block in plain(first, height):
                found.read.append(first)
                if len(found.read) > stop_after:
                    raise StoppedError
                yield block
                first += len(block)

        found.blocks = watched
        return found

    settings = {"hidden_layer_sizes": 6, "max_iter": 8}
    expected = LRNNAutoencoder(**settings).fit(path)
    file = tmp_path / "checkpoint"
    for stop_after in (3, 6, 1_000):
        X = source(stop_after)
        worked_on.clear()
        model = LRNNAutoencoder(**settings)
        try:
            checkpoints.fit(model, X, file, every=0)
        except StoppedError:
            assert stop_after < 1_000
    assert sum(worked_on) < 1_400  # not from the beginning
    for found, known in zip(model.encoders_, expected.encoders_, strict=True):
        np.testing.assert_array_equal(found, known)


@pytest.mark.slow
def test_later_layers_of_a_stream_are_read_as_a_stream_is(digits, tmp_path):
    """What a layer sees of rows that are not in memory is not in memory: its reading is kept, too.

    Stopped anywhere, the training goes on behind the passes that were complete.
    """
    npy(digits, tmp_path)
    stream = check_matrix(tmp_path / "data.npy", "test")
    layer = encoded(stream, [np.full((64, 20), 0.01)])
    assert not layer.resident
    assert layer.in_any_order
    assert not encoded(check_matrix(lambda: iter([digits]), "test"), [np.eye(64)]).in_any_order
    assert isinstance(second_moment(layer, 1_000_000), DenseMoment)  # read once, not at every step

    class StoppedError(Exception):
        pass

    class Source(NpyFile):
        left = read = 0

        def blocks(self, first, height):
            for block in super().blocks(first, height):
                self.read += 1
                if self.read > self.left:
                    raise StoppedError
                yield block

    settings = {"hidden_layer_sizes": (20, 6), "max_iter": 5, "random_state": 0}
    whole = Source(tmp_path / "data.npy")
    whole.left = 10_000
    expected = LRNNAutoencoder(**settings).fit(whole)
    last = whole.read  # of the last layer's second pass, or of what follows it
    for stop in range(2, last, 7):
        file = tmp_path / f"checkpoint{stop}"
        for left in (stop, 10_000):
            source = Source(tmp_path / "data.npy")
            source.left = left
            model = LRNNAutoencoder(**settings)
            try:
                checkpoints.fit(model, source, file, every=0)
            except StoppedError:
                assert left == stop
        compared = 7  # blocks, to see that the data are the same
        assert source.read < last + compared - stop // 4
        for found, known in zip(model.encoders_, expected.encoders_, strict=True):
            np.testing.assert_array_equal(found, known)


def test_minibatches_of_every_source(digits, tmp_path):
    settings = {"hidden_layer_sizes": 6, "max_iter": 3, "fine_tune": 1, "random_state": 0}
    expected = LRNNAutoencoder(**settings).fit(digits)
    for i, make in enumerate((npy, zarr_array, hdf5_dataset, memory_map, one_parquet, factory)):
        (tmp_path / str(i)).mkdir()
        model = LRNNAutoencoder(**settings).fit(make(digits, tmp_path / str(i)))
        assert model.reconstruction_err_ == pytest.approx(expected.reconstruction_err_, rel=1e-9)


def test_names_of_columns_are_remembered_and_compared(digits, tmp_path):
    model = LRNNAutoencoder(4, max_iter=2).fit(one_parquet(digits, tmp_path))
    assert model.feature_names_in_[3] == "pixel3"
    other = frame(digits).rename(columns={"pixel5": "other"})
    other.to_parquet(tmp_path / "other.parquet")
    with pytest.raises(ValueError, match=naming("X", "other", "pixel5")):
        model.transform(tmp_path / "other.parquet")


def test_files_that_are_no_rows(tmp_path):
    (tmp_path / "text.npy").write_bytes(b"not an array")
    (tmp_path / "text.parquet").write_bytes(b"not a table")
    (tmp_path / "text.h5").write_bytes(b"not a table")
    np.save(tmp_path / "vector.npy", np.zeros(3))
    table = pa.table({"a": [1.0, 2.0], "b": ["x", "y"]})
    parquet.write_table(table, tmp_path / "words.parquet")
    pytest.importorskip("h5py", reason="pip install 'lrnn[files]'")
    for name, told in [
        ("text.npy", ["damaged"]), ("text.parquet", ["damaged"]), ("text.h5", ["damaged"]),
        ("vector.npy", ["(3,)"]), ("words.parquet", ["column 'b'", "'x'", "row 0"]),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=naming(tmp_path / name, *told)):
            LRNNAutoencoder(1).fit(str(tmp_path / name))
    with pytest.raises(FileNotFoundError, match=naming(tmp_path / "data.txt")):
        LRNNAutoencoder(1).fit(str(tmp_path / "data.txt"))
    (tmp_path / "data.txt").touch()
    with pytest.raises(ValueError, match=naming("data.txt", ".npy", ".h5", "lrnn.datasets.read")):
        LRNNAutoencoder(1).fit(tmp_path / "data.txt")


def test_parquet_folders_must_agree(digits, tmp_path):
    folder = folder_of_parquet(digits, tmp_path)
    frame(digits).rename(columns={"pixel0": "x"}).to_parquet(folder / "9.parquet")
    with pytest.raises(ValueError, match=naming("9.parquet", "0.parquet")):
        ParquetFiles(folder)


def test_a_full_disk_leaves_what_was_there(digits, tmp_path, monkeypatch):
    model = LRNNAutoencoder(4, max_iter=2).fit(digits)
    path = tmp_path / "codes.npy"
    streaming.encode(model, digits, path)
    before = path.read_bytes()

    def full():
        yield digits
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match=naming(28, path)):
        streaming.encode(model, Blocks(full, shape=(3_000, 64)), path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["codes.npy"]


def test_reading_goes_on_while_a_block_is_worked_with():
    made = []

    def items():
        for i in range(10):
            made.append(i)
            yield i

    for i in read_ahead(items()):
        deadline = time.monotonic() + 10
        while len(made) < min(i + 2, 10) and time.monotonic() < deadline:
            time.sleep(0.001)
        assert len(made) >= min(i + 2, 10)
        assert len(made) <= i + 3  # and no further


def test_a_reader_that_nobody_waits_for_ends():
    before = threading.active_count()

    def items():
        while True:
            yield 0

    for _ in read_ahead(items()):
        break
    assert threading.active_count() == before


def test_an_error_of_the_reader_arrives():
    def items():
        yield 1
        raise RuntimeError("the disk is gone")

    with pytest.raises(RuntimeError, match="the disk is gone"):
        list(read_ahead(items()))


def test_a_source_can_be_scaled_as_it_is_read(digits, tmp_path):
    npy(digits * 16, tmp_path)
    source = NpyFile(tmp_path / "data.npy")
    scaled = Scaling("max", np.zeros(64), np.full(64, 16.0)).apply(source)
    model = LRNNAutoencoder(4, max_iter=3).fit(scaled)
    expected = LRNNAutoencoder(4, max_iter=3).fit(digits)
    assert model.reconstruction_err_ == pytest.approx(expected.reconstruction_err_, rel=1e-12)


def test_missing_whole_numbers_are_named(digits, tmp_path):
    cells = pd.DataFrame(np.round(digits[:, :5]).astype(int)).convert_dtypes()
    cells.columns = list("abcde")
    cells.loc[700, "c"] = pd.NA
    cells.to_parquet(tmp_path / "whole.parquet")
    with pytest.raises(ValueError, match=naming("NaN", "row 700", "column 'c'")):
        LRNNAutoencoder(2).fit(tmp_path / "whole.parquet")
