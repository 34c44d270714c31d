"""``lrnn frontier``: error against spikes."""

import csv
import io
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from lrnn.cli.inputs import (
    BatchSize,
    DataOf,
    DeviceOf,
    Resume,
    Seed,
    ToTrainOn,
    check_leftover,
    going_on,
    hidden_note,
    hidden_rule,
    layer_sizes,
    say_how_to_go_on,
    tell,
)
from lrnn.cli.outputs import Force, check_new, named_after
from lrnn.cli.report import check_folder
from lrnn.cli.tables import TableOptions, takes_tables
from lrnn.cli.voice import Json, Quiet, Voice, text_table
from lrnn.progress import decimal

COLUMNS = ("layers", "penalty", "way", "error", "test_error", "spikes", "model")
FILES = ("frontier.json", "frontier.csv", "frontier.png", "frontier.svg", "budget.safetensors")
MODEL = re.compile(r"models/(excitatory|\d+)\.safetensors|budget\.safetensors")
CHOSEN = "budget.safetensors"


@takes_tables()
def frontier(
    data: DataOf,
    options: TableOptions,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Folder for the table, the plot and the models; by default DATA-frontier, here.",
        ),
    ] = None,
    hidden: Annotated[
        str | None,
        typer.Option(
            help="Code neurons, or sizes of hidden layers: 1000-50, or 50+1000 if they stand only "
            "behind the code. Several structures, such as 50,50+1000: the best of any of them. By "
            "default half as many as attributes, at most 100."
        ),
    ] = None,
    test: Annotated[
        str | None,
        typer.Option(metavar="DATA", help="Other data to take errors on; MNIST has its own."),
    ] = None,
    penalties: Annotated[
        int, typer.Option(min=2, max=10**6, help="How many penalties of a spike, such as 24.")
    ] = 16,
    passes: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Over the data, at each penalty, on each way; by default 10, or, of few rows, "
            "as many as make 2,000 steps: half of what lrnn fit --inhibition makes.",
        ),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(
            metavar="SPIKES",
            min=0,
            help=f"Write the best network that needs at most so many spikes as {CHOSEN}.",
        ),
    ] = None,
    batch_size: BatchSize = 100,
    seed: Seed = 0,
    device: DeviceOf = None,
    resume: Resume = None,
    force: Force = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Draw what inhibition buys: the error of networks against the spikes they fire.

    From what the excitatory network fires, or less, to spikes that are free: networks for many
    penalties of a spike, each started from its neighbour, on the way down from dear spikes to cheap
    ones, and up again. All are kept that no other betters: of one penalty there may be two, one
    with fewer spikes, the other with a lower error. Into the folder go frontier.json and .csv, the
    plot as .png and .svg, and every network as a model: models/1.safetensors, and so on. With
    [bold]--budget[/bold] the one with the lowest error among those that need at most so many spikes
    per unit time is named, and copied to budget.safetensors. A run that was killed goes on with
    [bold]--resume[/bold].

    Examples:

        lrnn frontier digits --hidden 16 -o digits-frontier

        lrnn frontier mnist --hidden 50,50+1000 -o mnist-frontier --device cuda --budget 2000

        lrnn frontier wine.csv --label class --hidden 7 --test new.csv --penalties 8 -o wine
    """
    import lrnn
    from lrnn.tables.atomic import check_apart, remove, sole_writer

    voice = Voice(quiet, as_json)
    output = output or named_after(data, "-frontier")
    unfinished = output / "checkpoint"
    check_folder(output)
    for written in (".", *FILES, "models"):
        check_apart(output / written, data, test)
    _check_new(output, force)
    taken = ToTrainOn.of(data, options, voice)
    table, width = taken.table, taken.attributes
    texts = [None] if hidden is None else hidden.split(",")
    layers = [layer_sizes(text, width) for text in texts]
    structures = [
        {"hidden_layer_sizes": before, "decoder_layer_sizes": behind} for before, behind in layers
    ]
    others = _test_rows(data, test, options, voice)
    watched = going_on(unfinished, voice)
    with _folder(output), sole_writer(output / "frontier.json"), taken.explained(), watched:
        _check_new(output, force)  # another process may have been quicker
        check_leftover(unfinished, resume, voice)
        before = _models_in(output)
        found = lrnn.frontier(
            table,
            structures=structures,
            X_test=others,
            penalties=penalties,
            passes=passes,
            checkpoint=unfinished,
            resume=bool(resume),
            batch_size=batch_size,
            scale=taken.scaling,
            missing=options.of_model,
            device=device,
            random_state=seed,
            verbose=voice.verbose,
        )
        known = _known(data, [before for before, behind in layers if behind is None])
        rule = hidden_rule(hidden, width)
        document = {"data": data, "hidden_rule": rule, "paper": known, **found.to_json()}
        _save_models(output, found, document)
        document |= tell(table.ledger, voice)
        if others is not None:
            tell(others.ledger, voice)
        document["chosen"] = chosen = _choose(output, found, document, budget)
        _write(output, found, document)
        kept = {point["model"] for point in document["points"]} | ({CHOSEN} if chosen else set())
        for name in before - kept:
            (output / name).unlink(missing_ok=True)
        if not found.interrupted:
            remove(unfinished)
    title = f"{data}, {found.name} ({found.seconds:.0f} s)"
    voice.result(
        {"folder": str(output), **document}, text_table(found.header, found.lines(), title)
    )
    lines = {"no linear map is below": found.svd, **known}
    voice.say("\n".join(f"{name}: {decimal(error)}" for name, error in lines.items()))
    note = hidden_note(rule, layers[0][0])
    voice.say(f"{note}written to {output}, the networks to {output / 'models'}")
    if chosen is not None:
        voice.say(
            f"within {budget:g} spikes: network {chosen['number']}, error "
            f"{decimal(chosen['error'])}, written to {output / CHOSEN}"
        )
    if found.interrupted:
        say_how_to_go_on(unfinished, voice)
    if budget is not None and chosen is None:
        found.within(budget)  # says what the cheapest needs


def _check_new(folder: Path, force: bool) -> None:
    """Refuse to replace a frontier, unless it is one that was interrupted and can be gone on."""
    from lrnn.tables.marks import read_json

    def own() -> bool:
        interrupted = read_json(folder / "frontier.json").get("interrupted")
        return (folder / "checkpoint").exists() and interrupted is True

    models = sorted((folder / "models").glob("*.safetensors"))
    named = [path for path in models if MODEL.fullmatch(f"models/{path.name}")]
    check_new(force, *(folder / name for name in FILES), *named, own=own)


@contextmanager
def _folder(path: Path) -> Iterator[None]:
    """A folder that is there; one that was made for this and stays empty goes again."""
    made = not path.exists()
    path.mkdir(parents=True, exist_ok=True)
    try:
        yield
    finally:
        if made:
            with suppress(OSError):  # there is something in it
                path.rmdir()


def _models_in(folder: Path) -> set[str]:
    """The models of an earlier run, as its table lists them; other files are the user's."""
    try:
        document = json.loads((folder / "frontier.json").read_bytes())
        names = {str(point["model"]) for point in document["points"]}
        names |= {CHOSEN} if document.get("chosen") else set()
    except (OSError, ValueError, KeyError, TypeError):
        return set()
    return {name for name in names if MODEL.fullmatch(name)}


def _test_rows(data: str, test: str | None, options: TableOptions, voice: Voice) -> Any:
    """Rows that errors are taken on besides; data sets that come with some need not be told."""
    from lrnn.datasets import DATA_SETS

    has_some = not Path(data).exists() and data in DATA_SETS and "test" in DATA_SETS[data].splits
    if test is None and not has_some:
        return None
    source, split = (data, "test") if test is None else (test, None)
    return options.open(source, voice, split)


def _known(data: str, structures: Sequence[tuple[int, ...]]) -> dict[str, float]:
    """What the paper has for these data and layers, if it has them."""
    from lrnn.datasets import DATA_SETS

    reported = DATA_SETS[data].errors if data in DATA_SETS else {}
    names = ["-".join(map(str, sizes)) for sizes in structures]
    title = "Yin & Gelenbe 2016"
    return {
        f"{title}, {name}" if len(names) > 1 else title: reported[name]
        for name in names
        if name in reported
    }


def _save_models(folder: Path, found: Any, document: Any) -> None:
    """Every network as a model; the document gets their names."""
    (folder / "models").mkdir(exist_ok=True)
    for number, (point, facts) in enumerate(zip(found.points, document["points"], strict=True), 1):
        facts["model"] = f"models/{number}.safetensors"
        point.model.save(folder / facts["model"])


def _choose(folder: Path, found: Any, document: Any, budget: float | None) -> Any:
    """The best network within the budget, copied; nothing without one, or if none is so cheap."""
    from lrnn.tables.atomic import write_atomically

    if budget is None or all(point.spikes > budget for point in found.points):
        return None
    number = found.points.index(found.within(budget))
    facts = document["points"][number]
    write_atomically(folder / CHOSEN, (folder / facts["model"]).read_bytes())
    return {"budget": budget, "number": number + 1, **facts}


def _write(folder: Path, found: Any, document: Any) -> None:
    """Numbers and the plot, each file as a whole or not at all."""
    from matplotlib.figure import Figure

    from lrnn import plots
    from lrnn.plots.axes import write_figure
    from lrnn.tables.atomic import write_atomically
    from lrnn.tables.documents import json_text

    write_atomically(folder / "frontier.json", json_text(document, indent=1).encode())
    lines = io.StringIO()
    writer = csv.DictWriter(lines, COLUMNS, extrasaction="ignore")
    writer.writeheader()
    for point in document["points"]:
        writer.writerow({"layers": "-".join(map(str, point["sizes"])), **point})
    write_atomically(folder / "frontier.csv", lines.getvalue().encode())
    figure = Figure(figsize=(4.8, 3.4), dpi=150, layout="constrained")
    plots.frontier(found, known=document["paper"], ax=figure.add_subplot())
    for suffix in ("png", "svg"):
        write_figure(figure, folder / f"frontier.{suffix}")
