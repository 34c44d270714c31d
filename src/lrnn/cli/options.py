"""Options that several commands have."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

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


def check_leftover(checkpoint: Path, resume: bool | None) -> None:
    """Complain of a checkpoint that was left behind, if nobody says what to do with it."""
    if resume is None and checkpoint.exists():
        raise FileExistsError(
            f"{str(checkpoint)!r} is left from a training that did not end; --resume goes on "
            "from it, --restart throws it away"
        )
