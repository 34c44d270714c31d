"""A Dask cluster for a command: one that is running, or one of processes on this machine."""

import logging
import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from lrnn.cli.voice import Voice

Dask = Annotated[
    str | None, typer.Option("--dask", help="Address of a Dask scheduler, such as tcp://host:8786.")
]
Workers = Annotated[
    int | None,
    typer.Option("--workers", min=1, help="Share the rows out among so many processes."),
]


@contextmanager
def cluster(address: str | None, workers: int | None, voice: Voice) -> Iterator[Any]:
    """A client of the cluster that is asked for; None if none is."""
    if address is None and workers is None:
        yield None
        return
    if address is not None and workers is not None:
        raise typer.BadParameter(
            "give --dask or --workers, not both", param_hint="--dask, --workers"
        )
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise ImportError("clusters need Dask: pip install 'lrnn[dask]'") from None
    warnings.filterwarnings("ignore", "Sending large graph", UserWarning)  # see on_cluster
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)  # what Dask leaves behind at Ctrl-C
    if address is not None:
        with voice.working(f"connecting to {address}"):
            try:
                client = Client(address, timeout=10)
            except (OSError, ValueError) as error:
                line = str(error).splitlines()[0]
                raise ConnectionError(f"no Dask scheduler answers at {address!r}: {line}") from None
        with client:
            yield client
        return
    with deaf(), voice.working(f"starting {workers} processes"):
        local = LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address=":0", silence_logs=50
        )
    with local, Client(local) as client:
        yield client


@contextmanager
def deaf() -> Iterator[None]:
    """Nobody hears Ctrl-C meanwhile, and processes that are started now never do."""
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)


def on_cluster(source: str, data: Any, recipe: Any = None) -> Any:
    """Data as a Dask array: workers read files that can be read in parts by themselves.

    Other data go along with the work: sent ahead, they would be lost with a worker that dies. A
    ``recipe`` is how a model chooses columns.
    """
    from lrnn.rows.dask import dask_array_of
    from lrnn.tables.recipe import TableSource
    from lrnn.tables.sources import Source

    if isinstance(data, TableSource) or (isinstance(data, Source) and recipe is not None):
        raise ValueError(
            f"{source!r} is too large to be sent to workers, and they cannot choose its columns "
            "themselves; go without workers, or write the numbers to a .npy file first"
        )
    if isinstance(data, Source):
        return dask_array_of(source)
    import dask.array as da

    rows = max(1, -(-data.shape[0] // 16))
    return da.from_array(data, chunks=(rows, data.shape[1]))
