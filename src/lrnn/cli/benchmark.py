"""``lrnn benchmark``: lrnn beside other libraries, on this machine."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from lrnn.cli.inputs import MOST_NEURONS, ToTrainOn, check_range, tell
from lrnn.cli.outputs import Force, check_new
from lrnn.cli.report import check_folder
from lrnn.cli.tables import KnownCells, TableOptions, allow_not_offered, takes_tables
from lrnn.cli.voice import Json, Quiet, Voice, text_table

if TYPE_CHECKING:
    from lrnn.benchmark import Result

Kind = StrEnum("Kind", ["fit", "encode", "simulate", "scale"])
WIDEST = 16  # code neurons, unless more are asked for
QUICK = "Quick run on cut-down data: only to see it run. Its numbers say little."


def _names(incomplete: str) -> list[str]:
    """Names of contenders, for the shell's completion."""
    from lrnn.benchmark.peers import FACTORISATIONS, SIMULATORS

    names = [contender.name for contender in (*FACTORISATIONS, *SIMULATORS)]
    return [name for name in names if name.startswith(incomplete)]


@takes_tables(missing=KnownCells)
def benchmark(
    options: TableOptions,
    kind: Annotated[Kind, typer.Argument(help="What to measure.")] = Kind.fit,
    data: Annotated[
        str, typer.Option(help="A data set's name, a file of numbers, or a folder of images.")
    ] = "digits",
    hidden: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MOST_NEURONS,
            help="Code neurons; by default 16, or half of the attributes if fewer.",
        ),
    ] = None,
    against: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A contender, such as nmf-cd; may be repeated. By default all that are installed.",
            autocompletion=_names,
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Cut-down data and runs: only to see it run.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Folder for results.json and figures (PNG, SVG); by default lrnn-benchmark-KIND, "
            "here.",
        ),
    ] = None,
    force: Force = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Measure lrnn beside other libraries, on this machine and on data of your choice.

    [bold]fit[/bold] is error against time of training, [bold]encode[/bold] the time to encode rows,
    [bold]simulate[/bold] events a second of the trained network, [bold]scale[/bold] the time to
    train against the number of rows and of attributes. All run one after the other in this process,
    on the same data in single precision, and on all cores. Contenders are nmf-cd, nmf-mu and
    minibatch-nmf (scikit-learn), torchnmf, adam (an autoencoder in PyTorch); for simulate ciw and
    brian2. Those that are not installed are left out. A sparse matrix (.npz) stays sparse, and
    those that need full ones are left out, too.

    Examples:

        lrnn benchmark

        lrnn benchmark fit --data mnist --hidden 100 -o fit-results

        lrnn benchmark fit --data table.csv --label class

        lrnn benchmark encode --data faces/ --against nmf-cd --against adam

        lrnn benchmark simulate --quick --json
    """
    from lrnn.benchmark import chosen, run
    from lrnn.parameters import hidden_width
    from lrnn.tables.atomic import check_apart
    from lrnn.tables.marks import read_json

    voice = Voice(quiet, as_json)
    output = output or Path(f"lrnn-benchmark-{kind.value}")
    check_folder(output)
    files = [output / name for name in ("results.json", f"{kind.value}.png", f"{kind.value}.svg")]
    for written in (output, *files):
        check_apart(written, data)
    check_new(force, *files, own=lambda: read_json(files[0]).get("kind") == kind.value)
    peers, left_out = chosen(cast(Any, kind.value), against)
    X = _rows(data, options, voice)
    hidden = hidden or min(WIDEST, hidden_width(X.shape[1]))
    if quick:
        voice.say(QUICK)
    with _bar(voice) as progress:
        result = run(
            cast(Any, kind.value),
            X,
            hidden,
            peers,
            left_out,
            name=Path(data).name or data,
            quick=quick,
            progress=progress,
        )
    voice.result(result.to_json(), _table(result))
    for title, reason in result.left_out.items():
        voice.say(f"{title}: {reason}")
    for path in _write(result, output):
        voice.say(f"written to {path}")


def _rows(source: str, options: TableOptions, voice: Voice) -> Any:
    """Rows in [0, 1] in single precision, as all contenders are given them."""
    import numpy as np
    from scipy import sparse

    from lrnn.datasets import DATA_SETS, load
    from lrnn.rows.checks import white_of

    if source in DATA_SETS and not options.given and not Path(source).exists():
        with voice.working(f"reading {source}"):
            return load(source).data.astype(np.float32)
    rows = _scaled(source, options, voice)
    white = white_of(rows.dtype, lambda: [rows.max()]) or 1
    if sparse.issparse(rows):
        return sparse.csr_array(rows, dtype=np.float32) / np.float32(white)
    return np.ascontiguousarray(rows, dtype=np.float32) / np.float32(white)


def _scaled(source: str, options: TableOptions, voice: Voice) -> Any:
    """A table of attributes in [0, 1], or of levels, in memory."""
    from lrnn.tables.sources import Source
    from lrnn.tables.table import whole

    with allow_not_offered():
        taken = ToTrainOn.of(source, options, voice)
    table = taken.table
    if isinstance(table.data, Source):
        table = replace(table, data=whole(table.data).data)
        if taken.scaling.kind == "none":
            check_range(table, source, places=taken.cut.places)
    tell(taken.cut, voice)
    return taken.scaling.scaled(table.data)


@contextmanager
def _bar(voice: Voice) -> Iterator[Callable[[int, int, str], None]]:
    """A bar that only moves between measurements: a thread that draws would be timed with them."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    bar = Progress(
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.description}", markup=False),
        console=Console(stderr=True, quiet=not voice.verbose),
        auto_refresh=False,
        disable=not voice.verbose,
    )
    with bar:
        job = bar.add_task("", total=None)

        def progress(done: int, total: int, task: str) -> None:
            bar.update(job, completed=done, total=total, description=task, refresh=True)

        yield progress


def _table(result: "Result") -> Any:
    return text_table(result.header, result.lines(), result.heading)


def _write(result: "Result", folder: Path) -> list[Path]:
    """Numbers and figures into a folder."""
    from lrnn.benchmark.figures import figure
    from lrnn.plots.axes import write_figure
    from lrnn.tables.atomic import write_atomically
    from lrnn.tables.documents import json_text

    paths = [folder / "results.json"]
    document = json_text(result.to_json(), indent=1, ensure_ascii=False)
    write_atomically(paths[0], f"{document}\n".encode(errors="backslashreplace"))
    drawn = figure(result)
    for kind in ("png", "svg"):
        paths.append(folder / f"{result.kind}.{kind}")
        write_figure(drawn, paths[-1])
    return paths
