"""What commands say, and where."""

import codecs
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from typing import Annotated, Any, TextIO

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")]

WRITTEN_OUT = {"→": "->", "…": "...", "–": "-", "−": "-", "×": "x", "≤": "<=", "≥": ">=",
               "Σ": "sum of", "’": "'", "•": "*"}  # fmt: skip


def make_printable(*streams: TextIO) -> None:
    """What an encoding has no letter for is written with others, and kills no command."""
    codecs.register_error("lrnn", _other_letters)
    for stream in streams:
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="lrnn")


def _other_letters(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letters = error.object[error.start : error.end]
    return "".join(WRITTEN_OUT.get(letter, "?") for letter in letters), error.end


class Voice:
    """Speaks to a person, or writes one JSON document, or is quiet."""

    def __init__(self, quiet: bool, as_json: bool) -> None:
        self.quiet, self.as_json = quiet, as_json
        self._console = Console()

    @property
    def verbose(self) -> int:
        """Whether progress is shown."""
        return int(not (self.quiet or self.as_json))

    @property
    def width(self) -> int:
        """Letters in a line."""
        return self._console.width

    @contextmanager
    def working(self, task: str) -> Iterator[None]:
        """Show, on a terminal, that something is being done for which no bar can be shown."""
        if not self.verbose:
            yield
            return
        with Console(stderr=True).status(f"{escape(task)} …"):
            yield

    def say(self, text: Any) -> None:
        """Print for a person."""
        if self.verbose:
            self._console.print(text, highlight=False, soft_wrap=True, markup=False)

    def note(self, text: str) -> None:
        """Tell a person something beside the result."""
        if not self.quiet:
            typer.echo(text, err=True)

    def result(self, document: dict[str, Any], text: Any) -> None:
        """Print what came out: the document as JSON, or the text."""
        if self.as_json:
            plain = not (sys.stdout.encoding or "utf").lower().startswith("utf")
            typer.echo(json.dumps(document, ensure_ascii=plain))
        else:
            self.say(text)


def text_table(header: Sequence[str], rows: Iterable[Sequence[str]], title: str) -> Table:
    """A table for a person; all but the first column are numbers."""
    table = Table(title=escape(title) or None, title_justify="left", title_style="")
    for i, name in enumerate(header):
        table.add_column(escape(name), justify="right" if i else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(escape, row))
    return table
