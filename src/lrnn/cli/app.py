"""The ``lrnn`` command: its commands, and what it does with errors."""

import sys
from typing import Annotated

import typer
from rich.console import Console

import lrnn
from lrnn.cli.demo import demo

app = typer.Typer(
    name="lrnn",
    help="Nonnegative autoencoders that are also exact spiking networks.",
    epilog="Start with: [bold]lrnn demo[/bold]",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)
app.command()(demo)


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


def main() -> None:
    """Run the command line; errors of the user's world are one line, not a traceback."""
    try:
        app()
    except (OSError, ValueError) as error:
        if "--debug" in sys.argv:
            raise
        Console(stderr=True).print(f"[bold red]error:[/] {error}", highlight=False)
        sys.exit(1)
