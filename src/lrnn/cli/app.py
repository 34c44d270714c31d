"""The ``lrnn`` command: its commands, and what it does with errors."""

import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Annotated, Any

import typer
from rich.console import Console

import lrnn
from lrnn.cli.classify import classify
from lrnn.cli.commands import Command, CommandLine, in_options
from lrnn.cli.data import data_app
from lrnn.cli.demo import demo
from lrnn.cli.describe import describe
from lrnn.cli.detect import detect
from lrnn.cli.encode import encode, reconstruct
from lrnn.cli.export import export
from lrnn.cli.fit import fit
from lrnn.cli.frontier import frontier
from lrnn.cli.impute import impute
from lrnn.cli.inspect import inspect
from lrnn.cli.live import live
from lrnn.cli.moment import moment
from lrnn.cli.report import report
from lrnn.cli.simulate import simulate
from lrnn.cli.voice import make_printable, tell
from lrnn.cli.width import width

app = CommandLine(
    name="lrnn",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)
INTERRUPTED = 128 + signal.SIGINT  # as shells have it
COMMANDS = (
    demo, fit, encode, reconstruct, classify, detect, impute, inspect, simulate, frontier, width,
    moment, report, live, export,
)  # fmt: skip


def _ending(command: Callable[..., None]) -> Callable[..., None]:
    """The command, which ends when it is interrupted; not all versions of Typer see to that."""

    @wraps(command)
    def run(*arguments: Any, **options: Any) -> None:
        try:
            command(*arguments, **options)
        except KeyboardInterrupt:
            raise typer.Exit(INTERRUPTED) from None

    return run


for command in COMMANDS:
    app.command()(_ending(command))
data_app.command()(describe)
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

        lrnn fit wine --hidden 7 -o wine.safetensors

        lrnn simulate wine.safetensors wine --row 7 --events 1e6

        lrnn report wine.safetensors wine -o wine-report

    Each command's --help has more examples. Exit status: 0 done, 1 failed, 2 wrong usage, 130
    ended by Ctrl-C, 143 by SIGTERM.
    """


SAID: set[str] = set()  # once is enough


def _show_warning(message: Warning | str, *_place: object, **_more: object) -> None:
    """A warning is for the user, and one line; where in the code it arose is not."""
    text = in_options(message)
    if text in SAID:
        return
    SAID.add(text)
    tell("warning", "bold yellow", text)


def main() -> None:
    """Run the command line; errors of the user's world are one line, not a traceback."""
    debug = "--debug" in sys.argv
    sys.argv = [word for word in sys.argv if word != "--debug"]  # anywhere on the line
    make_printable(sys.stdout, sys.stderr)
    SAID.clear()
    Command.running = None
    warnings.showwarning = _show_warning
    warnings.simplefilter("always", UserWarning)  # what is reported, PYTHONWARNINGS does not hide
    warnings.filterwarnings("ignore", ".*does not have valid feature names")  # files may have none
    warnings.filterwarnings("ignore", "the error was still falling")  # lrnn fit says it itself
    signals: list[int] = []
    try:
        with _interruptions(signals):
            app()
    except SystemExit as end:
        if not signals and end.code != INTERRUPTED:
            raise
        if end.code:  # else the command has said so itself, and kept what it had
            Console(stderr=True).print("interrupted")
        sys.exit(128 + signals[0] if signals else INTERRUPTED)
    except KeyboardInterrupt:  # just before the command, or just after it
        Console(stderr=True).print("interrupted")
        sys.exit(128 + signals[0] if signals else INTERRUPTED)
    except BrokenPipeError:  # whoever read our output has gone: there is nothing left to say
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except Exception as error:
        if debug:
            raise
        tell("error", "bold red", _line(error))
        sys.exit(1)


class Interruption(KeyboardInterrupt):
    """Of a class of its own: after a plain one in its midst, Python may end itself by SIGINT."""


@contextmanager
def _interruptions(found: list[int]) -> Iterator[None]:
    """SIGTERM ends a command as Ctrl-C does; the list tells which of them have come."""

    def note(number: int, frame: object) -> None:
        found.append(number)
        raise Interruption

    heard = [n for n in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(n) != signal.SIG_IGN]
    if threading.current_thread() is not threading.main_thread():
        heard = []  # only there can signals be heard
    before = {number: signal.signal(number, note) for number in heard}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _line(error: Exception) -> str:
    """What to say of an error."""
    if isinstance(error, OSError) and error.strerror:
        place = "" if error.filename is None else f": {error.filename!r}"
        return f"{error.strerror}{place}"
    if isinstance(error, MemoryError):
        return f"there is not enough memory: {error}" if str(error) else "not enough memory"
    if isinstance(error, OSError | ValueError | RuntimeError | ImportError | Warning):
        return in_options(error)
    return f"{type(error).__name__}: {error} (a bug in lrnn? --debug shows where)"
