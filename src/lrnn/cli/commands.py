"""Commands as Typer makes them, but for how their flags and the errors of their options read."""

import inspect
import re
from collections.abc import Callable
from typing import Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

from lrnn.progress import printable
from lrnn.tables.words import as_options, options_in

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


def in_options(said: object) -> str:
    """What an error or a warning says, in options; of those of another command it says so.

    What a command trains by itself is warned of in the words of ``lrnn fit``.
    """
    text, running = as_options(said), Command.running
    if running is None:
        return text
    others = running.find_root().command.commands
    lacking = [option for option in options_in(said) if option not in _options(running.command)]
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
