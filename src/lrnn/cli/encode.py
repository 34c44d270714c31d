"""``lrnn encode`` and ``lrnn reconstruct``: what a model makes of data."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from lrnn.cli.inputs import DataOf, DeviceOf, ModelOf, table_for
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
    from lrnn.tables.write import write

    by_blocks = check_output(output, model, data)
    voice = Voice(quiet, as_json)
    found, rows = _load(model, data, voice, by_blocks, device)
    names = [f"code{i}" for i in range(found.encoders_[-1].shape[1])]
    if by_blocks:
        with _bar(voice, f"encoding {data}", rows.shape[0]) as heard:
            streaming.encode(found, rows, output, heard=heard)
    else:
        with voice.working(f"encoding {len(rows)} rows"):
            write(output, found.transform(rows), names)
    voice.result(
        {"output": str(output), "rows": rows.shape[0], "codes": len(names)},
        f"{rows.shape[0]} rows of {len(names)} codes written to {output}",
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

    Examples:

        lrnn reconstruct wine.safetensors wine.csv -o back.csv --units
    """
    from lrnn import streaming
    from lrnn.tables.scaling import Scaling
    from lrnn.tables.write import write

    by_blocks = check_output(output, model, data)
    voice = Voice(quiet, as_json)
    found, rows = _load(model, data, voice, by_blocks, device)
    revert = Scaling.from_json(found.scaling_).revert if units else None
    if by_blocks:
        with _bar(voice, f"reconstructing {data}", rows.shape[0]) as heard:
            streaming.reconstruct(found, rows, output, revert=revert, heard=heard)
    else:
        with voice.working(f"reconstructing {len(rows)} rows"):
            back = found.reconstruct(rows)
            names = getattr(found, "feature_names_in_", None)
            back = back if revert is None else revert(back)
            write(output, back, None if names is None else list(names))
    with voice.working("taking the error"):
        error = -found.score(rows)
    voice.result(
        {"output": str(output), "rows": rows.shape[0], "error": error},
        f"{rows.shape[0]} rows written to {output}; mean squared error {error:.5f} (scaled data)",
    )


def check_output(output: Path, *inputs: str | Path) -> bool:
    """Complain of a name that cannot be written to; tell whether it is written block by block."""
    from lrnn.tables.atomic import check_apart
    from lrnn.tables.write import WRITERS, check_writable
    from lrnn.tables.writers import WRITERS as BY_BLOCKS
    from lrnn.tables.writers import check_stream_output

    check_apart(output, *inputs)
    suffix = output.suffix.lower()
    if suffix in BY_BLOCKS:
        check_stream_output(output)
        return True
    if suffix not in WRITERS:
        known = ", ".join(sorted({*WRITERS, *BY_BLOCKS}))
        raise ValueError(f"{str(output)!r} is of no known format; its name should end in {known}")
    check_writable(output)
    return False


@contextmanager
def _bar(voice: Voice, task: str, rows: int) -> Iterator[Callable[[int], None]]:
    from lrnn.progress import work_bar

    with work_bar(task, rows, bool(voice.verbose) and None) as report:
        yield report


def _load(
    model: Path, data: str, voice: Voice, by_blocks: bool, device: str | None
) -> tuple[Any, Any]:
    import lrnn

    found = lrnn.load(model)
    found.device = device
    return found, table_for(found, data, voice, stream=by_blocks).data
