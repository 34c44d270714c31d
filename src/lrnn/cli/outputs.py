"""Where results go: a name if none is given, and nobody's file is replaced unasked."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import typer

Force = Annotated[bool, typer.Option("--force", help="Replace files that are there.")]


def check_new(force: bool, *outputs: Path, own: Callable[[], bool] = lambda: False) -> None:
    """Refuse to replace what is there, unless it is forced, before any work is done.

    Pages and pictures that lrnn has made may be made again, and so may files that the command
    knows for its ``own``. Refused is also what cannot be written to.
    """
    from lrnn.tables.atomic import check_writable
    from lrnn.tables.marks import is_marked

    taken = [] if force else [path for path in outputs if path.exists() and not is_marked(path)]
    if taken and not own():
        raise FileExistsError(
            f"{str(taken[0])!r} exists; --force replaces it, or give another name"
        )
    for path in {path.parent: path for path in outputs}.values():
        check_writable(path)


def check_output(output: Path, force: bool, *inputs: str | Path) -> None:
    """Complain of a table's name that cannot be written to, before any work is done for it."""
    from lrnn.tables import atomic, writers

    atomic.check_apart(output, *inputs)
    writers.check_output(output)
    check_new(force, output)


def check_named(
    output: Path, endings: Sequence[str] = (".safetensors",), option: str = "--output"
) -> None:
    """Complain of a name that cannot be written to, before any work is done for it."""
    if output.suffix not in endings:
        raise typer.BadParameter(
            f"{str(output)!r} should end in {', '.join(endings)}", param_hint=option
        )
    if output.is_dir():
        raise IsADirectoryError(f"{str(output)!r} is a folder; give the name of a file")
    if not output.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {str(output.parent)!r} to write to")


def named_after(source: str | Path, ending: str) -> Path:
    """A name in this folder for what is made of data or a model: wine.csv and ``-report``."""
    name = Path(source).resolve().name.removesuffix(".gz")
    return Path((Path(name).stem or "data") + ending)
