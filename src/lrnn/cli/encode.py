"""``lrnn encode`` and ``lrnn reconstruct``: what a model makes of data."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from lrnn.cli.inputs import DataOf, DeviceOf, ModelOf, model_for, numbers_explained, table_for
from lrnn.cli.voice import Json, Quiet, Voice

Output = Annotated[
    Path,
    typer.Option("--output", "-o", help="A file: .npy, .npz, .csv, .tsv, .mat, .parquet or .zarr."),
]


def encode(
    model: ModelOf,
    data: DataOf,
    output: Output,
    device: DeviceOf = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Write the codes of data: one row for each of theirs, numbers from 0 to 1.

    The data are scaled as the model remembers. Large files are read and written block by block.

    Examples:

        lrnn encode wine.safetensors wine.csv -o codes.csv
    """
    from lrnn import streaming

    check_output(output, model, data)
    voice = Voice(quiet, as_json)
    with (
        _opened(model, data, voice, device) as (found, rows),
        _bar(voice, f"encoding {data}", rows.shape[0]) as progress,
    ):
        count, codes = streaming.encode(found, rows, output, progress=progress)
    voice.result(
        {"output": str(output), "rows": count, "codes": codes},
        f"{count} rows of {codes} codes written to {output}",
    )


def reconstruct(
    model: ModelOf,
    data: DataOf,
    output: Output,
    units: Annotated[
        bool, typer.Option("--units", help="In the units of the data, not in [0, 1].")
    ] = False,
    device: DeviceOf = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Write what the network makes of data, in [0, 1] or (--units) in the data's own units.

    The data go through the code neurons and back: one row for each of theirs, with the same
    columns. The mean squared error between the two is shown.

    Examples:

        lrnn reconstruct wine.safetensors wine.csv -o back.csv --units

        lrnn reconstruct digits.safetensors digits -o back.npy
    """
    from lrnn import streaming
    from lrnn.tables.scaling import Scaling

    check_output(output, model, data)
    voice = Voice(quiet, as_json)
    with _opened(model, data, voice, device) as (found, rows):
        scaling = Scaling.from_json(found.scaling_)
        if scaling.kind == "none" and rows.white is not None:
            scaling = Scaling("levels", 0.0, rows.white)  # the units are those of the data
        revert = scaling.revert if units else None
        with _bar(voice, f"reconstructing {data}", rows.shape[0]) as progress:
            streaming.reconstruct(found, rows, output, revert=revert, progress=progress)
        with voice.working("taking the error"):
            error = -found.score(rows)
    voice.result(
        {"output": str(output), "rows": rows.shape[0], "error": error},
        f"{rows.shape[0]} rows written to {output}; mean squared error {error:.5f} (scaled data)",
    )


def check_output(output: Path, *inputs: str | Path) -> None:
    """Complain of a name that cannot be written to, before any work is done for it."""
    from lrnn.tables import atomic, writers

    atomic.check_apart(output, *inputs)
    writers.check_output(output)


@contextmanager
def _bar(voice: Voice, task: str, rows: int) -> Iterator[Callable[[int], None]]:
    from lrnn.progress import work_bar

    with work_bar(task, rows, bool(voice.verbose) and None) as report:
        yield report


@contextmanager
def _opened(model: Path, data: str, voice: Voice, device: str | None) -> Iterator[tuple[Any, Any]]:
    """A model, and rows for it; what is wrong with them is said of the data."""
    from lrnn.validation import check_data

    found = model_for(model, data)
    found.device = device
    table = table_for(found, data, voice, stream=True)
    with numbers_explained(table, data, fitting=False):
        yield found, check_data(found, table.data, reset=False)
