"""What commands are given: sizes of layers, and data for a model."""

from pathlib import Path
from typing import Any

import typer


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


def scaled_rows(model: Any, path: Path) -> Any:
    """The data of a file, scaled as the model remembers, if they are such as it was made for."""
    from lrnn.datasets import read
    from lrnn.scaling import Scaling

    table = read(path)
    if table.data.shape[1] != model.n_features_in_:
        raise ValueError(
            f"{str(path)!r} has {table.data.shape[1]} attributes, but the model is for "
            f"{model.n_features_in_}"
        )
    expected = getattr(model, "feature_names_in_", None)
    if table.names is not None and expected is not None:
        for i, (name, known) in enumerate(zip(table.names, expected, strict=True)):
            if name != known:
                raise ValueError(
                    f"column {i + 1} of {str(path)!r} is {name!r}, but the model was trained with "
                    f"{known!r} there"
                )
    return Scaling.from_json(model.scaling_).apply(table.data)
