"""Commands as Typer makes them, but for how their flags and the errors of their options read."""

import inspect
import re
import shlex
from collections.abc import Callable
from typing import Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

from lrnn.progress import printable
from lrnn.tables.messages import Message, Place, Setting, Surface, short

OTHERWISE = {  # options that are not called as their parameters are
    "hidden_layer_sizes": "--hidden",
    "decoder_layer_sizes": "what stands behind the plus of --hidden",
    "random_state": "--seed",
    "validation_fraction": "the share of rows that is held out",
}
UsageError: type[Any] = typer.BadParameter.__mro__[1]  # Typer's own, or that of Click
Function = TypeVar("Function", bound=Callable[..., Any])


class _Plain:
    """What groups and commands have in common."""

    def get_params(self, ctx: Any) -> Any:
        """The parameters; a flag takes no value, and shows none in the help."""
        found = super().get_params(ctx)  # type: ignore[misc]
        for parameter in found:
            if getattr(parameter, "is_flag", False):
                parameter.metavar = ""
        return found

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Read the arguments; an error names the value, not the library that checked it."""
        try:
            return super().parse_args(ctx, args)  # type: ignore[misc]
        except UsageError as error:
            message = _plain(error) if isinstance(error, typer.BadParameter) else error.message
            error.message = printable(message)
            raise


class Command(_Plain, TyperCommand):
    """A command; while it runs, it is known what options it has."""

    running: Any = None

    def invoke(self, ctx: Any) -> Any:
        """Run it."""
        Command.running = ctx
        return super().invoke(ctx)


class Group(_Plain, TyperGroup):
    """A group of commands."""


class CommandLine(typer.Typer):
    """A group, and all commands in it, of these kinds."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(cls=Group, no_args_is_help=True, rich_markup_mode="rich", **settings)

    def command(self, name: str | None = None, **settings: Any) -> Callable[[Function], Function]:
        """As `typer.Typer.command`; the help is the function's docstring."""

        def register(function: Function) -> Function:
            told = {"cls": Command, "help": flowing(function.__doc__ or ""), **settings}
            typer.Typer.command(self, name, **told)(function)
            return function

        return register


class Options(Surface):
    """How the command line words what a message has as fields.

    Rows and columns are counted from 1, as in the file; settings are options.

    Examples
    --------
    >>> OPTIONS.place(Place(2, 1, "alcohol")), OPTIONS.setting(Setting("missing", "median"))
    ("row 3, column 2 ('alcohol')", '--missing median')
    """

    first, counted = 1, ""

    def option(self, setting: Setting) -> str:
        """The option that stands for a setting, without its value."""
        return OTHERWISE.get(setting.name, f"--{setting.name.replace('_', '-')}")

    def setting(self, setting: Setting) -> str:
        """An option, with the value that it should get; a switch has none."""
        option = self.option(setting)
        if setting.value is None or setting.name in OTHERWISE:
            return option
        value = str(self.meant(setting))
        if value in ("True", "False"):
            return option if value == "True" else option.replace("--", "--no-", 1)
        return f"{option} {shlex.quote(value)}"

    def place(self, place: Place) -> str:
        """A cell, by its numbers in the file, and the name of its column."""
        parts = [] if place.row is None else [f"row {place.row + 1}{place.of}"]
        if place.column is not None:
            name = "" if place.name is None else f" ({short(place.name)!r})"
            parts.append(f"column {place.column + 1}{name}")
        return ", ".join(parts)

    def source(self, name: str) -> str:
        """The file or the data set."""
        return repr(name)


OPTIONS = Options()


def in_options(said: object) -> str:
    """What an error or a warning says, in options; of those of another command it says so.

    What a command trains by itself is warned of in the words of ``lrnn fit``.
    """
    if not isinstance(said, Message):
        return str(said)
    text, running = said.worded(OPTIONS), Command.running
    if running is None:
        return text
    others = running.find_root().command.commands
    named = dict.fromkeys(map(OPTIONS.option, said.settings))
    lacking = [option for option in named if option not in _options(running.command)]
    lacking = [option for option in lacking if option in _options(others["fit"])]
    if not lacking:
        return text
    listed = " and ".join(filter(None, [", ".join(lacking[:-1]), lacking[-1]]))
    plural = "s" * (len(lacking) > 1)
    return f"{text} ({listed}: of lrnn fit; {_name(running)} has no such option{plural})"


def _name(context: Any) -> str:
    """What a person calls a command."""
    above = context.parent
    return "lrnn" if above is None else f"{_name(above)} {context.info_name}"


def _options(command: Any) -> set[str]:
    """All options of a command."""
    return {word for p in command.params for word in (*p.opts, *p.secondary_opts)}


def flowing(text: str) -> str:
    r"""A docstring whose paragraphs are lines, for terminals of any width; examples stay.

    >>> flowing("One\n    line.\n\n        lrnn demo")
    'One line.\n\n    lrnn demo'
    """
    paragraphs = inspect.cleandoc(text).split("\n\n")
    return "\n\n".join(p if p.startswith(" ") else p.replace("\n", " ") for p in paragraphs)


def _plain(error: typer.BadParameter) -> str:
    """The message without pydantic's words, which newer versions of Typer check values with.

    Where a number is meant, it says what for.
    """
    message = error.message.removeprefix("Value error, ").split(", unable to parse")[0]
    checked: Any = getattr(error.__cause__, "errors", list)()
    if checked and message.startswith("Input should"):
        message = f"{checked[0]['input']!r}{message.removeprefix('Input')}"
    if error.param is not None and re.search("a valid (integer|number|float)", message):
        what = (getattr(error.param, "help", None) or "").partition(". ")[0].rstrip(".")
        message = message.rstrip(".") + (what and f": {what[0].lower()}{what[1:]}")
    return message
