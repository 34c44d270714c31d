"""``lrnn encode`` and ``lrnn reconstruct``: what a model makes of data."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from lrnn.cli.cluster import Dask, Workers, cluster, on_cluster
from lrnn.cli.inputs import (
    DataOf,
    DeviceOf,
    Given,
    ModelOf,
    given_for,
    is_classifier,
    model_for,
    numbers_explained,
    table_for,
)
from lrnn.cli.outputs import Force, check_output, named_after
from lrnn.cli.voice import Json, Quiet, Voice
from lrnn.progress import decimal

Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="A file: .npy, .npz, .csv, .tsv, .mat, .parquet or .zarr; by default named after the "
        "data, here.",
    ),
]


def encode(
    model: ModelOf,
    data: DataOf,
    output: Output = None,
    refine: Annotated[
        int,
        typer.Option(min=0, help="Sweeps that improve the codes, beyond what the network gives."),
    ] = 0,
    device: DeviceOf = None,
    dask: Dask = None,
    workers: Workers = None,
    force: Force = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Write the codes of data: one row for each of theirs, numbers from 0 to 1.

    The data are scaled as the model remembers. Large files are read and written block by block.
    With --refine 1 the codes fit the data better; they are then not those that the spiking network
    computes. The codes of a classifier are the activations of its last hidden layer.

    Examples:

        lrnn encode wine.safetensors wine.csv -o codes.csv

        lrnn encode wine.safetensors wine.csv --refine 1 -o codes.csv

        lrnn encode model.safetensors large.npy --workers 8 -o codes.npy
    """
    from lrnn import streaming

    output = output or named_like(data, "codes")
    check_output(output, force, model, data)
    voice = Voice(quiet, as_json)
    with (
        cluster(dask, workers, voice) as client,
        _opened(model, data, voice, device, client, refine=refine) as (found, rows, given),
        _bar(voice, f"encoding {data}", rows.shape[0]) as progress,
    ):
        beside = _beside(given, output, voice)
        count, codes = streaming.encode(
            found, rows, output, refine=refine, progress=progress, beside=beside
        )
    voice.result(
        {"output": str(output), "rows": count, "codes": codes, **given.tell(voice)},
        f"{count} rows of {codes} codes written to {output}",
    )


def reconstruct(
    model: ModelOf,
    data: DataOf,
    output: Output = None,
    scaled: Annotated[
        bool, typer.Option("--scaled", help="In [0, 1], not in the units of the data.")
    ] = False,
    device: DeviceOf = None,
    dask: Dask = None,
    workers: Workers = None,
    force: Force = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Write what the network makes of data, in their own units or (--scaled) in [0, 1].

    The data go through the code neurons and back: one row for each of theirs, with the same
    columns. The mean squared error between the two is shown.

    Examples:

        lrnn reconstruct wine.safetensors wine.csv -o back.csv

        lrnn reconstruct digits.safetensors digits -o back.npy
    """
    from lrnn import streaming
    from lrnn.tables.scaling import Scaling

    output = output or named_like(data, "reconstructed")
    check_output(output, force, model, data)
    voice = Voice(quiet, as_json)
    with (
        cluster(dask, workers, voice) as client,
        _opened(model, data, voice, device, client) as (found, rows, given),
    ):
        scaling = given.scaling
        if scaling.kind == "none" and scaling.recipe is None and rows.white is not None:
            scaling = Scaling("levels", 0.0, rows.white)  # the units are those of the data
        beside = _beside(given, output, voice)
        with _bar(voice, f"reconstructing {data}", rows.shape[0]) as progress:
            streaming.reconstruct(
                found,
                rows,
                output,
                scaled=scaled,
                scaling=scaling,
                progress=progress,
                beside=beside,
            )
        with voice.working("taking the error"):
            error = -found.score(rows)
    voice.result(
        {"output": str(output), "rows": rows.shape[0], "error": error, **given.tell(voice)},
        f"{rows.shape[0]} rows written to {output}; mean squared error {decimal(error)} "
        "(scaled data)",
    )


def named_like(data: str, what: str) -> Path:
    """A file beside which nothing else is meant: in the format of the data, or else as CSV."""
    from lrnn.tables.writers import WRITERS

    suffix = Path(data).suffix.lower()
    return named_after(data, f"-{what}{suffix if suffix in WRITERS else '.csv'}")


@contextmanager
def _bar(voice: Voice, task: str, rows: int) -> Iterator[Callable[[int], None]]:
    from lrnn.progress import work_bar

    with work_bar(task, rows, bool(voice.verbose) and None) as report:
        yield report


@contextmanager
def _opened(
    model: Path,
    data: str,
    voice: Voice,
    device: str | None,
    client: Any = None,
    *,
    refine: int | None = None,
) -> Iterator[tuple[Any, Any, Given]]:
    """A model, and rows for it; what is wrong with them is said of the data.

    It must be an autoencoder, unless codes are all that is wanted, and these are not to ``refine``.
    """
    from lrnn.tables.scaling import Scaling

    found = model_for(model, data, autoencoder=refine is None)
    if refine and is_classifier(found):
        raise typer.BadParameter(
            f"{str(model)!r} is a classifier, which gives no rows back that its codes could fit "
            "better; leave it out",
            param_hint="--refine",
        )
    found.device = device
    if client is None:
        given = given_for(found, data, voice)
    else:
        table = table_for(found, data, voice)
        with numbers_explained(data, fitting=False):
            rows = on_cluster(data, found, table, reset=False)
        given = Given(rows, table, found.scaling_ or Scaling("none"))
    with numbers_explained(data, fitting=False):
        yield found, given.rows, given


def _beside(given: Given, output: Path, voice: Voice) -> Any:
    """The index and the label of the rows, where the output can hold them."""
    from lrnn.storage.streaming import Beside
    from lrnn.tables.writers import WITH_TEXT

    along = given.rows.along
    before = () if along.index is None else (along.index,)
    after = () if along.label is None else (along.label,)
    classes = None if after else along.labels
    if classes is not None:
        after = ("label",)
    if not before and not after:
        return None
    if output.suffix.lower() not in WITH_TEXT:
        voice.note(
            f"{', '.join((*before, *after))} cannot go along into {output.suffix} files; .csv, "
            ".tsv and .parquet hold them"
        )
        return None
    streamed = not (given.rows.resident or given.rows.on_workers)
    held = {} if streamed else along.columns()
    if classes is not None:
        held["label"] = np.array(classes, dtype=object)
    done = 0

    def take(count: int) -> dict[str, Any]:
        nonlocal done
        first, done = done, done + count
        found = {name: column[first:done] for name, column in held.items()}
        return found | dict(along.carried.popleft()) if streamed and along.carried else found

    return Beside(before, after, take)
