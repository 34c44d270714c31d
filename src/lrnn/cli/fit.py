"""``lrnn fit``: train a model."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, cast

import numpy as np
import typer

from lrnn.cli.inputs import hidden_sizes
from lrnn.cli.voice import Json, Quiet, Voice


class Scale(StrEnum):
    """How data get into [0, 1]."""

    none = "none"
    levels = "255"
    max = "max"
    minmax = "minmax"


class Solver(StrEnum):
    """How weights are found."""

    gram = "gram"
    minibatch = "minibatch"


class Rates(StrEnum):
    """What firing rates may be."""

    free = "free"
    unit = "unit"


def fit(
    data: Annotated[Path, typer.Argument(help="A file of numbers, or a folder of images.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The model: a .safetensors file.")],
    hidden: Annotated[
        str, typer.Option(help="Code neurons, or sizes of hidden layers: 1000-500-50.")
    ] = "100",
    scale: Annotated[
        Scale, typer.Option(help="How the data get into [0, 1]; max and minmax go by column.")
    ] = Scale.none,
    solver: Annotated[Solver, typer.Option(help="minibatch is the paper's.")] = Solver.gram,
    rates: Annotated[Rates, typer.Option(help="unit is the paper's constraint.")] = Rates.free,
    fine_tune: Annotated[int, typer.Option(min=0, help="Passes of training end to end.")] = 0,
    max_iter: Annotated[int, typer.Option(min=1, help="Most steps, or passes.")] = 200,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random numbers.")] = 0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Train an autoencoder on a file of data, and write it to a file.

    Data may be .npy, .npz, .csv, .tsv, .parquet, .mat, an idx file or a folder of images; rows are
    samples. The scaling is remembered in the model and applied again by [bold]encode[/bold].

    Examples:

        lrnn fit wine.csv -o wine.safetensors --hidden 7 --scale minmax

        lrnn fit train-images-idx3-ubyte.gz -o mnist.safetensors --hidden 1000-500-250-50

        lrnn fit faces/ -o faces.safetensors --hidden 50 --fine-tune 10
    """
    from lrnn.autoencoder import LRNNAutoencoder
    from lrnn.datasets import read
    from lrnn.scaling import Scaling

    voice = Voice(quiet, as_json)
    _check_output(output)
    table = read(data)
    sizes = hidden_sizes(hidden, table.data.shape[1])
    scaling = Scaling.fit(scale.value, table.data)
    model = LRNNAutoencoder(
        sizes,
        solver=cast(Any, solver.value),
        rates=cast(Any, rates.value),
        fine_tune=fine_tune,
        max_iter=max_iter,
        random_state=seed,
        verbose=voice.verbose,
    )
    if scale is Scale.none:
        _check_range(table, data)
    model.fit(scaling.apply(table.data))
    if table.names is not None:
        model.feature_names_in_ = np.array(table.names, dtype=object)
    model.save(output, scaling=scaling.to_json())
    rows, attributes = table.data.shape
    voice.result(
        {
            "model": str(output),
            "rows": rows,
            "attributes": attributes,
            "hidden": list(sizes),
            "error": model.reconstruction_err_,
            "spike_cost": model.spike_cost_,
        },
        f"{rows} rows, {attributes} → {' → '.join(map(str, sizes))} neurons: mean squared error "
        f"{model.reconstruction_err_:.5f}\nwritten to {output}",
    )


def _check_output(output: Path) -> None:
    if output.suffix != ".safetensors":
        raise typer.BadParameter(
            f"{str(output)!r} should end in .safetensors", param_hint="--output"
        )
    if output.is_dir():
        raise IsADirectoryError(f"{str(output)!r} is a folder; give the name of a file")


def _check_range(table: Any, data: Path) -> None:
    """Without scaling, numbers beyond [0, 1] are a mistake; levels of 8 or 16 bits are not."""
    if table.data.dtype in (np.uint8, np.uint16) or 0 <= table.data.min() <= table.data.max() <= 1:
        return
    least = table.data.min() < 0
    at = table.data.argmin() if least else table.data.argmax()
    row, column = np.unravel_index(at, table.data.shape)
    name = "" if table.names is None else f" ({table.names[column]!r})"
    raise ValueError(
        f"{str(data)!r} has values {'below 0' if least else 'above 1'}, such as "
        f"{table.data[row, column]:g} in row {row + 1}, column {column + 1}{name}; choose --scale "
        f"minmax{'' if least else ', max or 255'}"
    )
