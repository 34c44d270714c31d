"""A real Dask cluster of separate processes: the same model, whatever happens to the workers."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from lrnn import LRNNAutoencoder, RandomNeuralNetwork, load, streaming
from lrnn.rows.dask import dask_array_of, dask_rows
from naming import naming

distributed = pytest.importorskip("distributed", reason="pip install 'lrnn[dask]'")
import dask  # noqa: E402
import dask.array as da  # noqa: E402
import dask.dataframe as dd  # noqa: E402

from nearness import assert_near, of_training  # noqa: E402

pytestmark = pytest.mark.filterwarnings("default")  # Dask's own, also in its threads
SETTINGS = {"hidden_layer_sizes": 8, "max_iter": 6, "random_state": 0}


def start(**settings):
    return distributed.LocalCluster(
        threads_per_worker=1, dashboard_address=None, silence_logs=60, **settings
    )


@pytest.fixture(scope="module")
def client():
    with start(n_workers=2) as cluster, distributed.Client(cluster) as client:
        yield client


def slowly(data, chunks, seconds):
    """Blocks whose reading takes its time."""

    def slow(block):  # not a name of this module, which workers cannot import
        time.sleep(seconds)
        return block

    array = da.from_array(np.array(data), chunks=chunks)
    return array.map_blocks(slow, dtype=data.dtype, meta=np.empty((0, 0)))


def kill_one(client, after):
    """Kill a worker process (its nanny starts another) while work is under way."""
    victim = next(iter(client.run(os.getpid).values()))

    def kill():
        time.sleep(after)
        os.kill(victim, signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    return thread, victim


@pytest.mark.slow
def test_the_model_is_the_same_to_rounding(client, digits):
    expected = LRNNAutoencoder(**SETTINGS).fit(digits)
    for X in (
        da.from_array(digits, chunks=(200, 64)),
        da.from_array(digits, chunks=(500, 20)),  # blocks that do not hold whole rows
        dd.from_pandas(pd.DataFrame(digits, columns=list(map(str, range(64)))), npartitions=5),
    ):
        model = LRNNAutoencoder(**SETTINGS).fit(X)
        assert model.reconstruction_err_ == pytest.approx(expected.reconstruction_err_, rel=1e-10)
        for found, known in zip(model.encoders_, expected.encoders_, strict=True):
            np.testing.assert_allclose(found, known, atol=1e-10)


def test_only_results_travel(client, digits):
    """The rows stay on the workers: what comes back is a matrix for each pass, not the data."""
    tall = da.concatenate([da.from_array(digits, chunks=(200, 64))] * 20).persist()
    distributed.wait(tall)
    sizes = []
    plain = distributed.Client.gather

    def gather(self, futures, *args, **kwargs):
        found = plain(self, futures, *args, **kwargs)
        sizes.append(dask.sizeof.sizeof(found))
        return found

    distributed.Client.gather = gather
    try:
        LRNNAutoencoder(**SETTINGS).fit(tall)
    finally:
        distributed.Client.gather = plain
    assert len(sizes) == 2  # one pass for the moment, one for the scale
    assert max(sizes) < 2 * 64 * 64 * 8 < tall.nbytes / 100


def test_small_blocks_of_wide_rows_share_a_result(client, rng):
    """A result of V × V numbers travels for some blocks together, and nothing changes by it."""
    X = rng.random((128, 300))
    array = da.from_array(X, chunks=(4, 300))
    rows = dask_rows(array, "test", None)
    assert rows._blocks_of_a_task(np.zeros((300, 300))) == 4  # four tasks for each of 2 workers
    assert rows._blocks_of_a_task(np.zeros((30, 1))) == 1
    single = dask_rows(da.from_array(X, chunks=(1, 300)), "test", None)
    assert single._blocks_of_a_task(np.zeros((40, 60))) == 8  # as large as the result
    dense = LRNNAutoencoder(moment="dense", **SETTINGS)
    np.testing.assert_allclose(
        dense.fit(array).encoders_[0], dense.fit(X).encoders_[0], rtol=1e-6, atol=1e-9
    )


def test_codes_are_lazy(client, digits):
    X = da.from_array(digits, chunks=(200, 64))
    model = LRNNAutoencoder(**SETTINGS).fit(digits)
    codes = model.transform(X)
    assert isinstance(codes, da.Array)
    assert codes.chunks == (X.chunks[0], (8,))
    np.testing.assert_allclose(codes.compute(), model.transform(digits), atol=1e-13)
    back = model.inverse_transform(codes)
    np.testing.assert_allclose(back.compute(), model.reconstruct(digits), atol=1e-13)
    frame = dd.from_pandas(pd.DataFrame(digits), npartitions=3)
    found = model.transform(frame)
    assert isinstance(found, dd.DataFrame)
    np.testing.assert_allclose(found.compute().to_numpy(), model.transform(digits), atol=1e-13)


@pytest.mark.slow
def test_codes_are_written_in_order_while_others_are_computed(client, digits, tmp_path):
    model = LRNNAutoencoder(**SETTINGS).fit(digits)
    array = slowly(digits, (100, 64), 0.01)
    assert streaming.encode(model, array, tmp_path / "codes.npy") == (len(digits), 8)
    np.testing.assert_allclose(np.load(tmp_path / "codes.npy"), model.transform(digits))
    frame = dd.from_pandas(pd.DataFrame(digits, columns=list(map(str, range(64)))), npartitions=5)
    streaming.encode(model, frame, tmp_path / "codes.csv")
    np.testing.assert_allclose(pd.read_csv(tmp_path / "codes.csv"), model.transform(digits))


def test_a_worker_killed_in_the_middle_of_the_pass(client, digits):
    X = slowly(digits, (60, 64), 0.1)
    thread, victim = kill_one(client, after=0.8)
    model = LRNNAutoencoder(**SETTINGS).fit(X)
    thread.join()
    client.wait_for_workers(2)
    assert victim not in client.run(os.getpid).values()  # it did die
    expected = LRNNAutoencoder(**SETTINGS).fit(digits)
    assert model.reconstruction_err_ == pytest.approx(expected.reconstruction_err_, rel=1e-10)


def test_a_worker_killed_during_transform(client, digits):
    model = LRNNAutoencoder(**SETTINGS).fit(digits)
    codes = model.transform(slowly(digits, (60, 64), 0.1))
    thread, victim = kill_one(client, after=0.8)
    found = codes.compute()
    thread.join()
    client.wait_for_workers(2)
    assert victim not in client.run(os.getpid).values()
    np.testing.assert_allclose(found, model.transform(digits), atol=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [2_000, 500], ids=["buffer holds all", "buffer holds some"])
def test_minibatches_of_partitions(client, digits, monkeypatch, rows):
    """Computed on workers, one of which dies, and brought here."""
    monkeypatch.setattr("lrnn.rows.base.BUFFER_BYTES", rows * 64 * 8)
    settings = SETTINGS | {"solver": "minibatch", "max_iter": 2}
    some = pytest.warns(UserWarning, match=naming("1,797", 450))
    told = nullcontext() if rows > len(digits) else some
    thread, victim = kill_one(client, after=0.8)
    with told:
        model = LRNNAutoencoder(**settings).fit(slowly(digits, (130, 64), 0.1))
    thread.join()
    client.wait_for_workers(2)
    assert victim not in client.run(os.getpid).values()
    if rows > len(digits):
        expected = LRNNAutoencoder(**settings).fit(digits)
    else:
        with dask.config.set(scheduler="synchronous"), some:
            expected = LRNNAutoencoder(**settings).fit(da.from_array(digits, chunks=(130, 64)))
    for found, known in zip(model.encoders_, expected.encoders_, strict=True):
        assert_near(found, known, of_training(2 * 18, 100, 64, 8))


def test_a_bad_cell_is_named(client, digits):
    bad = digits.copy()
    bad[1_111, 3] = np.nan
    with pytest.raises(ValueError, match=naming("NaN", "row 1111", "column 3")):
        LRNNAutoencoder(4).fit(da.from_array(bad, chunks=(200, 64)))


def test_wide_data_go_through_the_implicit_moment(client, rng):
    wide = rng.random((60, 3_000)) * (rng.random((60, 3_000)) < 0.1)
    settings = {"hidden_layer_sizes": 3, "max_iter": 2, "moment": "implicit", "init": "random"}
    X = da.from_array(wide, chunks=(20, 3_000))
    model = LRNNAutoencoder(**settings, random_state=0).fit(X)
    expected = LRNNAutoencoder(**settings, random_state=0).fit(wide)
    assert model.reconstruction_err_ == pytest.approx(expected.reconstruction_err_, rel=1e-9)


@pytest.mark.slow
def test_four_processes_share_sparse_text():
    """50,000 terms: no worker forms a matrix of them, and the model is that of one process."""
    X = sparse.random_array((4_000, 50_000), density=1e-3, format="csr", rng=0, dtype=np.float32)
    blocks = [
        da.from_delayed(dask.delayed(X[i : i + 100]), (100, 50_000), X.dtype, meta=X[:0])
        for i in range(0, X.shape[0], 100)
    ]
    settings = {"hidden_layer_sizes": 5, "max_iter": 5, "tol": 0, "random_state": 0}
    with start(n_workers=4, memory_limit="1GB") as cluster, distributed.Client(cluster) as client:
        assert len(set(client.run(os.getpid).values())) == 4
        array = da.concatenate(blocks)
        model = LRNNAutoencoder(**settings).fit(array)
        codes = model.transform(array).compute()
    parts = [X[i : i + 500] for i in range(0, X.shape[0], 500)]
    expected = LRNNAutoencoder(**settings).fit(lambda: iter(parts))
    assert model.reconstruction_err_ == pytest.approx(expected.reconstruction_err_, rel=1e-5)
    np.testing.assert_allclose(codes, expected.transform(X), atol=1e-3)


def test_simulations_run_on_the_cluster_bit_for_bit(client, rng):
    weights = [rng.random((6, 3)), rng.random((3, 6))]
    network = RandomNeuralNetwork.from_layers(weights, least_rate=1)
    arrivals = np.zeros((5, 15))
    arrivals[:, :6] = rng.random((5, 6)) * network.rates[:6] * 0.5
    settings = {"events": 20_000, "replicas": 3, "record": [0, 7], "random_state": 1}
    here = network.simulate(arrivals, **settings)
    there = network.simulate(arrivals, **settings, device="dask")
    np.testing.assert_array_equal(there.activation(), here.activation())
    np.testing.assert_array_equal(there.firing_counts, here.firing_counts)
    np.testing.assert_array_equal(there.time, here.time)
    assert len(here.raster.runs) == 15
    for name in ("times", "neurons", "rows", "replicas", "durations"):
        np.testing.assert_array_equal(getattr(there.raster, name), getattr(here.raster, name))


def test_a_file_is_read_by_the_workers(client, digits, tmp_path):
    np.save(tmp_path / "digits.npy", digits)
    pd.DataFrame(digits, columns=list(map(str, range(64)))).to_parquet(
        tmp_path / "digits.parquet", row_group_size=150
    )
    for name in ("digits.npy", "digits.parquet"):
        X = dask_array_of(tmp_path / name, rows_at_once=250)
        assert X.numblocks == (8, 1)
        np.testing.assert_array_equal(X.compute(), digits)


@pytest.mark.slow
def test_the_command_line_trains_on_workers(client, digits, tmp_path):
    """With a process of its own, for it may not disturb this one's client."""
    np.save(tmp_path / "digits.npy", digits)
    address = client.scheduler.address
    for how in (["--dask", address], ["--workers", "2"]):
        done = subprocess.run(
            [sys.executable, "-m", "lrnn", "fit", "digits.npy", "-o", "model.safetensors",
             "--hidden", "8", "--max-iter", "6", "--force", *how],
            capture_output=True, text=True, cwd=tmp_path, timeout=120,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        expected = LRNNAutoencoder(**SETTINGS).fit(digits)
        model = load(tmp_path / "model.safetensors")
        for command, made in (("encode", model.transform), ("reconstruct", model.reconstruct)):
            done = subprocess.run(
                [sys.executable, "-m", "lrnn", command, "model.safetensors", "digits.npy",
                 "-o", "made.npy", "--force", *how],
                capture_output=True, text=True, cwd=tmp_path, timeout=120,
            )  # fmt: skip
            assert done.returncode == 0, done.stderr
            np.testing.assert_allclose(np.load(tmp_path / "made.npy"), made(digits), atol=1e-12)
        assert model.reconstruction_err_ == pytest.approx(expected.reconstruction_err_, rel=1e-9)
    done = subprocess.run(
        [sys.executable, "-m", "lrnn", "fit", "digits.npy", "-o", "other.safetensors",
         "--dask", "tcp://127.0.0.1:1"],
        capture_output=True, text=True, cwd=tmp_path, timeout=120,
    )  # fmt: skip
    assert done.returncode == 1
    assert "'tcp://127.0.0.1:1'" in done.stderr
    assert "Traceback" not in done.stderr
