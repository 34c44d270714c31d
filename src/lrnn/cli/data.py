"""``lrnn data``: the data sets, and their files."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lrnn.cli.commands import CommandLine
from lrnn.cli.inputs import Split, _data_names
from lrnn.cli.outputs import Force
from lrnn.cli.voice import Json, Quiet, Voice

if TYPE_CHECKING:
    from lrnn.datasets import DataSet
    from lrnn.datasets.dataset import File


def _names(incomplete: str) -> list[str]:
    """Names of data sets, for the shell's completion."""
    from lrnn.datasets import DATA_SETS

    return [name for name in ("all", *DATA_SETS) if name.startswith(incomplete)]


data_app = CommandLine(
    help="The paper's data sets: list them, fetch them, check their files, write them as files."
)


@data_app.command("list")
def list_(quiet: Quiet = False, as_json: Json = False) -> None:
    """List the data sets: their sizes, and whether their files are here.

    Files are in the folder that the environment variable LRNN_DATA_DIR names, or else in a cache
    folder. What is embedded needs no file, and what is to be fetched is fetched on first use.

    Examples:

        lrnn data list
    """
    from rich.filesize import decimal

    from lrnn.datasets import DATA_SETS
    from lrnn.datasets.fetch import data_folder

    lines: list[tuple[str, ...]] = []
    documents = []
    for entry in DATA_SETS.values():
        where, classes = _where(entry), len(entry.class_names)
        size = decimal(entry.size) if entry.files else ""
        counts = (f"{entry.rows:,}", f"{entry.attributes:,}")
        lines.append((entry.name, *counts, where, str(classes or ""), size))
        documents.append(
            {
                "name": entry.name,
                "title": entry.title,
                "rows": entry.rows,
                "attributes": entry.attributes,
                "classes": classes,
                "splits": list(entry.splits),
                "where": where,
                "bytes": entry.size,
                "notes": entry.notes,
            }
        )
    voice = Voice(quiet, as_json)
    table = _listed(lines, voice.width)
    voice.result({"folder": str(data_folder()), "datasets": documents}, table)
    voice.say(f"folder: {data_folder()}")


def _listed(lines: list[tuple[str, ...]], width: int) -> Any:
    """The list; the last columns go where there is no room, for names are needed whole."""
    from rich.table import Table

    headings = ("name", "rows", "attributes", "files", "classes", "size")
    widths = [max(map(len, column)) for column in zip(headings, *lines, strict=True)]
    shown = len(headings)
    while shown > 1 and sum(widths[:shown]) + 2 * (shown - 1) > width:
        shown -= 1
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in headings[:shown]:
        left = heading in ("name", "files")
        table.add_column(heading, justify="left" if left else "right", no_wrap=True)
    for line in lines:
        table.add_row(*line[:shown])
    return table


@data_app.command()
def fetch(
    names: Annotated[
        list[str],
        typer.Argument(metavar="NAME", help="Names of data sets, or all.", autocompletion=_names),
    ],
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Download the files of data sets, and check them by their SHA-256.

    They go to the folder that the environment variable LRNN_DATA_DIR names, or else to a cache
    folder. Files that are there already are not fetched again, unless they are damaged.

    Examples:

        lrnn data fetch mnist

        lrnn data fetch iris wine zoo

        LRNN_DATA_DIR=~/datasets lrnn data fetch all
    """
    from lrnn.datasets.fetch import check, download, located

    voice = Voice(quiet, as_json)

    def status(file: "File") -> str:
        path = located(file)
        if path is not None:
            try:
                check(path, file)
            except ValueError:  # a whole one takes its place
                path = None
        if path is not None:
            return "here"
        download(file, bool(voice.verbose))
        return "fetched"

    _visit(_chosen(names), status, "failed", voice)


@data_app.command()
def verify(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME", help="Names of data sets; by default all.", autocompletion=_names
        ),
    ] = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Check the files that are here by their SHA-256; the status is 1 if one is wrong.

    Nothing is downloaded. [bold]lrnn data fetch[/bold] replaces what is damaged.

    Examples:

        lrnn data verify

        lrnn data verify mnist --json
    """
    from lrnn.datasets.fetch import check, located

    def status(file: "File") -> str:
        path = located(file)
        if path is None:
            return "not here"
        with voice.working(f"checking {path.name}"):
            check(path, file)
        return "right"

    voice = Voice(quiet, as_json)
    _visit(_chosen(names or ["all"]), status, "wrong", voice)


@data_app.command()
def export(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A data set's name.", autocompletion=_data_names)
    ],
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="A .csv, .tsv, .parquet, .npy, .npz, .mat or .zarr file, or a folder for images.",
        ),
    ],
    split: Annotated[
        Split | None, typer.Option(help="Which rows; by default those the paper trains on.")
    ] = None,
    force: Force = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Write a data set as a file, its numbers as published.

    Tables (.csv, .tsv, .parquet) have names of columns, and classes in a last column, "label";
    .npz and .mat files hold "data" and "labels". A name without an ending, or with a / at its end,
    is that of a folder, which gets the images as PNG files, in a sub-folder for each class.

    Examples:

        lrnn data export wine wine.csv

        lrnn data export mnist mnist-test.npz --split test

        lrnn data export digits digits/
    """
    from lrnn.datasets.export import write_data_set

    voice = Voice(quiet, as_json)
    with voice.working(f"writing {file}"):
        found = write_data_set(name, file, None if split is None else split.value, force)
    rows, attributes = found.data.shape
    labelled = found.target is not None and Path(file).suffix.lower() not in (".npy", ".zarr")
    if found.target is not None and not labelled:
        voice.note(f"{Path(file).suffix} files have no place for labels: these are left out")
    voice.result(
        {
            "name": name,
            "output": file,
            "rows": rows,
            "attributes": attributes,
            "labels": labelled,
        },
        f"{rows:,} rows of {attributes:,} attributes{' and labels' * labelled} written to {file}",
    )


def _visit(
    entries: "list[DataSet]", status: "Callable[[File], str]", failure: str, voice: Voice
) -> None:
    """Tell the status of each file; what goes wrong is told in the end, and stops no other."""
    from lrnn.datasets.fetch import data_folder, located

    documents, problems = [], []
    for entry in entries:
        if not entry.files:
            voice.say(f"{'embedded':>8}  {entry.name}")
        for file in entry.files:
            try:
                found = status(file)
            except (OSError, ValueError) as error:
                found = failure
                problems.append(str(error))
            path = located(file) or data_folder() / file.path
            name = path.relative_to(data_folder()).as_posix()
            documents.append({"file": name, "status": found})
            voice.say(f"{found:>8}  {name}")
    document = {"folder": str(data_folder()), "files": documents, "problems": problems}
    voice.result(document, f"folder: {data_folder()}")
    if problems:
        raise ValueError("\n".join(problems))


def _chosen(names: list[str]) -> "list[DataSet]":
    from lrnn.datasets import DATA_SETS, find

    if "all" in names:
        return list(DATA_SETS.values())
    return [find(name) for name in dict.fromkeys(names)]


def _where(entry: "DataSet") -> str:
    from lrnn.datasets.fetch import located

    if entry.files and all(map(located, entry.files)):
        return "here"
    return "embedded" if entry.embedded else "to fetch"
