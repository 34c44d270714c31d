"""``lrnn reproduce``: the paper's experiments."""

import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Group
from rich.table import Table

from lrnn.cli.outputs import Force, check_new
from lrnn.cli.report import check_folder
from lrnn.cli.voice import Json, Quiet, Voice, text_table

QUICK_RUN = " (QUICK RUN, cut-down data)"


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME…|all",
            help="all; or data sets (mnist, …), structures (mnist-100), figures (figure2a, "
            "figure4); or inhibition, classifiers (not the paper's) or stalled (hours without a "
            "GPU), no part of all.",
        ),
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for results, figures and the report.")
    ] = Path("lrnn-reproduction"),
    force: Force = False,
    seeds: Annotated[
        int, typer.Option(min=1, help="Seeds of small experiments; large ones have one.")
    ] = 3,
    device: Annotated[
        str | None,
        typer.Option(help="Where stalled and classifiers train: cpu, or cuda for a GPU."),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Cut-down data, in minutes: only to see it run.")
    ] = False,
    open_it: Annotated[bool, typer.Option("--open", help="Open the report in a browser.")] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Run the paper's experiments again, beside lrnn's own solver, and write a report.

    Each result is written as soon as it is there: a run that was stopped goes on where it was,
    and what is finished is not run again. All of them take little more than an hour on two cores,
    and need the data sets ([bold]lrnn data fetch all[/bold]).

    [bold]inhibition[/bold] is not the paper's, and runs only when it is named: MNIST networks with
    and without inhibition and PCA, on new and on damaged images, their parts and their spikes. It
    takes less than a quarter of an hour.

    [bold]stalled[/bold] trains as printed until the error falls no more, on images, and under other
    readings of what the paper leaves open: minutes on a GPU, hours without.

    [bold]classifiers[/bold] (not the paper's either) are LRNNClassifier and those of scikit-learn
    on all data with labels, small data first; classifiers-wine is one of them.

    Examples:

        lrnn reproduce all

        lrnn reproduce iris wine --seeds 10 -o small

        lrnn reproduce all --quick -o /tmp/quick

        lrnn reproduce inhibition

        lrnn reproduce stalled --device cuda

        lrnn reproduce classifiers-iris classifiers-wine
    """
    from lrnn.arrays import backend_named
    from lrnn.paper import chosen_tasks, run_tasks
    from lrnn.paper.experiments import known_names
    from lrnn.paper.figures import QUICK
    from lrnn.paper.report import FILES, write_reproduction
    from lrnn.paper.summary import classifiers, inhibition, lowest_errors
    from lrnn.tables.marks import read_json

    voice = Voice(quiet, as_json)
    if not names:
        raise typer.BadParameter(
            "nothing is named; give all, which takes more than an hour, or some of "
            f"{', '.join(known_names())}",
            param_hint="NAME",
        )
    if device is not None:
        if not any(n == "stalled" or n.startswith("classifiers") for n in names):
            raise typer.BadParameter(
                "only stalled and classifiers are trained on it", param_hint="--device"
            )
        backend_named(device)  # or it is an error, before any work is done
    check_folder(output)
    check_new(
        force,
        *(output / name for name in FILES),
        own=lambda: "lowest_errors" in read_json(output / "summary.json"),
    )
    tasks = chosen_tasks(names, seeds, quick)
    if quick:
        voice.say(QUICK)
    try:
        with _bar(len(tasks), voice) as progress:
            results = run_tasks(tasks, output, progress, device)
    except KeyboardInterrupt:
        voice.note(f"finished results are in {output}: the same command goes on")
        raise
    page = write_reproduction(results, output, shlex.join(["lrnn", *sys.argv[1:]]))
    rows, contenders = lowest_errors(results, "free"), inhibition(results)
    compared = classifiers(results)
    tables = [_errors(rows, quick), _contenders(contenders, quick), _compared(compared, quick)]
    voice.result(
        {
            "report": str(page),
            "quick": quick,
            "lowest_errors": rows,
            "inhibition": contenders,
            "classifiers": compared,
        },
        Group(*(table for table in tables if table)),
    )
    voice.say(f"report: {page}")
    if open_it:
        typer.launch(page.resolve().as_uri())


def _errors(rows: Sequence[dict[str, Any]], quick: bool) -> Table | None:
    if not rows:
        return None
    return text_table(
        ["", "structure", "paper", "Algorithm 1 or 3", "Algorithm 2", "lrnn", "bound"],
        [
            [
                row["data"],
                row["structure"],
                "–" if row["paper"] is None else f"{row['paper']:.4f}",
                f"{row['printed']:.4f}",
                "–" if row["printed_layerwise"] is None else f"{row['printed_layerwise']:.4f}",
                f"{row['lrnn']:.4f}",
                f"{row['bound']:.4f}",
            ]
            for row in rows
        ],
        "Lowest errors, free rates" + QUICK_RUN * quick,
    )


def _contenders(rows: Sequence[dict[str, Any]], quick: bool) -> Table | None:
    if not rows:
        return None
    return text_table(
        ["", "error", "on test rows", "spikes"],
        [
            [
                row["contender"],
                f"{row['train']:.4f}",
                f"{row['test']:.4f}",
                "–" if row["spikes"] is None else f"{row['spikes']:.3g}",
            ]
            for row in rows
        ],
        "MNIST, 50 codes" + QUICK_RUN * quick,
    )


def _compared(rows: Sequence[dict[str, Any]], quick: bool) -> Table | None:
    from lrnn.paper.experiments import CLASSIFIERS

    if not rows:
        return None
    return text_table(
        ["", "seen", *(name.replace("_", ", ") for name in CLASSIFIERS)],
        [
            [row["data"], row["features"], *(f"{100 * row[name]:.1f}" for name in CLASSIFIERS)]
            for row in rows
        ],
        "Accuracy in percent" + QUICK_RUN * quick,
    )


@contextmanager
def _bar(total: int, voice: Voice) -> Iterator[Callable[[int, Any], None]]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True, quiet=not voice.verbose),
        disable=not voice.verbose,
    )
    with bar:
        job = bar.add_task("experiments", total=total)

        def progress(done: int, task: Any) -> None:
            bar.update(job, completed=done, description="done" if task is None else task.name)

        yield progress
