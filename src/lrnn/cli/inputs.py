"""What several commands are given: data, models, sizes of layers, and other options."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from lrnn.cli.voice import Voice


def _data_names(incomplete: str) -> list[str]:
    """Names of data sets, for the shell's completion."""
    from lrnn.datasets.registry import DATA_SETS

    return [name for name in DATA_SETS if name.startswith(incomplete)]


DataOf = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A data set's name, a file of numbers, or a folder of images or Parquet files.",
        autocompletion=_data_names,
    ),
]
ModelOf = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A model that lrnn fit has written.")
]


DeviceOf = Annotated[
    str | None,
    typer.Option("--device", help="cuda: work on a GPU, through PyTorch or CuPy."),
]
Scale = StrEnum("Scale", {"none": "none", "levels": "255", "max": "max", "minmax": "minmax"})

Hidden = Annotated[str, typer.Option(help="Code neurons, or sizes of hidden layers: 1000-500-50.")]
ScaleOf = Annotated[
    Scale, typer.Option(help="How the data get into [0, 1]; max and minmax go by column.")
]
BatchSize = Annotated[int, typer.Option(min=1, help="Rows in a minibatch.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of the random numbers.")]
Resume = Annotated[
    bool | None,
    typer.Option("--resume/--restart", help="Go on from the checkpoint, or throw it away."),
]


def hidden_sizes(text: str, n_attributes: int) -> tuple[int, ...]:
    """``100`` or ``1000-500-50`` as sizes; the number of attributes may stand before them."""
    try:
        sizes = tuple(int(part) for part in text.split("-"))
    except ValueError:
        sizes = ()
    if not sizes or min(sizes) < 1:
        raise typer.BadParameter(
            f"{text!r} should be a number of code neurons, such as 100, or sizes of hidden layers, "
            "such as 1000-500-50",
            param_hint="--hidden",
        )
    if len(sizes) > 1 and sizes[0] == n_attributes:
        return sizes[1:]
    return sizes


def check_range(table: Any, source: str, fitting: bool = True) -> None:
    """Without scaling, numbers beyond [0, 1] are a mistake; levels of 8 or 16 bits are not.

    A model that is fitted already takes numbers above 1 as 1.
    """
    from lrnn.tables.scaling import first_cell, limits

    if table.data.dtype in (np.uint8, np.uint16):
        return
    low, high = limits(table.data)
    lowest, highest = low.min(), high.max()
    if not (np.isfinite(lowest) and np.isfinite(highest)):
        said, remedy = "that are not finite numbers", "fill or drop such cells in the file"
        cell = first_cell(table.data, lambda block: ~np.isfinite(block))
    elif lowest < 0:
        said = "below 0"
        remedy = "choose --scale minmax" if fitting else "the model was fitted to none such"
        cell = first_cell(table.data, lambda block: block == lowest)
    elif highest > 1 and fitting:
        said = "above 1"
        remedy = f"choose --scale minmax{', max or 255' if highest <= 255 else ' or max'}"
        cell = first_cell(table.data, lambda block: block == highest)
    else:
        return
    row, column, value = cell
    name = "" if table.names is None else f" ({table.names[column]!r})"
    raise ValueError(
        f"{source!r} has values {said}, such as {value:g} in row {row + 1}, "
        f"column {column + 1}{name}; {remedy}"
    )


@contextmanager
def numbers_explained(table: Any, source: str, fitting: bool = True) -> Iterator[None]:
    """What is found wrong with numbers as they are read is said of the user's file.

    Only then are they read again. While a model is fitted, numbers above 1 are wrong, too.
    """
    from lrnn.rows.checks import SaturationWarning, UnfitNumbersError

    with warnings.catch_warnings():
        if fitting:
            warnings.simplefilter("error", SaturationWarning)
        try:
            yield
        except (SaturationWarning, UnfitNumbersError):
            check_range(table, source, fitting)
            raise


def scaling_of(kind: str, rows: Any, table: Any, source: str) -> Any:
    """The scaling of this kind for rows of a table; what it refuses is said of their source."""
    from lrnn.tables.scaling import Scaling

    try:
        return Scaling.fit(kind, rows, table.names)
    except ValueError as error:
        raise ValueError(f"{source!r}: {error}") from None


def model_for(path: Path, data: str) -> Any:
    """The model in a file; complains if data are given for it, and a model for data."""
    import lrnn

    if Path(data).suffix == ".safetensors":
        swapped = path.suffix != ".safetensors"
        raise ValueError(
            f"{data!r} is a model, not data"
            + ("; are MODEL and DATA swapped? The model comes first" if swapped else "")
        )
    return lrnn.load(path)


def table_of(source: str, voice: Voice, stream: bool = False) -> Any:
    """A table of data: what the user calls them may be a file, a folder or a data set's name.

    With ``stream``, those of large files are left where they are.
    """
    from lrnn.datasets import open_table

    with voice.working(f"reading {source}"):
        return open_table(source, stream)


def table_for(model: Any, source: str, voice: Voice, stream: bool = False) -> Any:
    """A table of data, scaled as the model remembers, if it is such as the model was made for."""
    from dataclasses import replace

    from lrnn.tables.scaling import Scaling

    table = table_of(source, voice, stream)
    if table.data.shape[1] != model.n_features_in_:
        raise ValueError(
            f"{source!r} has {table.data.shape[1]} attributes, but the model is for "
            f"{model.n_features_in_}"
        )
    expected = getattr(model, "feature_names_in_", None)
    if table.names is not None and expected is not None:
        for i, (name, known) in enumerate(zip(table.names, expected, strict=True)):
            if name != known:
                raise ValueError(
                    f"column {i + 1} of {source!r} is {name!r}, but the model was trained with "
                    f"{known!r} there"
                )
    return replace(table, data=Scaling.from_json(model.scaling_).apply(table.data))


def check_leftover(checkpoint: Path, resume: bool | None, voice: Voice) -> None:
    """Complain of a checkpoint that was left behind, if nobody says what to do with it."""
    if resume and not checkpoint.exists():
        voice.note(f"there is no checkpoint {str(checkpoint)!r}: training from the start")
    if resume is None and checkpoint.exists():
        raise FileExistsError(
            f"{str(checkpoint)!r} is left from a training that did not end; --resume goes on "
            "from it, --restart throws it away"
        )
