"""The ``lrnn`` command: its commands, and what it does with errors."""

import sys
import warnings
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

import lrnn
from lrnn.cli.demo import demo
from lrnn.cli.encode import encode, reconstruct
from lrnn.cli.fit import fit
from lrnn.cli.inspect import inspect

app = typer.Typer(
    name="lrnn",
    help="Nonnegative autoencoders that are also exact spiking networks.",
    epilog="Start with: [bold]lrnn demo[/bold]",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)
for command in (demo, fit, encode, reconstruct, inspect):
    app.command()(command)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"lrnn {lrnn.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks of errors.")] = False,
) -> None:
    """Nonnegative autoencoders that are also exact spiking networks."""


def _show_warning(message: Warning | str, *_place: object, **_more: object) -> None:
    """A warning is for the user, and one line; where in the code it arose is not."""
    Console(stderr=True).print(f"[bold yellow]warning:[/] {escape(str(message))}", highlight=False)


def main() -> None:
    """Run the command line; errors of the user's world are one line, not a traceback."""
    warnings.showwarning = _show_warning
    warnings.filterwarnings("ignore", ".*does not have valid feature names")  # files may have none
    try:
        app()
    except (OSError, ValueError) as error:
        if "--debug" in sys.argv:
            raise
        Console(stderr=True).print(f"[bold red]error:[/] {escape(str(error))}", highlight=False)
        sys.exit(1)
