"""Clusters that fail: the error says what happened, and what was finished is not lost."""

import os
import subprocess
import sys
import time

import numpy as np
import pytest

import lrnn.moments.sums
from lrnn import LRNNAutoencoder, checkpoints
from lrnn.rows.dask import dask_array_of
from naming import naming

distributed = pytest.importorskip("distributed", reason="pip install 'lrnn[dask]'")
import dask  # noqa: E402
import dask.array as da  # noqa: E402

pytestmark = pytest.mark.filterwarnings("default")  # Dask's own, also in its threads


@pytest.mark.slow
def test_a_block_that_no_worker_can_hold():
    """Dask tries it on some workers one after the other, and the error says what helps."""
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, memory_limit="400MB", dashboard_address=None,
            silence_logs=60,
        ) as cluster,
        distributed.Client(cluster),
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
    ):  # fmt: skip
        huge = da.ones((40_000, 2_000), chunks=(40_000, 2_000))
        with pytest.raises(MemoryError, match=naming("workers", "X.rechunk")):
            LRNNAutoencoder(4, max_iter=2).fit(huge)


@pytest.fixture
def processes(tmp_path):
    """A scheduler and a worker, each a process that can be killed."""
    started = []

    def start():
        file = tmp_path / f"scheduler{len(started)}.json"
        common = ["--scheduler-file", str(file)]
        for what in (
            ["scheduler", *common, "--port", "0", "--no-dashboard"],
            ["worker", *common, "--nthreads", "1", "--no-dashboard"],
        ):
            started.append(
                subprocess.Popen(
                    [sys.executable, "-m", "dask", *what],
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
            )
            while not file.exists():
                time.sleep(0.05)
        client = distributed.Client(scheduler_file=str(file))
        client.wait_for_workers(1)
        return started[-2], client

    yield start
    for process in started:
        process.kill()
        process.wait()


@pytest.fixture
def impatient():
    with dask.config.set({"distributed.comm.timeouts.connect": "2s"}):
        yield


@pytest.mark.usefixtures("impatient")
@pytest.mark.slow
def test_losing_the_scheduler(digits, tmp_path, processes, monkeypatch):
    """The error is clear, and what was finished is in the checkpoint."""
    settings = {"hidden_layer_sizes": 8, "max_iter": 6}
    path = tmp_path / "checkpoint"
    np.save(tmp_path / "data.npy", digits)

    def rows():
        return dask_array_of(tmp_path / "data.npy", rows_at_once=300)

    scheduler, client = processes()
    plain = checkpoints.Checkpoint.checkpoint

    def and_kill(self, state, finished=False):
        plain(self, state, finished)
        if len(self._ended) == 2:  # the moment is there, and the steps are made
            scheduler.kill()
            scheduler.wait()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoints.Checkpoint, "checkpoint", and_kill)
        with pytest.raises(ConnectionError, match="scheduler"):
            checkpoints.fit(LRNNAutoencoder(**settings), rows(), path, every=0)
    client.close(timeout=2)
    _, client = processes()
    with client:
        formed, real, here = [], lrnn.moments.sums.products, os.getpid()

        def noted(block):
            assert os.getpid() == here  # and not on a worker, where the whole would be formed
            formed.append(block.shape[0])
            return real(block)

        monkeypatch.setattr("lrnn.moments.sums.products", noted)
        model = checkpoints.fit(LRNNAutoencoder(**settings), rows(), path)
        assert not formed  # the moment is that of the checkpoint
    expected = LRNNAutoencoder(**settings).fit
    monkeypatch.undo()
    assert model.reconstruction_err_ == pytest.approx(
        expected(digits).reconstruction_err_, rel=1e-9
    )
