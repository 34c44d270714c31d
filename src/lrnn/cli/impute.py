"""``lrnn impute``: fill the missing cells of a table."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from lrnn.cli.encode import named_like
from lrnn.cli.inputs import DataOf, numbers_explained
from lrnn.cli.outputs import Force, check_output
from lrnn.cli.tables import Filled, TableOptions, attributes_of, takes_tables
from lrnn.cli.voice import Json, Quiet, Voice


@takes_tables(missing=Filled)
def impute(
    data: DataOf,
    options: TableOptions,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="A file: .npy, .npz, .csv, .tsv, .mat, .parquet or .zarr; by default named after "
            "the data, here.",
        ),
    ] = None,
    force: Force = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Fill the missing cells of a table; known cells keep their values.

    What is filled in is probable, given the known cells of the row: rows are taken for sums of
    parts, which are learnt from all of them. It is in the units of the table. Columns of text are
    filled, too, with [bold]--categories onehot[/bold]; those that are left out (--drop, --label,
    --index) stay as they are, gaps and all. In a text written as text (.csv, .tsv) known cells keep
    their text, and in Parquet written as Parquet columns keep their types. The table must fit in
    memory.

    Examples:

        lrnn impute patients.csv -o complete.csv --index id --na '?'

        lrnn impute survey.csv --categories onehot -o complete.csv

        lrnn impute ratings.npz --missing unstored -o complete.npy
    """
    from lrnn.rows.checks import check_values
    from lrnn.rows.memory import HostRows
    from lrnn.tables.filled import write_filled
    from lrnn.tables.frame import Columns
    from lrnn.tables.ledger import Ledger
    from lrnn.tables.sources import Source
    from lrnn.tables.table import whole
    from lrnn.tables.writers import WITH_TEXT, write, write_blocks
    from lrnn.training import learn_filling

    voice = Voice(quiet, as_json)
    output = output or named_like(data, "filled")
    check_output(output, force, data)
    table = options.open(data, voice)
    scaling = options.scaling(table, data, voice)
    with voice.working(f"reading {data}"):
        raw = attributes_of(table, scaling)
        if isinstance(raw.data, Source):
            raw = replace(raw, data=whole(raw.data).data)
    if not isinstance(raw.data, np.ndarray):
        raise ValueError(
            f"{data!r} is a sparse matrix, and none of its cells is missing: those that it does "
            "not store are 0; if they are missing, give --missing unstored"
        )
    ledger = Ledger(places=None if scaling.recipe is None else scaling.recipe.places)
    matrix = raw.data if raw.data.dtype.kind == "f" else raw.data.astype(np.float64)
    with numbers_explained(data, fitting=scaling.kind == "none"):
        scaled, origin = scaling.scaled(matrix), ledger.origin
        rows = HostRows(check_values(scaled, raw.names, "lrnn impute", gaps=True, origin=origin))
    gaps = np.isnan(rows.X)
    filled = rows.X
    if gaps.any():
        with voice.working("filling"):
            filled = learn_filling(rows, raw.names).filled(rows).X
    if isinstance(table.data, Columns):
        names, fills, columns = _filled(table.data, scaling, filled)
        if not write_filled(table.data, output, fills):
            width = len(columns if output.suffix.lower() in WITH_TEXT else table.data.columns)
            columns, names = columns[:width], names and names[:width]
            write_blocks(output, [columns], (len(filled), len(columns)), np.float64, names)
    else:
        write(output, np.where(gaps, scaling.revert(filled), matrix), raw.names)
    ledger.add_gaps(gaps, scaling.recipe)
    touched, unknown = gaps.any(axis=1), int(gaps.all(axis=1).sum())
    if unknown:
        voice.note(
            f"{unknown:,} of the rows {'has' if unknown == 1 else 'have'} no known cell: filled "
            "with what is usual in each column"
        )
    voice.result(
        {
            "output": str(output),
            "rows": len(filled),
            "cells_filled": ledger.guessed,
            "rows_filled": int(touched.sum()),
            "rows_unknown": unknown,
        },
        f"{ledger.guessed:,} missing cell{'s' * (ledger.guessed != 1)} filled, in "
        f"{touched.sum():,} of {len(filled):,} rows; "
        f"written to {output}",
    )


def _filled(table: Any, scaling: Any, filled: Any) -> tuple[Any, dict[int, Any], list[Any]]:
    """Names of the columns of a table, what is filled into some, and all of them with that."""
    from lrnn.tables.filled import Fill, number_text
    from lrnn.tables.frame import is_missing, is_text
    from lrnn.tables.recipe import Column, Recipe
    from lrnn.tables.survey import truth_of

    names = (*table.columns, *table.beside)
    recipe = scaling.recipe
    if recipe is None:  # all columns are numbers, and taken as they are
        columns = tuple(Column(name, i) for i, name in enumerate(table.columns))
        recipe = Recipe(columns, len(columns), missing="allow")
    recipe = recipe.found_in(names, table.named, repr(table.name))
    new_columns = replace(scaling, recipe=recipe).to_frame(filled).columns
    taken = dict(zip(recipe.columns, new_columns, strict=True))
    frames = list(table.frames(recipe.as_text))
    found: list[Any] = []
    for i in range(len(names)):
        parts = [frame.columns[i] for frame in frames]
        text = any(is_text(part) for part in parts)
        found.append(np.concatenate([part.astype(object) if text else part for part in parts]))
    fills = {}
    for column, new in taken.items():
        cells = found[column.position]
        gone = is_missing(cells)
        if not gone.any():
            continue
        values = new[gone].tolist()
        if column.truth and is_text(cells):
            known = cells[~gone]
            texts = dict(zip(truth_of(known).tolist(), known, strict=True))
            values = [texts[float(value >= 0.5)] for value in values]
        elif column.values is None and is_text(cells):
            values = [number_text(value) for value in values]
        fills[column.position] = Fill(gone, values)
        found[column.position] = cells = cells.copy()
        cells[gone] = values
    return (names if table.named else None), fills, found
