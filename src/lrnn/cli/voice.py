"""What commands say, and where."""

import codecs
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from typing import Annotated, Any, TextIO

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from lrnn.progress import CONTROL, printable
from lrnn.tables.documents import json_text

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but warnings and errors.")]
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


def plain(text: str, style: str = "") -> Text:
    """A text as it is: nothing in it is markup, or an order to the terminal."""
    return Text(printable(text), style)


def tell(kind: str, style: str, text: str) -> None:
    """One line on standard error: what kind of line it is, and what it says."""
    line = Text.assemble((f"{kind}:", style), " ", plain(text))
    Console(stderr=True).print(line, highlight=False, soft_wrap=True)


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
        with Console(stderr=True).status(plain(f"{task} …")):
            yield

    def say(self, text: Any) -> None:
        """Print for a person."""
        if self.verbose:
            told = plain(text) if isinstance(text, str) else text
            self._console.print(told, highlight=False, soft_wrap=True)

    def note(self, text: str) -> None:
        """Tell a person something beside the result."""
        if not self.quiet:
            typer.echo(printable(text), err=True)

    def result(self, document: dict[str, Any], text: Any) -> None:
        """Print what came out: the document as JSON, or the text."""
        if self.as_json:
            ascii_only = not (sys.stdout.encoding or "utf").lower().startswith("utf")
            made = json_text(document, ensure_ascii=ascii_only)
            typer.echo(CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", made))
        else:
            self.say(text)


def text_table(header: Sequence[str], rows: Iterable[Sequence[str]], title: str) -> Table:
    """A table for a person; all but the first column are numbers."""
    table = Table(title=plain(title) if title else None, title_justify="left", title_style="")
    for i, name in enumerate(header):
        table.add_column(plain(name), justify="right" if i else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(plain, row))
    return table
