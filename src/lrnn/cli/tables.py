"""How a table becomes attributes in [0, 1]: options of every command that trains on data."""

import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import wraps
from typing import Annotated, Any

import typer

from lrnn.cli.voice import Voice
from lrnn.tables.messages import columns_listed

PANEL = "Tables: what becomes of their columns"

Scale = StrEnum("Scale", ["auto", "none", "levels", "max", "minmax"])
# for what looks at numbers beyond the range
OpenScale = StrEnum("OpenScale", ["open", "auto", "none", "levels", "max", "minmax"])
Categories = StrEnum("Categories", ["refuse", "onehot"])
Missing = StrEnum("Missing", ["refuse", "drop", "median", "allow", "unstored"])
KnownCells = StrEnum("KnownCells", ["refuse", "drop", "median"])  # for what takes no gaps
Filled = StrEnum("Filled", ["allow", "unstored"])  # for what fills them
# for what judges rows by their known cells
Judged = StrEnum("Judged", ["refuse", "drop", "median", "allow", "unstored"])


def _option(*names: str, **more: Any) -> Any:
    return typer.Option(*names, rich_help_panel=PANEL, **more)


def _missing(ways: type[StrEnum]) -> Any:
    unstored = "cells that a sparse matrix does not store are missing, too"
    probable = "what is probable, given the other cells of the row"
    help = {
        Filled: f"Missing cells are those without a number; unstored: {unstored}.",
        KnownCells: "Missing cells: drop their rows or fill in the median.",
        Judged: "Missing cells: drop their rows, fill in the median, or (allow) judge rows by "
        f"their known cells; unstored: as allow, and {unstored}.",
        Missing: f"Missing cells: drop their rows, fill in the median, or (allow) {probable}; "
        f"unstored: as allow, and {unstored}.",
    }[ways]
    return Annotated[ways, _option("--missing", help=help)]


def _scale(ways: type[StrEnum]) -> Any:
    known = "max and minmax go by column, levels divides by the level that is white."
    more = "open goes by column, and cuts nothing off; " if "open" in list(ways) else ""
    return Annotated[ways, _option("--scale", help=f"How the data get into [0, 1]: {more}{known}")]


OPTIONS: dict[str, tuple[Any, Any]] = {
    "scale": (_scale(Scale), Scale.auto),
    "complement": (
        Annotated[
            bool | None,
            _option(
                "--complement/--no-complement",
                help="Whether the network sees each x beside 1 − x; by default with --classify, "
                "where columns are scaled by their range.",
            ),
        ],
        None,
    ),
    "columns": (
        Annotated[
            list[str] | None,
            _option("--columns", metavar="COLUMNS", help="Those to take: names, numbers, 3-7."),
        ],
        None,
    ),
    "drop": (
        Annotated[
            list[str] | None, _option("--drop", metavar="COLUMNS", help="Those to leave out.")
        ],
        None,
    ),
    "label": (
        Annotated[
            str | None,
            _option(
                "--label",
                metavar="COLUMN",
                help="The class of the rows: what fit --classify learns; otherwise kept out of "
                "training, and carried along to the codes.",
            ),
        ],
        None,
    ),
    "index": (
        Annotated[
            str | None,
            _option("--index", metavar="COLUMN", help="Names of the rows: carried along."),
        ],
        None,
    ),
    "categories": (
        Annotated[
            Categories,
            _option("--categories", help="Columns of text: onehot makes one of each value."),
        ],
        Categories.refuse,
    ),
    "missing": (
        _missing(Missing),
        Missing.refuse,
    ),
    "header": (
        Annotated[
            bool | None,
            _option("--header/--no-header", help="Whether the first line of a text is names."),
        ],
        None,
    ),
    "na": (
        Annotated[
            list[str] | None,
            _option("--na", metavar="TEXTS", help="How missing cells are written: NA,?"),
        ],
        None,
    ),
    "decimal": (
        Annotated[str, _option("--decimal", metavar="MARK", help="That of decimals: . or ,")],
        ".",
    ),
    "delimiter": (
        Annotated[
            str | None, _option("--delimiter", metavar="MARK", help="Between cells; tab is one.")
        ],
        None,
    ),
    "encoding": (
        Annotated[str, _option("--encoding", metavar="NAME", help="Of text, such as latin-1.")],
        "utf-8",
    ),
    "key": (
        Annotated[
            str | None,
            _option("--key", metavar="NAME", help="Which array, of a file with several."),
        ],
        None,
    ),
    "resize": (
        Annotated[
            str | None, _option("--resize", metavar="WxH", help="Width and height of images.")
        ],
        None,
    ),
    "grey": (Annotated[bool, _option("--grey", help="Images without colours.")], False),
}
READING = ("header", "na", "decimal", "delimiter", "encoding", "key", "resize", "grey")


@dataclass(frozen=True)
class TableOptions:
    """What a user says of a table."""

    scale: str
    complement: bool | None
    columns: Sequence[str]
    drop: Sequence[str]
    label: str | None
    index: str | None
    categories: Any
    missing: Any
    reading: Any

    @classmethod
    def of(cls, given: dict[str, Any]) -> "TableOptions":
        """Options as the command line gives them."""
        from lrnn.tables.reading import Reading

        reading = {name: given.pop(name) for name in READING}
        if reading["na"]:
            reading["na"] = tuple(text for word in reading["na"] for text in word.split(","))
        return cls(
            scale=given["scale"].value,
            complement=given["complement"],
            columns=given["columns"] or (),
            drop=given["drop"] or (),
            label=given["label"],
            index=given["index"],
            categories=given["categories"].value,
            missing=given["missing"].value,
            reading=Reading(**reading),
        )

    @property
    def given(self) -> list[str]:
        """Names of the options that say something else than they do by default."""
        usual = TableOptions.of({name: default for name, (_, default) in OPTIONS.items()})
        mine, others = vars(self), vars(usual)
        found = [f"--{name}" for name in mine if name != "reading" and mine[name] != others[name]]
        own, default = vars(self.reading), vars(usual.reading)
        return found + [f"--{name}" for name in own if own[name] != default[name]]

    @property
    def _choosing(self) -> list[str]:
        """Those that choose among columns or rows."""
        own = ["--columns", "--drop", "--label", "--index", "--categories"]
        own += [] if self.gaps else ["--missing"]
        return [option for option in self.given if option in own]

    @property
    def gaps(self) -> bool:
        """Whether missing cells stay missing, for a model that fills them."""
        return self.missing in ("allow", "unstored")

    @property
    def of_model(self) -> Any:
        """The parameter ``missing`` of a model."""
        return self.missing if self.gaps else "refuse"

    def open(self, source: str, voice: Voice, split: str | None = None) -> Any:
        """The table that a user calls so, or a split of it; large ones are left where they are."""
        from scipy import sparse

        from lrnn.datasets import open_table
        from lrnn.tables.ledger import Ledger

        with voice.working(f"reading {source}"):
            table = open_table(source, True, self.reading, split)
        if self.missing == "unstored" and not sparse.issparse(table.data):
            raise typer.BadParameter(
                f"{source!r} is no sparse matrix, of which cells are not stored; allow fills cells "
                "of other data, where they are empty",
                param_hint="--missing",
            )
        table = with_gaps(table, self.missing, source)
        return replace(table, source=source, ledger=Ledger())

    def scaling(self, table: Any, source: str, voice: Voice) -> Any:
        """How this table gets into [0, 1]."""
        from lrnn.tables.messages import TableError
        from lrnn.tables.scaling import Scaling

        data = table.data
        check_sparse(data, source, *self._choosing)
        names, width = _columns_of(table)
        label, index = columns_beside(table, source, self.label, self.index)
        try:
            with voice.working(f"looking at {source}"):
                found = Scaling.fit(
                    data,
                    self.scale,
                    columns=_meant(self.columns, names, width, source, "--columns") or None,
                    drop=_meant(self.drop, names, width, source, "--drop") or None,
                    label=label,
                    index=index,
                    categories=self.categories,
                    missing="allow" if self.gaps else self.missing,
                    white=table.white,
                    names=table.names,
                    complement=bool(self.complement),
                )
        except TableError as error:
            raise error.but(source=source) from None
        return replace(found, reading=self.reading)


def check_sparse(data: Any, source: str, *choosing: str) -> None:
    """Complain of options that choose among columns or rows, if given for a sparse matrix."""
    from scipy import sparse

    if choosing and sparse.issparse(data):
        raise typer.BadParameter(
            f"{source!r} is a sparse matrix, which is taken as it is: all of its columns are "
            "attributes, and all of its cells numbers; write it as a table (.csv, .parquet) or an "
            "array (.npy)",
            param_hint=", ".join(choosing),
        )


def with_gaps(table: Any, missing: str, source: str) -> Any:
    """A table; a sparse matrix with missing cells as a full one, if these are to be filled."""
    from scipy import sparse

    from lrnn.rows.gaps import full, sparse_gaps

    unstored = missing == "unstored"
    if missing not in ("allow", "unstored") or not sparse.issparse(table.data):
        return table
    try:
        missed = unstored or sparse_gaps(table.data, unstored)
        return replace(table, data=full(table.data, unstored)) if missed else table
    except ValueError as error:
        raise ValueError(f"{source!r}: {error}") from None


@contextmanager
def allow_not_offered() -> Iterator[None]:
    """Where cells cannot stay missing, an error that names remedies does not name this one."""
    from lrnn.tables.messages import UnfitNumbersError

    try:
        yield
    except UnfitNumbersError as error:
        if error.kind != "missing":
            raise
        raise error.but(
            remedy="{missing=median} fills such cells with the middle of their column, "
            "{missing=drop} leaves their rows out"
        ) from None


def attributes_of(table: Any, scaling: Any, ledger: Any = None) -> Any:
    """A table of attributes, in the units of the data; what is left out or filled is counted."""
    if scaling.recipe is None:
        names = getattr(table.data, "columns", None) or table.names
        return replace(table, names=names)
    names = scaling.names if scaling.recipe.named else None
    return replace(table, data=scaling.selected(table.data, ledger), names=names)


def scale_note(asked: str, scaling: Any) -> str:
    """A line on the scaling, if it was chosen here."""
    if asked != "auto" or scaling.kind == "none":
        return ""
    said = {
        "minmax": "each column's range is scaled to [0, 1]",
        "max": "each column is divided by its maximum",
        "levels": f"levels are divided by {scaling.span:g}" if scaling.kind == "levels" else "",
    }[scaling.kind]
    return f"{said}; --scale chooses another way\n"


def takes_tables(
    *,
    missing: str | type[StrEnum] = Missing,
    complement: bool = False,
    scale: type[StrEnum] = Scale,
) -> Callable[..., Any]:
    """For a command that is given `TableOptions` as ``options``: it has all of these.

    ``missing`` are the ways to treat missing cells that it knows, or the only one of them;
    ``complement`` tells whether it may present attributes beside their complements; ``scale`` are
    the ways into [0, 1], of which the first is taken by default.
    """
    offered: dict[str, tuple[Any, Any]] = dict(OPTIONS)
    offered["scale"] = _scale(scale), next(iter(scale))
    fixed: dict[str, Any] = {}
    if not complement:
        fixed["complement"] = None
        del offered["complement"]
    if isinstance(missing, str):
        fixed["missing"] = Missing(missing)
        del offered["missing"]
    else:
        offered["missing"] = _missing(missing), next(iter(missing))

    def with_tables(command: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(command)

        @wraps(command)
        def wrapped(**given: Any) -> Any:
            chosen = {name: given.pop(name) for name in offered}
            return command(**given, options=TableOptions.of(chosen | fixed))

        own = [p for p in signature.parameters.values() if p.name != "options"]
        more = [
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
            )
            for name, (annotation, default) in offered.items()
        ]
        wrapped.__signature__ = signature.replace(parameters=[*own, *more])  # type: ignore[attr-defined]
        wrapped.__annotations__ = {p.name: p.annotation for p in (*own, *more)}
        del wrapped.__wrapped__
        return wrapped

    return with_tables


def _columns_of(table: Any) -> tuple[Any, int]:
    """Names of a table's columns, if they have any, and how many there are."""
    names = getattr(table.data, "columns", None) or table.names
    return names, len(names) if names is not None else table.data.shape[1]


def columns_beside(table: Any, source: str, label: str | None, index: str | None) -> list[Any]:
    """Label and index: columns of a table that are no attributes, by names or numbers from 1."""
    names, width = _columns_of(table)
    own = getattr(table.data, "beside", ())
    return [
        word if word is None or word in own else _sole(word, names, width, source, option)
        for word, option in ((label, "--label"), (index, "--index"))
    ]


def columns_named(
    table: Any, source: str, scaling: Any, label: str | None = None, index: str | None = None
) -> dict[str, str]:
    """Label and index as a user names them, by the columns of a table; none that nobody has named.

    What a model remembers, and the table lacks, is no error.
    """
    from lrnn.tables.frame import Columns

    recipe = None if scaling is None else scaling.recipe
    label = label if recipe is None or label != recipe.label else None
    index = index if recipe is None or index != recipe.index else None
    named, option = (index, "--index") if label is None else (label, "--label")
    if named is None:
        return {}
    check_sparse(table.data, source, option)
    unnamed = not isinstance(table.data, Columns) and table.names is None and not named.isdigit()
    if table.labels is not None or unnamed:
        raise typer.BadParameter(
            f"{source!r} is no table with columns of its own; labels of data sets and of folders "
            "of images are known without it",
            param_hint=option,
        )
    found = columns_beside(table, source, label, index)
    names = [f"column {one + 1}" if isinstance(one, int) else one for one in found]
    return {kind: name for kind, name in zip(("label", "index"), names, strict=True) if name}


def _sole(word: str, names: Any, width: int, source: str, option: str) -> Any:
    found = _meant([word], names, width, source, option)
    if len(found) != 1:
        raise typer.BadParameter(f"{word!r} is not one column", param_hint=option)
    return found[0]


def _meant(words: Sequence[str], names: Any, width: int, source: str, option: str) -> list[Any]:
    """Columns that are meant by names, numbers from 1, and ranges of these.

    Columns are given by their names, or without any by their numbers from 0.
    """
    found: list[Any] = []
    known = list(names or ())
    for word in words:
        parts = [word] if word in known else [part.strip() for part in word.split(",")]
        for part in filter(None, parts):
            if part in known:
                found.append(part)
                continue
            spread = re.fullmatch(r"(\d+)(?:-(\d+))?", part)
            first = int(spread[1]) if spread else 0
            last = int(spread[2] or spread[1]) if spread else 0
            if not 1 <= first <= last <= width:
                raise typer.BadParameter(
                    _lacking(part, first, last, known, width, source), param_hint=option
                )
            found += known[first - 1 : last] if known else range(first - 1, last)
    return found


def _lacking(
    part: str, first: int, last: int, known: Sequence[str], width: int, source: str
) -> str:
    """What is wrong with columns that a table does not have."""
    if last > width and "-" in part:
        return f"{source!r} has only columns 1 to {width}, and {part!r} ends beyond them"
    if first > last >= 1:
        return f"{part!r} ends before it begins; give {last}-{first}"
    shown = columns_listed(known, part) if known else f"columns 1 to {width}"
    return f"{source!r} has no column {part!r}; it has {shown}"
