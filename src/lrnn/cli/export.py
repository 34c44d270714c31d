"""``lrnn export``: a model for other programs."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from lrnn.cli.inputs import ModelOf
from lrnn.cli.voice import Json, Quiet, Voice

Precision = StrEnum("Precision", ["float32", "float64"])


def export(
    model: ModelOf,
    output: Annotated[Path, typer.Argument(metavar="OUT", help="The file: model.onnx.")],
    scaling: Annotated[
        bool, typer.Option("--scaling", help="Put the data's scaling into it: raw data go in.")
    ] = False,
    dtype: Annotated[
        Precision | None, typer.Option(help="Type of all numbers; by default that of the model.")
    ] = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Write a model as an ONNX file, for onnxruntime and all that reads such files.

    It takes [bold]data[/bold], any number of rows, and gives their [bold]codes[/bold] and
    [bold]reconstruction[/bold]. (From Python, [bold]model.to_torch()[/bold] gives a PyTorch
    module.)

    Examples:

        lrnn export digits.safetensors digits.onnx

        lrnn export wine.safetensors wine.onnx --scaling --dtype float32
    """
    import lrnn
    from lrnn.storage.export import to_onnx
    from lrnn.tables.atomic import check_apart

    if output.suffix != ".onnx":
        raise typer.BadParameter(f"{str(output)!r} should end in .onnx", param_hint="OUT")
    if not output.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {str(output.parent)!r} to write to")
    check_apart(output, model)
    found = lrnn.load(model)
    to_onnx(found, output, scaling=scaling, dtype=dtype and dtype.value)
    Voice(quiet, as_json).result(
        {"model": str(model), "output": str(output), "bytes": output.stat().st_size},
        f"{output}: {output.stat().st_size:,} bytes",
    )
