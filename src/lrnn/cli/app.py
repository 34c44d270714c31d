"""The ``lrnn`` command: its commands, and what it does with errors."""

import os
import sys
import warnings
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

import lrnn
from lrnn.cli.benchmark import benchmark
from lrnn.cli.commands import CommandLine
from lrnn.cli.data import data_app
from lrnn.cli.demo import demo
from lrnn.cli.encode import encode, reconstruct
from lrnn.cli.export import export
from lrnn.cli.fit import fit
from lrnn.cli.frontier import frontier
from lrnn.cli.inspect import inspect
from lrnn.cli.report import report
from lrnn.cli.reproduce import reproduce
from lrnn.cli.simulate import simulate
from lrnn.cli.voice import make_printable

app = CommandLine(
    name="lrnn",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)
COMMANDS = (
    demo, fit, encode, reconstruct, inspect, simulate, frontier, report, export, reproduce,
    benchmark,
)  # fmt: skip
for command in COMMANDS:
    app.command()(command)
app.add_typer(data_app, name="data")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"lrnn {lrnn.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            "-V",
            callback=_show_version,
            is_eager=True,
            help="Show the version and exit.",
        ),
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks of errors.")] = False,
) -> None:
    """Nonnegative autoencoders that are also exact spiking networks.

    Start with the demo, then train on data of your own:

        lrnn demo

        lrnn fit wine --scale minmax --hidden 7 -o wine.safetensors

        lrnn simulate wine.safetensors wine --row 7 --events 1e6

        lrnn report wine.safetensors wine -o wine-report

    Each command's --help has more examples. Exit status: 0 done, 1 failed, 2 wrong usage.
    """


def _show_warning(message: Warning | str, *_place: object, **_more: object) -> None:
    """A warning is for the user, and one line; where in the code it arose is not."""
    Console(stderr=True).print(f"[bold yellow]warning:[/] {escape(str(message))}", highlight=False)


def main() -> None:
    """Run the command line; errors of the user's world are one line, not a traceback."""
    debug = "--debug" in sys.argv
    sys.argv = [word for word in sys.argv if word != "--debug"]  # anywhere on the line
    make_printable(sys.stdout, sys.stderr)
    warnings.showwarning = _show_warning
    warnings.filterwarnings("ignore", ".*does not have valid feature names")  # files may have none
    try:
        app()
    except BrokenPipeError:  # whoever read our output has gone: there is nothing left to say
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except Exception as error:
        if debug:
            raise
        Console(stderr=True).print(
            f"[bold red]error:[/] {escape(_line(error))}", highlight=False, soft_wrap=True
        )
        sys.exit(1)


def _line(error: Exception) -> str:
    """What to say of an error."""
    if isinstance(error, OSError) and error.strerror:
        place = "" if error.filename is None else f": {error.filename!r}"
        return f"{error.strerror}{place}"
    if isinstance(error, MemoryError):
        return f"there is not enough memory: {error}" if str(error) else "not enough memory"
    if isinstance(error, OSError | ValueError | RuntimeError | ImportError):
        return str(error)
    return f"{type(error).__name__}: {error} (a bug in lrnn? --debug shows where)"
