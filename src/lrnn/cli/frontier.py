"""``lrnn frontier``: error against spikes."""

import csv
import io
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from lrnn.cli.inputs import (
    BatchSize,
    DataOf,
    DeviceOf,
    Hidden,
    Resume,
    Scale,
    ScaleOf,
    Seed,
    check_leftover,
    check_range,
    going_on,
    hidden_note,
    hidden_rule,
    hidden_sizes,
    numbers_explained,
    say_how_to_go_on,
    scaling_of,
    table_of,
)
from lrnn.cli.outputs import Force, check_new, named_after
from lrnn.cli.report import check_folder
from lrnn.cli.voice import Json, Quiet, Voice, text_table

HEADER = ("price of a spike", "error", "test error", "spikes", "model")
COLUMNS = ("penalty", "error", "test_error", "spikes", "model")
FILES = ("frontier.json", "frontier.csv", "frontier.png", "frontier.svg")
MODEL = re.compile(r"models/(excitatory|\d{2,})\.safetensors")


def frontier(
    data: DataOf,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Folder for the table, the plot and the models; by default DATA-frontier, here.",
        ),
    ] = None,
    hidden: Hidden = None,
    scale: ScaleOf = Scale.none,
    test: Annotated[
        str | None,
        typer.Option(metavar="DATA", help="Other data to take errors on; MNIST has its own."),
    ] = None,
    prices: Annotated[int, typer.Option(min=2, help="How many prices of a spike.")] = 16,
    passes: Annotated[
        int | None, typer.Option(min=1, help="Over the data, at each price, on each way.")
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

    From the excitatory network, the cheapest, to one whose spikes are free: networks for many
    prices of a spike, each started from its neighbour. Into the folder go frontier.json and .csv,
    the plot as .png and .svg, and every network as a model. A run that was killed goes on with
    [bold]--resume[/bold].

    Examples:

        lrnn frontier digits --scale max --hidden 16 -o digits-frontier

        lrnn frontier mnist --hidden 50 -o mnist-frontier --device cuda

        lrnn frontier wine.csv --scale minmax --hidden 7 --test new.csv --prices 8 -o wine-frontier
    """
    import lrnn
    from lrnn.tables.atomic import check_apart, remove, sole_writer
    from lrnn.tables.sources import Source

    voice = Voice(quiet, as_json)
    output = output or named_after(data, "-frontier")
    unfinished = output / "checkpoint"
    check_folder(output)
    for written in (".", *FILES, "models"):
        check_apart(output / written, data, test)
    _check_new(output, force)
    table = table_of(data, voice, stream=True)
    sizes = hidden_sizes(hidden, table.data.shape[1])
    others = _test_rows(data, test, table.data.shape[1], voice)
    streamed, unscaled = isinstance(table.data, Source), scale is Scale.none
    if unscaled and not streamed:
        check_range(table, data)
    explained = numbers_explained(table, data) if unscaled else nullcontext()
    watched = going_on(unfinished, voice)
    with _folder(output), sole_writer(output / "frontier.json"), explained, watched:
        _check_new(output, force)  # another process may have been quicker
        check_leftover(unfinished, resume, voice)
        before = _models_in(output)
        scaling = scaling_of(scale.value, table.data, table, data)
        found = lrnn.frontier(
            scaling.apply(table.data),
            sizes,
            X_test=None if others is None else scaling.apply(others),
            penalties=prices,
            passes=passes,
            checkpoint=unfinished,
            resume=bool(resume),
            batch_size=batch_size,
            device=device,
            random_state=seed,
            verbose=voice.verbose,
        )
        known = _known(data, sizes)
        rule = hidden_rule(hidden, table.data.shape[1])
        document = {"data": data, "hidden_rule": rule, "paper": known, **found.to_json()}
        _save_models(output, found, document, table.names, scaling.to_json())
        _write(output, found, document)
        for name in before - {point["model"] for point in document["points"]}:
            (output / name).unlink(missing_ok=True)
        if not found.interrupted:
            remove(unfinished)
    rows = [_row(*pair) for pair in zip(found.points, document["points"], strict=True)]
    title = f"{data}, {' → '.join(map(str, found.sizes))} neurons ({found.seconds:.0f} s)"
    voice.result({"folder": str(output), **document}, text_table(HEADER, rows, title))
    lines = {"no linear map is below": found.svd, **known}
    voice.say("\n".join(f"{name}: {error:.4f}" for name, error in lines.items()))
    voice.say(f"{hidden_note(rule, sizes)}written to {output}, the models to {output / 'models'}")
    if found.interrupted:
        say_how_to_go_on(unfinished, voice)


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
        points = json.loads((folder / "frontier.json").read_bytes())["points"]
        names = {str(point["model"]) for point in points}
    except (OSError, ValueError, KeyError, TypeError):
        return set()
    return {name for name in names if MODEL.fullmatch(name)}


def _test_rows(data: str, test: str | None, width: int, voice: Voice) -> Any:
    """Rows that errors are taken on besides; data sets that come with some need not be told."""
    from lrnn.datasets import DATA_SETS, load

    if test is not None:
        rows = table_of(test, voice).data
        if rows.shape[1] != width:
            raise ValueError(f"{test!r} has {rows.shape[1]} attributes, but {data!r} {width}")
        return rows
    if not Path(data).exists() and data in DATA_SETS and "test" in DATA_SETS[data].splits:
        return load(data, split="test", scaled=False).data
    return None


def _known(data: str, sizes: tuple[int, ...]) -> dict[str, float]:
    """What the paper has for these data and layers, if it has them."""
    from lrnn.paper import STRUCTURES

    structure = STRUCTURES.get("-".join((data, *map(str, sizes))))
    if structure is None or structure.paper is None:
        return {}
    return {"Yin & Gelenbe 2016": structure.paper}


def _row(point: Any, facts: dict[str, Any]) -> list[str]:
    from lrnn.frontiers import readable

    tested = "–" if point.test_error is None else f"{point.test_error:.5f}"
    price = {None: "(excitatory)", 0.0: "free"}.get(point.penalty, f"{point.penalty or 0:.2g}")
    model = Path(facts["model"]).name
    return [price, f"{point.error:.5f}", tested, readable(point.spikes), model]


def _save_models(folder: Path, found: Any, document: Any, names: Any, scaling: Any) -> None:
    """Every network as a model; the document is told what they are called."""
    import numpy as np

    (folder / "models").mkdir(exist_ok=True)
    for number, point in enumerate(found.points):
        if names is not None:
            point.model.feature_names_in_ = np.array(names, dtype=object)
        name = "excitatory" if point.penalty is None else f"{number:02}"
        document["points"][number]["model"] = f"models/{name}.safetensors"
        point.model.save(folder / "models" / f"{name}.safetensors", scaling=scaling)


def _write(folder: Path, found: Any, document: Any) -> None:
    """Numbers and the plot, each file as a whole or not at all."""
    from matplotlib.figure import Figure

    from lrnn import plots
    from lrnn.plots.axes import write_figure
    from lrnn.tables.atomic import write_atomically

    write_atomically(folder / "frontier.json", json.dumps(document, indent=1).encode())
    lines = io.StringIO()
    writer = csv.DictWriter(lines, COLUMNS)
    writer.writeheader()
    writer.writerows(document["points"])
    write_atomically(folder / "frontier.csv", lines.getvalue().encode())
    figure = Figure(figsize=(4.8, 3.4), dpi=150, layout="constrained")
    plots.frontier(found, known=document["paper"], ax=figure.add_subplot())
    for suffix in ("png", "svg"):
        write_figure(figure, folder / f"frontier.{suffix}")
