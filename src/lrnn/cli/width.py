"""``lrnn width``: how many code neurons data need."""

from pathlib import Path
from typing import Annotated, Any

import typer

from lrnn.cli.inputs import DataOf, DeviceOf, Seed, ToTrainOn, tell
from lrnn.cli.outputs import Force, check_named, check_new
from lrnn.cli.tables import KnownCells, TableOptions, allow_not_offered, takes_tables
from lrnn.cli.voice import Json, Quiet, Voice, text_table

ENDINGS = (".json", ".png", ".svg", ".pdf")


@takes_tables(missing=KnownCells)
def width(
    data: DataOf,
    options: TableOptions,
    widths: Annotated[
        str | None,
        typer.Option(
            metavar="8,16,32",
            help="Numbers of code neurons, below that of attributes. By default 1, 2, 3, 4, 6, 8, "
            "11 and so on, up to 128.",
        ),
    ] = None,
    folds: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=5,
            help="How often other rows are held out. By default 5 times for up to 2,500 rows, and "
            "once for more.",
        ),
    ] = None,
    output: Annotated[
        list[Path] | None,
        typer.Option("--output", "-o", help=f"{', '.join(ENDINGS)}; may be given again."),
    ] = None,
    seed: Seed = 0,
    device: DeviceOf = None,
    force: Force = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Find how many code neurons data need, by entries that were held out.

    Rows are held out of training, and in these a fifth of the attributes at a time, which is
    foretold from the others: better and better until there are as many code neurons as the data
    have parts, and then worse again. (The error of whole rows, which [bold]lrnn fit[/bold] tells,
    only falls.) The narrowest width whose error is within one standard error of the lowest is
    suggested.

    Examples:

        lrnn width digits

        lrnn width wine --widths 1,2,3,4,5,6 -o widths.png

        lrnn width table.csv --label class -o widths.json --device cuda
    """
    import lrnn
    from lrnn.analysis.widths import HEADER
    from lrnn.tables.atomic import check_apart, write_atomically
    from lrnn.tables.documents import json_text

    voice = Voice(quiet, as_json)
    wanted, outputs = _widths(widths), output or []
    for path in outputs:
        check_named(path, ENDINGS)
        check_apart(path, data)
    check_new(force, *outputs)
    with allow_not_offered():
        taken = ToTrainOn.of(data, options, voice)
    _check_widths(wanted, taken.attributes, data)
    with taken.explained():
        found = lrnn.widths(
            taken.table,
            wanted,
            folds=folds,
            scale=taken.scaling,
            device=device,
            random_state=seed,
            verbose=voice.verbose,
        )
    document = {"data": data, **found.to_json(), **tell(taken.table.ledger, voice)}
    for path in outputs:
        if path.suffix == ".json":
            write_atomically(path, json_text(document, indent=1).encode())
        else:
            _draw(found, path)
    title = f"{data}, {found.attributes} attributes, {found.rows} rows held out"
    voice.result(document, text_table(HEADER, found.lines(), f"{title} ({found.seconds:.0f} s)"))
    remark = f" ({found.remark})" if found.remark else ""
    written = f"\nwritten to {', '.join(map(str, outputs))}" if outputs else ""
    voice.say(f"suggested: --hidden {found.suggested.width}{remark}{written}")


def _widths(text: str | None) -> list[int] | None:
    """Widths as a user writes them."""
    if text is None:
        return None
    words = text.replace(",", " ").split()
    if not words or not all(word.isdecimal() and int(word) > 0 for word in words):
        raise typer.BadParameter(
            f"{text!r} should be numbers of code neurons, such as 8,16,32", param_hint="--widths"
        )
    return [int(word) for word in words]


def _check_widths(wanted: list[int] | None, attributes: int, source: str) -> None:
    """Complain of widths that no code of these data has."""
    wide = [width for width in wanted or () if width >= attributes > 1]
    if wide:
        raise typer.BadParameter(
            f"{wide[0]} code neurons are not fewer than the {attributes} attributes of {source!r}; "
            f"give widths from 1 to {attributes - 1}",
            param_hint="--widths",
        )


def _draw(found: Any, path: Path) -> None:
    from matplotlib.figure import Figure

    from lrnn import plots
    from lrnn.plots.axes import write_figure

    figure = Figure(figsize=(4.8, 3.4), dpi=150, layout="constrained")
    plots.widths(found, ax=figure.add_subplot())
    write_figure(figure, path)
