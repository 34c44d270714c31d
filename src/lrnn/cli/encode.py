"""``lrnn encode`` and ``lrnn reconstruct``: what a model makes of data."""

from pathlib import Path
from typing import Annotated, Any

import typer

from lrnn.cli.inputs import DataOf, ModelOf, table_for
from lrnn.cli.voice import Json, Quiet, Voice

Output = Annotated[
    Path, typer.Option("--output", "-o", help="A file: .npy, .npz, .csv, .tsv or .mat.")
]


def encode(
    model: ModelOf, data: DataOf, output: Output, quiet: Quiet = False, as_json: Json = False
) -> None:
    """Write the codes of data: one row for each of theirs, numbers from 0 to 1.

    The data are scaled as the model remembers.

    Examples:

        lrnn encode wine.safetensors wine.csv -o codes.csv
    """
    from lrnn.datasets.write import check_writable, write

    check_writable(output)
    voice = Voice(quiet, as_json)
    found, rows = _load(model, data, voice)
    with voice.working(f"encoding {len(rows)} rows"):
        codes = found.transform(rows)
        write(output, codes, [f"code{i}" for i in range(codes.shape[1])])
    voice.result(
        {"output": str(output), "rows": len(codes), "codes": codes.shape[1]},
        f"{len(codes)} rows of {codes.shape[1]} codes written to {output}",
    )


def reconstruct(
    model: ModelOf,
    data: DataOf,
    output: Output,
    units: Annotated[
        bool, typer.Option("--units", help="In the units of the data, not in [0, 1].")
    ] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Write what the network makes of data, in [0, 1] or (--units) in the data's own units.

    Examples:

        lrnn reconstruct wine.safetensors wine.csv -o back.csv --units
    """
    from lrnn.datasets.write import check_writable, write
    from lrnn.scaling import Scaling

    check_writable(output)
    voice = Voice(quiet, as_json)
    found, rows = _load(model, data, voice)
    with voice.working(f"reconstructing {len(rows)} rows"):
        back = found.reconstruct(rows)
        error = -found.score(rows)
        names = getattr(found, "feature_names_in_", None)
        if units:
            back = Scaling.from_json(found.scaling_).revert(back)
        write(output, back, None if names is None else list(names))
    voice.result(
        {"output": str(output), "rows": len(back), "error": error},
        f"{len(back)} rows written to {output}; mean squared error {error:.5f} (scaled data)",
    )


def _load(model: Path, data: str, voice: Voice) -> tuple[Any, Any]:
    import lrnn

    found = lrnn.load(model)
    return found, table_for(found, data, voice).data
