"""A Dask cluster for a command: one that is running, or one of processes on this machine."""

import logging
import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Annotated, Any, cast

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


def on_cluster(source: str, model: Any, table: Any, *, reset: bool) -> Any:
    """Rows for a model, whose work Dask shares out.

    Workers read files by themselves that can be read in parts. Rows in memory go along with the
    work: sent ahead, they would be lost with a worker that dies.
    """
    from lrnn.rows import ComplementedRows, HostRows, attributes_of
    from lrnn.rows.dask import dask_array_of, dask_rows
    from lrnn.rows.validation import check_data
    from lrnn.tables.sources import Source

    scaling = model.scale if reset else model.scaling_
    if isinstance(table.data, Source) and getattr(scaling, "recipe", None) is None:
        return check_data(model, replace(table, data=dask_array_of(source)), reset=reset)
    rows = check_data(model, table, reset=reset)
    if not rows.resident:
        raise ValueError(
            f"{source!r} is too large to be sent to workers, and they cannot choose its columns "
            "themselves; go without workers, or write the numbers to a .npy file first"
        )
    if rows.gaps is not None:
        return rows
    import dask.array as da

    X: Any = cast(HostRows, attributes_of(rows)).X
    height = max(1, -(-X.shape[0] // 16))
    shared = dask_rows(da.from_array(X, chunks=(height, X.shape[1])), "lrnn", None, rows.white)
    shared.columns, shared.ledger, shared.along = rows.columns, rows.ledger, rows.along
    return ComplementedRows(shared) if isinstance(rows, ComplementedRows) else shared
