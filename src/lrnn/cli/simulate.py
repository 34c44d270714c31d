"""``lrnn simulate``: a model's network, spike by spike."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from lrnn.cli.inputs import DataOf, ModelOf, given_for, model_for, numbers_explained
from lrnn.cli.outputs import Force, check_new, named_after
from lrnn.cli.voice import Json, Quiet, Voice, text_table

Engine = StrEnum("Engine", ["auto", "clock", "neurons"])


def simulate(
    model: ModelOf,
    data: DataOf,
    row: Annotated[int, typer.Option(min=1, help="Which row of the data to present.")] = 1,
    events: Annotated[
        str, typer.Option(metavar="NUMBER", help="Spikes from outside and firings, such as 1e6.")
    ] = "1e6",
    replicas: Annotated[int, typer.Option(min=1, help="Independent runs.")] = 1,
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
    simulated.

    Examples:

        lrnn simulate digits.safetensors digits --row 7 --events 1e6

        lrnn simulate digits.safetensors digits --row 7 --events 1e9 -o layers.svg

        lrnn simulate digits.safetensors digits --replicas 20 --no-figure --json

        lrnn simulate digits.safetensors digits --estimator events

        lrnn simulate digits.safetensors digits --partition 4 --events 1e8
    """
    from lrnn.spiking.estimators import ESTIMATORS
    from lrnn.tables.atomic import check_apart

    voice = Voice(quiet, as_json)
    if estimator not in ESTIMATORS:
        raise typer.BadParameter(
            f"{estimator!r} should be one of {', '.join(ESTIMATORS)}", param_hint="--estimator"
        )
    count = _number(events)
    output = output or named_after(model, f"-row{row}.png")
    if figure:
        _check_figure(output)
        check_apart(output, model, data)
        check_new(force, output)
    trained = model_for(model, data)
    given = given_for(trained, data, voice)
    place = given.row(row, data)
    with numbers_explained(given, data, fitting=False):
        arrivals = trained.arrivals(given.data[place : place + 1])[0]
    network = trained.to_network()
    result = network.simulate(
        arrivals,
        events=count,
        replicas=replicas,
        at_events=estimator == "events",
        engine=engine.value,
        partition=partition,
        progress=bool(voice.verbose),
        random_state=seed,
    )
    found = result.compare(estimator=estimator)
    document = _summary(result, found, estimator)
    if figure:
        names = getattr(trained, "feature_names_in_", given.names)
        _draw(result, output, estimator=estimator, shape=given.image_shape, names=names)
    voice.result(
        {
            "model": str(model),
            "row": row,
            "figure": str(output) if figure else None,
            **document,
            **given.tell(voice),
        },
        text_table(
            found.header,
            found.lines(),
            f"row {row} of {data}, {network.n_neurons} neurons, {document['events']:,} events; "
            f"{100 * document['covered']:.0f} % of the neurons' 95 % intervals hold the numeric "
            "value" + (" (interrupted)" if result.interrupted else ""),
        ),
    )
    if figure:
        voice.say(f"figure: {output}")


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
