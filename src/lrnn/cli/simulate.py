"""``lrnn simulate``: a model's network, spike by spike."""

import re
from enum import StrEnum
from math import isnan
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from lrnn.cli.inputs import DataOf, ModelOf, given_for, model_for, numbers_explained
from lrnn.cli.outputs import Force, check_new, check_output, named_after
from lrnn.cli.voice import Json, Quiet, Voice, text_table

Engine = StrEnum("Engine", ["auto", "clock", "neurons"])
Part = StrEnum("Part", ["all", "encoder", "decoder"])
RANGE = re.compile(r"(\d+)(?:-(\d+))?")


def simulate(
    model: ModelOf,
    data: DataOf,
    row: Annotated[int, typer.Option(min=1, help="Which row of the data to present.")] = 1,
    part: Annotated[
        Part,
        typer.Option(
            help="The whole network; or the encoder, from the data to the code; or the decoder, "
            "from the row's code to the output."
        ),
    ] = Part.all,
    events: Annotated[
        str, typer.Option(metavar="NUMBER", help="Spikes from outside and firings, such as 1e6.")
    ] = "1e6",
    until: Annotated[
        float | None,
        typer.Option(
            metavar="WIDTH",
            help="End as soon as no 95 % interval (from arrivals) is wider than this, such as "
            "0.02; --events is then the most.",
        ),
    ] = None,
    replicas: Annotated[int, typer.Option(min=1, max=10**15, help="Independent runs.")] = 1,
    estimator: Annotated[
        str,
        typer.Option(
            help="Where activations are from: potential, busy, arrivals, or events: potentials "
            "right after every 1,000 events, as the paper has it (too high: docs/spiking.md)."
        ),
    ] = "potential",
    engine: Annotated[
        Engine,
        typer.Option(help="Clock by clock, neuron by neuron, or whichever is faster."),
    ] = Engine.auto,
    partition: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Partition the network over N processes, each of which holds the connections of "
            "its own neurons alone; the result is that of --engine neurons, for any N.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random numbers.")] = 0,
    raster: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Where to write single spikes of all runs: a .csv or .parquet file with columns "
            "row, replica, neuron and time, all counted from 0 (the row presented is 0).",
        ),
    ] = None,
    record: Annotated[
        str | None,
        typer.Option(
            metavar="NEURONS",
            help="Whose spikes these are: layers, or neurons of the network counted from 0, such "
            "as hidden or 0-9,64; by default all.",
        ),
    ] = None,
    record_bytes: Annotated[
        str,
        typer.Option(metavar="NUMBER", help="Memory that these spikes may take, 12 bytes each."),
    ] = "1e9",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="The figure: .png, .svg or .pdf; by default MODEL-rowN.png, here.",
        ),
    ] = None,
    figure: Annotated[bool, typer.Option("--figure/--no-figure", help="Draw it or not.")] = True,
    force: Force = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Run a model's network spike by spike, and compare it with the numbers.

    The table shows the root mean square error of each layer's activations to the numeric ones,
    as it falls with the number of events, and the share of (unsaturated) neurons whose 95 %
    confidence interval holds the numeric value: 95 % on average over runs, for the neurons of one
    run depend on each other. The figure is that of the paper: each layer as computed, and as
    simulated. Of a classifier the class is told, by the numbers and by the spikes.

    Examples:

        lrnn simulate digits.safetensors digits --row 7 --events 1e6

        lrnn simulate digits.safetensors digits --row 7 --events 1e9 -o layers.svg

        lrnn simulate digits.safetensors digits --row 7 --events 1e9 --until 0.02

        lrnn simulate digits.safetensors digits --replicas 20 --no-figure --json

        lrnn simulate digits.safetensors digits --estimator events

        lrnn simulate digits.safetensors digits --part encoder --raster codes.csv --record code

        lrnn simulate digits.safetensors digits --partition 4 --events 1e8
    """
    from lrnn.rows import some_of
    from lrnn.spiking.estimators import ESTIMATORS
    from lrnn.tables.atomic import check_apart
    from lrnn.tables.scaling import input_names, input_shape

    voice = Voice(quiet, as_json)
    if estimator not in ESTIMATORS:
        raise typer.BadParameter(
            f"{estimator!r} should be one of {', '.join(ESTIMATORS)}", param_hint="--estimator"
        )
    count = _number(events)
    if until is not None and not 0 < until < 1:
        raise typer.BadParameter(f"{until} should be between 0 and 1", param_hint="--until")
    if partition is not None:
        _check_partition(engine, until, estimator)
    if estimator == "events" and engine is Engine.neurons:
        raise typer.BadParameter(
            "events is not for --engine neurons: say --engine clock, or take another estimator",
            param_hint="--estimator",
        )
    output = output or named_after(model, f"-row{row}.png")
    if figure:
        _check_figure(output)
        check_apart(output, model, data)
        check_new(force, output)
    if raster is not None:
        _check_raster(raster)
        check_output(raster, force, model, data)
    elif record is not None:
        raise typer.BadParameter("give --raster FILE to write them to", param_hint="--record")
    trained = model_for(model, data, autoencoder=False)
    classes = getattr(trained, "classes_", None)
    if classes is not None and part is not Part.all:
        raise typer.BadParameter(
            f"{str(model)!r} is a classifier, which has no such parts", param_hint="--part"
        )
    given = given_for(trained, data, voice)
    place = given.row(row, data)
    parts = {} if classes is not None else {"part": part.value}
    network = trained.to_network(**parts)
    if partition is not None and partition > network.n_neurons:
        raise typer.BadParameter(
            f"{partition} should be at most the number of neurons, {network.n_neurons}",
            param_hint="--partition",
        )
    recorded = None if raster is None else _neurons(record, network)
    with numbers_explained(data, fitting=False):
        presented = some_of(given.rows, [place])
        given.ledger.guessed = 0  # the other rows are not shown
        if presented.gaps is not None:
            given.ledger.add_gaps(np.isnan(given.cells([place])), given.scaling.recipe)
        if part is Part.decoder:
            presented = trained.transform(presented)
        arrivals = trained.arrivals(presented, network)[0]
    most = _bytes(record_bytes)
    result = network.simulate(
        arrivals,
        events=count,
        until=until,
        replicas=replicas,
        at_events=estimator == "events",
        engine=engine.value,
        record=recorded,
        record_bytes=most,
        partition=partition,
        progress=bool(voice.verbose),
        random_state=seed,
    )
    found = result.compare(estimator=estimator)
    document = _summary(result, found, estimator)
    if raster is not None:
        write = {".csv": result.raster.to_csv, ".parquet": result.raster.to_parquet}
        write[raster.suffix.lower()](raster, force=force)
    if figure:
        names = getattr(trained, "feature_names_in_", given.names)
        names = None if names is None else input_names(names, trained.scaling_)
        shape = input_shape(given.image_shape, trained.scaling_)
        look = {"shape": shape, "names": names, "classes": classes}
        _draw(result, output, estimator=estimator, **look)
    voice.result(
        {
            "model": str(model),
            "row": row,
            "part": part.value,
            "raster": None if raster is None else str(raster),
            "spikes": None if raster is None else len(result.raster),
            "figure": str(output) if figure else None,
            **(recognised := _recognised(result, classes, estimator)),
            **document,
            **given.tell(voice),
        },
        text_table(
            found.header,
            found.lines(),
            f"row {row} of {data}, {network.n_neurons} neurons, {document['events']:,} events; "
            + _covered(document["covered"], document["short"])
            + (" (interrupted)" if result.interrupted else ""),
        ),
    )
    if classes is not None:
        voice.say(_told(recognised))
    if until is not None and not result.interrupted:
        voice.say(_ended(result, until, count))
    if raster is not None:
        voice.say(f"raster: {raster}, {len(result.raster):,} spikes")
    if figure:
        voice.say(f"figure: {output}")


def _recognised(result: Any, classes: Any, estimator: str) -> dict[str, Any]:
    """The most probable class by the numbers and by the spikes, with its share of the spikes.

    And how many output spikes there were, which tells what the latter is worth.
    """
    if classes is None:
        return {}
    outputs = result.network.split(result.firing_counts)[-1]
    found: dict[str, Any] = {"output_spikes": int(outputs.sum())}
    for way, activations in (
        ("numbers", result.steady),
        ("spikes", result.activation(estimator)),
    ):
        outputs = result.network.split(activations)[-1]
        total = outputs.sum()
        chosen = int(outputs.argmax())
        found[f"class_by_{way}"] = classes[chosen : chosen + 1].tolist()[0] if total > 0 else None
        found[f"share_by_{way}"] = float(outputs[chosen] / total) if total > 0 else None
    return found


def _covered(share: float, short: int) -> str:
    """How many intervals hold the numeric value, and whose need not, in words."""
    if isnan(share):
        return "all neurons are saturated, and have no intervals"
    marked = f"; the time is too short for {short} neuron{'s' * (short != 1)}" if short else ""
    return f"{100 * share:.0f} % of the neurons' 95 % intervals hold the numeric value{marked}"


def _told(recognised: dict[str, Any]) -> str:
    """The class of the row, in words."""
    by = {
        way: "no output spike"
        if recognised[f"class_by_{way}"] is None
        else f"class {recognised[f'class_by_{way}']} with {recognised[f'share_by_{way}']:.3f} of "
        "the output spikes"
        for way in ("numbers", "spikes")
    }
    count = recognised["output_spikes"]
    spikes = f"{count:,} output spike{'s' * (count != 1)}"
    return f"by the numbers: {by['numbers']}; by the simulation ({spikes}): {by['spikes']}"


def _number(text: str) -> int:
    try:
        number = float(text.replace("_", "").replace(",", ""))
        if number.is_integer() and 1_000 <= number <= 1e15:
            return int(number)
    except ValueError:
        pass
    raise typer.BadParameter(
        f"{text!r} should be a whole number from 1000 to 1e15", param_hint="--events"
    )


def _bytes(text: str) -> float:
    try:
        number = float(text)
        if number > 0:
            return number
    except ValueError:
        pass
    raise typer.BadParameter(
        f"{text!r} should be a number above 0, such as 4e9", param_hint="--record-bytes"
    )


def _check_partition(engine: Engine, until: float | None, estimator: str) -> None:
    """A partitioned network is simulated neuron by neuron, for as long as was said."""
    for given, option, remedy in (
        (engine is Engine.clock, "--engine clock", "leave that out, or say --engine neurons"),
        (until is not None, "--until", "give --events alone"),
        (estimator == "events", "--estimator events", "take another estimator"),
    ):
        if given:
            raise typer.BadParameter(f"it is not for {option}: {remedy}", param_hint="--partition")


def _ended(result: Any, until: float, most: int) -> str:
    """Whether the precision that was asked for has been reached."""
    if result.reached:
        return f"no 95 % interval is wider than {until:g}: ended before {most:,} events"
    return (
        f"some 95 % interval is still wider than {until:g} after {int(result.events):,} events: "
        "more --events may do it"
    )


def _check_raster(path: Path) -> None:
    if path.suffix.lower() not in (".csv", ".parquet"):
        raise typer.BadParameter(
            f"{str(path)!r} should end in .csv or .parquet", param_hint="--raster"
        )


def _neurons(text: str | None, network: Any) -> list[int]:
    """Neurons that are named by their layers, numbers and ranges; by default all."""
    count, names = network.n_neurons, network.layer_names
    if text is None:
        return [*range(count)]
    layers = dict(zip(names, network.split(range(count)), strict=True))
    found: set[int] = set()
    for piece in map(str.strip, text.split(",")):
        if piece in layers:
            found.update(layers[piece].tolist())
            continue
        matched = RANGE.fullmatch(piece)
        first, last = (int(n or matched[1]) for n in matched.groups()) if matched else (1, 0)
        if not first <= last < count:
            raise typer.BadParameter(
                f"{piece!r} should be a neuron from 0 to {count - 1}, a range such as 0-9, or a "
                f"layer: {', '.join(names)}",
                param_hint="--record",
            )
        found.update(range(first, last + 1))
    return sorted(found)


def _summary(result: Any, found: Any, estimator: str) -> dict[str, Any]:
    """What a simulation has shown, as JSON can hold it."""
    return {
        "events": int(result.events),
        "estimator": estimator,
        "time": float(result.time),
        "layers": list(result.layer_names),
        "rmse": [(float(found.events[i]), found.errors[i].tolist()) for i in found.milestones],
        "covered": result.coverage(),
        "saturated": int(result.saturated.sum()),
        "short": int(result.short.sum()),
        "until": None if result.until is None else result.until.width,
        "reached": None if result.until is None else bool(result.reached),
        "interrupted": bool(result.interrupted),
    }


def _check_figure(output: Path) -> None:
    if output.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise typer.BadParameter(
            f"{str(output)!r} should end in .png, .svg or .pdf", param_hint="--output"
        )
    if not output.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {str(output.parent)!r} to write to")


def _draw(result: Any, output: Path, **look: Any) -> None:
    from lrnn.plots import simulated_layers
    from lrnn.plots.axes import write_figure
    from lrnn.plots.spikes import EVENTS_SHOWN

    last = result.snapshots[-1]
    moments = [m for m in EVENTS_SHOWN if m < last and m in result.snapshots]
    write_figure(simulated_layers(result, (*moments, last), **look), output)
