"""``lrnn export``: a model for other programs."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from lrnn.cli.inputs import ModelOf, load_model
from lrnn.cli.outputs import Force, check_named, check_new, named_after
from lrnn.cli.voice import Json, Quiet, Voice

Precision = StrEnum("Precision", ["float32", "float64"])


def export(
    model: ModelOf,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file; by default MODEL.onnx, here.")
    ] = None,
    scaling: Annotated[
        bool,
        typer.Option(
            "--scaling",
            help="Put the data's scaling into it: raw data go in. Reconstructions come out in "
            "[0, 1] all the same.",
        ),
    ] = False,
    dtype: Annotated[
        Precision | None, typer.Option(help="Type of all numbers; by default that of the model.")
    ] = None,
    force: Force = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Write a model as an ONNX file, for onnxruntime and all that reads such files.

    It takes [bold]data[/bold], any number of rows, and gives their [bold]codes[/bold] and
    [bold]reconstruction[/bold], both in [0, 1]; of a classifier their [bold]label[/bold],
    [bold]probabilities[/bold] and [bold]codes[/bold] (the last hidden layer). (From Python,
    [bold]model.to_torch()[/bold] gives a PyTorch module.)

    Examples:

        lrnn export digits.safetensors -o digits.onnx

        lrnn export wine.safetensors -o wine.onnx --scaling --dtype float32
    """
    from lrnn.storage.export import to_onnx
    from lrnn.tables.atomic import check_apart

    output = output or named_after(model, ".onnx")
    check_named(output, (".onnx",))
    check_apart(output, model)
    check_new(force, output)
    found = load_model(model, autoencoder=False)
    to_onnx(found, output, scaling=scaling, dtype=dtype and dtype.value)
    Voice(quiet, as_json).result(
        {"model": str(model), "output": str(output), "bytes": output.stat().st_size},
        f"{output}: {output.stat().st_size:,} bytes{_taken(found, scaling)}",
    )


def _taken(model: Any, scaling: bool) -> str:
    """Which data the file takes and gives, where these are not what the model takes and gives."""
    from lrnn.estimators.autoencoder import LRNNAutoencoder

    own = model.scaling_
    if own is None or own.kind == "none":
        return ""
    if not scaling:
        return (
            "; it takes data that are scaled already, as the model does by itself (--scaling: raw)"
        )
    if not isinstance(model, LRNNAutoencoder):
        return "; it takes raw data"
    return (
        "; it takes raw data, and gives reconstructions in [0, 1]: times span plus low, in the "
        "file's metadata, they are in the data's units"
    )
